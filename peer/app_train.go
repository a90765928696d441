package peer

import (
	"context"
	"encoding/json"
	"math"
	"strings"

	"backstep/peer/match"
	"backstep/peer/page"
	"backstep/peer/present"
	"backstep/peer/training"
	"backstep/sim"
)

// trainee is the training room with the page around it.
type trainee struct {
	app     *app
	room    *training.Room
	picture *picture
	boxes   bool
	paused  bool
	speed   float64
	config  sim.Config
	events  []sim.Event
	edge    present.Advantage
	shown   string
	showAt  int64
}

// train is the training room until the player leaves it.
func (a *app) train(ctx context.Context, cmd page.Command) error {
	c, err := a.trained(cmd)
	if err != nil {
		return err
	}
	room, err := training.New(c, training.Default())
	if err != nil {
		return fail(exitInternal, match.EndError, err, "the training room cannot be opened: %v", err)
	}
	a.matches++
	t := &trainee{app: a, room: room, picture: newPicture(a.page), speed: 1, config: c, events: make([]sim.Event, 0, 64)}
	t.picture.begin(a.matches, page.KindTraining, 0)
	a.page.Words().Release()
	return t.run(ctx)
}

// trained is the match of the training room: the rules and fighters the command
// names, those of the command line else.
func (a *app) trained(cmd page.Command) (sim.Config, error) {
	own := a.c
	if err := own.choose(cmd); err != nil {
		return sim.Config{}, err
	}
	c := sim.DefaultConfig()
	c.Ruleset, c.Format = own.Ruleset, own.Format
	other := own
	other.Team = [3]sim.FighterID{c.Teams[1][0]}
	for side, names := range cmd.Teams {
		team, err := sim.ParseTeam(strings.Join(names, ","))
		if err != nil {
			return c, fail(exitUsage, match.EndError, err, "%v", err)
		}
		if side == 0 {
			own.Team = team
		} else {
			other.Team = team
		}
	}
	own.fillTeam()
	other.fillTeam()
	c.Teams = [2][3]sim.FighterID{own.Team, other.Team}
	return c, nil
}

func (t *trainee) run(ctx context.Context) error {
	due := float64(now())
	for {
		at := now()
		if at >= t.showAt {
			t.showAt = at + refresh
			t.show()
			if t.app.idle(idlePatience) {
				return errIdle
			}
		}
		if float64(at) >= due {
			due += 1e6 / sim.SimulationHz / t.speed
			if float64(at)-due > 1e5 {
				due = float64(at) // the process stood still; that is not made up for
			}
			if !t.paused {
				if err := t.step(); err != nil {
					return err
				}
			}
		}
		cmd, ok, err := t.app.next(ctx, min(int64(math.Ceil(due)), at+refresh))
		switch {
		case err != nil:
			return err
		case !ok:
			continue
		}
		switch cmd.Cmd {
		case "leave", "title", "cancel":
			return errCancelled
		case "quit":
			return errIdle
		case "train":
			return t.app.train(ctx, cmd)
		case "option":
			if err := t.option(cmd); err != nil {
				t.app.page.Notice("warn", sentence(err.Error()))
			}
			t.showAt = 0
		}
	}
}

// step makes one frame and shows it.
func (t *trainee) step() error {
	words := t.app.page.Words()
	tick, err := t.room.Step([2]uint16{words.Take(0), words.Take(1)})
	if err != nil {
		return err
	}
	p := t.picture
	for _, f := range tick.Replayed {
		if w, ok := t.room.State(f); ok {
			p.take(w)
		}
	}
	w := t.room.World()
	p.take(w)
	p.world.Mark(tick.Depth, tick.Confirmed, tick.Stalled)
	t.events = t.events[:0]
	for _, id := range tick.Emitted {
		if s, ok := t.room.State(int32(id >> 32)); ok {
			for _, e := range s.Events() {
				if e.ID() == id && len(t.events) < cap(t.events) {
					t.events = append(t.events, e)
				}
			}
		}
	}
	if tick.Advanced {
		contact := false
		for _, h := range w.Hits() {
			contact = contact || !h.Shot
		}
		_, current, _ := p.world.Snapshots()
		t.edge.Next(current, contact)
	}
	p.snap.Confirmed, p.snap.Depth, p.snap.Resimulated = tick.Confirmed, uint8(min(tick.Depth, 255)), uint8(min(tick.Resim, 255))
	t.put(t.flags(tick), t.events, tick.Cancelled)
	return nil
}

func (t *trainee) flags(tick training.Tick) page.Flags {
	var f page.Flags
	if tick.Depth > 0 {
		f |= page.Rewound
	}
	if tick.Stalled {
		f |= page.Stalled
	}
	if t.paused {
		f |= page.Paused
	}
	return f
}

func (t *trainee) put(f page.Flags, events []sim.Event, cancelled []uint64) {
	t.picture.withBox = t.boxes
	t.picture.snap.Side = uint8(t.room.Options().Side)
	t.picture.put(t.room.World(), f, events, cancelled)
}

// again shows the present state once more after a jump.
func (t *trainee) again() {
	t.picture.take(t.room.World())
	t.put(t.flags(training.Tick{})|page.Quiet, nil, nil)
}

// option changes what the command names and does what it asks for.
func (t *trainee) option(cmd page.Command) error {
	o := t.room.Options()
	for _, x := range []struct {
		from *int
		to   *int
	}{{cmd.Slot, &o.Slot}, {cmd.Latency, &o.Latency}, {cmd.Jitter, &o.Jitter}, {cmd.Loss, &o.Loss}, {cmd.Rollback, &o.Rollback},
		{cmd.Delay, &o.Delay}, {cmd.Side, &o.Side}} {
		if x.from != nil {
			*x.to = *x.from
		}
	}
	if cmd.Dummy != nil {
		o.Dummy = *cmd.Dummy
	}
	if cmd.Refill != nil {
		o.Refill = *cmd.Refill
	}
	if o != t.room.Options() {
		if err := t.room.Set(o); err != nil {
			return err
		}
	}
	if cmd.Boxes != nil {
		t.boxes = *cmd.Boxes
	}
	if cmd.Paused != nil {
		t.paused = *cmd.Paused
	}
	if cmd.Speed != nil && *cmd.Speed >= 0.25 && *cmd.Speed <= 1 {
		t.speed = *cmd.Speed
	}
	return t.act(cmd.Act)
}

func (t *trainee) act(name string) error {
	switch name {
	case "reset":
		t.edge = present.Advantage{}
		if err := t.room.Reset(); err != nil {
			return err
		}
	case "save":
		t.room.Save()
	case "load":
		ok, err := t.room.Load()
		if err != nil {
			return err
		}
		if !ok {
			t.app.page.Notice("info", "Nothing was saved yet.")
		}
	case "record":
		t.room.Record()
	case "clear":
		t.room.Clear()
	case "step":
		if t.paused {
			return t.step()
		}
	}
	t.again()
	return nil
}

// show sends the frame around the picture when something about it changed.
func (t *trainee) show() {
	o := t.room.Options()
	last := t.room.Last()
	s := &page.TrainScreen{
		Options: page.TrainOptions{Dummy: o.Dummy, Slot: o.Slot, Boxes: t.boxes, Refill: o.Refill, Latency: o.Latency, Jitter: o.Jitter,
			Loss: o.Loss, Rollback: o.Rollback, Delay: o.Delay, Side: o.Side, Paused: t.paused, Speed: t.speed},
		Slots: t.room.Lengths(), Recording: t.room.Recording(), Playing: o.Dummy == "play",
		Last: page.LastMove{Move: last.Move, Damage: last.Damage, Hits: last.Hits},
	}
	s.Ruleset, s.Format = t.config.Ruleset.String(), t.config.Format.String()
	s.Music = teamMusic(t.config.Teams)
	for side := range s.Teams {
		s.Teams[side] = teamNames(t.config.Teams[side])
	}
	if n, ok := t.edge.Of(o.Side); ok {
		v := int(n)
		s.Advantage = &v
	}
	if b, err := json.Marshal(s); err == nil && string(b) != t.shown {
		t.shown = string(b)
		t.app.page.Show(&page.Screen{Train: s})
	}
}
