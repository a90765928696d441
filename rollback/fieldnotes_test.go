package rollback

import (
	"math/rand/v2"
	"testing"
)

// netfox#544: 50 ms of jitter, as Wi-Fi has, costs depth and no freeze: nobody is held for three ticks in a row, and nobody sees
// the overlay.
func TestJitterIsNoFreeze(t *testing.T) {
	m := duel(t, 41, faults{delay: 20_000, jitter: 50_000}, nil)
	for _, p := range m.peers {
		p.onTick = func(p *testPeer, _ int64) {
			if p.s.Status() != Running {
				t.Fatalf("player %d at frame %d: %v", p.cfg.Local, p.Frame(), p.s.Status())
			}
		}
	}
	m.mustRun(t, 3600, 80_000_000)
	for i, p := range m.peers {
		if st := p.Stats().Session; st.LongestStall > 2 || st.Frozen != 0 || st.Stalls > 5 {
			t.Errorf("player %d: %d stalls, the longest %d ticks, %d frozen", i, st.Stalls, st.LongestStall, st.Frozen)
		}
	}
}

// SIM-30: where rolling back takes longer than a frame lasts, ticks come later and the match slower, but what is owed never
// piles up: the schedule lags by no more than it makes up for, no tick steps more than the window and a frame, and the other
// side, however fast, is no further ahead than window and input delay. The history stays the one that was played.
func TestNoSpiralOfDeath(t *testing.T) {
	const frames = 1200
	for name, cost := range map[string]int64{"two frames a tick": 9000, "one frame a tick": 15_000, "slower than real time": 20_000} {
		m := duel(t, 3, faults{delay: 50_000, jitter: 10_000}, nil)
		slow := m.peers[0]
		slow.cost = cost
		var latest [2]int64 // in the halves of the match
		long := 0
		slow.onTick = func(p *testPeer, now int64) {
			half := min(1, int(p.Frame())/(frames/2))
			late := p.local(now) - p.Next()
			latest[half] = max(latest[half], late)
			if late > 16_667 {
				long++
			}
			if ahead := m.peers[1].Frame() - p.Frame(); int(ahead) > p.s.cfg.PredictionWindowFrames+p.s.cfg.InputDelay {
				t.Fatalf("%s: the other side is %d frames ahead", name, ahead)
			}
		}
		m.mustRun(t, frames, 120_000_000)
		window := int64(slow.s.cfg.PredictionWindowFrames)
		if most := lateMicros + cost*(window+1); latest[0] > most || latest[1] > most {
			t.Errorf("%s: ticks up to %v µs late, bound %d", name, latest, most)
		}
		if long == 0 {
			t.Errorf("%s: no tick was late", name)
		}
		t.Logf("%s: %d late ticks, %v µs at most in each half, %.1f s", name, long, latest, float64(m.now)/1e6)
	}
}

// GekkoNet#27: three and four players, one link that loses a quarter of its packets both ways, all clocks different: one history. SESS-41.
func TestOneBadLink(t *testing.T) {
	for players := 3; players <= MaxPlayers; players++ {
		cfgs := make([]Config, players)
		starts := make([]int64, players)
		for i := range cfgs {
			cfgs[i] = DefaultConfig()
			cfgs[i].Players, cfgs[i].Local = players, i
			cfgs[i].PredictionWindowFrames, cfgs[i].MaxRollbackFrames = 12, 12
			starts[i] = int64(i) * 5000
		}
		m, err := newTestMatch(rand.New(rand.NewPCG(3, uint64(players))), smallGame{}, cfgs, starts, func(a, b int) faults {
			if a+b == 1 {
				return faults{delay: 40_000, loss: 25}
			}
			return faults{delay: 25_000}
		}, 1<<40)
		if err != nil {
			t.Fatal(err)
		}
		for i, p := range m.peers {
			p.speed = 1 + float64(i)/500
		}
		m.mustRun(t, 3600, 100_000_000)
		for i, p := range m.peers {
			if st := p.Stats().Session; st.Desyncs != 0 || st.Stalls > 60 {
				t.Errorf("%d players, player %d: %d desyncs, %d stalls", players, i, st.Desyncs, st.Stalls)
			}
		}
	}
}
