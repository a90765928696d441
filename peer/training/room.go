package training

import (
	"backstep/rollback"
	"backstep/sim"
)

// Room is one stay. One goroutine owns it.
type Room struct {
	config   sim.Config
	opt      Options
	world    sim.World // shown; in the netted room a copy of the player's newest state
	net      *sessions
	prev     [2]uint16
	slots    [Slots]recording
	dummy    dummy
	rec      bool
	saved    sim.World
	hasSaved bool
	last     Combo
}

// Combo is the newest one the player landed.
type Combo struct {
	Move         string
	Damage, Hits int
}

// Tick is what one frame did. The slices are the room's, until its next Step.
type Tick struct {
	Advanced  bool
	Stalled   bool
	Depth     int // frames of the rollback that ran
	Resim     int
	Confirmed int32
	Replayed  []int32 // frames stepped again, oldest first
	Emitted   []uint64
	Cancelled []uint64
}

// New opens a room with both fighters on their marks and the round running.
func New(c sim.Config, o Options) (*Room, error) {
	r := &Room{config: c, opt: o}
	if err := o.Valid(); err != nil {
		return nil, err
	}
	return r, r.Reset()
}

// Options gives what is set.
func (r *Room) Options() Options { return r.opt }

// Set changes options. The match goes on.
func (r *Room) Set(o Options) error {
	if err := o.Valid(); err != nil {
		return err
	}
	old := r.opt
	r.opt = o
	if o.Dummy != old.Dummy || o.Side != old.Side || o.Slot != old.Slot {
		r.rec = false
		r.newDummy()
	}
	if o.netted() != old.netted() || o.Side != old.Side || o.Delay != old.Delay || o.Refill != old.Refill {
		return r.start()
	}
	return nil
}

// Reset puts both fighters back on their marks.
func (r *Room) Reset() error {
	var w sim.World
	if err := w.Reset(r.config); err != nil {
		return err
	}
	// Nobody trains the introduction.
	for range 1200 {
		if w.Phase() == sim.Live {
			break
		}
		w.Step([]sim.Input{{}, {}}, sim.SuppressCosmetics)
	}
	r.world = w
	r.newDummy()
	return r.start()
}

// start begins the sessions with the world that is shown, or ends them.
func (r *Room) start() (err error) {
	r.net, r.prev = nil, [2]uint16{}
	if r.opt.netted() {
		r.net, err = newSessions(&r.world, r.opt)
	}
	return err
}

func (r *Room) newDummy() {
	r.dummy = newDummy(r.opt.Dummy, 1-r.opt.Side, &r.slots[r.opt.Slot], &r.world)
}

// Save keeps the state, Load goes back to it and reports whether there was one.
func (r *Room) Save() { r.saved, r.hasSaved = r.world, true }

// Load goes back to the saved state.
func (r *Room) Load() (bool, error) {
	if !r.hasSaved {
		return false, nil
	}
	r.world = r.saved
	r.newDummy()
	return true, r.start()
}

// Record begins to record the dummy into the slot, or ends it.
func (r *Room) Record() {
	if r.rec {
		r.rec = false
		r.newDummy()
		return
	}
	r.rec = true
	r.slots[r.opt.Slot] = recording{facing: r.world.Fighter(r.world.Point(1 - r.opt.Side)).Facing}
}

// Clear empties the slot.
func (r *Room) Clear() {
	r.rec = false
	r.slots[r.opt.Slot] = recording{}
	r.newDummy()
}

// Recording tells whether the player has the dummy's controls.
func (r *Room) Recording() bool { return r.rec }

// Lengths are those of the slots, in frames.
func (r *Room) Lengths() (n [Slots]int) {
	for i := range r.slots {
		n[i] = len(r.slots[i].words)
	}
	return n
}

// World is the newest state as the player sees it.
func (r *Room) World() *sim.World { return &r.world }

// State is that of a frame that was stepped again.
func (r *Room) State(frame int32) (*sim.World, bool) {
	if r.net == nil {
		return &r.world, frame == r.world.Frame()
	}
	return r.net.drivers[r.opt.Side].State(r.net.label(frame))
}

// Last is the newest combo the player landed.
func (r *Room) Last() Combo { return r.last }

// Step makes one frame of the words of the two players at the keyboard.
func (r *Room) Step(words [2]uint16) (Tick, error) {
	player := words[0]
	second := words[1]
	if r.rec {
		slot := &r.slots[r.opt.Slot]
		slot.words = append(slot.words, player)
		second, player = player, 0
		if len(slot.words) == MaxRecording {
			r.Record()
		}
	}
	dummy := func(w *sim.World) uint16 {
		if r.rec {
			return second
		}
		return r.dummy.next(w, second)
	}
	t := r.step(player, dummy)
	if t.Advanced {
		r.note()
	}
	if r.over() {
		return t, r.Reset()
	}
	return t, nil
}

func (r *Room) step(player uint16, dummy func(*sim.World) uint16) Tick {
	if r.net != nil {
		res := r.net.step(r.opt, player, dummy)
		if w, ok := r.net.drivers[r.opt.Side].State(res.Frame); ok {
			r.world = *w
		}
		return r.tick(&res)
	}
	var now [2]uint16
	now[r.opt.Side], now[1-r.opt.Side] = player, dummy(&r.world)
	r.world.Step([]sim.Input{{Now: now[0], Prev: r.prev[0]}, {Now: now[1], Prev: r.prev[1]}}, sim.Emit)
	r.prev = now
	if r.opt.Refill {
		r.world.Practice()
	}
	return Tick{Advanced: true, Confirmed: r.world.Frame(), Emitted: r.world.AppendEventIDs(nil)}
}

func (r *Room) tick(res *rollback.Result) Tick {
	shift := r.net.base + 1
	t := Tick{Advanced: res.Advanced, Stalled: res.Stalled, Depth: res.RollbackFrames, Resim: res.Resimulated,
		Confirmed: res.Confirmed + shift, Emitted: res.Emitted, Cancelled: res.Cancelled}
	if res.Rollback != nil {
		for _, f := range res.Rollback.Replayed {
			t.Replayed = append(t.Replayed, f+shift)
		}
	}
	return t
}

// over: the round has ended for good in the eyes of both sides.
func (r *Room) over() bool {
	if r.world.Phase() == sim.Live {
		return false
	}
	if r.net == nil {
		return true
	}
	d := r.net.drivers[r.opt.Side]
	w, ok := d.State(d.Session().Settled())
	return ok && w.Phase() != sim.Live
}

func (r *Room) note() {
	for _, h := range r.world.Hits() {
		if sim.Side(int(h.Attacker)) != r.opt.Side || h.Blocked {
			continue
		}
		_, _, name := h.Names()
		f := r.world.Fighter(int(h.Defender))
		r.last = Combo{Move: name, Damage: int(f.ComboDamage), Hits: int(f.ComboHits)}
	}
}
