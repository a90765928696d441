package sim

import (
	"errors"
	"strings"
	"testing"

	"backstep/sim/data"
)

// ABIL-01, ABIL-02, ABIL-03: a host authorises under ClientServer what its world allows; under Rollback nobody is asked.
func TestAuthority(t *testing.T) {
	g := newRing(t, data.SF, Format1v1, 300)
	m := g.move("5m")
	good := Activation{Slot: 0, Tag: m.Tag, Move: m.ID, Frame: g.w.frame - 2}
	got, err := g.w.authorise(g.r, ClientServer, good)
	if want := (Activation{Slot: 0, Tag: m.Tag, Move: m.ID, Frame: g.w.frame + 1}); err != nil || got != want {
		t.Fatalf("%+v, %v", got, err)
	}
	for name, c := range map[string]struct {
		by     Authority
		change func(a *Activation)
		reason string
	}{
		"rollback":   {Rollback, func(a *Activation) {}, "alone decides"},
		"long ago":   {ClientServer, func(a *Activation) { a.Frame -= 7 }, "more than 8"},
		"far ahead":  {ClientServer, func(a *Activation) { a.Frame += 11 }, "more than 8"},
		"wrong tag":  {ClientServer, func(a *Activation) { a.Tag = g.move("5h").Tag }, "Action.Medium, not Action.Heavy"},
		"no meter":   {ClientServer, func(a *Activation) { a.Move, a.Tag = g.move("x-ca1").ID, g.move("x-ca1").Tag }, "super meter"},
		"no fighter": {ClientServer, func(a *Activation) { a.Slot = 5 }, "no fighter in slot 5"},
	} {
		a := good
		c.change(&a)
		if _, err := g.w.authorise(g.r, c.by, a); !errors.Is(err, ErrRefused) || !strings.Contains(err.Error(), c.reason) {
			t.Errorf("%s: %v", name, err)
		}
	}
	g.w.match.Phase = RoundEnd
	if _, err := g.w.authorise(g.r, ClientServer, good); !errors.Is(err, ErrRefused) {
		t.Error("after the round:", err)
	}
}

// ABIL-04: only moves of the mode DeterministicRollback touch the state.
func TestNetworkModes(t *testing.T) {
	for mode := range data.NetworkMode(data.NetworkModes) {
		r := *kit(t)
		g := newRing(t, data.SF, Format1v1, 300)
		m := *g.move("5m")
		m.Network = mode
		s := newStepper(&g.w, &r)
		if got := s.refusal(0, &m); (got == allowed) != (mode == data.DeterministicRollback) {
			t.Errorf("mode %d: %s", mode, refusalText[got])
		}
	}
}

// ABIL-13: a taunt is nothing but a show: a replay may leave its event out, and its hash is the same.
func TestCosmeticMoves(t *testing.T) {
	g := newRing(t, data.SF, Format1v1, 300)
	m := g.attack("u-taunt", 0)
	if v, ok := g.has(EventTaunt); !ok || v != int32(m.ID) || !EventTaunt.Cosmetic() || EventMove.Cosmetic() {
		t.Fatal("no taunt")
	}
	if m.ShouldRunDuringReplay(true) || !m.ShouldRunDuringReplay(false) || !g.move("5m").ShouldRunDuringReplay(true) {
		t.Fatal("what runs in a replay")
	}
}

// ABIL-12: requirements and blocks of source and target, by what the fighters are in.
func TestTagFilters(t *testing.T) {
	g := newRing(t, data.SF, Format1v1, 300)
	s := newStepper(&g.w, g.r)
	crouching, airborne := g.r.Tags.State(TagCrouching), g.r.Tags.State(TagAirborne)
	base := *g.move("5m")
	for _, c := range []struct {
		name   string
		change func(m *data.Move)
		set    func()
		want   refusal
	}{
		{"required", func(m *data.Move) { m.SourceRequires = crouching }, func() {}, sourceLacks},
		{"required and there", func(m *data.Move) { m.SourceRequires = crouching }, func() { g.p(0).Low = 1 }, allowed},
		{"blocked", func(m *data.Move) { m.SourceBlocks = crouching }, func() { g.p(0).Low = 1 }, sourceBlocks},
		{"target required", func(m *data.Move) { m.TargetRequires = airborne }, func() {}, targetLacks},
		{"target blocked", func(m *data.Move) { m.TargetBlocks = airborne }, func() { g.p(1).Air = 1 }, targetBlocks},
		{"nothing", func(m *data.Move) {}, func() {}, allowed},
	} {
		g.p(0).Low, g.p(1).Air = 0, 0
		m := base
		c.change(&m)
		c.set()
		if got := s.refusal(0, &m); got != c.want {
			t.Errorf("%s: %q", c.name, refusalText[got])
		}
	}
}

// TAG-06, TAG-09: every mark appears when the state it stands for is there.
func TestLiveTags(t *testing.T) {
	g := newRing(t, data.Tekken, Format2v2, 300)
	s := newStepper(&g.w, g.r)
	fresh := g.w
	for mark, set := range map[data.Mark]func(f *Fighter){
		data.MarkStanding: func(f *Fighter) {}, data.MarkCrouching: func(f *Fighter) { f.Low = 1 }, data.MarkAirborne: func(f *Fighter) { f.Air = 1 },
		data.MarkGrounded: func(f *Fighter) { f.Action = Down }, data.MarkInvincible: func(f *Fighter) { f.Mechanics.CriticalEdge = 3 },
		data.MarkJuggled:   func(f *Fighter) { f.Action, f.JuggleHits = Launched, 1 },
		data.MarkAttacking: func(f *Fighter) { f.Action, f.Move = Attack, 1 }, data.MarkBlocking: func(f *Fighter) { f.Action = Blockstun },
		data.MarkWalking: func(f *Fighter) { f.Action = WalkBack }, data.MarkRunning: func(f *Fighter) { f.Action = DashForward },
		data.MarkPinned: func(f *Fighter) { f.Action = Pinned }, data.MarkPinning: func(f *Fighter) { f.Action = Pinning },
		data.MarkKiCharge: func(f *Fighter) { f.Mechanics.KiCharge = 1 }, data.MarkArmored: func(f *Fighter) { f.Armor = 1 },
		data.MarkBlockstun: func(f *Fighter) { f.Action = Blockstun }, data.MarkBurnout: func(f *Fighter) { f.Burnout = 1 },
		data.MarkDazed: func(f *Fighter) { f.Action = Dazed }, data.MarkGrabbed: func(f *Fighter) { f.Action = Thrown },
		data.MarkHeat: func(f *Fighter) { f.Mechanics.Heat = 1 }, data.MarkHitstun: func(f *Fighter) { f.Action = Hitstun },
		data.MarkKnockedOut: func(f *Fighter) { f.Health = 0 }, data.MarkLaunched: func(f *Fighter) { f.Action = Launched },
		data.MarkPowerCrush: func(f *Fighter) { f.Mechanics.PowerCrush = 1 }, data.MarkRage: func(f *Fighter) { f.Mechanics.Rage = 1 },
		data.MarkReversalEdge: func(f *Fighter) { f.Mechanics.ReversalEdge = 1 }, data.MarkSoulCharge: func(f *Fighter) { f.Mechanics.SoulCharge = 1 },
		data.MarkXFactor: func(f *Fighter) { g.w.teams[0].XFactor = 1 },
	} {
		g.w = fresh
		if mark != data.MarkStanding && s.tags(0)&g.r.Marks[mark] != 0 {
			t.Errorf("mark %d is there without cause", mark)
		}
		set(g.p(0))
		if s.tags(0)&g.r.Marks[mark] == 0 {
			t.Errorf("mark %d is missing", mark)
		}
	}
	g.w = fresh
	g.p(0).Mechanics.StanceKind = 2
	if s.tags(0)&g.r.Tags.State("State.Stance.Tekken.Jin.Zen") == 0 {
		t.Error("the stance's own tag")
	}
}
