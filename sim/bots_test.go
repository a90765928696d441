package sim_test

import (
	"math/rand/v2"
	"testing"

	"backstep/sim"
	"backstep/sim/bot"
)

// played gives the inputs of a match between two bots, which block, throw and combo as random words do not.
func played(t *testing.T, teams [2]string, seed uint64, frames int) (sim.World, [][2]sim.Input) {
	t.Helper()
	c := sim.DefaultConfig()
	c.Seed = seed
	var bots [2]bot.Bot
	for side := range bots {
		var err error
		if c.Teams[side], err = sim.ParseTeam(teams[side]); err != nil {
			t.Fatal(err)
		}
		if bots[side], err = bot.New("hard", seed, side); err != nil {
			t.Fatal(err)
		}
	}
	var start sim.World
	if err := start.Reset(c); err != nil {
		t.Fatal(err)
	}
	w := start
	var in [2]sim.Input
	var out [][2]sim.Input
	for range frames {
		for side := range in {
			in[side] = sim.Input{Now: bots[side].Next(&w), Prev: in[side].Now}
		}
		out = append(out, in)
		w.Step(in[:], sim.Emit)
	}
	return start, out
}

var teams = [][2]string{{"sable", "tarn"}, {"tarn", "sable"}, {"sable", "sable"}, {"tarn", "tarn"}}

// On real fights too: a mirrored match gives the mirrored result, an equivalent input the same state, and a state that is written
// and read goes on like the one it came from.
func TestPropertiesOfFights(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	blocks, said := 0, 0
	for n, cast := range teams {
		w, tape := played(t, cast, uint64(n), 6000)
		m := w.Mirror()
		for f, in := range tape {
			player := r.IntN(2)
			other := in
			other[player].Now ^= uint16(1) << r.UintN(12)
			if w.Equivalent(player, in[player], other[player]) {
				a, b := w, w
				a.Step(in[:], sim.Emit)
				b.Step(other[:], sim.Emit)
				if !a.Equal(&b) {
					t.Fatalf("%v, frame %d: %+v and %+v are not equivalent in %s", cast, f, in[player], other[player], w.Fighter(player).Action)
				}
				said++
			}
			if f%50 == 0 {
				var back sim.World
				if err := back.ParseState(w.AppendState(nil)); err != nil || !back.Equal(&w) {
					t.Fatalf("%v, frame %d: %v", cast, f, err)
				}
				w = back
			}
			w.Step(in[:], sim.Emit)
			m.Step([]sim.Input{{Now: sim.MirrorWord(in[1].Now), Prev: sim.MirrorWord(in[1].Prev)},
				{Now: sim.MirrorWord(in[0].Now), Prev: sim.MirrorWord(in[0].Prev)}}, sim.Emit)
			if want := w.Mirror(); !m.Equal(&want) {
				t.Fatalf("%v, frame %d is not the mirror image", cast, f)
			}
			for _, h := range w.Hits() {
				if h.Blocked {
					blocks++
				}
			}
		}
	}
	if blocks < 10 || said < 5000 {
		t.Fatalf("%d blocks, %d equivalent inputs: too few to show anything", blocks, said)
	}
}
