package sim

import "encoding/binary"

func put16[T ~uint16 | ~int16](b []byte, v T) []byte {
	return binary.LittleEndian.AppendUint16(b, uint16(v))
}

func put32[T ~uint32 | ~int32](b []byte, v T) []byte {
	return binary.LittleEndian.AppendUint32(b, uint32(v))
}

func put64(b []byte, v uint64) []byte { return binary.LittleEndian.AppendUint64(b, v) }

func (w *state) append(b []byte) []byte {
	b = put64(b, w.seed)
	b = put32(b, w.frame)
	b = append(b, w.count)
	for i := range int(w.count) {
		b = w.fighters[i].append(b)
	}
	b = append(b, w.active, w.point[0], w.point[1], byte(w.ruleset), byte(w.format), w.rounds)
	b = w.match.append(b)
	b = w.teams[0].append(b)
	b = w.teams[1].append(b)
	b = put64(b, w.random.State)
	return put32(b, w.drawn)
}

func (m *Match) append(b []byte) []byte {
	accepted := byte(0)
	if m.Last.Accepted {
		accepted = 1
	}
	b = put32(b, m.PhaseFrames)
	b = put32(b, m.Timer)
	for _, n := range m.Nodes {
		b = put16(b, n)
	}
	b = put32(b, m.Score[0])
	b = put32(b, m.Score[1])
	b = put16(b, m.Struggle)
	return append(b, byte(m.Phase), byte(m.Last.From), byte(m.Last.To), accepted, m.Round, m.Wins[0], m.Wins[1],
		byte(m.RoundWinner), byte(m.MatchWinner), m.SlowMotion, m.FinisherFreeze, m.Owner, m.Target, m.Fallen)
}

func (f *Fighter) append(b []byte) []byte {
	for _, key := range f.Registry {
		b = put64(b, key)
	}
	for i := range f.Shots {
		b = f.Shots[i].append(b)
	}
	b = put32(b, f.X)
	b = put32(b, f.Y)
	b = put32(b, f.VX)
	b = put32(b, f.VY)
	b = put32(b, f.Push)
	b = f.Vitals.append(b)
	b = put32(b, f.ComboDamage)
	b = put32(b, f.Regen)
	b = put32(b, f.AnimationFrame)
	b = put32(b, f.Duration)
	b = put32(b, f.MoveStart)
	b = put32(b, f.CancelFrame)
	b = put32(b, f.Clock)
	b = put64(b, f.Used)
	b = put32(b, f.RNGCursor)
	b = put32(b, f.StanceTag)
	b = f.Mechanics.append(b)
	for _, v := range [...]int16{f.Combat.MeleeDamageMul, f.Combat.CounterHitMul, f.Combat.JuggleScaling, f.Combat.ChipMul, f.Combat.DefenseMul, f.MMA.LimbStaminaHead, f.MMA.LimbStaminaTorso, f.MMA.LimbStaminaLegs, f.MMA.TransitionSkill, f.MMA.TopPosition, f.Movement.WalkMul, f.Movement.DashMul, f.Movement.JumpMul, f.Weapon.Power, f.Weapon.Chip, f.Wrestling.LimbDamageHead, f.Wrestling.LimbDamageTorso, f.Wrestling.LimbDamageLegs} {
		b = put16(b, v)
	}
	b = put16(b, f.HitstopFrames)
	b = put16(b, f.HitlagFrames)
	b = put16(b, f.RecoverTimer)
	b = put16(b, f.RetreatFrames)
	b = put16(b, f.Lie)
	b = put16(b, f.Lock)
	for _, e := range f.Buffer {
		b = put16(b, e)
	}
	return append(b, byte(f.ID), byte(f.Facing), byte(f.Action), byte(f.Move), byte(f.Contact), f.CancelOpen, f.Air, f.Low, f.AirUsed,
		byte(f.JumpDir), byte(f.TapDir), f.TapTimer, f.ThrowProtect, f.ComboHits, f.ComboStarter, f.JuggleHits,
		f.PushesBack, f.Approached, f.Partner, byte(f.Place), byte(f.TechTimer), byte(f.RollDir), f.Lay, f.Hard, f.Launcher, f.RageSpent,
		f.Burnout, f.Choice)
}

func (v *Vitals) append(b []byte) []byte {
	for _, n := range [...]int32{v.Health, v.MaxHealth, v.RecoverableHealth, v.Stun, v.MaxStun, v.Stamina, v.MaxStamina, v.MKStamina, v.MaxMKStamina, v.Hype, v.MaxHype, v.SuperMeter, v.MaxSuperMeter, v.Drive, v.MaxDrive, v.Heat, v.MaxHeat, v.Armor, v.Resolve, v.Block, v.Stunmeter, v.Meter, v.MaxMeter} {
		b = put32(b, n)
	}
	return b
}

func (t *Team) append(b []byte) []byte {
	b = put16(b, t.AssistCooldown)
	b = put16(b, t.XFactor)
	b = put16(b, t.Cross)
	b = put16(b, t.Baroque)
	b = put16(b, t.Timer)
	return append(b, byte(t.Phase), byte(t.Why), t.To, t.XFactorUsed, t.AnchorUsed)
}

func (m *Mechanics) append(b []byte) []byte {
	b = put16(b, m.AirJuggle)
	b = put16(b, m.Heat)
	b = put16(b, m.SoulCharge)
	b = put16(b, m.CriticalEdge)
	b = put16(b, m.ReversalEdge)
	b = put16(b, m.KiCharge)
	b = put16(b, m.PowerCrush)
	b = put16(b, m.StanceEntry)
	b = put16(b, m.StanceRecovery)
	b = put16(b, m.StanceDuration)
	return append(b, m.Rage, m.StanceKind)
}

func (p *Projectile) append(b []byte) []byte {
	b = put32(b, p.X)
	b = put32(b, p.Y)
	b = put32(b, p.VX)
	b = put32(b, p.VY)
	b = put32(b, p.Life)
	return append(b, byte(p.Move), p.Durability, p.Pause, byte(p.Facing))
}
