package rollback

import (
	"backstep/rollback/accord"
	"backstep/rollback/quality"
)

const (
	windowSpan  = 600  // ticks over which stalls are counted before a deeper window is asked for
	windowNeed  = 6    // stalls in that time
	windowStep  = 4    // frames deeper at a time
	windowPause = 1800 // ticks between two such wishes
)

// Accord is where this side asks the others for another mode or window and hears what became of it. Driver.Tick steps
// it and puts into force what was agreed; do not call its Step or Receive.
func (d *Driver[S, W]) Accord() *accord.Party { return &d.accord }

// AppendChange appends the accord's message to another player that is due at now, and nothing if none is. The owner
// sends it beside the packets, over a channel that authenticates and may lose it.
func (d *Driver[S, W]) AppendChange(b []byte, player int, now int64) []byte {
	return d.accord.AppendMessage(b, player, now)
}

// ReceiveChange hands in such a message of another player. It returns accord.ErrMessage for one that cannot be.
func (d *Driver[S, W]) ReceiveChange(player int, msg []byte) error {
	if err := d.accord.Receive(player, msg, d.s.cur); err != nil {
		return err
	}
	if d.accord.Offer(player) != quality.Playing {
		d.s.ladder.Opponent()
	}
	return nil
}

// Question is what this side's player is to be asked now: the own offer of delay mode, or what another side asked for. A
// mode that the player declined is not asked about again, so that nobody can be worn down by asking without end.
func (d *Driver[S, W]) Question() (t accord.Terms, ok bool) {
	_, decided := d.decided()
	if t, ok = d.accord.Asked(); ok && !d.refused[t.Mode] && (t.Mode != quality.Delay || !decided) {
		return t, true
	}
	t = d.accord.Terms()
	t.Mode = quality.Delay
	return t, d.s.ladder.Offer() == quality.Offered && !decided && !d.delayed()
}

// Answer is the player's answer to Question; it reports whether there was one. An accepted offer is put to the others;
// a declined one is not made again.
func (d *Driver[S, W]) Answer(accept bool) bool {
	answered := d.s.Answer(accept)
	if t, ok := d.accord.Asked(); ok {
		d.accord.Answer(accept)
		if t.Mode == quality.Delay {
			d.said, d.accepts = true, accept
		} else {
			d.refused[t.Mode] = !accept
		}
		return true
	}
	return answered
}

// decided is what the player said about delay mode. There is one question about it, whoever puts it first.
func (d *Driver[S, W]) decided() (accepts, ok bool) {
	switch d.s.ladder.Offer() {
	case quality.Accepted:
		return true, true
	case quality.Declined:
		return false, true
	}
	return d.accepts, d.said
}

func (d *Driver[S, W]) delayed() bool { return d.s.cfg.Mode == quality.Delay }

// agree takes the accord on before a tick, puts into force what counts from the coming frame on, and reports whether that
// may be stepped.
func (d *Driver[S, W]) agree(now int64) (may bool) {
	if d.windowIn--; d.windowIn > 0 && d.s.ladder.Offer() == quality.Playing && d.accord.Rests() {
		return true
	}
	if t, changed := d.negotiate(now); changed {
		d.adopt(t)
	}
	return !d.accord.Hold(d.s.cur + 1)
}

func (d *Driver[S, W]) negotiate(now int64) (t accord.Terms, changed bool) {
	d.wish()
	d.accord.SetOffer(d.s.ladder.Offer())
	trip := int64(0)
	for _, l := range d.links {
		trip = max(trip, l.sync.RoundTrip())
	}
	return d.accord.Step(now, d.s.cur, int(d.links[0].frames(trip)))
}

// wish asks for, or answers, what follows from what the player said before and from what was measured.
func (d *Driver[S, W]) wish() {
	if accepts, decided := d.decided(); decided {
		d.s.Answer(accepts)
		if t, ok := d.accord.Asked(); ok && t.Mode == quality.Delay {
			d.accord.Answer(accepts)
		}
	}
	if t, ok := d.accord.Asked(); ok && d.refused[t.Mode] {
		d.accord.Answer(false)
	}
	t := d.accord.Terms()
	if !d.asked && d.s.ladder.Offer() == quality.Accepted && !d.delayed() {
		t.Mode = quality.Delay
		d.asked = d.accord.Ask(t)
		return
	}
	if d.windowIn > 0 {
		return
	}
	d.windowIn = windowSpan
	stalls := d.s.stalls - d.stallsSeen
	d.stallsSeen = d.s.stalls
	deepest := min(d.accord.Limit(), d.cfg.DeepestWindowFrames)
	if d.delayed() || stalls < windowNeed || deepest <= int(t.Window) {
		return
	}
	t.Window = uint8(min(int(t.Window)+windowStep, deepest))
	if d.accord.Ask(t) {
		d.windowIn = windowPause
	}
}

// adopt puts terms into force before the frame from which they count.
func (d *Driver[S, W]) adopt(t accord.Terms) {
	d.s.SetMode(t.Mode)
	d.s.SetWindow(int(t.Window))
	if t.Mode == quality.Rollback && d.cfg.Delay == DelayByMode {
		d.s.SetInputDelay(d.cfg.InputDelay)
	}
	d.tuner = tuner{}
	d.tuneByPolicy()
}

// tuneByPolicy is called once a tick.
func (d *Driver[S, W]) tuneByPolicy() {
	if d.cfg.Delay == DelayAuto || d.cfg.Delay == DelayByMode && d.s.cfg.Mode != quality.Rollback {
		d.tune()
	}
}

// Spent tells how long the last Tick took, in nanoseconds, by a clock of the owner's. From it follows how deep a window
// the simulation affords, which the others are told: as many frames as are stepped again in half a tick, and the new
// one. Without it, and with a DeepestWindowFrames of 0, the window never grows.
func (d *Driver[S, W]) Spent(nanos int64, r *Result) {
	if r == nil {
		return
	}
	steps := int64(r.Resimulated)
	if r.Advanced {
		steps++
	}
	if steps == 0 || nanos < 0 {
		return
	}
	cost := nanos * costScale / steps
	if d.costSeen == 0 {
		d.cost, d.costSpread = cost, cost/2
	}
	off := cost - d.cost
	d.cost += off / 32
	d.costSpread += (max(off, -off) - d.costSpread) / 32
	if d.costSeen++; d.costSeen%costEvery == 0 {
		d.accord.SetLimit(d.Affords())
	}
}

const (
	costScale = 16  // fractions of a nanosecond kept
	costEvery = 120 // ticks between two looks at how deep a window is afforded
)

// Affords is the deepest window, 1 to MaxWindow, that the measured cost of a frame allows, four spreads counted in.
func (d *Driver[S, W]) Affords() int {
	if d.costSeen < costEvery {
		return d.s.cfg.PredictionWindowFrames
	}
	half := int64(500_000_000*costScale) / int64(d.cfg.SimulationHz)
	return int(min(max(half/max(d.cost+4*d.costSpread, 1)-1, 1), MaxWindow))
}
