package sim

import "backstep/sim/data"

// Effect is a change of attributes by a magnitude that has been worked out before (ATTR-18). No effect scales anything.
type Effect uint8

// The ten effects.
const (
	StrikeDamage Effect = iota
	ThrowDamage
	ChipDamage
	StunDelta
	DriveCost
	HeatGain
	HypeGain
	LimbDamage
	StaminaDrain
	TakedownSuccess
	Effects  = 10
	noEffect = Effect(255)
)

// EffectClass is what kind of effect it is at bottom; there are three (ATTR-20).
type EffectClass uint8

// The classes.
const (
	DamageEffect EffectClass = iota
	BlockstunEffect
	MeterGainEffect
)

// EffectRow describes an effect: its name, the key a caller gives its magnitude under, the magnitude without one in
// ten-thousandths, its class, and the attributes it adds to (sign -1 subtracts).
type EffectRow struct {
	Name, Key string
	Default   int32
	Class     EffectClass
	changes   [2]struct {
		attribute Attribute
		sign      int32
	}
	n     uint8
	parts bool // the attribute itself is in ten-thousandths
}

type effectChange = struct {
	attribute Attribute
	sign      int32
}

var effectRows = [Effects]EffectRow{
	{"StrikeDamage", "Data.V2.StrikeDamage", 100000, DamageEffect, [2]effectChange{{AttrHealth, -1}}, 1, false},
	{"ThrowDamage", "Data.V2.ThrowDamage", 140000, DamageEffect, [2]effectChange{{AttrHealth, -1}}, 1, false},
	{"ChipDamage", "Data.V2.ChipDamage", 30000, DamageEffect, [2]effectChange{{AttrHealth, -1}, {AttrRecoverableHealth, 1}}, 2, false},
	{"StunDelta", "Data.V2.StunDelta", 200000, MeterGainEffect, [2]effectChange{{AttrStun, 1}}, 1, false},
	{"DriveCost", "Data.V2.DriveCost", 10000, MeterGainEffect, [2]effectChange{{AttrDrive, -1}}, 1, false},
	{"HeatGain", "Data.V2.HeatGain", 200000, MeterGainEffect, [2]effectChange{{AttrHeat, 1}}, 1, false},
	{"HypeGain", "Data.V2.HypeGain", 150000, MeterGainEffect, [2]effectChange{{AttrHype, 1}}, 1, false},
	{"LimbDamage", "Data.V2.LimbDamage", 100000, DamageEffect, [2]effectChange{{AttrLimbDamageTorso, 1}}, 1, false},
	{"StaminaDrain", "Data.V2.StaminaDrain", 150000, DamageEffect, [2]effectChange{{AttrStamina, -1}, {AttrLimbStaminaTorso, -1}}, 2, false},
	{"TakedownSuccess", "Data.V2.TakedownSuccess", 5500, MeterGainEffect, [2]effectChange{{AttrTransitionSkill, 1}}, 1, true},
}

// Row describes the effect.
func (e Effect) Row() EffectRow { return effectRows[e%Effects] }

// Magnitude is a magnitude a caller gives under a key, in ten-thousandths.
type Magnitude struct {
	Key   string
	Value int32
}

// Resolve gives the magnitude of the effect: what was given under its key, else its default (ATTR-07).
func (e Effect) Resolve(given ...Magnitude) int32 {
	for i := range given {
		if given[i].Key == effectRows[e%Effects].Key {
			return given[i].Value
		}
	}
	return effectRows[e%Effects].Default
}

// Apply changes f by the effect: the same magnitude in, the same change out, but for the limits of the attributes.
func (e Effect) Apply(f *Fighter, magnitude int32) {
	if e >= Effects {
		return
	}
	row := &effectRows[e]
	if !row.parts {
		magnitude /= data.Unit
	}
	for i := range row.n {
		c := row.changes[i]
		f.change(c.attribute, c.sign*magnitude)
	}
}

// AttributeChange is one change of an attribute in a step: what it was, what it is, and the effect that did it, if one did.
type AttributeChange struct {
	Before, After int32
	Fighter       uint8
	Attribute     Attribute
	Effect        Effect // 255: none
}

// effect applies an effect of a whole number of points to the fighter in a slot and reports the changes.
func (s *stepper) effect(i int, e Effect, points int32) {
	row := &effectRows[e]
	f := &s.w.fighters[i]
	for k := range row.n {
		c := row.changes[k]
		before, after := f.change(c.attribute, c.sign*points)
		s.report(i, c.attribute, e, before, after)
	}
}

// alter changes an attribute outside any effect and reports it.
func (s *stepper) alter(i int, a Attribute, by int32) {
	if by != 0 {
		before, after := s.w.fighters[i].change(a, by)
		s.report(i, a, noEffect, before, after)
	}
}

func (s *stepper) report(i int, a Attribute, e Effect, before, after int32) {
	o := &s.w.out
	if before == after || int(o.changes) == len(o.change) {
		return
	}
	o.change[o.changes] = AttributeChange{Before: before, After: after, Fighter: uint8(i), Attribute: a, Effect: e}
	o.changes++
}
