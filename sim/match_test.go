package sim

import (
	"errors"
	"testing"

	"backstep/sim/data"
)

// A whole match: phases in order, two rounds, one winner, meter kept between rounds, PostMatch for ever.
func TestWholeMatch(t *testing.T) {
	w := newWorld(t, 1, "sable", "tarn")
	if w.Frame() != -1 || w.Phase() != Intro || w.match.Last != (Transition{Uninitialized, Intro, true}) {
		t.Fatalf("a fresh world: frame %d, %s", w.Frame(), w.Phase())
	}
	var phases []Phase
	for range 3000 {
		w.Step([]Input{{Now: SuperBit}, {}}, Emit)
		if n := len(phases); n == 0 || phases[n-1] != w.Phase() {
			phases = append(phases, w.Phase())
		}
		if w.Phase() == Live && w.match.PhaseFrames == 10 {
			w.fighters[0].SuperMeter = 700
			w.fighters[1].Health = 0
			w.fighters[1].Action, w.fighters[1].Duration = Down, 0
		}
	}
	want := []Phase{Intro, RoundStart, Live, RoundEnd, RoundStart, Live, RoundEnd, MatchEnd, PostMatch}
	if len(phases) != len(want) {
		t.Fatalf("%v", phases)
	}
	for i := range want {
		if phases[i] != want[i] {
			t.Fatalf("%v, want %v", phases, want)
		}
	}
	m := w.Match()
	if m.MatchWinner != HostWins || m.Wins != [2]uint8{2, 0} || m.Round != 1 || w.fighters[0].Meter != 700 || w.fighters[0].Action != Victory {
		t.Fatalf("%+v, meter %d, %s", m, w.fighters[0].Meter, w.fighters[0].Action)
	}
	if w.Frame() != 2999 {
		t.Fatal("a decided match keeps stepping")
	}
}

// MST-15: input moves nobody outside Live.
func TestInputOnlyWhenLive(t *testing.T) {
	a, b := newWorld(t, 1, "sable", "tarn"), newWorld(t, 1, "sable", "tarn")
	for f := 0; a.Phase() != Live; f++ {
		if a.match.AcceptsInput() {
			t.Fatal("input is accepted in", a.Phase())
		}
		a.Step([]Input{{Now: RightBit | LightBit}, {Now: UpBit}}, Emit)
		b.Step(nil, Emit)
		if !a.Equal(&b) {
			t.Fatalf("frame %d: input counted in %s", f, a.Phase())
		}
	}
	if !a.match.AcceptsInput() {
		t.Fatal("no input in Live")
	}
}

// Rounds end by time; the larger share of health wins, equal shares are a draw that counts for both.
func TestTimeOver(t *testing.T) {
	for _, c := range []struct {
		a, b int32
		want Winner
	}{{980, 1050, DrawGame}, {980, 1049, HostWins}, {979, 1050, JoinWins}, {490, 525, DrawGame}} {
		d := newDuel(t, "sable", "tarn", 300)
		if d.w.match.Timer != 99*60 {
			t.Fatalf("timer %d", d.w.match.Timer)
		}
		d.f(0).Health, d.f(1).Health = c.a, c.b
		d.w.match.Timer = 3
		d.run(3, 0, 0)
		if m := d.w.match; m.Phase != RoundEnd || m.RoundWinner != c.want || m.SlowMotion != 0 {
			t.Errorf("%d to %d: %+v", c.a, c.b, m)
		}
	}
}

// Both knocked out in one frame: a draw for both; a match of draws ends as a draw.
func TestDoubleKO(t *testing.T) {
	d := newDuel(t, "sable", "sable", 70)
	for round := range 2 {
		d.until(400, 0, 0, "the round", func() bool { return d.w.Phase() == Live })
		d.f(0).X, d.f(1).X = -Fixed(35<<16), Fixed(35<<16)
		d.f(0).Health, d.f(1).Health = 1, 1
		d.step(LightBit, LightBit)
		d.until(20, 0, 0, "both hits", func() bool { return d.w.Phase() == RoundEnd })
		kos := 0
		for _, e := range d.w.Events() {
			if e.Kind == EventKO {
				kos++
			}
		}
		want := uint8(round + 1)
		if m := d.w.match; m.RoundWinner != DrawGame || m.Wins != [2]uint8{want, want} || kos != 2 {
			t.Fatalf("%+v, %d knockouts", m, kos)
		}
	}
	d.until(400, 0, 0, "the end", func() bool { return d.w.Phase() == PostMatch })
	if d.w.match.MatchWinner != DrawGame {
		t.Fatalf("%+v", d.w.match)
	}
}

// FEEL-19: in slow motion the fighters move on one frame of three, and their state says so by hitstop.
func TestSlowMotionIsHitstop(t *testing.T) {
	d := newDuel(t, "sable", "tarn", 70)
	d.f(1).Health = 1
	d.attack(0, "5l", 0)
	d.until(20, 0, 0, "the knockout", func() bool { return d.w.Phase() == RoundEnd })
	moved, still := 0, 0
	for d.w.match.SlowMotion > 0 {
		at := d.f(1).AnimationFrame
		if d.step(0, 0); d.f(1).AnimationFrame != at {
			moved++
		} else {
			still++
		}
	}
	if still < 2*moved {
		t.Fatalf("%d frames moved, %d stood", moved, still)
	}
	if d.until(300, 0, 0, "lying", func() bool { return d.f(1).Action == Down }); d.f(1).Health != 0 {
		t.Fatal("a knocked out fighter recovers")
	}
	d.run(60, 0, 0)
	if d.f(1).Action != Down {
		t.Fatalf("a knocked out fighter is in %s", d.f(1).Action)
	}
}

// MST-18: going back over the end of a round starts nothing twice: the same phases come at the same frames.
func TestRewindOverRoundEnd(t *testing.T) {
	d := newDuel(t, "sable", "tarn", 70)
	d.f(1).Health = 1
	d.attack(0, "5l", 0)
	saved := d.w.CaptureSnapshot()
	var first, second []Event
	for _, events := range []*[]Event{&first, &second} {
		if err := d.w.RestoreSnapshot(&saved); err != nil {
			t.Fatal(err)
		}
		for range 400 {
			d.w.Step(nil, SuppressCosmetics)
			*events = append(*events, d.w.Events()...)
			if !d.w.Present().PresentationSuppressed {
				t.Fatal("not suppressed")
			}
		}
	}
	if len(first) == 0 || len(first) != len(second) {
		t.Fatalf("%d and %d events", len(first), len(second))
	}
	seen := map[uint64]bool{}
	for i := range first {
		if first[i] != second[i] || seen[first[i].ID()] {
			t.Fatalf("event %d: %+v and %+v", i, first[i], second[i])
		}
		seen[first[i].ID()] = true
	}
}

// A rematch begins from a clean world, ten times in a row, and only after the match.
func TestRematchIsClean(t *testing.T) {
	w := newWorld(t, 1, "sable", "tarn")
	before := w
	if err := w.Rematch(5); !errors.Is(err, ErrPhase) || w != before {
		t.Fatalf("a rematch in %s: %v", w.Phase(), err)
	}
	var never World
	if err := never.Rematch(5); !errors.Is(err, ErrPhase) || never != (World{}) {
		t.Fatalf("a rematch of no match: %v", err)
	}
	for n := uint64(0); n < 10; n++ {
		c := w.Config()
		c.Seed = 100 + n
		for _, in := range tape(n, 3000) {
			w.Step(in[:], Emit)
		}
		w.match.Phase = PostMatch
		if err := w.Rematch(c.Seed); err != nil {
			t.Fatal(err)
		}
		var fresh World
		if err := fresh.Reset(c); err != nil {
			t.Fatal(err)
		}
		if w != fresh {
			t.Fatalf("rematch %d is not a fresh world", n)
		}
	}
}

// SIM-20: Rage belongs to Tekken rules, at a quarter of health and below, and is worked out for every fighter after the timers.
func TestRage(t *testing.T) {
	w := newWorld(t, 1, "sable", "tarn")
	for _, c := range []struct {
		rules  Ruleset
		health int32
		want   uint8
	}{{data.SF, 1, 0}, {data.Tekken, 246, 0}, {data.Tekken, 245, 1}, {data.Tekken, 1, 1}, {data.Tekken, 0, 0}} {
		w.ruleset, w.fighters[0].Health = c.rules, c.health
		s := newStepper(&w, data.Embedded())
		if s.timers(); w.fighters[0].Mechanics.Rage != c.want || w.fighters[1].Mechanics.Rage != 0 {
			t.Errorf("%s, health %d: %d", c.rules, c.health, w.fighters[0].Mechanics.Rage)
		}
	}
}

// SIM-19: every mechanic is a counter that loses one a frame and stops at 0.
func TestMechanicTimers(t *testing.T) {
	d := newDuel(t, "sable", "tarn", 300)
	d.f(0).Mechanics = Mechanics{AirJuggle: 1, Heat: 2, SoulCharge: 3, CriticalEdge: 4, ReversalEdge: 5, KiCharge: 6, PowerCrush: 7,
		StanceEntry: 8, StanceRecovery: 9, StanceDuration: 10}
	d.f(0).HitstopFrames = 5 // they run in hitstop too
	d.step(0, 0)
	want := Mechanics{AirJuggle: 0, Heat: 1, SoulCharge: 2, CriticalEdge: 3, ReversalEdge: 4, KiCharge: 5, PowerCrush: 6, StanceEntry: 7,
		StanceRecovery: 8, StanceDuration: 9}
	if d.f(0).Mechanics != want {
		t.Fatalf("%+v", d.f(0).Mechanics)
	}
	if d.run(12, 0, 0); d.f(0).Mechanics != (Mechanics{}) {
		t.Fatalf("%+v", d.f(0).Mechanics)
	}
}

// SIM-07, HASH-03, HASH-04, TAG-09: stances enter the state as CRC-32 of their names.
func TestStanceTags(t *testing.T) {
	if NameHash("123456789") != 0xcbf43926 {
		t.Fatal("CRC-32 check value")
	}
	d := newDuel(t, "sable", "tarn", 300)
	for _, c := range []struct {
		word uint16
		n    int
		want string
	}{{0, 1, TagStanding}, {DownBit, 1, TagCrouching}, {UpBit, 8, TagAirborne}} {
		if d.run(c.n, c.word, 0); d.f(0).StanceTag != NameHash(c.want) {
			t.Errorf("%s: %#x", c.want, d.f(0).StanceTag)
		}
	}
	d = newDuel(t, "sable", "tarn", 300)
	if d.attack(0, "2s", 0); d.f(0).StanceTag != NameHash(TagInvincible) {
		t.Error(TagInvincible)
	}
}
