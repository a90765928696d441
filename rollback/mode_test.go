package rollback

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"backstep/rollback/quality"
)

func inMode(m quality.Mode) func(int, *Config) {
	return func(_ int, c *Config) { c.Mode, c.Delay = m, DelayByMode }
}

// MODE-01, LOCK-23, S-01: in delay mode nothing is ever predicted. A side runs a frame when all inputs of it are there and not before,
// so it stalls instead of rolling back, and what comes out is what an undisturbed game gives.
func TestDelayModeNeverPredicts(t *testing.T) {
	for _, x := range []faults{{delay: 40_000}, {delay: 60_000, jitter: 30_000, loss: 10, dup: 3, reorder: 3}} {
		for _, delay := range []int{0, 2, 6} {
			m := duel(t, 3, x, func(_ int, c *Config) { c.Mode, c.InputDelay = quality.Delay, delay })
			for _, p := range m.peers {
				p.onTick = func(p *testPeer, _ int64) {
					if p.s.Frame() > p.s.Confirmed() {
						t.Fatalf("frame %d ran, confirmed %d", p.s.Frame(), p.s.Confirmed())
					}
				}
			}
			m.mustRun(t, 600, 80_000_000)
			for _, p := range m.peers {
				if st := p.Stats().Session; st.Rollbacks != 0 || st.Resimulated != 0 || delay == 0 && st.Stalls == 0 {
					t.Errorf("delay %d: %+v", delay, st)
				}
			}
		}
	}
}

// S-01, LOCK-27: with the automatic delay, delay mode runs at 60 Hz on links of any length, after a start in which the
// delay is found in the first second, with hardly a stall.
func TestDelayModeRunsAtFullRate(t *testing.T) {
	for _, c := range []struct {
		x      faults
		stalls int64 // in the last 50 s of a side
		most   int   // frames of delay
	}{
		{faults{delay: 5_000}, 0, 2},
		{faults{delay: 40_000}, 0, 4},
		{faults{delay: 100_000}, 0, 8},
		{faults{delay: 75_000, jitter: 20_000}, 10, 9},
		{faults{delay: 40_000, loss: 5}, 30, 7},
	} {
		t.Run(fmt.Sprintf("%+v", c.x), func(t *testing.T) {
			m := duel(t, 5, c.x, inMode(quality.Delay))
			reset := false
			for _, p := range m.peers {
				p.onTick = func(_ *testPeer, now int64) {
					if now > 10_000_000 && !reset {
						reset = true
						for _, p := range m.peers {
							p.ResetStats()
						}
					}
				}
			}
			const frames = 59 * 60
			m.mustRun(t, frames, 60_000_000)
			for _, p := range m.peers {
				st := p.Stats().Session
				if st.Stalls > c.stalls || st.Rollbacks != 0 || p.s.InputDelay() > c.most {
					t.Errorf("player %d: %d stalls, delay %d, %d rollbacks", p.cfg.Local, st.Stalls, p.s.InputDelay(), st.Rollbacks)
				}
			}
		})
	}
}

// S-01: hybrid is rollback with 1 to 4 frames of delay, so that the depth stays at 4 in the mean where 4 suffice.
func TestHybridKeepsDepthDown(t *testing.T) {
	for _, c := range []struct {
		delay int64
		want  int
	}{{30_000, 1}, {100_000, 3}, {130_000, 4}} {
		m := duel(t, 9, faults{delay: c.delay}, inMode(quality.Hybrid))
		m.mustRun(t, 1800, 40_000_000)
		for _, p := range m.peers {
			st := p.Stats()
			depth := st.Session.Depth.MeanMilli()
			if p.s.InputDelay() != c.want || depth > 4500 {
				t.Errorf("one way %d µs: delay %d, want %d, depth %d/1000", c.delay, p.s.InputDelay(), c.want, depth)
			}
		}
	}
}

// X-28, QUAL-13: two to four players change mode, window and delay at any time, each on their own, under every fault there
// is: no word is lost or repeated, histories agree, nothing hangs.
func TestModesChangeInARunningMatch(t *testing.T) {
	for seed := range uint64(300) {
		m, calm, _, err := randomMatch(seed)
		if err != nil {
			t.Fatal(err)
		}
		rng := rand.New(rand.NewPCG(seed, 77))
		for _, p := range m.peers {
			p.onTick = func(p *testPeer, now int64) {
				if now > calm || rng.IntN(20) != 0 {
					return
				}
				switch rng.IntN(3) {
				case 0:
					p.s.SetMode(quality.Mode(rng.IntN(3)))
				case 1:
					p.s.SetWindow(1 + rng.IntN(MaxWindow))
				default:
					p.s.SetInputDelay(rng.IntN(8))
				}
			}
		}
		const frames = 120
		if err := m.run(frames, calm+4_000_000+frames*300_000); err != nil {
			t.Errorf("seed %d: %v", seed, err)
		} else if err := m.check(frames); err != nil {
			t.Errorf("seed %d: %v", seed, err)
		}
	}
}
