package sim

import (
	"testing"

	"backstep/sim/data"
)

// A throw can be broken for ThrowTech frames, otherwise it does its damage; the back throw changes sides.
func TestThrows(t *testing.T) {
	rules := data.Embedded().Ruleset(data.SF)
	for delay := 0; delay <= int(rules.ThrowTech)+1; delay++ {
		d := newDuel(t, "sable", "tarn", 60)
		d.attack(0, "throw", 0)
		d.until(10, 0, 0, "the grab", func() bool { return d.f(1).Action == Thrown })
		d.run(delay, 0, 0)
		d.step(0, ThrowBit)
		if broken := d.f(1).Action == Teched; broken != (delay < int(rules.ThrowTech)) {
			t.Errorf("a press %d frames after the grab: %s", delay, d.f(1).Action)
		}
	}
	for _, key := range []string{"throw", "throw-back"} {
		d := newDuel(t, "sable", "tarn", 60)
		m := d.attack(0, key, 0)
		d.until(60, 0, 0, "the fall", func() bool { return d.f(1).Action == Down })
		if d.f(1).Health != d.f(1).MaxHealth-m.Damage {
			t.Errorf("%s: health %d", key, d.f(1).Health)
		}
		if crossed := d.f(1).X < d.f(0).X; crossed != m.ThrowBehind {
			t.Errorf("%s: the thrown lands at %d, the thrower stands at %d", key, d.f(1).X.Whole(), d.f(0).X.Whole())
		}
		d.until(120, 0, 0, "getting up", func() bool { return d.f(1).Action.Neutral() })
		if d.f(1).ThrowProtect == 0 {
			t.Errorf("%s: no protection after getting up", key)
		}
	}
	// In the corner the back throw swaps them too, and both stay on the stage.
	d := newDuel(t, "sable", "tarn", 60)
	d.f(0).X, d.f(1).X = -rules.StageHalf, -rules.StageHalf+Fixed(60<<16)
	d.attack(0, "throw-back", 0)
	d.until(60, 0, 0, "the fall", func() bool { return d.f(1).Action == Down })
	if d.f(1).X >= d.f(0).X {
		t.Errorf("in the corner: %d, %d", d.f(1).X.Whole(), d.f(0).X.Whole())
	}
	// Nobody is thrown out of hitstun, blockstun or the air.
	d = newDuel(t, "sable", "tarn", 60)
	d.attack(0, "throw", UpBit)
	d.run(20, 0, 0)
	if d.f(1).Action == Thrown || d.f(0).Action == Throwing {
		t.Error("a jumping fighter was thrown")
	}
}

// A grapple cannot be broken the way a throw is.
func TestGrapplesHold(t *testing.T) {
	for rules := range Ruleset(data.RulesCount) {
		for _, key := range []string{"throw", "clinch", "takedown"} {
			g := newRing(t, rules, Format1v1, 60)
			k := g.r.Fighter(1)
			m := k.MoveByKey(key)
			if m == nil {
				t.Fatalf("the kit has no %s", key)
			}
			if !m.Under(rules) || k.CommandIn(rules, m.In, m.From, m.Button, m.Direction) != m.ID {
				continue
			}
			g.attack(key, 0)
			g.until(40, 0, 0, "the grab", func() bool { return g.p(1).Action == Thrown })
			g.step(0, ThrowBit)
			want := m.Family == data.ThrowFamily
			if broken := g.p(1).Action == Teched; broken != want {
				t.Errorf("%s under %s: broken %v, want %v", key, rules, broken, want)
			}
		}
	}
}

// A fighter that grabs in the very frame in which something hits it grabs nobody.
func TestGrabIsInterrupted(t *testing.T) {
	d := newDuel(t, "sable", "tarn", 60)
	m := d.attack(0, "throw", 0)
	d.until(10, 0, 0, "the last frame before", func() bool { return d.f(0).AnimationFrame == m.Startup })
	shot := data.Embedded().FighterByKey("tarn").MoveByKey("5s")
	d.f(1).Shots[0] = Projectile{X: d.f(0).X, Y: Fixed(62 << 16), Life: 20, Move: shot.ID, Durability: 1, Facing: -1}
	d.step(0, 0)
	if d.f(0).Action != Hitstun || d.f(1).Action == Thrown {
		t.Fatalf("%s and %s", d.f(0).Action, d.f(1).Action)
	}
}
