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
	return append(b, byte(m.Phase), byte(m.Last.From), byte(m.Last.To), accepted, m.Round, m.Wins[0], m.Wins[1],
		byte(m.RoundWinner), byte(m.MatchWinner), m.SlowMotion, m.FinisherFreeze)
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
	b = put32(b, f.Health)
	b = put32(b, f.MaxHealth)
	b = put32(b, f.Recoverable)
	b = put32(b, f.Meter)
	b = put32(b, f.MaxMeter)
	b = put32(b, f.ComboDamage)
	b = put32(b, f.AnimationFrame)
	b = put32(b, f.Duration)
	b = put32(b, f.MoveStart)
	b = put32(b, f.CancelFrame)
	b = put32(b, f.Clock)
	b = put32(b, f.RNGCursor)
	b = put32(b, f.StanceTag)
	b = f.Mechanics.append(b)
	b = put16(b, f.HitstopFrames)
	b = put16(b, f.HitlagFrames)
	b = put16(b, f.RecoverTimer)
	b = put16(b, f.RetreatFrames)
	for _, e := range f.Buffer {
		b = put16(b, e)
	}
	return append(b, byte(f.ID), byte(f.Facing), byte(f.Action), byte(f.Move), byte(f.Contact), f.CancelOpen, f.Air, f.Low, f.AirUsed,
		byte(f.JumpDir), byte(f.TapDir), f.TapTimer, f.ThrowProtect, f.ArmorLeft, f.ComboHits, f.ComboStarter, f.JuggleHits,
		f.PushesBack, f.Approached, f.Partner)
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
