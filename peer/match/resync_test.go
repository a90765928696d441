package match

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"backstep/peer/dialog"
	"backstep/peer/setup"
	"backstep/rollback"
	"backstep/rollback/desync"
	"backstep/sim"
)

// wrong is the game on a machine that makes a mistake in one frame: each time it is stepped, or only the first few times.
type wrong struct {
	game
	at    int32
	times *int
}

func (g wrong) Step(w *World, in []rollback.Input[uint16], p rollback.Policy) {
	g.game.Step(w, in, p)
	if w.Frame() == g.at && *g.times > 0 {
		*g.times--
		words := [2]sim.Input{{Now: sim.LightBit | sim.RightBit}, {Now: sim.LeftBit}}
		again := *w
		again.Step(words[:], sim.Policy(p))
		b := again.AppendState(nil)
		// The frame number, which stands behind the seed, stays what it was.
		copy(b[:12], w.AppendState(nil)[:12])
		if w.ParseState(b) != nil {
			panic("the mistake is no state")
		}
	}
}

// passes is a mistake that is made again and again until the match is held.
const passes = 1 << 20

type planted struct {
	outcomes [2]Outcome
	evidence [2]*desync.Evidence
	words    [2][][2]uint16
}

// plant plays a match in which one side goes wrong at a frame so many times.
func plant(t *testing.T, frames, at int32, who, times int, ranked bool, answer desync.Answer, net network) *planted {
	t.Helper()
	p := &planted{}
	passing := times == passes
	var players [2]player
	for side := range players {
		players[side] = player{
			net:   net,
			offer: func(o *setup.Offer) { o.Ranked = ranked },
			config: func(c *Config) {
				c.Dialog = dialog.New(side == 0)
				c.Build = []string{"build of the host", "build of the guest"}[side]
				c.Accept = func() desync.Answer { return answer }
				if side == who {
					c.flawed = wrong{at: at, times: &times}
				}
				c.Observer.Ticked = func(_ int64, r rollback.Result) {
					if passing && r.Frozen && r.Status == rollback.Recovering {
						times = 0
					}
				}
				c.Observer.Evidence = func(e *desync.Evidence) { p.evidence[side] = e }
				c.Observer.Settled = func(f int32, words [2]uint16, _ *World) {
					if int(f) != len(p.words[side]) {
						t.Fatalf("side %d: frame %d settled after %d others", side, f, len(p.words[side]))
					}
					p.words[side] = append(p.words[side], words)
				}
			},
		}
	}
	d := newDuel(77, frames, players)
	if !d.run(120 * second) {
		for i, l := range d.loops {
			t.Logf("side %d: %+v phase %d round %d result %v", i, l.resync.resolver.Phase(), l.phase, l.resync.resolver.Round(), l.resync.resolver.Result())
		}
		t.Fatal("deadlock")
	}
	p.outcomes[0], p.outcomes[1] = d.outcomes()
	return p
}

func kinds(o Outcome) (k []string) {
	for _, e := range o.Events {
		k = append(k, e.Kind)
	}
	return k
}

// S-04, S-12, LOCK-17, LOCK-18, QUAL-12, MODE-04: a difference planted in one side ends up in the same evidence on both, is repaired by stepping
// again if it does not come back, by the host's state if it does and the guest accepts, and ends the match otherwise.
func TestPlantedDifference(t *testing.T) {
	bad := network{delay: 50_000, jitter: 15_000, loss: 0.1, dup: 0.03}
	for _, c := range []struct {
		name    string
		at      int32
		who     int
		times   int
		ranked  bool
		answer  desync.Answer
		net     network
		end     End
		results string
	}{
		{"a passing one of the guest", 301, 1, passes, false, desync.No, network{delay: 40_000}, EndFrames, "equal again"},
		{"a passing one of the host, bad link", 301, 0, passes, true, desync.No, bad, EndFrames, "equal again"},
		{"in the first frame", 0, 1, passes, false, desync.No, network{delay: 40_000}, EndFrames, "equal again"},
		{"in the last frame", 599, 1, passes, false, desync.No, network{delay: 40_000}, EndFrames, "equal again"},
		{"a lasting one, accepted", 333, 1, 1 << 30, false, desync.Yes, bad, EndFrames, "host's state"},
		{"a lasting one of the host, accepted", 333, 0, 1 << 30, false, desync.Yes, bad, EndFrames, "host's state"},
		{"a lasting one, declined", 333, 1, 1 << 30, false, desync.No, network{delay: 40_000}, EndDesync, "declined"},
		{"a lasting one, ranked", 333, 1, 1 << 30, true, desync.Yes, network{delay: 40_000}, EndDesync, "different again"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := plant(t, 600, c.at, c.who, c.times, c.ranked, c.answer, c.net)
			for side, o := range p.outcomes {
				if o.End != c.end || o.Desyncs < 1 {
					t.Fatalf("side %d: %v (%v), %d desyncs, events %+v", side, o.End, o.Err, o.Desyncs, o.Events)
				}
				if (c.end == EndDesync) != errors.Is(o.Err, ErrDesync) {
					t.Errorf("side %d: error %v", side, o.Err)
				}
				said := false
				for _, e := range o.Events {
					said = said || strings.Contains(e.Text, c.results)
				}
				if !said && !(c.end == EndDesync && slices.Contains(kinds(o), "desync")) {
					t.Errorf("side %d: events %+v", side, o.Events)
				}
				e := p.evidence[side]
				if e == nil || e.Frame != c.at || !e.Exact() || e.Ranked != c.ranked || e.Host != (side == 0) || len(e.Ranges(100)) == 0 {
					t.Fatalf("side %d: evidence %+v", side, e)
				}
				back, err := desync.ParseEvidence(desync.AppendEvidence(nil, e))
				if err != nil || back.Code() != p.evidence[0].Code() || back.Builds[1] != "build of the guest" {
					t.Errorf("side %d: %v", side, err)
				}
				// Whoever has the bundle can tell who was wrong: step the frame from the state before it.
				w := new(World)
				if err := w.ParseState(e.Before); e.Agreed >= 0 && err != nil {
					t.Fatal(err)
				}
				if e.Agreed >= 0 {
					var in [2]sim.Input
					for i := range in {
						k := c.at - e.First
						in[i] = sim.Input{Now: uint16(e.Words[i][k]), Prev: uint16(e.Words[i][k-1])}
					}
					w.Step(in[:], sim.TelemetryOnly)
					if right := 1 - c.who; w.Hash() != e.Hashes[right] || !bytes.Equal(w.AppendState(nil), e.States[right]) {
						t.Error("stepped again from the evidence, neither side is right")
					}
				}
			}
			if c.end == EndFrames {
				a, b := p.outcomes[0], p.outcomes[1]
				if a.FinalHash != b.FinalHash || !slices.Equal(a.Hashes, b.Hashes) || len(p.words[0]) != 600 || !slices.Equal(p.words[0], p.words[1]) {
					t.Errorf("the matches end as %016x and %016x, %d and %d frames", a.FinalHash, b.FinalHash, len(p.words[0]), len(p.words[1]))
				}
			}
		})
	}
}

// S-04: wherever and on whatever link a passing mistake happens, the match ends as if it had not.
func TestPlantedAnywhere(t *testing.T) {
	const frames = 400
	for seed := range uint64(60) {
		rng := rand.New(rand.NewPCG(seed, 8))
		net := network{delay: 10_000 + rng.Int64N(90_000), jitter: rng.Int64N(30_000), loss: float64(rng.IntN(20)) / 100, dup: 0.02}
		if rng.IntN(3) == 0 {
			net.cutFrom, net.cut = 1_000_000+rng.Int64N(6_000_000), rng.Int64N(1_500_000)
		}
		at := rng.Int32N(frames)
		p := plant(t, frames, at, rng.IntN(2), passes, false, desync.No, net)
		a, b := p.outcomes[0], p.outcomes[1]
		if a.End != EndFrames || b.End != EndFrames || a.FinalHash != b.FinalHash || !slices.Equal(p.words[0], p.words[1]) {
			t.Errorf("seed %d, wrong at %d: %v %v\n%+v\n%+v", seed, at, a.Err, b.Err, a.Events, b.Events)
			continue
		}
		for side, e := range p.evidence {
			if e == nil || e.Frame != at {
				t.Errorf("seed %d, side %d: wrong at %d, evidence %+v", seed, side, at, e)
			}
		}
	}
}
