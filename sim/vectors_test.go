package sim

import (
	"testing"

	"backstep/sim/data"
)

// V-20, V-21, V-22, RNG-01: the fighters' generator.
func TestLCGVectors(t *testing.T) {
	for _, c := range []struct {
		from uint32
		want []uint32
	}{
		{0, []uint32{1013904223, 1196435762, 3519870697, 2868466484, 1649599747}},
		{1, []uint32{1015568748, 1586005467, 2165703038}},
	} {
		x := c.from
		for i, want := range c.want {
			if x = LCG(x); x != want {
				t.Fatalf("from %d, step %d: %d, want %d", c.from, i, x, want)
			}
		}
	}
}

// V-32, V-33, V-34, RNG-06, RNG-07: the match generator.
func TestSplitMix64Vectors(t *testing.T) {
	for _, c := range []struct {
		seed uint64
		want []uint64
	}{
		{0, []uint64{0xe220a8397b1dcdaf, 0x6e789e6aa1b965f4, 0x06c45d188009454f, 0xf88bb8a8724c81ec}},
		{1234567, []uint64{6457827717110365317, 3203168211198807973, 9817491932198370423, 4593380528125082431}},
	} {
		g, state := SplitMix64{State: c.seed}, c.seed
		for i, want := range c.want {
			state += 0x9E3779B97F4A7C15
			if got := g.Next(); got != want || g.State != state {
				t.Fatalf("seed %d, draw %d: %#x, want %#x", c.seed, i, got, want)
			}
		}
	}
}

// X-17, S-15, RNG-02, DET-07: the first six outputs are always drawn, their low halves seed the fighters, each draw is reported.
func TestFighterSeeds(t *testing.T) {
	w := newWorld(t, 0, "sable", "tarn")
	if w.fighters[0].RNGCursor != 0x7b1dcdaf || w.fighters[1].RNGCursor != 0xa1b965f4 {
		t.Fatalf("seeds %#x %#x", w.fighters[0].RNGCursor, w.fighters[1].RNGCursor)
	}
	draws := w.Draws()
	if len(draws) != 6 || w.drawn != 6 {
		t.Fatalf("%d draws, %d counted", len(draws), w.drawn)
	}
	for i, d := range draws {
		if int(d.Index) != i || int(d.Unit) != i || d.Reason != DrawSeed || d.Frame != -1 {
			t.Fatalf("draw %d: %+v", i, d)
		}
	}
	var round []Draw
	for range 200 {
		w.Step(nil, Emit)
		round = append(round, w.Draws()...)
	}
	if len(round) != 1 || round[0].Index != 6 || round[0].Reason != DrawRound || round[0].Unit != NoFighter {
		t.Fatalf("draws after the seeds: %+v", round)
	}
}

// RNG-03, RNG-05, SIM-21: every cursor is stepped once a frame, whatever the fighter does.
func TestCursorStepsEveryFrame(t *testing.T) {
	w := newWorld(t, 9, "sable", "tarn")
	want := [2]uint32{w.fighters[0].RNGCursor, w.fighters[1].RNGCursor}
	for _, in := range tape(4, 3000) {
		w.Step(in[:], Emit)
		for i := range want {
			if want[i] = LCG(want[i]); w.fighters[i].RNGCursor != want[i] {
				t.Fatalf("frame %d, slot %d", w.frame, i)
			}
		}
	}
}

// V-19, SIM-18: hitstop 8 holds the animation for 8 steps; it moves on the ninth. Never both in one frame.
func TestHitstopGate(t *testing.T) {
	d := newDuel(t, "sable", "tarn", 300)
	d.attack(0, "5h", 0)
	d.f(0).HitstopFrames = 8
	at := d.f(0).AnimationFrame
	for i := range 8 {
		d.step(0, 0)
		if d.f(0).AnimationFrame != at || int(d.f(0).HitstopFrames) != 7-i {
			t.Fatalf("step %d: frame %d, hitstop %d", i+1, d.f(0).AnimationFrame, d.f(0).HitstopFrames)
		}
	}
	if d.step(0, 0); d.f(0).AnimationFrame != at+1 {
		t.Fatalf("the ninth step: frame %d, want %d", d.f(0).AnimationFrame, at+1)
	}
}

// S-08, FEEL-01: the defender's hitlag follows its hitstop, and the animation stands through both.
func TestHitlagFollowsHitstop(t *testing.T) {
	d := newDuel(t, "sable", "tarn", 300)
	d.f(1).HitstopFrames, d.f(1).HitlagFrames = 3, 2
	at := d.f(1).AnimationFrame
	for i, want := range [][2]int16{{2, 2}, {1, 2}, {2, 0}, {1, 0}, {0, 0}} {
		d.step(0, 0)
		if got := [2]int16{d.f(1).HitstopFrames, d.f(1).HitlagFrames}; got != want || d.f(1).AnimationFrame != at {
			t.Fatalf("step %d: %v, want %v", i, got, want)
		}
	}
	if d.step(0, 0); d.f(1).AnimationFrame != at+1 {
		t.Fatal("the animation does not go on")
	}
}

// V-24, FEEL-19, FEEL-20: lengths of feel.
func TestTimings(t *testing.T) {
	if got := data.Embedded().Timing; got != (data.Timing{FinisherFreeze: 18, KOSlowMotion: 48, RageArtFreeze: 45}) {
		t.Fatalf("%+v", got)
	}
	d := newDuel(t, "sable", "tarn", 70)
	d.f(1).Health = 1
	d.attack(0, "5l", 0)
	d.until(20, 0, 0, "the knockout", func() bool { return d.w.Phase() == RoundEnd })
	frames := 0
	for ; d.w.match.SlowMotion > 0; frames++ {
		d.step(0, 0)
	}
	if frames != 48 {
		t.Fatalf("slow motion lasted %d frames", frames)
	}
}

// V-26, ATTR-10, FDAT-17: chip 3 on 1000 health with 0 recoverable; ATTR-19: an applier does not scale.
func TestChip(t *testing.T) {
	f := Fighter{Vitals: Vitals{Health: 1000, MaxHealth: 1000}}
	ChipDamage.Apply(&f, EvaluateBlockChipDamage(3, f.Health)*data.Unit)
	if f.Health != 997 || f.RecoverableHealth != 3 {
		t.Fatalf("health %d, recoverable %d", f.Health, f.RecoverableHealth)
	}
	for chip := int32(0); chip < 50; chip++ {
		for health := int32(1); health < 60; health++ {
			g := Fighter{Vitals: Vitals{Health: health, MaxHealth: 60, RecoverableHealth: 60 - health}}
			ChipDamage.Apply(&g, EvaluateBlockChipDamage(chip, health)*data.Unit)
			if g.Health < 1 || g.Health+g.RecoverableHealth != 60 {
				t.Fatalf("chip %d of %d: %d + %d", chip, health, g.Health, g.RecoverableHealth)
			}
		}
	}
}

// V-27, MST-01, MST-02, MST-03, MST-04, MST-05, MST-06, MST-07, MST-08, MST-09, MST-10, MST-11, MST-12: eight phases, twelve
// legal changes, fifty-two refused, which change nothing but the record.
func TestTransitionTable(t *testing.T) {
	want := map[[2]Phase]bool{
		{Uninitialized, Intro}: true, {Intro, RoundStart}: true, {RoundStart, Live}: true, {Live, RoundEnd}: true,
		{RoundEnd, RoundStart}: true, {RoundEnd, FinisherWindow}: true, {RoundEnd, MatchEnd}: true, {RoundEnd, PostMatch}: true,
		{FinisherWindow, MatchEnd}: true, {FinisherWindow, PostMatch}: true, {MatchEnd, PostMatch}: true, {PostMatch, Intro}: true,
	}
	legal, refused := 0, 0
	for from := Phase(0); from < Phases; from++ {
		for to := Phase(0); to < Phases; to++ {
			m := Match{Phase: from, PhaseFrames: 7, Timer: 99, Wins: [2]uint8{1, 2}}
			before := m
			ok := m.Transition(to)
			if ok != want[[2]Phase{from, to}] || m.Last != (Transition{From: from, To: to, Accepted: ok}) {
				t.Errorf("%s to %s: %v, %+v", from, to, ok, m.Last)
			}
			if ok {
				legal++
				before.Phase, before.PhaseFrames = to, 0
			} else {
				refused++
			}
			if before.Last = m.Last; m != before {
				t.Errorf("%s to %s changed %+v", from, to, m)
			}
		}
	}
	if legal != 12 || refused != 52 || CanTransition(Phases, Intro) || CanTransition(PostMatch, Phases) {
		t.Fatalf("%d legal, %d refused", legal, refused)
	}
	if Fight != Live || MatchComplete != PostMatch {
		t.Fatal("the aliases")
	}
}

// V-18, S-11, FDAT-16: scaling order and truncation.
func TestDamageOrder(t *testing.T) {
	r := data.Embedded()
	s := stepper{w: &World{}, roster: r, rules: r.Ruleset(data.SF)}
	s.w.fighters[0].Combat = Combat{MeleeDamageMul: data.Unit, CounterHitMul: 12500}
	s.w.fighters[0].Weapon = Weapon{Power: data.Unit}
	s.w.fighters[1].Combat.DefenseMul = data.Unit
	c := contact{defender: 1, move: r.FighterByKey("sable").MoveByKey("5l"), base: 10, counter: true}
	if got := s.damage(&c); got != 12 {
		t.Fatalf("10 on counter-hit: %d, want 12", got)
	}
	c.base = 85
	if got := s.damage(&c); got != 106 {
		t.Fatalf("85 on counter-hit: %d, want 106", got)
	}
	d := &s.w.fighters[1]
	d.ComboHits, d.ComboStarter = 2, data.StarterLight
	c.base, c.counter = 77, true // 77 -> 96 counter -> 81 starter 0.85 -> 64 third hit 0.80
	if got := s.damage(&c); got != 64 {
		t.Fatalf("third hit of a light combo: %d, want 64", got)
	}
	d.Air, d.JuggleHits = 1, 2 // -> 51 third juggle hit 0.80
	if got := s.damage(&c); got != 51 {
		t.Fatalf("the same in a juggle: %d, want 51", got)
	}
	d.ComboHits, d.JuggleHits, c.base, c.counter = 30, 30, 3, false
	if got := s.damage(&c); got != 1 {
		t.Fatalf("least damage: %d, want 1", got)
	}
}

// V-03, V-12, SNAP-05, SNAP-06, SNAP-07, SNAP-08, SNAP-09, SNAP-10: the snapshot budget.
func TestSnapshotBudget(t *testing.T) {
	if BytesPerFighter(16385, 2) != 8193 || WithinBudget(16385, 2, 8192) || !WithinBudget(16384, 2, 8192) {
		t.Fatal("V-12")
	}
	if 3*DefaultSnapshotBudget != 24576 {
		t.Fatal("V-03")
	}
	if ClampSnapshotBudget(1) != 512 || ClampSnapshotBudget(1<<20) != 8192 || ClampSnapshotBudget(4000) != 4000 || WithinBudget(0, 0, 512) {
		t.Fatal("SNAP-05")
	}
	w := newWorld(t, 1, "sable", "tarn")
	if n := len(w.AppendState(nil)); !WithinBudget(n, w.Fighters(), DefaultSnapshotBudget) {
		t.Fatalf("SNAP-08: a fresh world takes %d bytes", n)
	}
}
