package sim

import (
	"errors"
	"strings"
	"testing"

	"backstep/sim/data"
)

// ABIL-14, ABIL-15, ABIL-16: each of the 21 kinds can be activated under its rules, and does what it does.
func TestEveryKindActivates(t *testing.T) {
	seen := map[data.Kind]bool{}
	r := kit(t)
	k := r.Fighter(1)
	for id := data.MoveID(1); int(id) <= k.Moves(); id++ {
		m := k.Move(id)
		if m.Family == data.AssistCall { // a partner calls it
			g := newRing(t, data.TagTeam, Format3v3, 300)
			g.swapPoint(0, 2) // Quill leads, Anvil is its second partner
			g.step(LeftBit|AssistBit, 0)
			if f := &g.w.fighters[0]; f.Place != Assisting || f.Action != Attack || f.Move != id {
				t.Errorf("%s: %s, move %d", m.Key, f.Action, f.Move)
			}
			seen[m.Kind] = true
			continue
		}
		for rules := range Ruleset(data.RulesCount) {
			if !m.Under(rules) || k.CommandIn(rules, m.In, m.From, m.Button, m.Direction) != id {
				continue
			}
			g := newRing(t, rules, Format1v1, 80)
			f := g.p(0)
			f.SuperMeter, f.Hype, f.Heat = f.MaxSuperMeter, f.MaxHype, f.MaxHeat
			word := command(m, 1)
			if m.Needs.Rage {
				f.Health = 100
				g.run(40, 0, 0)
			}
			if m.Needs.LowHealth {
				f.Health = 299
			}
			if m.Needs.Heat {
				f.Mechanics.Heat = 100
			}
			switch {
			case m.Grounding():
				g.p(1).Action, g.p(1).Duration = Down, 60
			case m.In != 0:
				f.Mechanics.StanceKind, f.Mechanics.StanceDuration = m.In, 50
			}
			switch m.From {
			case data.Air:
				g.step(UpBit, 0)
				g.until(20, 0, 0, "the jump", func() bool { return f.Action == Airborne })
			case data.Rise:
				f.Action, f.AnimationFrame, f.Duration = Down, 20, 23
				if !g.r.Ruleset(rules).WakeAttack {
					continue
				}
			}
			g.step(word, 0)
			g.run(3, 0, 0)
			if f.Action != Attack || f.Move != id {
				t.Errorf("%s under %s: %s, move %d: %v", m.Key, rules, f.Action, f.Move, g.w.canActivate(g.r, 0, id))
			}
			seen[m.Kind] = true
			break
		}
	}
	if !seen[data.KindFinisher] {
		t.Error("the finisher was not tried")
	}
	for kind := range data.Kind(data.Kinds) {
		if !seen[kind] {
			t.Errorf("kind %s did not activate", kind)
		}
	}
}

// swapPoint puts the fighter in a slot in the place of a side's point, as a test's arrangement.
func (g *ring) swapPoint(side, to int) {
	s := newStepper(&g.w, g.r)
	s.swap(side, to)
}

// ABIL-19, ABIL-21, V-17: what is refused is refused with a reason, at the edge of each gate.
func TestRefusedWithAReason(t *testing.T) {
	for _, c := range []struct {
		rules  Ruleset
		move   string
		change func(f *Fighter, g *ring)
		reason string
	}{
		{data.MK, "x-fatal", func(f *Fighter, g *ring) { f.Health = 299 }, ""},
		{data.MK, "x-fatal", func(f *Fighter, g *ring) { f.Health = 300 }, "health is not low enough"},
		{data.MK, "x-fatal", func(f *Fighter, g *ring) { f.Health = 299; f.Used = 1 << g.move("x-fatal").ID }, "used in this round"},
		{data.MK, "x-xray", func(f *Fighter, g *ring) { f.SuperMeter = 2999 }, "not enough super meter"},
		{data.MK, "x-xray", func(f *Fighter, g *ring) { f.SuperMeter = 3000 }, ""},
		{data.MK, "e-escape", func(f *Fighter, g *ring) { f.MKStamina = 99 }, "not enough stamina for an escape"},
		{data.MK, "e-escape", func(f *Fighter, g *ring) { f.MKStamina = 100 }, ""},
		{data.SF, "x-impact", func(f *Fighter, g *ring) { f.Drive = 999 }, "not enough drive"},
		{data.SF, "x-impact", func(f *Fighter, g *ring) { f.Drive = 1000 }, ""},
		{data.SF, "x-impact", func(f *Fighter, g *ring) { f.Burnout = 1 }, "burnt out"},
		{data.SF, "x-ca2", func(f *Fighter, g *ring) { f.SuperMeter = 1999 }, "not enough super meter"},
		{data.SF, "x-ca3", func(f *Fighter, g *ring) { f.SuperMeter = 3000 }, ""},
		{data.SF, "x-rage", func(f *Fighter, g *ring) {}, "does not belong to these rules"},
		{data.Tekken, "x-rage", func(f *Fighter, g *ring) {}, "not in Rage"},
		{data.Tekken, "x-rage", func(f *Fighter, g *ring) { f.Mechanics.Rage = 1 }, ""},
		{data.Tekken, "x-rage", func(f *Fighter, g *ring) {
			f.Mechanics.Rage = 1
			g.w.match.Nodes[data.TekkenRageActivationLockout] = 1
		}, "only just begun"},
		{data.Tekken, "x-smash", func(f *Fighter, g *ring) { f.SuperMeter = 1 }, "not in Heat"},
		{data.Tekken, "u-heat", func(f *Fighter, g *ring) { f.Heat = 99 }, "not enough heat"},
		{data.DefJam, "x-blazin", func(f *Fighter, g *ring) { f.Hype = 999 }, "not enough hype"},
		{data.DefJam, "x-blazin", func(f *Fighter, g *ring) { f.Hype = 1000 }, ""},
		{data.UFC, "takedown", func(f *Fighter, g *ring) { f.Stamina = 99 }, "not enough stamina"},
		{data.WWE, "pin", func(f *Fighter, g *ring) {}, "the opponent lacks a state"},
		{data.WWE, "pin", func(f *Fighter, g *ring) { g.p(1).Action = Down }, ""},
		{data.SF, "6s", func(f *Fighter, g *ring) {
			f.Shots[0] = Projectile{Life: 9, Move: g.move("6s").ID, Durability: 1, Facing: 1}
		}, "a shot is still under way"},
	} {
		g := newRing(t, c.rules, Format1v1, 200)
		c.change(g.p(0), g)
		err := g.w.canActivate(g.r, 0, g.move(c.move).ID)
		switch {
		case c.reason == "" && err != nil:
			t.Errorf("%s under %s: %v", c.move, c.rules, err)
		case c.reason != "" && (!errors.Is(err, ErrRefused) || !strings.Contains(err.Error(), c.reason)):
			t.Errorf("%s under %s: %v, want %q", c.move, c.rules, err, c.reason)
		}
	}
	g := newRing(t, data.SF, Format1v1, 200)
	if err := g.w.CanActivate(9, 1); !errors.Is(err, ErrRefused) {
		t.Error(err)
	}
	if err := g.w.CanActivate(0, 250); !errors.Is(err, ErrRefused) {
		t.Error(err)
	}
	for r := allowed + 1; r < refusals; r++ {
		if refusalText[r] == "" {
			t.Errorf("refusal %d has no text", r)
		}
	}
}

// FDAT-13: a move turns into another in its first two frames and no later.
func TestKaraCancel(t *testing.T) {
	for late := 0; late <= 3; late++ {
		g := newRing(t, data.SF, Format1v1, 200)
		g.attack("5m", 0)
		g.run(late, 0, 0)
		at := g.p(0).AnimationFrame
		g.step(ThrowBit, 0)
		if got, want := g.p(0).Move == g.move("throw").ID, at <= 2; got != want {
			t.Errorf("throw pressed when 5m stood on frame %d: cancelled %v", at, got)
		}
	}
	g := newRing(t, data.SF, Format1v1, 200)
	g.attack("5h", 0)
	if g.step(ThrowBit, 0); g.p(0).Move != g.move("5h").ID {
		t.Error("a move without kara was kara-cancelled")
	}
}

// ABIL-11: several cancel windows, each with its condition.
func TestCancelConditions(t *testing.T) {
	for _, c := range []struct {
		guard uint16
		frame int32
		into  uint8
	}{{0, 12, 1<<data.Special | 1<<data.Super}, {0, 16, 1<<data.Special | 1<<data.Super}, {RightBit, 12, 1 << data.Super}, {RightBit, 16, 0}} {
		g := newRing(t, data.SF, Format1v1, 90)
		m := g.attack("5h", 0)
		g.until(80, 0, c.guard, "the frame", func() bool { return g.p(0).Move == m.ID && g.p(0).AnimationFrame == c.frame })
		if into, _, open := g.p(0).CancelWindow(); into != c.into || open != (c.into != 0) {
			t.Errorf("guard %#x, frame %d: open %v into %#x", c.guard, c.frame, open, into)
		}
	}
}

// HITB-03: a keyframe moves the shape, overrides damage and overrides the reaction.
func TestKeyframes(t *testing.T) {
	m := kit(t).Fighter(1).MoveByKey("5h")
	w := &m.Hits[0]
	before, damage, reaction := w.At(11)
	if before != &w.Shape || damage != 80 || reaction != data.Stagger {
		t.Fatalf("frame 11: %d, %d", damage, reaction)
	}
	for frame := int32(12); frame <= 13; frame++ {
		if shape, damage, reaction := w.At(frame); shape.X.Whole() != 80 || shape.Kind != data.SphereShape || damage != 60 || reaction != data.Knockdown {
			t.Fatalf("frame %d: %+v, %d, %d", frame, shape, damage, reaction)
		}
	}
	for _, c := range []struct {
		from   int32
		damage int32
		action Action
	}{{10, 80, Hitstun}, {12, 60, Launched}} {
		g := newRing(t, data.SF, Format1v1, 400)
		g.attack("5h", 0)
		g.until(20, 0, 0, "the frame", func() bool { return g.p(0).AnimationFrame == c.from-1 })
		g.apart(90)
		if g.step(0, 0); g.p(1).Action != c.action || g.p(1).Health != 1000-c.damage {
			t.Errorf("hit on frame %d: %s, health %d", c.from, g.p(1).Action, g.p(1).Health)
		}
	}
}

// FDAT-10, FDAT-18: in its Power Crush frames a move takes strikes that are not low, hurt but not stopped; armor takes so many.
func TestPowerCrushAndArmor(t *testing.T) {
	for _, c := range []struct {
		by   uint16
		goes bool
	}{{LightBit, true}, {MediumBit, true}, {DownBit | MediumBit, false}} {
		g := newRing(t, data.Tekken, Format1v1, 80)
		g.attack("4h", c.by)
		hits := 0
		g.until(30, 0, 0, "a hit", func() bool { hits += len(g.w.Hits()); return hits > 0 })
		h := g.w.Hits()[0]
		if h.Armored != c.goes || (g.p(0).Action == Attack) != c.goes || g.p(0).Health == 1000 {
			t.Errorf("%#x: %+v, %s", c.by, h, g.p(0).Action)
		}
		if c.goes && g.p(0).Mechanics.PowerCrush == 0 {
			t.Error("the counter does not run")
		}
	}
	g := newRing(t, data.SF, Format1v1, 80)
	m := g.attack("5s", 0)
	if g.p(0).Armor != int32(m.ArmorHits) {
		t.Fatalf("armor %d", g.p(0).Armor)
	}
	g.step(0, LightBit)
	g.until(12, 0, 0, "a hit", func() bool { return len(g.w.Hits()) > 0 })
	if g.p(0).Armor != 0 || g.p(0).Action != Attack {
		t.Fatalf("armor %d, %s", g.p(0).Armor, g.p(0).Action)
	}
}
