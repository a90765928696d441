package rollback

import "testing"

// The lag in a packet is the acknowledgement delay in another form: what both sides saw adds up to the round trip, however
// long either waited for its next tick before it answered. The time from sending to acknowledgement holds that wait. WIRE-20.
func TestRoundTripWithoutTheWait(t *testing.T) {
	for _, delay := range []int64{3_000, 11_000, 40_000, 75_000} {
		m := duel(t, 41, faults{delay: delay}, nil)
		m.mustRun(t, 600, 30_000_000)
		for i, p := range m.peers {
			trip, jitter := p.other.RoundTrip()
			if diff := trip - 2*delay; diff > 300 || diff < -300 {
				t.Errorf("%d µs one way: side %d has a round trip of %d µs", delay, i, trip)
			}
			if jitter > 500 {
				t.Errorf("%d µs one way: side %d sees a jitter of %d µs on a steady road", delay, i, jitter)
			}
			if acked := p.other.sent.RTT().Smoothed(); acked < 2*delay || acked > 2*delay+17_000 {
				t.Errorf("%d µs one way: side %d waited %d µs for acknowledgements", delay, i, acked)
			}
		}
	}
}

// Loss that rises with a standing queue is congestion, and a second datagram would lengthen the queue; loss that rises
// while the delay only varies is not, and there it goes on.
func TestCongestionEndsSecondDatagrams(t *testing.T) {
	for _, c := range []struct {
		name         string
		queue        int64
		jitter       int64
		secondsGoOn  bool
		budgetBytes  int
		secondsAtAll bool
	}{
		{"queue", 60_000, 0, false, 6000, true},
		{"jitter", 0, 60_000, true, 6000, true},
		{"neither", 0, 0, true, 6000, true},
		{"no budget", 0, 0, false, 0, false},
	} {
		m := duel(t, 43, faults{delay: 60_000, loss: 10}, func(_ int, cfg *Config) { cfg.SecondBudget = c.budgetBytes })
		until := func(seconds int64) int64 {
			for end := seconds * 1_000_000; m.now < end; {
				if _, err := m.step(end); err != nil {
					t.Fatal(err)
				}
			}
			return m.peers[0].Stats().Link.Second
		}
		if n := until(10); (n > 0) != c.secondsAtAll {
			t.Errorf("%s: %d second datagrams at 10 %% loss", c.name, n)
		}
		for i := range m.links {
			l := m.links[i][1-i]
			l.delay, l.jitter, l.loss = l.delay+c.queue, c.jitter, 30
		}
		before := until(13)
		if n := until(16) - before; (n > 100) != c.secondsGoOn || !c.secondsGoOn && n > 0 {
			t.Errorf("%s: %d second datagrams in three seconds", c.name, n)
		}
	}
}
