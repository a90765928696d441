package sim

import "backstep/sim/data"

// timers is step 3.
func (s *stepper) timers() {
	live := s.w.match.Phase == Live
	for i := range int(s.w.count) {
		f := &s.w.fighters[i]
		f.Mechanics.run()
		if !s.onStage(i) {
			continue
		}
		if live {
			s.economies(i)
		}
		s.factors(i)
		if s.frozen[i] {
			continue
		}
		if f.ThrowProtect > 0 {
			f.ThrowProtect--
		}
		s.recover(f)
	}
	for i := range int(s.w.count) {
		s.rage(i)
	}
}

// run counts every mechanic down.
func (m *Mechanics) run() {
	m.AirJuggle = max(0, m.AirJuggle-1)
	m.Heat = max(0, m.Heat-1)
	m.SoulCharge = max(0, m.SoulCharge-1)
	m.CriticalEdge = max(0, m.CriticalEdge-1)
	m.ReversalEdge = max(0, m.ReversalEdge-1)
	m.KiCharge = max(0, m.KiCharge-1)
	m.PowerCrush = max(0, m.PowerCrush-1)
	m.StanceEntry = max(0, m.StanceEntry-1)
	m.StanceRecovery = max(0, m.StanceRecovery-1)
	m.StanceDuration = max(0, m.StanceDuration-1)
}

// economies lets the meters of the ruleset come and go. Drive and stamina rest during an attack and while hit.
func (s *stepper) economies(i int) {
	f := &s.w.fighters[i]
	rest := f.Action == Attack || f.Action == Hitstun || f.Action == Blockstun || f.Action == Launched
	flow := func(e *data.Economy, at *int32) {
		if e.Max > 0 && e.Gain != 0 && s.frame%e.Every == 0 {
			*at = max(0, min(e.Max, *at+e.Gain))
		}
	}
	if !rest {
		flow(&s.rules.Drive, &f.Drive)
		flow(&s.rules.Stamina, &f.Stamina)
		flow(&s.rules.MKStamina, &f.MKStamina)
		flow(&s.rules.Block, &f.Block)
		flow(&s.rules.Stun, &f.Stun)
	}
	flow(&s.rules.Heat, &f.Heat)
	flow(&s.rules.Hype, &f.Hype)
	if f.Burnout != 0 && f.Drive == f.MaxDrive {
		f.Burnout = 0
	}
	if f.MMA.TopPosition > 0 {
		f.MMA.TopPosition--
	}
}

// burn sets the burnout of a fighter whose drive has come to its end.
func (s *stepper) burn(i int) {
	if f := &s.w.fighters[i]; s.rules.Drive.Max > 0 && f.Drive == 0 && f.Burnout == 0 {
		f.Burnout = 1
		s.event(i, EventBurnout, 0)
	}
}

// factors works out what a fighter's state multiplies.
func (s *stepper) factors(i int) {
	f := &s.w.fighters[i]
	melee, chip, walk := int32(data.Unit), int32(data.Unit), int32(data.Unit)
	power, jump, defense := int32(data.Unit), int32(data.Unit), int32(data.Unit)
	if f.Mechanics.Heat > 0 {
		melee, chip = scale(melee, s.rules.HeatDamage), scale(chip, s.rules.HeatDamage)
	}
	if f.Mechanics.SoulCharge > 0 {
		power = s.rules.SoulChargeDamage
	}
	if f.MaxStamina > 0 && f.Stamina*100 < f.MaxStamina*s.rules.TiredShare {
		melee = scale(melee, s.rules.TiredDamage)
	}
	if f.MMA.LimbStaminaLegs < tiredLegs || f.Wrestling.LimbDamageLegs > soreLegs {
		walk, jump = scale(walk, slowWalk), lowJump
	}
	if f.Health*100 <= f.MaxHealth*s.rules.GutsShare {
		defense = s.rules.GutsDamage
	}
	if s.w.count > 2 {
		team := &s.w.teams[Side(i)]
		if team.XFactor > 0 {
			x := &s.roster.Team.Mechanics[data.XFactorPandora]
			melee, walk = melee*x.Damage/100, walk*x.Speed/100
		}
		if team.Baroque > 0 {
			melee = melee * s.roster.Team.Mechanics[data.BaroqueDuoCancel].Damage / 100
		}
	}
	f.Combat.MeleeDamageMul, f.Combat.ChipMul = int16(min(melee, mostFactor)), int16(min(chip, mostFactor))
	f.Weapon.Power, f.Weapon.Chip = int16(min(power, mostFactor)), int16(min(power, mostFactor))
	f.Combat.DefenseMul = int16(defense)
	f.Movement = Movement{WalkMul: int16(walk), DashMul: int16(walk), JumpMul: int16(jump)}
}

// When legs make a fighter slow: stamina of the legs in percent, points of damage, and the factors of walking and of jumping.
const (
	tiredLegs = 30
	soreLegs  = 120
	slowWalk  = 8000
	lowJump   = 9000
)

// factor multiplies by ten-thousandths.
func factor(q Fixed, by int16) Fixed {
	if by == data.Unit {
		return q
	}
	return Fixed(int64(q) * int64(by) / data.Unit)
}

func (s *stepper) rage(i int) {
	f := &s.w.fighters[i]
	was := f.Mechanics.Rage
	f.Mechanics.Rage = 0
	if s.rules.RageShare > 0 && f.RageSpent == 0 && f.Health > 0 && f.Health*100 <= f.MaxHealth*s.rules.RageShare {
		f.Mechanics.Rage = 1
		if was == 0 {
			s.beginNode(data.TekkenRageActivationLockout)
			s.event(i, EventRage, 0)
		}
	}
}

// recover gives recoverable health back while a fighter is free to act in a running round.
func (s *stepper) recover(f *Fighter) {
	if f.RecoverableHealth == 0 || !f.Action.Neutral() || s.w.match.Phase != Live {
		f.RecoverTimer = 0
		return
	}
	if f.RecoverTimer++; int32(f.RecoverTimer) >= s.rules.RecoverEvery {
		f.RecoverTimer = 0
		f.Health++
		f.RecoverableHealth--
	}
}
