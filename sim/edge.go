package sim

import "backstep/sim/data"

// beginEdge asks both fighters of a hit to choose: light beats heavy, heavy beats medium, medium beats light, and anything beats
// no choice.
func (s *stepper) beginEdge(i, j int) {
	a, b := &s.w.fighters[i], &s.w.fighters[j]
	for _, k := range [...]int{i, j} {
		s.become(k, Prompted, s.rules.EdgeFrames)
		f := &s.w.fighters[k]
		f.Air, f.Y, f.VX, f.VY, f.Push = 0, 0, 0, 0, 0
		f.HitstopFrames, f.HitlagFrames = 0, 0
		f.Mechanics.ReversalEdge = int16(s.rules.EdgeFrames)
	}
	a.Partner, b.Partner = uint8(j), uint8(i)
	s.event(i, EventReversalEdge, s.rules.EdgeFrames)
}

// choose takes the first of the three buttons as a fighter's choice.
func (s *stepper) choose(i int) {
	f := &s.w.fighters[i]
	for _, b := range [...]data.Button{data.Light, data.Medium, data.Heavy} {
		if f.Choice == 0 && s.in[i].pressed>>(4+b)&1 != 0 {
			f.Choice = uint8(b) + 1
		}
	}
}

// edges settles the choices that have run their time. The fighters of a choice stand alike, so both come to its end in one frame.
func (s *stepper) edges() {
	for i := range int(s.w.count) {
		a := &s.w.fighters[i]
		if a.Action != Prompted {
			continue
		}
		j := int(a.Partner)
		b := &s.w.fighters[j]
		if b.Action != Prompted || int(b.Partner) != i {
			s.neutral(i)
			continue
		}
		if Side(i) == 0 && a.AnimationFrame >= a.Duration-1 {
			s.settleEdge(i, j)
		}
	}
}

func (s *stepper) settleEdge(i, j int) {
	a, b := &s.w.fighters[i], &s.w.fighters[j]
	switch {
	case beats(a.Choice, b.Choice):
		s.loseEdge(i, j)
	case beats(b.Choice, a.Choice):
		s.loseEdge(j, i)
	default:
		s.tech(i, j)
	}
}

// beats tells whether a choice (button + 1, 0 none) beats another.
func beats(x, y uint8) bool {
	switch x {
	case 0:
		return false
	case 1:
		return y == 0 || y == 3
	}
	return y == 0 || y == x-1
}

// loseEdge lets the fighter in slot i strike the one in slot j.
func (s *stepper) loseEdge(i, j int) {
	a, d := &s.w.fighters[i], &s.w.fighters[j]
	dir := away(a, d)
	s.neutral(i)
	c := contact{attacker: i, defender: j, window: -1, dir: dir}
	if s.w.match.Phase == Live {
		s.hurt(&c, s.rules.EdgeDamage)
	}
	s.launch(j, s.rules.LaunchX*Fixed(dir), s.rules.LaunchY)
	d.Facing = -dir
	s.event(j, EventHit, s.rules.EdgeDamage)
	s.feel(s.bare(&c, s.rules.EdgeDamage))
}

// bare is the payload of a hit that no move made: it freezes nobody.
func (s *stepper) bare(c *contact, dmg int32) HitConfirmed {
	return HitConfirmed{Frame: s.frame, Damage: dmg, Attacker: uint8(c.attacker), Defender: uint8(c.defender),
		AttackerID: s.w.fighters[c.attacker].ID, DefenderID: s.w.fighters[c.defender].ID, Reaction: data.Knockdown}
}

// selfEffects does what a move does to its own fighter on its first active frame.
func (s *stepper) selfEffects(i int, m *data.Move) {
	f := &s.w.fighters[i]
	e := &m.Effects
	if e.KiCharge > 0 {
		f.Mechanics.KiCharge = int16(e.KiCharge)
	}
	if e.HeatBurst && s.rules.HeatFrames > 0 {
		s.beginHeat(i)
	}
	if e.SoulCharge && s.rules.SoulChargeFrames > 0 {
		f.Mechanics.SoulCharge = int16(s.rules.SoulChargeFrames)
		s.event(i, EventSoulCharge, 0)
	}
}

// beginHeat spends the gauge and begins Heat.
func (s *stepper) beginHeat(i int) {
	f := &s.w.fighters[i]
	s.alter(i, AttrHeat, -f.Heat)
	f.Mechanics.Heat = int16(s.rules.HeatFrames)
	s.event(i, EventHeat, s.rules.HeatFrames)
}
