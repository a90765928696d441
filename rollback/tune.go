package rollback

import "backstep/rollback/quality"

const (
	tuneEvery  = 8    // ticks between looks at what the links measure
	lowerAfter = 600  // ticks in a row that a smaller delay must do before the delay is lowered by a frame
	lateSpan   = 120  // ticks over which the others' waits are counted
	lateMost   = 4    // waits of another in that time that are taken as late inputs of this side's
	extraMost  = 3    // frames of delay against them
	extraHold  = 1800 // ticks without before one such frame is given back
	roundTrips = 8    // round trips by acknowledgements before they are believed
)

// tuner keeps the input delay at what the mode wants on the links as they are (see DelayPolicy). It raises it at once
// and lowers it late, since each change is felt.
type tuner struct {
	until int // ticks until the next look
	lower int // ticks for which a smaller delay would have done
	extra int // frames added because others waited for this side in delay mode
	calm  int // ticks since the last time
	late  int // ticks until waits are counted again
	waits int64
}

// tune is called once a tick.
func (d *Driver[S, W]) tune() {
	t := &d.tuner
	if t.until--; t.until > 0 {
		return
	}
	t.until = tuneEvery
	figures, ok := d.Figures()
	if !ok {
		return
	}
	want := quality.AutoDelay(d.s.cfg.Mode, figures, d.cfg.SimulationHz)
	if d.s.cfg.Mode == quality.Delay {
		want = min(want+d.lateness(), MaxInputDelay)
	} else {
		t.extra = 0
	}
	switch have := d.s.InputDelay(); {
	case want > have:
		d.s.SetInputDelay(want)
		t.lower = 0
	case want == have:
		t.lower = 0
	default:
		if t.lower += tuneEvery; t.lower >= lowerAfter {
			d.s.SetInputDelay(have - 1)
			t.lower = 0
		}
	}
}

// lateness is how many frames to add because another side had to wait too often.
func (d *Driver[S, W]) lateness() int {
	t := &d.tuner
	t.late -= tuneEvery
	t.calm += tuneEvery
	if t.late > 0 {
		return t.extra
	}
	t.late = lateSpan
	var waits int64
	for _, l := range d.links {
		waits += l.waited
	}
	since := waits - t.waits
	t.waits = waits
	switch {
	case since >= lateMost:
		t.extra, t.calm = min(t.extra+1, extraMost), 0
	case t.calm >= extraHold:
		t.extra, t.calm = max(t.extra-1, 0), 0
	}
	return t.extra
}

// Figures are those of the worst link, by what was measured since the start; ok is false while there is too little.
func (d *Driver[S, W]) Figures() (f quality.Figures, ok bool) {
	for _, l := range d.links {
		trip, jitter := l.RoundTrip()
		if rtt := l.sent.RTT(); trip == 0 && rtt.Samples() >= roundTrips {
			// Acknowledgements wait for the other side's next tick, half of one in the mean.
			trip, jitter = max(rtt.Min()-d.ticksMicros(1)/2, 0), 0
		} else if trip == 0 {
			continue
		}
		loss := max(int64(l.sent.Loss().Mean().PPM()), int64(uint64(l.rawLoss)*1_000_000>>16))
		f.RTT, f.Jitter, f.Loss, ok = max(f.RTT, trip), max(f.Jitter, jitter), max(f.Loss, loss), true
	}
	return f, ok
}
