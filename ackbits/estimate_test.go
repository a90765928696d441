package ackbits

import (
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"
)

func near(t *testing.T, name string, got, want, tolerance float64) {
	t.Helper()
	if math.Abs(got-want) > tolerance {
		t.Errorf("%s = %g, want %g ± %g", name, got, want, tolerance)
	}
}

func float(r Ratio) float64 { return float64(r) / float64(One) }

// The fixed-point means follow the floating-point ones they stand for.
func TestLossMeansAgainstFloat(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var l Loss
	var fast, slow, after float64
	prev := false
	for i := range 20_000 {
		p := 0.02
		if i/4000%2 == 1 {
			p = 0.3
		}
		lost := rng.Float64() < p
		x := 0.0
		if lost {
			x = 1
		}
		fast += (x - fast) / 128
		slow += (x - slow) / 512
		if prev {
			after += (x - after) / 32
		}
		prev = lost
		l.Observe(lost)
		if math.Abs(float(l.Fast())-fast) > 1e-6 || math.Abs(float(l.Slow())-slow) > 2e-6 || math.Abs(float(l.AfterLoss())-after) > 1e-6 {
			t.Fatalf("packet %d: %g %g %g, want %g %g %g", i, float(l.Fast()), float(l.Slow()), float(l.AfterLoss()), fast, slow, after)
		}
		if l.Mean() != max(l.Fast(), l.Slow()) {
			t.Fatal("Mean is not the larger")
		}
	}
}

// q tells random loss from bursts of the same rate.
func TestAfterLossAndBurstLength(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	var random, bursty Loss
	var q, b, n float64
	for i := range 400_000 {
		random.Observe(rng.Float64() < 0.06)
		bursty.Observe(i%100 < 6)
		if i > 10_000 {
			q, b, n = q+float(random.AfterLoss()), b+float(bursty.AfterLoss()), n+1
		}
	}
	near(t, "q of random loss", q/n, 0.06, 0.01)
	near(t, "q of bursts of six", b/n, 5.0/6, 0.02)
	near(t, "mean burst of random loss", float64(random.BurstMilli()), 1064, 150)
	if bursty.BurstMilli() != 6000 || bursty.LongestBurst() != 6 || bursty.Bursts() != 4000 || bursty.Lost() != 24_000 || bursty.Observed() != 400_000 {
		t.Errorf("bursts of six: %+v", bursty)
	}
	var none Loss
	if none.BurstMilli() != 0 || none.Mean() != 0 {
		t.Error("the zero value has an estimate")
	}
}

func TestLoseMany(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var a, b Loss
		n := rapid.Uint64Range(0, 6000).Draw(t, "n")
		a.LoseMany(n)
		a.Observe(false)
		for range n {
			b.Observe(true)
		}
		b.Observe(false)
		if a.Lost() != b.Lost() || a.Observed() != b.Observed() || a.BurstMilli() != b.BurstMilli() || a.LongestBurst() != b.LongestBurst() {
			t.Fatalf("%+v\n%+v", a, b)
		}
		if d := float(b.Slow()) - float(a.Slow()); d < 0 || d > 5e-4 {
			t.Fatalf("slow differs by %g", d)
		}
	})
}

func TestRatio(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ppm := rapid.Uint32Range(0, 1_200_000).Draw(t, "ppm")
		r := RatioPPM(ppm)
		if got := r.PPM(); got != min(ppm, 1_000_000) {
			t.Fatalf("%d ppm became %d", ppm, got)
		}
		n := rapid.IntRange(0, 24).Draw(t, "n")
		want := math.Pow(float(r), float64(n))
		if got := float(r.Pow(n)); got > want+1e-12 || want-got > 24.0/float64(One) {
			t.Fatalf("%g^%d = %g, want %g", float(r), n, got, want)
		}
	})
	if One.Pow(1000) != One || Ratio(0).Pow(3) != 0 || Ratio(5).Pow(-1) != One || One.Mul(One) != One {
		t.Error("edges of Pow")
	}
}

func TestRTTAgainstRFC6298(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	var r RTT
	if r.Smoothed() != 0 || r.Min() != 0 || r.Timeout() != 0 || r.Jitter() != 0 || r.Samples() != 0 {
		t.Error("the zero value has an estimate")
	}
	var srtt, rttvar, jitter float64
	prev := int64(-1)
	for i := range int64(3000) {
		rtt := 80_000 + rng.Int64N(30_000)
		if !r.Sample(i*16_667, rtt) {
			t.Fatal("refused")
		}
		if i == 0 {
			srtt, rttvar = float64(rtt), float64(rtt)/2
		} else {
			err := float64(rtt) - srtt
			rttvar += (math.Abs(err) - rttvar) / 4
			srtt += err / 8
			jitter += (math.Abs(float64(rtt-prev)) - jitter) / 16
		}
		prev = rtt
		if math.Abs(float64(r.Smoothed())-srtt) > 10 || math.Abs(float64(r.Variance())-rttvar) > 10 || math.Abs(float64(r.Jitter())-jitter) > 10 {
			t.Fatalf("sample %d: %d %d %d, want %.0f %.0f %.0f", i, r.Smoothed(), r.Variance(), r.Jitter(), srtt, rttvar, jitter)
		}
		if r.Last() != rtt {
			t.Fatal("last")
		}
	}
	near(t, "timeout", float64(r.Timeout()), srtt+4*rttvar, 50)
	var steady RTT
	for i := range int64(200) {
		steady.Sample(i*16_667, 40_000)
	}
	if steady.Timeout() != 40_000+granularity || steady.Jitter() != 0 || steady.Smoothed() != 40_000 {
		t.Errorf("steady: timeout %d jitter %d", steady.Timeout(), steady.Jitter())
	}
}

// The minimum follows a longer route within ten seconds and a shorter one at once.
func TestMinimumForgets(t *testing.T) {
	var r RTT
	now := int64(0)
	feed := func(seconds int64, rtt int64) {
		for end := now + seconds*1_000_000; now < end; now += 16_667 {
			r.Sample(now, rtt)
		}
	}
	feed(12, 40_000)
	feed(4, 90_000)
	if r.Min() != 40_000 {
		t.Errorf("after 4 s: %d", r.Min())
	}
	feed(7, 90_000)
	if r.Min() != 90_000 {
		t.Errorf("after 11 s: %d", r.Min())
	}
	feed(1, 30_000)
	if r.Min() != 30_000 {
		t.Errorf("shorter: %d", r.Min())
	}
	now += 60_000_000
	feed(1, 70_000)
	if r.Min() != 70_000 {
		t.Errorf("after a minute of silence: %d", r.Min())
	}
}

func TestSamplesThatCannotBe(t *testing.T) {
	var r RTT
	r.Sample(0, 50_000)
	before := r
	for _, bad := range []int64{-1, MaxRTT + 1, math.MinInt64, math.MaxInt64} {
		if r.Sample(1, bad) || r != before {
			t.Errorf("sample %d was believed", bad)
		}
	}
}

// WIRE-20: a constant delay has no jitter, whatever the offset of the clocks.
func TestJitterIsApartFromDelay(t *testing.T) {
	for _, offset := range []int64{0, 80_000, -1 << 60, 1 << 60} {
		var j Jitter
		for range 100 {
			j.Observe(offset)
		}
		if j.Mean() != 0 {
			t.Errorf("offset %d: jitter %d", offset, j.Mean())
		}
		for i := range int64(400) {
			j.Observe(offset + i%2*3000)
		}
		near(t, "jitter of ±3 ms", float64(j.Mean()), 3000, 20)
	}
	var j Jitter
	for _, d := range []int64{math.MinInt64, math.MaxInt64, math.MinInt64} {
		j.Observe(d)
	}
	if j.Mean() <= 0 || j.Mean() > MaxRTT {
		t.Errorf("overflow: %d", j.Mean())
	}
}
