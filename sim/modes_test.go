package sim

import (
	"math/rand/v2"
	"os"
	"testing"

	"backstep/sim/data"
)

// everyMode calls do for every ruleset and format, as a subtest.
func everyMode(t *testing.T, do func(t *testing.T, rules Ruleset, format Format)) {
	for rules := range Ruleset(data.RulesCount) {
		for format := range formats {
			t.Run(rules.String()+" "+format.String(), func(t *testing.T) { do(t, rules, format) })
		}
	}
}

// busyTape is a tape in which matches move on: buttons come in bursts, tag buttons among them.
func busyTape(seed uint64, frames int) [][2]Input {
	out := tape(seed, frames)
	r := newStream(seed, 9)
	for f := range out {
		for p := range out[f] {
			if r.r.IntN(24) == 0 {
				out[f][p].Now |= [...]uint16{AssistBit, StanceBit, AssistBit | StanceBit, SuperBit, ThrowBit, SpecialBit | DownBit}[r.r.IntN(6)]
			}
		}
		if f > 0 {
			out[f][0].Prev, out[f][1].Prev = out[f-1][0].Now, out[f-1][1].Now
		}
	}
	return out
}

// enrich fills the meters and takes health now and then, so that what they pay for happens and rounds end.
func enrich(w *World, f int) {
	if f%400 != 0 || w.Phase() != Live {
		return
	}
	for i := range int(w.count) {
		x := &w.fighters[i]
		x.SuperMeter, x.Meter, x.Hype, x.Heat = x.MaxSuperMeter, x.MaxSuperMeter, x.MaxHype, x.MaxHeat
		x.Health = min(x.Health, 220)
	}
}

// soak gives the number of frames a property is tried on: the larger one, which makes a million frames a ruleset, with
// BACKSTEP_SOAK=1 in the environment.
func soak(usual, long int) int {
	if os.Getenv("BACKSTEP_SOAK") == "1" {
		return long
	}
	return usual
}

// SIM-01, ATTR-03, HITB-04, TAGT-13: under every ruleset and format, whatever is pressed, everything stays in range, no side is
// favoured, nobody is locked out for long, events fit, and matches end.
func TestRandomPlayEverywhere(t *testing.T) {
	everyMode(t, func(t *testing.T, rules Ruleset, format Format) {
		g := &ring{t: t, r: kit(t)}
		g.reset(rules, format, 5)
		m := g.w.Mirror()
		var busy [MaxFighters]int
		ended := 0
		for f, in := range busyTape(uint64(rules)*10+uint64(format), soak(9000, 250000)) {
			back := [2]Input{{MirrorWord(in[1].Now), MirrorWord(in[1].Prev)}, {MirrorWord(in[0].Now), MirrorWord(in[0].Prev)}}
			enrich(&g.w, f)
			enrich(&m, f)
			g.w.step(g.r, in[:], Emit)
			m.step(g.r, back[:], Emit)
			if err := g.w.valid(g.r); err != nil {
				t.Fatalf("frame %d: %v", g.w.frame, err)
			}
			if want := g.w.Mirror(); !m.Equal(&want) {
				for i := range int(g.w.count) {
					if m.fighters[i] != want.fighters[i] {
						t.Logf("slot %d: %+v\nwant    %+v", i, m.fighters[i], want.fighters[i])
					}
				}
				t.Fatalf("frame %d is not the mirror image\n%+v %+v\n%+v %+v", g.w.frame, m.match, m.teams, want.match, want.teams)
			}
			if g.w.Dropped() > 0 {
				t.Fatalf("frame %d: %d events more than fit", g.w.frame, g.w.Dropped())
			}
			for i := range int(g.w.count) {
				x := &g.w.fighters[i]
				if busy[i]++; g.w.Phase() != Live || x.Action.Neutral() || x.Action == Airborne || x.Place == Bench || (x.Health == 0 && g.w.count > 2) {
					busy[i] = 0
				}
				if busy[i] > 1200 {
					t.Fatalf("slot %d cannot act, frame %d: %+v", i, g.w.frame, x)
				}
			}
			if f%97 == 0 && g.w.Phase() == Live {
				c := g.w
				for k := 0; k < 900 && c.Phase() == Live && !free(&c); k++ {
					c.step(g.r, nil, Emit)
				}
				if c.Phase() == Live && !free(&c) {
					t.Fatalf("frame %d: nobody gets free by doing nothing: %s, %s", g.w.frame, c.fighters[c.point[0]].Action, c.fighters[c.point[1]].Action)
				}
			}
			if g.w.Phase() == PostMatch {
				ended++
				g.reset(rules, format, uint64(f))
				m = g.w.Mirror()
			}
		}
		if format == Format1v1 && ended == 0 {
			t.Error("no match ended")
		}
	})
}

// free tells whether both points can do anything.
func free(w *World) bool {
	return w.fighters[w.point[0]].Action.Neutral() && w.fighters[w.point[1]].Action.Neutral()
}

// SIM-27: under every ruleset and format, what is not saved changes nothing.
func TestPoisonEverywhere(t *testing.T) {
	everyMode(t, func(t *testing.T, rules Ruleset, format Format) {
		g := &ring{t: t, r: kit(t)}
		g.reset(rules, format, 9)
		r := rand.New(rand.NewPCG(uint64(rules), uint64(format)))
		for f, in := range busyTape(500+uint64(rules)*10+uint64(format), 1500) {
			enrich(&g.w, f)
			poisoned := g.w
			poison(&poisoned, r)
			g.w.step(g.r, in[:], Emit)
			poisoned.step(g.r, in[:], Emit)
			if poisoned.Hash() != g.w.Hash() || poisoned.out != g.w.out {
				t.Fatalf("frame %d: unsaved memory changed the result", g.w.frame)
			}
		}
	})
}

// SIM-25, SNAP-13, SNAP-14, SNAP-15, SNAP-16, SNAP-17, HITB-10, MST-18: under every ruleset and format, going back to any frame
// through the encoding and playing on gives the straight play, and the three policies the same states.
func TestRestoreAndReplayEverywhere(t *testing.T) {
	everyMode(t, func(t *testing.T, rules Ruleset, format Format) {
		const frames = 1600
		g := &ring{t: t, r: kit(t)}
		g.reset(rules, format, 7)
		in := busyTape(90+uint64(rules)*10+uint64(format), frames)
		worlds := make([]World, frames)
		for f := range in {
			g.w.step(g.r, in[f][:], Policy(f%3))
			worlds[f] = g.w
		}
		for f := 0; f < frames; f += 37 {
			b := worlds[f].AppendState(nil)
			if n := BytesPerFighter(len(b), worlds[f].Fighters()); n > DefaultSnapshotBudget || len(b) > encodedMost {
				t.Fatalf("%d bytes a fighter, %d in all", n, len(b))
			}
			var back World
			if err := back.parse(g.r, b); err != nil {
				t.Fatalf("frame %d: %v", f, err)
			}
			if !back.Equal(&worlds[f]) || back.Hash() != worlds[f].Hash() {
				t.Fatalf("frame %d does not survive its encoding", f)
			}
			for k := f + 1; k < min(frames, f+60); k++ {
				if back.step(g.r, in[k][:], Policy((k+1)%3)); !back.Equal(&worlds[k]) {
					t.Fatalf("from frame %d, frame %d differs", f, k)
				}
			}
		}
	})
}

// Equivalent never says that two words do the same when they do not.
func TestEquivalentEverywhere(t *testing.T) {
	everyMode(t, func(t *testing.T, rules Ruleset, format Format) {
		g := &ring{t: t, r: kit(t)}
		g.reset(rules, format, 3)
		s := newStream(uint64(rules)+100, uint64(format))
		said := 0
		for f, in := range busyTape(300+uint64(rules)*10+uint64(format), 3000) {
			player := s.r.IntN(2)
			other := in
			other[player].Now ^= uint16(1) << s.r.UintN(16)
			if g.w.Equivalent(player, in[player], other[player]) {
				a, b := g.w, g.w
				a.step(g.r, in[:], Emit)
				b.step(g.r, other[:], Emit)
				if !a.Equal(&b) {
					t.Fatalf("frame %d: player %d, %+v and %+v are not equivalent", g.w.frame+1, player, in[player], other[player])
				}
				said++
			}
			enrich(&g.w, f)
			g.w.step(g.r, in[:], Emit)
		}
		if said < 100 {
			t.Errorf("only %d words were equivalent", said)
		}
	})
}
