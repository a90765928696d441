package sim

import (
	"maps"
	"reflect"
	"testing"

	"backstep/sim/data"
)

// ATTR-01, ATTR-02: six sets; Vitals has 23 fields, and every attribute has a name, a set and a field of its own.
func TestAttributeSets(t *testing.T) {
	if n := reflect.TypeFor[Vitals]().NumField(); n != 23 {
		t.Fatalf("Vitals has %d fields", n)
	}
	sets := map[string]int{}
	var f Fighter
	names := map[string]bool{}
	for a := range Attribute(Attributes) {
		sets[a.Set()]++
		names[a.String()] = true
		before := f
		if a < vitalsCount {
			*f.vital(a) = 7
		} else {
			*f.small(a) = 7
		}
		if f.Attribute(a) != 7 || f == before {
			t.Errorf("%s has no field of its own", a)
		}
		f = before
	}
	if len(sets) != 6 || sets["Vitals"] != 23 || len(names) != Attributes {
		t.Fatalf("%v, %d names", sets, len(names))
	}
	for i := range reflect.TypeFor[Vitals]().NumField() {
		if got := reflect.TypeFor[Vitals]().Field(i).Name; got != Attribute(i).String() {
			t.Errorf("attribute %d is %s, field %s", i, Attribute(i), got)
		}
	}
	if Attribute(200).String() != "unknown" || f.Attribute(Attribute(200)) != 0 {
		t.Error("an attribute that is none")
	}
}

// ATTR-03: whatever is added, a current value stays between 0 and its most.
func TestAttributesAreClamped(t *testing.T) {
	g := newRing(t, data.Tekken, Format1v1, 300)
	for a := range Attribute(Attributes) {
		for _, by := range []int32{1 << 19, -1 << 19, 3, -5} {
			f := *g.p(0)
			f.RecoverableHealth = 0
			f.change(a, by)
			if v := f.Attribute(a); v < 0 || v > f.most(a) {
				t.Errorf("%s %+d gives %d of %d", a, by, v, f.most(a))
			}
		}
	}
}

// ATTR-07, ATTR-08, ATTR-09, ATTR-10, ATTR-11, ATTR-12, ATTR-13, ATTR-14, ATTR-15, ATTR-16, ATTR-17: the ten effects, their keys,
// defaults and what they change.
func TestEffects(t *testing.T) {
	fresh := func() Fighter {
		return Fighter{Vitals: Vitals{Health: 500, MaxHealth: 1000, MaxStun: 1000, Stun: 100, Drive: 10, MaxDrive: 20, MaxHeat: 100, MaxHype: 100, Stamina: 90, MaxStamina: 100},
			MMA: MMA{LimbStaminaTorso: 80}}
	}
	for _, c := range []struct {
		e    Effect
		name string
		want map[Attribute]int32
	}{
		{StrikeDamage, "StrikeDamage", map[Attribute]int32{AttrHealth: -10}}, {ThrowDamage, "ThrowDamage", map[Attribute]int32{AttrHealth: -14}},
		{ChipDamage, "ChipDamage", map[Attribute]int32{AttrHealth: -3, AttrRecoverableHealth: 3}}, {StunDelta, "StunDelta", map[Attribute]int32{AttrStun: 20}},
		{DriveCost, "DriveCost", map[Attribute]int32{AttrDrive: -1}}, {HeatGain, "HeatGain", map[Attribute]int32{AttrHeat: 20}},
		{HypeGain, "HypeGain", map[Attribute]int32{AttrHype: 15}}, {LimbDamage, "LimbDamage", map[Attribute]int32{AttrLimbDamageTorso: 10}},
		{StaminaDrain, "StaminaDrain", map[Attribute]int32{AttrStamina: -15, AttrLimbStaminaTorso: -15}},
		{TakedownSuccess, "TakedownSuccess", map[Attribute]int32{AttrTransitionSkill: 5500}},
	} {
		row := c.e.Row()
		if row.Name != c.name || row.Key != "Data.V2."+c.name || row.Class > MeterGainEffect {
			t.Errorf("%+v", row)
		}
		f, before := fresh(), fresh()
		c.e.Apply(&f, c.e.Resolve())
		for a := range Attribute(Attributes) {
			if d := f.Attribute(a) - before.Attribute(a); d != c.want[a] {
				t.Errorf("%s changes %s by %d, want %d", c.name, a, d, c.want[a])
			}
		}
		if got := c.e.Resolve(Magnitude{"Data.V2.Other", 1}, Magnitude{row.Key, 70000}); got != 70000 {
			t.Errorf("%s resolves to %d", c.name, got)
		}
		// ATTR-19: whatever the fighter multiplies, the same magnitude gives the same change.
		g := fresh()
		g.Combat, g.Weapon, g.ComboHits, g.Air, g.JuggleHits = Combat{20000, 20000, 5000, 20000, 5000}, Weapon{20000, 20000}, 7, 1, 4
		h := g
		c.e.Apply(&g, c.e.Resolve())
		for a := range Attribute(Attributes) {
			if d := g.Attribute(a) - h.Attribute(a); d != c.want[a] {
				t.Errorf("%s scales %s", c.name, a)
			}
		}
	}
	f := fresh()
	if Effect(99).Apply(&f, 100000); f != fresh() {
		t.Error("an effect that is none")
	}
}

// ATTR-20: three kinds of effects at bottom: damage takes, gains give, blockstun holds a fighter in its guard.
func TestEffectClasses(t *testing.T) {
	want := map[EffectClass]int{DamageEffect: 5, MeterGainEffect: 5}
	got := map[EffectClass]int{}
	for e := range Effect(Effects) {
		got[e.Row().Class]++
	}
	if !maps.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	g := newRing(t, data.SF, Format1v1, 300)
	s := newStepper(&g.w, g.r)
	if s.blockstun(1, 9); g.p(1).Action != Blockstun || g.p(1).Duration != 9 || g.p(1).Health != 1000 {
		t.Errorf("%s for %d frames", g.p(1).Action, g.p(1).Duration)
	}
}

// ATTR-04, ATTR-18: every change of a hit is reported with before, after and the effect; the reports add up to what happened.
func TestChangesAreReported(t *testing.T) {
	for _, guard := range []uint16{0, RightBit} {
		g := newRing(t, data.Tekken, Format1v1, 80)
		g.attack("e-engage", 0)
		before := [2]Vitals{g.p(0).Vitals, g.p(1).Vitals}
		for len(g.w.Hits()) == 0 {
			before = [2]Vitals{g.p(0).Vitals, g.p(1).Vitals}
			g.step(0, guard)
		}
		for i := range before {
			for _, a := range []Attribute{AttrHealth, AttrRecoverableHealth, AttrHeat, AttrSuperMeter} {
				sum := *before[i].vital(a)
				for _, c := range g.w.Changes() {
					if int(c.Fighter) == i && c.Attribute == a {
						if c.Before != sum {
							t.Errorf("guard %#x: %s of slot %d was %d, reported %d", guard, a, i, sum, c.Before)
						}
						sum = c.After
					}
				}
				if got := g.p(i).Attribute(a); got != sum {
					t.Errorf("guard %#x: %s of slot %d is %d, reported %d", guard, a, i, got, sum)
				}
			}
		}
		want := StrikeDamage
		if guard != 0 {
			continue
		}
		found := false
		for _, c := range g.w.Changes() {
			found = found || (c.Effect == want && c.Fighter == 1 && c.Attribute == AttrHealth)
		}
		if !found {
			t.Errorf("no %s in %+v", want.Row().Name, g.w.Changes())
		}
	}
}

// ATTR-05: the same fighter has the meters of the rules it plays under, and no others.
func TestMetersFollowTheRules(t *testing.T) {
	for rules := range Ruleset(data.RulesCount) {
		g := newRing(t, rules, Format1v1, 300)
		f, r := g.p(0), g.r.Ruleset(rules)
		for _, m := range [][2]int32{{f.MaxDrive, r.Drive.Max}, {f.MaxHeat, r.Heat.Max}, {f.MaxMKStamina, r.MKStamina.Max}, {f.MaxStamina, r.Stamina.Max},
			{f.MaxHype, r.Hype.Max}, {f.MaxStun, r.Stun.Max}, {f.MaxSuperMeter, r.MeterMax}, {f.MaxMeter, r.MeterMax}} {
			if m[0] != m[1] {
				t.Errorf("%s: most %d, rules say %d", rules, m[0], m[1])
			}
		}
	}
	r := kit(t)
	if r.Ruleset(data.SF).Drive.Max == 0 || r.Ruleset(data.Tekken).Heat.Max == 0 || r.Ruleset(data.MK).MKStamina.Max == 0 || r.Ruleset(data.DefJam).Hype.Max == 0 ||
		r.Ruleset(data.SF).Stun.Max == 0 || r.Ruleset(data.TagTeam).Drive.Max != 0 {
		t.Error("the six economies")
	}
}
