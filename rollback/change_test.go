package rollback

import (
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"backstep/rollback/accord"
	"backstep/rollback/quality"
)

// sameTerms fails unless all players stepped every frame under the same terms.
func (m *testMatch) sameTerms(t interface{ Fatalf(string, ...any) }) {
	first := m.peers[0].terms
	for _, p := range m.peers[1:] {
		for f := range min(len(first), len(p.terms)) {
			if p.terms[f] != first[f] {
				t.Fatalf("frame %d under %v, under %v by player %d", f, first[f], p.terms[f], p.cfg.Local)
			}
		}
	}
}

// X-28, QUAL-13, S-01: in matches of two to four players with every fault there is, anybody asks for any mode or window at
// any time and changes delays. All step every frame under the same terms, confirmed histories agree, no word is lost
// or repeated, and nothing hangs.
func TestAgreedChanges(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m, calm, _, err := randomMatch(rapid.Uint64().Draw(t, "seed"))
		if err != nil {
			t.Fatal(err)
		}
		terms := accord.Terms{Mode: quality.Rollback, Window: 8}
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "wishes"), 0))
		for _, p := range m.peers {
			p.s.SetWindow(int(terms.Window))
			p.accord = accord.New(p.cfg.Local, p.cfg.Players, terms)
			p.accord.SetLimit(MaxWindow)
			p.onTick = func(p *testPeer, now int64) {
				if _, ok := p.Question(); ok && rng.IntN(8) == 0 {
					p.Answer(rng.IntN(5) > 0)
				}
				if now > calm {
					return
				}
				if rng.IntN(15) == 0 {
					p.Accord().Ask(accord.Terms{Mode: quality.Mode(rng.IntN(3)), Window: uint8(1 + rng.IntN(MaxWindow))})
				}
				if rng.IntN(20) == 0 {
					p.s.SetInputDelay(rng.IntN(8))
				}
			}
		}
		const frames = 150
		if err := m.run(frames, calm+25_000_000+frames*300_000); err != nil {
			t.Fatal(err)
		}
		if err := m.check(frames); err != nil {
			t.Fatal(err)
		}
		m.sameTerms(t)
	})
}

// SESS-37, QUAL-08 to QUAL-13, X-03, X-28: at RTT 300 the window is used up for 1800 ticks in a row. Both sides are offered
// delay mode, once; both accept; from one frame on both run in delay mode, at 60 Hz, with a delay that covers the way
// and no rollback, and the match of a ranked pair is suspended but not without contest. Nothing changes before.
func TestOfferLeadsToDelayMode(t *testing.T) {
	m := duel(t, 21, faults{delay: 150_000}, func(_ int, c *Config) { c.Delay = DelayByMode })
	var offered [2]int
	var changed [2]int32
	for i, p := range m.peers {
		p.onTick = func(p *testPeer, now int64) {
			if q, ok := p.Question(); ok {
				offered[i]++
				if q.Mode != quality.Delay || p.s.Mode() != quality.Rollback {
					t.Fatalf("asked for %v in %v", q, p.s.Mode())
				}
				p.Answer(true)
			}
			if e, ok := p.Accord().Event(); ok && e.Changed {
				changed[i] = e.Frame
				p.ResetStats()
			}
		}
	}
	m.mustRun(t, 4800, 100_000_000)
	m.sameTerms(t)
	for i, p := range m.peers {
		st := p.Stats()
		if offered[i] != 1 || changed[i] < 1500 || changed[i] != changed[0] {
			t.Errorf("player %d was asked %d times, changed at %d", i, offered[i], changed[i])
		}
		// The delay is raised from 0 at the change: one way of waiting, once.
		if st.Mode != quality.Delay || st.Session.Stalls > 20 || p.s.InputDelay() < 10 || st.Session.Depth.Quantile(990) > 8 {
			t.Errorf("player %d: %v, %d stalls, delay %d", i, st.Mode, st.Session.Stalls, p.s.InputDelay())
		}
		if l := p.s.Ladder(); !l.RankedSuspended() || l.RankedNoContest() {
			t.Errorf("player %d: suspended %v, no contest %v", i, l.RankedSuspended(), l.RankedNoContest())
		}
	}
}

// QUAL-08, QUAL-12: if one player declines, nothing changes, the question is not put again, and a ranked match is one without
// contest on the side that declined.
func TestDeclinedOfferChangesNothing(t *testing.T) {
	m := duel(t, 22, faults{delay: 150_000}, nil)
	var offered [2]int
	for i, p := range m.peers {
		p.onTick = func(p *testPeer, _ int64) {
			if _, ok := p.Question(); ok {
				offered[i]++
				p.Answer(i == 0)
			}
		}
	}
	m.mustRun(t, 3600, 120_000_000)
	for i, p := range m.peers {
		if p.s.Mode() != quality.Rollback || offered[i] != 1 {
			t.Errorf("player %d: %v, asked %d times", i, p.s.Mode(), offered[i])
		}
	}
	if l := m.peers[1].s.Ladder(); !l.RankedNoContest() {
		t.Error("the decline is not without contest")
	}
}

// A side that asks for hybrid mode without end is answered once by the player and by itself from then on.
func TestDeclinedModeIsNotAskedAgain(t *testing.T) {
	m := duel(t, 24, faults{delay: 30_000}, nil)
	asks, asked := 0, 0
	m.peers[1].onTick = func(p *testPeer, _ int64) {
		if p.Accord().Ask(accord.Terms{Mode: quality.Hybrid, Window: 8}) {
			asks++
		}
	}
	m.peers[0].onTick = func(p *testPeer, _ int64) {
		if q, ok := p.Question(); ok {
			asked++
			if q.Mode != quality.Hybrid || !p.Answer(false) {
				t.Fatalf("asked for %v", q)
			}
		}
	}
	m.mustRun(t, 600, 30_000_000)
	if asks < 5 || asked != 1 || m.peers[0].s.Mode() != quality.Rollback {
		t.Errorf("%d wishes, %d questions, %v", asks, asked, m.peers[0].s.Mode())
	}
}

// V-54: bursts of loss stall a window of eight. Where the measured cost of a step affords more on both sides, they agree on
// a deeper one, step by step, and stall less; where one side's does not, the window stays.
func TestDeeperWindowInBursts(t *testing.T) {
	run := func(nanos [2]int64, deepest int) (m *testMatch, late int64) {
		m = duel(t, 23, faults{delay: 40_000, burst: 2, outage: 180_000}, func(_ int, c *Config) { c.DeepestWindowFrames = deepest })
		var at int64
		for i, p := range m.peers {
			p.onTick = func(p *testPeer, now int64) {
				p.Spent(nanos[i], &Result{Advanced: true})
				if now > 150_000_000 && at == 0 {
					at = m.peers[0].stalls + m.peers[1].stalls
				}
			}
		}
		m.mustRun(t, 200*60*8/10, 240_000_000)
		m.sameTerms(t)
		return m, m.peers[0].stalls + m.peers[1].stalls - at
	}
	cheap, slow := int64(50_000), int64(900_000)
	grown, few := run([2]int64{cheap, cheap}, MaxWindow)
	still, many := run([2]int64{cheap, cheap}, 0)
	dear, _ := run([2]int64{cheap, slow}, MaxWindow)
	if w := grown.peers[0].s.Window(); w <= 8 || w != grown.peers[1].s.Window() || few*2 > many {
		t.Errorf("window %d, %d stalls, %d with a window of 8", w, few, many)
	}
	if still.peers[0].s.Window() != 8 || dear.peers[0].s.Window() != 8 || dear.peers[1].Affords() != 8 {
		t.Errorf("windows %d and %d, afforded %d", still.peers[0].s.Window(), dear.peers[0].s.Window(), dear.peers[1].Affords())
	}
	// 16 steps of 1.04 ms are a tick, so half a tick affords seven beside the new frame.
	p := duel(t, 1, faults{}, nil).peers[0]
	for range 40 * costEvery {
		p.Spent(1_040_000, &Result{Advanced: true})
	}
	if p.Affords() != 7 {
		t.Errorf("a step of 1.04 ms affords %d frames", p.Affords())
	}
}
