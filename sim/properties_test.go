package sim

import (
	"math/rand/v2"
	"testing"

	"backstep/sim/data"
)

var pairs = [][2]string{{"sable", "tarn"}, {"tarn", "sable"}, {"sable", "sable"}, {"tarn", "tarn"}}

// No side is favoured: a mirrored world stepped with exchanged, mirrored words is the mirror of the world stepped, every frame.
func TestMirror(t *testing.T) {
	for n, p := range pairs {
		w := newWorld(t, uint64(n), p[0], p[1])
		m := w.Mirror()
		for f, in := range tape(uint64(100+n), 15000) {
			back := [2]Input{{MirrorWord(in[1].Now), MirrorWord(in[1].Prev)}, {MirrorWord(in[0].Now), MirrorWord(in[0].Prev)}}
			w.Step(in[:], Emit)
			m.Step(back[:], Emit)
			if want := w.Mirror(); !m.Equal(&want) {
				for i := range 2 {
					t.Logf("slot %d: %+v\nwant    %+v", i, m.fighters[i], want.fighters[i])
				}
				t.Fatalf("%v: frame %d is not the mirror image", p, f)
			}
			if w.Phase() == PostMatch {
				if err := w.Rematch(uint64(f)); err != nil {
					t.Fatal(err)
				}
				m = w.Mirror()
			}
		}
		if twice := w.Mirror(); !w.Equal(func() *World { x := twice.Mirror(); return &x }()) {
			t.Fatal("two mirrors are not none")
		}
	}
}

// SIM-25, SNAP-04, SNAP-13, SNAP-14, SNAP-15, HITB-10: going back to any frame and playing on gives the straight play.
func TestRestoreAndReplayFromEveryFrame(t *testing.T) {
	const frames, tail = 800, 90
	for n, p := range pairs {
		in := tape(uint64(n), frames)
		w := newWorld(t, uint64(n), p[0], p[1])
		saved := make([][]byte, frames)
		worlds := make([]World, frames)
		for f := range in {
			w.Step(in[f][:], Emit)
			saved[f] = w.AppendState(nil)
			worlds[f] = w
		}
		var back World
		for f := range in {
			if err := back.ParseState(saved[f]); err != nil {
				t.Fatal(err)
			}
			// Straight to the end from every hundredth frame, a good way from all others.
			end := min(frames-1, f+tail)
			if f%100 == 0 {
				end = frames - 1
			}
			for g := f + 1; g <= end; g++ {
				back.Step(in[g][:], SuppressCosmetics)
				if !back.Equal(&worlds[g]) {
					t.Fatalf("%v: from frame %d, frame %d differs", p, f, g)
				}
			}
		}
	}
}

// SIM-11, SIM-12, SIM-13, SIM-14, SIM-15, PRES-06: the policies change no state and no event; they set exactly the four flags.
func TestPoliciesGiveEqualStates(t *testing.T) {
	w := [3]World{}
	for i := range w {
		w[i] = newWorld(t, 5, "sable", "tarn")
	}
	for f, in := range tape(5, 8000) {
		for p := range w {
			w[p].Step(in[:], Policy(p))
			quiet := Policy(p) != Emit
			want := PresentEvent{Frame: int32(f), Policy: Policy(p), Phase: w[p].Phase(), AudioMuted: quiet, ParticlesSuppressed: quiet,
				PresentationSuppressed: quiet, SimulationOnly: quiet}
			for i := range w[p].Fighters() { // TAGT-10
				want.Health[i] = w[p].Fighter(i).Health
			}
			got := w[p].Present()
			want.Rumble, want.Montage = got.Rumble, got.Montage // ids of the moves begun in the frame
			if got != want {
				t.Fatalf("present event %+v, want %+v", got, want)
			}
			if w[p].MatchSnapshot().PresentationSideEffectsStripped != quiet {
				t.Fatal("MST-17")
			}
		}
		if w[0].Hash() != w[1].Hash() || w[0].Hash() != w[2].Hash() || !w[0].Equal(&w[1]) || !w[0].Equal(&w[2]) {
			t.Fatalf("frame %d: the policies differ", f)
		}
		if w[0].out.events != w[1].out.events || w[0].out.events != w[2].out.events {
			t.Fatalf("frame %d: the events differ", f)
		}
	}
}

// poison fills what a state does not save: fighters that are not in the match, reports of the last step.
func poison(w *World, r *rand.Rand) {
	for i := w.count; i < MaxFighters; i++ {
		w.fighters[i] = Fighter{X: Fixed(r.Int32()), Y: Fixed(r.Int32()), Vitals: Vitals{Health: r.Int32()}, Action: Action(r.UintN(30)), ID: 1, Move: 3,
			HitstopFrames: 5, Duration: 9, AnimationFrame: 4, Shots: [Shots]Projectile{{Life: 4, Move: 2, Durability: 9}}}
	}
	w.out = outputs{n: 24, hit: 4, draws: 6, dropped: 9}
	for i := range w.out.events {
		w.out.events[i] = Event{Frame: r.Int32(), Kind: EventKO, Fighter: 1, Serial: 200}
	}
}

// SIM-27: what is not saved changes nothing: reports of the last step, fighters that are not in the match.
func TestPoisonChangesNothing(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	w := newWorld(t, 6, "tarn", "sable")
	for f, in := range tape(6, 6000) {
		poisoned := w
		poison(&poisoned, r)
		if poisoned.Hash() != w.Hash() {
			t.Fatal("the hash reads what is not saved")
		}
		w.Step(in[:], Emit)
		poisoned.Step(in[:], Emit)
		if poisoned.Hash() != w.Hash() || poisoned.out != w.out || poisoned.match != w.match {
			t.Fatalf("frame %d: unsaved memory changed the result", f)
		}
	}
}

// A skipped step must have been superfluous: whenever Equivalent says so, both inputs give the same state.
func TestEquivalent(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 8))
	said, asked := 0, 0
	for n, p := range pairs {
		w := newWorld(t, uint64(n), p[0], p[1])
		for _, in := range tape(uint64(40+n), 12000) {
			player := r.IntN(2)
			other := in
			other[player].Now ^= uint16(1) << r.UintN(16)
			if r.IntN(3) == 0 {
				other[player].Now = other[player].Prev
			}
			asked++
			if w.Equivalent(player, in[player], other[player]) {
				a, b := w, w
				a.Step(in[:], Emit)
				b.Step(other[:], Emit)
				if !a.Equal(&b) {
					t.Fatalf("frame %d: player %d, %+v and %+v are not equivalent", w.frame+1, player, in[player], other[player])
				}
				said++
			}
			w.Step(in[:], Emit)
		}
	}
	if said*4 < asked {
		t.Fatalf("only %d of %d single-bit changes are found equivalent", said, asked)
	}
}

// The stance held in blockstun decides over the next hit, so it is read even though nothing else is.
func TestEquivalentInBlockstun(t *testing.T) {
	d := newDuel(t, "sable", "tarn", 70)
	m := d.attack(0, "2m", 0)
	d.until(20, 0, 0, "the frame before the hit", func() bool { return d.f(0).AnimationFrame == m.Startup })
	d.f(1).Action, d.f(1).AnimationFrame, d.f(1).Duration = Blockstun, 2, 30
	low, stand := Input{Now: DownBit, Prev: DownBit}, Input{Now: 0, Prev: DownBit}
	if d.w.Equivalent(1, low, stand) {
		t.Error("crouching and standing are equivalent in blockstun")
	}
	a, b := d.w, d.w
	a.Step([]Input{{}, low}, Emit)
	b.Step([]Input{{}, stand}, Emit)
	if a.fighters[1].Action != Blockstun || b.fighters[1].Action != Hitstun {
		t.Errorf("%s and %s", a.fighters[1].Action, b.fighters[1].Action)
	}
}

// SIM-01, ATTR-03, HITB-04: whatever is pressed, everything stays in range, the frame number moves by one, and nobody is locked
// out: in a running round each fighter is free to act at least every fifteen seconds.
func TestRandomPlayStaysInRange(t *testing.T) {
	frames := 50000
	for n, p := range pairs {
		w := newWorld(t, uint64(n), p[0], p[1])
		var busy [2]int
		played := 0
		for f, in := range tape(uint64(70+n), frames) {
			before := w.frame
			w.Step(in[:], Emit)
			if w.frame != before+1 {
				t.Fatalf("frame %d after %d", w.frame, before)
			}
			if err := w.valid(data.Embedded()); err != nil {
				t.Fatalf("%v, frame %d: %v", p, f, err)
			}
			if w.Dropped() > 0 {
				t.Fatalf("frame %d: more events than fit", w.frame)
			}
			for i := range busy {
				busy[i]++
				if a := w.fighters[i].Action; w.Phase() != Live || a.Neutral() || (a == Airborne && w.fighters[i].AirUsed == 0) {
					busy[i] = 0
				}
				if busy[i] > 900 {
					t.Fatalf("%v: slot %d cannot act, frame %d: %+v", p, i, w.frame, w.fighters[i])
				}
			}
			if (w.fighters[0].X - w.fighters[1].X).Abs() > Fixed(620<<16) {
				t.Fatalf("frame %d: too far apart", w.frame)
			}
			if w.Phase() == PostMatch {
				played++
				if err := w.Rematch(uint64(f)); err != nil {
					t.Fatal(err)
				}
			}
		}
		if played == 0 {
			t.Fatalf("%v: no match ended in %d frames", p, frames)
		}
	}
}

// A neutral player gets back to where everything can be done, whatever state it is in.
func TestEveryStateEnds(t *testing.T) {
	w := newWorld(t, 3, "sable", "tarn")
	for f, in := range tape(11, 6000) {
		w.Step(in[:], Emit)
		if f%7 != 0 || w.Phase() != Live {
			continue
		}
		c := w
		for range 400 {
			if c.fighters[0].Action.Neutral() && c.fighters[1].Action.Neutral() || c.Phase() != Live {
				break
			}
			c.Step(nil, Emit)
		}
		if c.Phase() == Live && !(c.fighters[0].Action.Neutral() && c.fighters[1].Action.Neutral()) {
			t.Fatalf("frame %d: still %s and %s after 400 idle frames", f, c.fighters[0].Action, c.fighters[1].Action)
		}
	}
}
