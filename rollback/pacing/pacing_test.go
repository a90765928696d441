package pacing

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

const tick = 16_667

// S-02: the offset is half the mean of the middle third of the last 30 samples, whatever their order.
func TestOffsetIsTheMiddleThird(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var e Estimator
		var all []int64
		for range rapid.IntRange(0, 80).Draw(t, "samples") {
			mine := rapid.Int64Range(-600_000, 600_000).Draw(t, "mine")
			theirs := rapid.Int64Range(-3, 3).Draw(t, "theirs")
			e.Add(mine, theirs)
			all = append(all, mine-theirs)
			last := slices.Clone(all[max(len(all)-30, 0):])
			slices.Sort(last)
			got, ok := e.Offset()
			n := len(last)
			if ok != (n >= 10) {
				t.Fatalf("%d samples: ok %v", n, ok)
			}
			if !ok {
				continue
			}
			var sum int64
			for _, d := range last[n/3 : n-n/3] {
				sum += d
			}
			if want := sum / int64(2*(n-n/3-n/3)); got != want {
				t.Fatalf("offset %d, want %d", got, want)
			}
		}
	})
}

// Outliers of a third of the samples do not move the offset.
func TestOffsetIgnoresOutliers(t *testing.T) {
	var e Estimator
	for i := range 30 {
		theirs := int64(40_000)
		if i%4 == 0 {
			theirs -= 500_000
		}
		e.Add(44_000, theirs)
	}
	if got, _ := e.Offset(); got != 2000 {
		t.Errorf("offset %d, want 2000", got)
	}
}

// The round trip is the sum of the two lags, and both follow slowly.
func TestRoundTrip(t *testing.T) {
	var e Estimator
	if e.RoundTrip() != 0 || e.Jitter() != 0 {
		t.Error("not zero before a sample")
	}
	e.Add(50_000, 30_000)
	if e.RoundTrip() != 80_000 || e.Jitter() != 0 {
		t.Errorf("first sample: %d %d", e.RoundTrip(), e.Jitter())
	}
	for i := range 2000 {
		e.Add(60_000+int64(i%2)*20_000, 50_000)
	}
	if r := e.RoundTrip(); r < 119_000 || r > 121_000 {
		t.Errorf("round trip %d, want 120 ms", r)
	}
	if j := e.Jitter(); j < 4000 || j > 6000 {
		t.Errorf("jitter %d, want about 5 ms", j)
	}
}

// settled is a pacer after so many ticks at a constant offset.
func settled(player, window int, ticks int, offset, trip int64) *Pacer {
	p := New(60, player, 2, false)
	p.Sampled(0)
	p.halted = true
	for i := range ticks {
		p.Update(int64(i)*tick, true, window, offset, trip, 0)
	}
	return &p
}

// Architecture "Pacing": the proportional part is at most +1 % or -0.5 % up to two frames off, and 5 % from three on.
func TestProportionalLimits(t *testing.T) {
	for _, c := range []struct {
		offset int64
		low    int64 // rate bounds, parts per billion off nominal
		high   int64
	}{
		{-2000, 3_000_000, 3_050_000},
		{2000, -3_050_000, -3_000_000},
		{-20_000, 10_000_000, 10_400_000},
		{20_000, -5_400_000, -5_000_000},
		{-41_666, 29_500_000, 31_000_000}, // two and a half frames: half way from 1 to 5 %
		{-90_000, 50_000_000, 50_400_000},
		{90_000, -50_400_000, -50_000_000},
	} {
		p := settled(0, 8, 1, c.offset, 66_000)
		if r := p.Rate() - One; r < c.low || r > c.high {
			t.Errorf("%d µs ahead: rate %+d, want %+d to %+d", c.offset, r, c.low, c.high)
		}
	}
}

// The whole never leaves ±6 %, the integral ±5 %, and the gains are the same both ways.
func TestRateLimits(t *testing.T) {
	fast, slow := settled(0, 8, 100_000, -90_000, 66_000), settled(0, 8, 100_000, 90_000, 66_000)
	if fast.Rate() != One+totalLimit || slow.Rate() != One-totalLimit {
		t.Errorf("rates %d and %d", fast.Rate(), slow.Rate())
	}
	if fast.Drift() != -slow.Drift() || fast.Drift() > integralLimit {
		t.Errorf("integral %d and %d", fast.Drift(), slow.Drift())
	}
}

// The integral leaks with a time constant of 30 s.
func TestIntegralLeaks(t *testing.T) {
	p := settled(0, 8, 600, -30_000, 66_000)
	before := p.Drift()
	for i := range 60 * 30 {
		p.Update(int64(i)*tick, true, 8, 0, 66_000, 0)
	}
	if after := p.Drift() * 1000 / before; after < 360 || after > 376 {
		t.Errorf("after 30 s %d ‰ are left, want 368", after)
	}
}

// Integration pauses for a second after a stall or a gap.
func TestIntegralIsHeldAfterADisturbance(t *testing.T) {
	p := settled(0, 8, 1, 0, 66_000)
	p.Disturb(1_000_000)
	p.Update(1_999_999, true, 8, -10_000, 66_000, 0)
	if p.Drift() != 0 {
		t.Errorf("learned %d during the hold", p.Drift())
	}
	p.Update(2_000_000, true, 8, -10_000, 66_000, 0)
	if p.Drift() == 0 {
		t.Error("still held after a second")
	}
	q := settled(0, 8, 1, 0, 66_000)
	q.Sampled(150_000)
	q.Update(160_000, true, 8, -10_000, 66_000, 0)
	if q.Drift() == 0 {
		t.Error("a gap of 150 ms counts as one")
	}
	q.Sampled(300_001)
	before := q.Drift()
	q.Update(310_000, true, 8, -10_000, 66_000, 0)
	if q.Drift() > before {
		t.Error("a gap of more than 150 ms does not count")
	}
	// A tick that does not advance runs at the drift alone.
	r := settled(0, 8, 100, -10_000, 66_000)
	r.Update(2_000_000, false, 8, -10_000, 66_000, 0)
	if r.Rate() != One+r.Drift() {
		t.Errorf("rate %d on a stalled tick, drift %d", r.Rate(), r.Drift())
	}
}

// Phase: half a tick apart for an odd round trip, after 60 ticks of agreement, unless the window is short or there are
// more than two players.
func TestPhase(t *testing.T) {
	for _, c := range []struct {
		name            string
		player, players int
		window          int
		trip            int64
		want            int64
	}{
		{"RTT 80, player 0", 0, 2, 8, 80_000, tick / 2},
		{"RTT 80, player 1", 1, 2, 8, 80_000, -(tick / 2)},
		{"RTT 60 is four ticks", 0, 2, 8, 60_000, 0},
		{"RTT 150 with its margin is ten ticks", 0, 2, 8, 150_000, 0},
		{"RTT 149 is nine ticks", 0, 2, 8, 149_000, tick / 2},
		{"RTT 144 is nine ticks and fits", 0, 2, 8, 144_000, tick / 2},
		{"RTT 180 is eleven ticks and does not", 0, 2, 8, 180_000, 0},
		{"RTT 180 with a deeper window", 0, 2, 9, 180_000, tick / 2},
		{"three players", 0, 3, 8, 80_000, 0},
	} {
		p := New(60, c.player, c.players, false)
		p.Sampled(0)
		p.halted = true
		for i := range 60 {
			p.Update(int64(i)*tick, true, c.window, 0, c.trip, 0)
			if p.Aim() != 0 {
				t.Fatalf("%s: changed after %d ticks", c.name, i+1)
			}
		}
		p.Update(60*tick, true, c.window, 0, c.trip, 0)
		if got := p.Aim(); got < c.want-1 || got > c.want+1 {
			t.Errorf("%s: aim %d, want %d", c.name, got, c.want)
		}
	}
}

// Halting: once, within a second of the first sample, if more than one and a half ticks ahead.
func TestHalting(t *testing.T) {
	run := func(first, now, offset int64) (n int) {
		p := New(60, 0, 2, false)
		p.Sampled(first)
		p.Update(now, true, 8, offset, 66_000, 0)
		for p.Halt() {
			n++
		}
		p.Update(now+tick, true, 8, 200_000, 66_000, 0)
		if p.Halt() {
			t.Error("halted a second time")
		}
		return n
	}
	for _, c := range []struct {
		offset, after int64
		want          int
	}{{25_000, 500_000, 0}, {25_100, 500_000, 2}, {100_000, 500_000, 6}, {100_000, 999_999, 6}, {100_000, 1_000_000, 0}, {-100_000, 0, 0}} {
		if got := run(7_000_000, 7_000_000+c.after, c.offset); got != c.want {
			t.Errorf("%d µs ahead after %d µs: %d ticks, want %d", c.offset, c.after, got, c.want)
		}
	}
}

// Brake: within two frames of the window and at least three above normal depth, 10 % slow.
func TestBrake(t *testing.T) {
	for _, c := range []struct {
		lead, window int
		lag          int64
		want         bool
	}{{6, 8, 40_000, true}, {5, 8, 40_000, false}, {6, 8, 50_001, false}, {6, 8, 50_000, true}, {8, 8, 83_000, true}, {10, 12, 40_000, true}, {9, 12, 40_000, false}} {
		p := settled(0, c.window, 1, 0, 66_000)
		p.Brake(c.lead, c.window, c.lag)
		if got := p.Rate() == brakeRate; got != c.want {
			t.Errorf("lead %d of %d at a lag of %d: braking %v", c.lead, c.window, c.lag, got)
		}
		p.Brake(0, c.window, c.lag)
		if p.Rate() == brakeRate {
			t.Error("the brake stuck")
		}
	}
}

// An interval is the nominal tick over the rate, to the picosecond.
func TestInterval(t *testing.T) {
	for _, c := range []struct {
		hz   int
		rate int64
		want int64
	}{{60, One, 16_666_666_666}, {60, One * 2, 8_333_333_333}, {25, One, 40_000_000_000}, {60, One - 6*percent, 17_730_496_453}} {
		p := New(c.hz, 0, 2, false)
		p.rate = c.rate
		if got := p.Interval(); got != c.want {
			t.Errorf("%d Hz at %d: %d, want %d", c.hz, c.rate, got, c.want)
		}
	}
	p := New(60, 0, 2, true)
	p.Sampled(0)
	for i := range 100 {
		p.Update(int64(i)*tick, true, 8, 80_000, 66_000, 0)
		p.Brake(8, 8, 0)
	}
	if p.Rate() != One || p.Halt() {
		t.Error("a pacer that is to keep still does not")
	}
}

// Two clocks that drift apart by up to 5 % are brought level and kept there, with the aim between them.
func TestTwoPacersMeet(t *testing.T) {
	for _, drift := range []float64{-0.05, -0.01, 0, 0.001, 0.05} {
		p := [2]Pacer{New(60, 0, 2, false), New(60, 1, 2, false)}
		next := [2]float64{0, 30_000}
		n := [2]float64{}
		speed := [2]float64{1, 1 + drift}
		for n[0] < 60*60 {
			i := 0
			if next[1] < next[0] {
				i = 1
			}
			// How far i is ahead: ticks made more, less the time since the other's last one.
			j := 1 - i
			ahead := (n[i]-n[j])*tick - (next[i] - (next[j] - tick/speed[j])) + tick
			p[i].Sampled(int64(next[i]))
			p[i].halted = true
			p[i].Update(int64(next[i]), true, 8, int64(ahead), 80_000, 0)
			n[i]++
			next[i] += float64(p[i].Interval()) / 1e6 / speed[i]
		}
		rates := float64(p[0].Rate()) / (float64(p[1].Rate()) * speed[1])
		if rates < 0.999 || rates > 1.001 {
			t.Errorf("drift %v: rates differ by a factor of %v", drift, rates)
		}
		if e := p[0].offset - p[0].Aim(); e < -1500 || e > 1500 {
			t.Errorf("drift %v: %d µs from the aim", drift, e)
		}
	}
}

func TestNothingAllocates(t *testing.T) {
	var e Estimator
	p := New(60, 0, 2, false)
	i := int64(0)
	if n := testing.AllocsPerRun(1000, func() {
		i++
		e.Add(40_000+i*7919%1000, 40_000)
		p.Sampled(i * tick)
		o, _ := e.Offset()
		p.Update(i*tick, true, 8, o, e.RoundTrip(), e.Jitter())
		p.Brake(3, 8, 40_000)
		p.Interval()
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
