package rollback

import (
	"backstep/rollback/accord"
	"backstep/rollback/input"
	"backstep/rollback/pacing"
	"backstep/rollback/tally"
)

const (
	// lateMicros is how far behind its schedule a tick may be and still be made up for. Beyond it the process was
	// stopped, and what was missed is not played back: the others waited.
	lateMicros = 100_000

	offsetShift = 7 // bins of 128 µs
	offsetBins  = 1024
)

// Driver runs a session against the other players. In every turn of its loop the owner hands in what arrived
// (Receive), and when Next has come, calls Tick, sends AppendPacket and whatever AppendParity gives, and at SecondAt
// sends AppendSecond. The short names speak of the other player of two; with more, each has its own Link.
//
// It opens nothing, starts nothing and reads no clock: now and at are microseconds of one monotonic clock. One
// goroutine owns it. After NewDriver nothing allocates.
type Driver[S comparable, W input.Word] struct {
	s     *Session[S, W]
	cfg   Config
	pacer pacing.Pacer
	links []*Link[S, W] // by player, this side's left out
	other *Link[S, W]   // the first of them

	due      int64 // µs, when the next tick is due
	duePart  int64 // and millionths of a µs
	length   int64 // of the running tick, ps
	lastTick int64
	advanced bool
	settling bool // no frame is left to step

	tuner   tuner
	accord  accord.Party
	asked   bool // for delay mode, after an accepted offer
	said    bool // the player's answer to another side's wish for delay mode, and which
	accepts bool
	refused [3]bool // modes the player declined when another side asked: one answer a match is enough

	windowIn   int   // ticks until stalls are looked at
	stallsSeen int64 // then
	cost       int64 // of a step, mean and mean deviation, 1/costScale ns
	costSpread int64
	costSeen   int64

	offsets          tally.Histogram // distance from the aim, µs
	rateMin, rateMax int64
}

// NewDriver starts a session and its links at time now; the first tick is due at once. It returns an error that wraps
// ErrConfig if cfg is not valid.
func NewDriver[S comparable, W input.Word](game Game[S, W], cfg Config, initial *S, now int64) (*Driver[S, W], error) {
	s, err := NewSession(game, cfg, initial)
	if err != nil {
		return nil, err
	}
	d := &Driver[S, W]{
		s:       s,
		cfg:     cfg,
		pacer:   pacing.New(cfg.SimulationHz, cfg.Local, cfg.Players, cfg.NoTimeSync),
		due:     now,
		offsets: tally.New(offsetBins, offsetShift),
		accord:  accord.New(cfg.Local, cfg.Players, accord.Terms{Mode: cfg.Mode, Window: uint8(cfg.PredictionWindowFrames)}),

		windowIn: windowSpan,
	}
	d.length = d.pacer.Interval()
	for p := range cfg.Players {
		if p == cfg.Local {
			continue
		}
		d.links = append(d.links, newLink(d, p))
	}
	d.other = d.links[0]
	return d, nil
}

// Session is the session that is driven, for everything that is not timing or sending. Do not call its Tick, Confirm,
// Reconcile, Compare or NextHash.
func (d *Driver[S, W]) Session() *Session[S, W] { return d.s }

// Link is the connection to a player, nil for this side's own and for players there are not.
func (d *Driver[S, W]) Link(player int) *Link[S, W] {
	for _, l := range d.links {
		if l.player == player {
			return l
		}
	}
	return nil
}

// Receive hands in a packet from the other player. See Link.Receive.
func (d *Driver[S, W]) Receive(at int64, pkt []byte) error { return d.other.Receive(at, pkt) }

// AppendPacket appends the packet of this tick to the other player. See Link.AppendPacket.
func (d *Driver[S, W]) AppendPacket(b []byte, now int64) []byte { return d.other.AppendPacket(b, now) }

// AppendParity appends a parity packet to the other player, if one is due. See Link.AppendParity.
func (d *Driver[S, W]) AppendParity(b []byte, now int64) ([]byte, bool) {
	return d.other.AppendParity(b, now)
}

// SecondAt is when a second datagram to the other player is to be sent. See Link.SecondAt.
func (d *Driver[S, W]) SecondAt() (at int64, ok bool) { return d.other.SecondAt() }

// AppendSecond appends the second datagram to the other player. See Link.AppendSecond.
func (d *Driver[S, W]) AppendSecond(b []byte, now int64) []byte { return d.other.AppendSecond(b, now) }

// SetSections gives the opaque sections of the packets to the other player to s. See Link.SetSections.
func (d *Driver[S, W]) SetSections(s Sections) { d.other.SetSections(s) }

// Next is when the next tick is due. It may be called late; see Tick.
func (d *Driver[S, W]) Next() int64 { return d.due }

// Frame is the label of the newest state, Confirmed the newest frame for which all inputs are known; -1 for none.
func (d *Driver[S, W]) Frame() int32     { return d.s.Frame() }
func (d *Driver[S, W]) Confirmed() int32 { return d.s.Confirmed() }

// State is the state labelled frame, for reading until the next call; ok is false if it is not kept.
func (d *Driver[S, W]) State(frame int32) (state *S, ok bool) { return d.s.State(frame) }

// Delivered is the newest frame up to which this side's inputs are known to have reached every other player.
func (d *Driver[S, W]) Delivered() int32 {
	n := noFrame
	for _, l := range d.links {
		n = min(n, l.delivered)
	}
	return n
}

// Err is the error that ended the match: a *ConflictError, or nil.
func (d *Driver[S, W]) Err() error {
	if c := d.s.Conflict(); c != nil {
		return c
	}
	return nil
}

// Tick makes one frame at time now with this side's word, or tells in the result why not, and decides when the next
// one is due. Ticks that come up to 100 ms late are made up for; after a longer pause the schedule starts anew at now.
func (d *Driver[S, W]) Tick(now int64, local W) (r Result) {
	may := d.agree(now)
	d.s.tick(&r, local, !d.pacer.Halt() && may)
	d.advanced, d.settling, d.lastTick = r.Advanced, false, now
	if r.Stalled || r.Frozen {
		d.pacer.Disturb(now)
	}
	d.pace(now)
	d.schedule(now)
	for _, l := range d.links {
		l.ticked(now)
	}
	d.tuneByPolicy()
	return r
}

// pace hands the mean of what the links measured to the pacer.
func (d *Driver[S, W]) pace(now int64) {
	window := int(d.s.window)
	var offset, trip, jitter, n, lag int64
	measured := false
	for _, l := range d.links {
		if l.hasMine {
			lag, measured = max(lag, l.mine), true
		}
		if o, ok := l.sync.Offset(); ok {
			offset += o
			trip = max(trip, l.sync.RoundTrip())
			jitter = max(jitter, l.sync.Jitter())
			n++
		}
	}
	if n > 0 {
		d.pacer.Update(now, d.advanced, window, offset/n, trip, jitter)
		e := offset/n - d.pacer.Aim()
		d.offsets.Add(max(e, -e))
		rate := d.pacer.Rate()
		if d.rateMin == 0 {
			d.rateMin, d.rateMax = rate, rate
		}
		d.rateMin, d.rateMax = min(d.rateMin, rate), max(d.rateMax, rate)
	}
	lead := 0
	if d.advanced && measured && window > 0 {
		lead = int(d.s.counted(d.s.confirmed+1, d.s.cur))
	}
	if window == 0 {
		lag = maxLag // nothing is predicted, so nothing runs out
	}
	d.pacer.Brake(lead, window, lag)
}

func (d *Driver[S, W]) schedule(now int64) {
	const psPerMicro = 1_000_000
	if now-d.due > lateMicros {
		d.due, d.duePart = now, 0
	}
	d.length = d.pacer.Interval()
	d.duePart += d.length
	d.due += d.duePart / psPerMicro
	d.duePart %= psPerMicro
}

// ticksMicros is the time of that many ticks at the present length, in µs.
func (d *Driver[S, W]) ticksMicros(ticks int64) int64 { return ticks * d.length / 1_000_000 }
