package sim

import "backstep/sim/data"

// scale applies a factor in ten-thousandths, truncating toward zero.
func scale(n, factor int32) int32 {
	if factor == data.Unit {
		return n
	}
	return int32(int64(n) * int64(factor) / data.Unit)
}

// last gives row i of a table whose last row stays.
func last(table []int32, i int) int32 {
	if len(table) == 0 {
		return data.Unit
	}
	return table[min(i, len(table)-1)]
}

// damage works out what a hit does, in the order base, counter-hit, starter (from the second hit of a combo on), combo, juggle,
// then the ruleset: what the state of attacker and defender multiplies, its own multiplier for sides of this size. It truncates after each step and
// gives at least 1 (S-11). This is the only place that scales; what is done with the result is an effect.
func (s *stepper) damage(c *contact) int32 {
	a, d := &s.w.fighters[c.attacker], &s.w.fighters[c.defender]
	n := c.base
	if c.counter {
		n = scale(n, int32(a.Combat.CounterHitMul))
	}
	if d.ComboHits > 0 {
		n = scale(n, s.rules.Starter[d.ComboStarter])
	}
	n = scale(n, last(s.rules.Combo, int(d.ComboHits)))
	if d.Air != 0 {
		n = scale(n, s.juggle(c))
	}
	if c.krushing {
		n = scale(n, s.rules.KrushingDamage)
	}
	n = scale(n, int32(a.Combat.MeleeDamageMul))
	n = scale(n, int32(a.Weapon.Power))
	n = scale(n, int32(d.Combat.DefenseMul))
	return max(1, scale(n, s.rules.Multiplier.Of(s.w.format.Roster())))
}

// juggle gives the factor of a hit in the air and keeps it with the defender.
func (s *stepper) juggle(c *contact) int32 {
	d := &s.w.fighters[c.defender]
	table := s.rules.Juggle
	if len(c.move.Juggle) > 0 {
		table = c.move.Juggle
	}
	by := last(table, int(d.JuggleHits))
	if d.Launcher != 0 {
		by = scale(by, s.rules.JuggleStarter)
	}
	d.Combat.JuggleScaling = int16(by)
	return by
}

// krushes tells whether a hit is a Krushing Blow, and if so uses it up.
func (s *stepper) krushes(c *contact) bool {
	k := &c.move.Krushing
	if k.When == data.NoKrushing || s.w.ruleset != data.MK {
		return false
	}
	a, d := &s.w.fighters[c.attacker], &s.w.fighters[c.defender]
	if a.Used>>(c.move.ID&63)&1 != 0 {
		return false
	}
	switch k.When {
	case data.KrushingCounter:
		if !c.counter {
			return false
		}
	case data.KrushingCombo:
		if d.ComboHits < 2 {
			return false
		}
	case data.KrushingLowHealth:
		if d.Health*100 >= d.MaxHealth*s.rules.FatalShare {
			return false
		}
	}
	a.Used |= 1 << (c.move.ID & 63)
	return true
}

// hurt takes health of the defender of a contact. What could have been recovered is lost.
func (s *stepper) hurt(c *contact, n int32) {
	d := &s.w.fighters[c.defender]
	s.alter(c.defender, AttrRecoverableHealth, -d.RecoverableHealth)
	e := StrikeDamage
	if c.grab {
		e = ThrowDamage
	}
	before := d.Health
	s.effect(c.defender, e, n)
	s.w.match.Score[Side(c.attacker)] += before - d.Health
}

// EvaluateBlockChipDamage gives the health a blocked hit takes from a fighter: the move's chip, but never the last point.
func EvaluateBlockChipDamage(chip, health int32) int32 { return max(0, min(chip, health-1)) }

// gains gives attacker and defender what a hit brings besides damage and super meter.
func (s *stepper) gains(c *contact) {
	g := &c.move.Gains
	if *g == (data.Gains{}) {
		return
	}
	a, d := &s.w.fighters[c.attacker], &s.w.fighters[c.defender]
	if g.Heat > 0 && a.MaxHeat > 0 && a.Mechanics.Heat == 0 {
		s.effect(c.attacker, HeatGain, g.Heat)
	}
	if g.Hype > 0 && a.MaxHype > 0 {
		s.effect(c.attacker, HypeGain, g.Hype)
	}
	if g.Stun > 0 && d.MaxStun > 0 && d.Action != Dazed {
		stun := g.Stun
		if d.MMA.LimbStaminaHead < tiredHead || d.Wrestling.LimbDamageHead > soreHead {
			stun += stun / 2
		}
		s.effect(c.defender, StunDelta, stun)
	}
	if g.Limb > 0 {
		s.limb(c, g.Limb)
	}
	if g.Drain > 0 && d.MaxStamina > 0 {
		s.drain(c, g.Drain)
	}
	if g.Skill > 0 {
		s.effect(c.attacker, TakedownSuccess, g.Skill)
		s.alter(c.attacker, AttrTopPosition, topFrames)
	}
}

// Stamina of the head in percent below which, or damage of it above which, stun comes half as fast again, and frames a takedown
// gives the top position.
const (
	tiredHead = 40
	soreHead  = 120
	topFrames = 300
)

// limb damages what a move aims at: high ones the head, low ones the legs, all others the torso.
func (s *stepper) limb(c *contact, n int32) {
	switch c.move.Guard {
	case data.High:
		s.alter(c.defender, AttrLimbDamageHead, n)
	case data.Low:
		s.alter(c.defender, AttrLimbDamageLegs, n)
	default:
		s.effect(c.defender, LimbDamage, n)
	}
}

// drain tires what a move aims at, likewise.
func (s *stepper) drain(c *contact, n int32) {
	switch c.move.Guard {
	case data.High:
		s.alter(c.defender, AttrStamina, -n)
		s.alter(c.defender, AttrLimbStaminaHead, -n)
	case data.Low:
		s.alter(c.defender, AttrStamina, -n)
		s.alter(c.defender, AttrLimbStaminaLegs, -n)
	default:
		s.effect(c.defender, StaminaDrain, n)
	}
}
