package sim

import (
	"encoding/binary"

	"backstep/sim/data"
)

// reader takes fields off the front of b. After a field that was not there, or was impossible, bad stays set.
type reader struct {
	b   []byte
	bad bool
}

func (r *reader) take(n int) []byte {
	if len(r.b) < n {
		r.bad, r.b = true, nil
		return make([]byte, n)
	}
	b := r.b[:n]
	r.b = r.b[n:]
	return b
}

func (r *reader) u8() uint8    { return r.take(1)[0] }
func (r *reader) i8() int8     { return int8(r.u8()) }
func (r *reader) u16() uint16  { return binary.LittleEndian.Uint16(r.take(2)) }
func (r *reader) i16() int16   { return int16(r.u16()) }
func (r *reader) u32() uint32  { return binary.LittleEndian.Uint32(r.take(4)) }
func (r *reader) i32() int32   { return int32(r.u32()) }
func (r *reader) u64() uint64  { return binary.LittleEndian.Uint64(r.take(8)) }
func (r *reader) fixed() Fixed { return Fixed(r.i32()) }

// bool reads a byte that must be 0 or 1.
func (r *reader) bool() bool {
	v := r.u8()
	r.bad = r.bad || v > 1
	return v == 1
}

func (r *reader) state(w *state) {
	w.seed = r.u64()
	w.frame = r.i32()
	w.count = r.u8()
	if r.bad = r.bad || w.count > MaxFighters; r.bad {
		return
	}
	for i := range int(w.count) {
		r.fighter(&w.fighters[i])
	}
	w.active = r.u8()
	w.point[0], w.point[1] = r.u8(), r.u8()
	w.ruleset, w.format, w.rounds = Ruleset(r.u8()), Format(r.u8()), r.u8()
	r.match(&w.match)
	r.team(&w.teams[0])
	r.team(&w.teams[1])
	w.random.State = r.u64()
	w.drawn = r.u32()
}

func (r *reader) match(m *Match) {
	m.PhaseFrames, m.Timer = r.i32(), r.i32()
	for i := range m.Nodes {
		m.Nodes[i] = r.i16()
	}
	m.Score[0], m.Score[1] = r.i32(), r.i32()
	m.Struggle = r.i16()
	m.Phase = Phase(r.u8())
	m.Last.From, m.Last.To, m.Last.Accepted = Phase(r.u8()), Phase(r.u8()), r.bool()
	m.Round = r.u8()
	m.Wins[0], m.Wins[1] = r.u8(), r.u8()
	m.RoundWinner, m.MatchWinner = Winner(r.u8()), Winner(r.u8())
	m.SlowMotion, m.FinisherFreeze = r.u8(), r.u8()
	m.Owner, m.Target, m.Fallen = r.u8(), r.u8(), r.u8()
}

func (r *reader) fighter(f *Fighter) {
	for i := range f.Registry {
		f.Registry[i] = r.u64()
	}
	for i := range f.Shots {
		r.shot(&f.Shots[i])
	}
	f.X, f.Y, f.VX, f.VY, f.Push = r.fixed(), r.fixed(), r.fixed(), r.fixed(), r.fixed()
	for a := range Attribute(vitalsCount) {
		*f.vital(a) = r.i32()
	}
	f.ComboDamage, f.Regen = r.i32(), r.i32()
	f.AnimationFrame, f.Duration, f.MoveStart, f.CancelFrame, f.Clock = r.i32(), r.i32(), r.i32(), r.i32(), r.i32()
	f.Used = r.u64()
	f.RNGCursor, f.StanceTag = r.u32(), r.u32()
	r.mechanics(&f.Mechanics)
	for a := Attribute(vitalsCount); a < Attributes; a++ {
		*f.small(a) = r.i16()
	}
	f.HitstopFrames, f.HitlagFrames, f.RecoverTimer, f.RetreatFrames = r.i16(), r.i16(), r.i16(), r.i16()
	f.Lie, f.Lock = r.i16(), r.i16()
	for i := range f.Buffer {
		f.Buffer[i] = r.u16()
	}
	f.ID, f.Facing, f.Action = FighterID(r.u8()), r.i8(), Action(r.u8())
	f.Move, f.Contact, f.CancelOpen = data.MoveID(r.u8()), Contact(r.u8()), r.u8()
	f.Air, f.Low, f.AirUsed = r.u8(), r.u8(), r.u8()
	f.JumpDir, f.TapDir, f.TapTimer = r.i8(), r.i8(), r.u8()
	f.ThrowProtect = r.u8()
	f.ComboHits, f.ComboStarter, f.JuggleHits = r.u8(), r.u8(), r.u8()
	f.PushesBack, f.Approached, f.Partner = r.u8(), r.u8(), r.u8()
	f.Place, f.TechTimer, f.RollDir = Place(r.u8()), r.i8(), r.i8()
	f.Lay, f.Hard, f.Launcher, f.RageSpent, f.Burnout, f.Choice = r.u8(), r.u8(), r.u8(), r.u8(), r.u8(), r.u8()
}

func (r *reader) team(t *Team) {
	t.AssistCooldown, t.XFactor, t.Cross, t.Baroque, t.Timer = r.i16(), r.i16(), r.i16(), r.i16(), r.i16()
	t.Phase, t.Why, t.To = TagPhase(r.u8()), data.Mechanic(r.u8()), r.u8()
	t.XFactorUsed, t.AnchorUsed = r.u8(), r.u8()
}

func (r *reader) mechanics(m *Mechanics) {
	m.AirJuggle, m.Heat, m.SoulCharge, m.CriticalEdge, m.ReversalEdge = r.i16(), r.i16(), r.i16(), r.i16(), r.i16()
	m.KiCharge, m.PowerCrush, m.StanceEntry, m.StanceRecovery, m.StanceDuration = r.i16(), r.i16(), r.i16(), r.i16(), r.i16()
	m.Rage, m.StanceKind = r.u8(), r.u8()
}

func (r *reader) shot(p *Projectile) {
	p.X, p.Y, p.VX, p.VY = r.fixed(), r.fixed(), r.fixed(), r.fixed()
	p.Life, p.Move, p.Durability, p.Pause, p.Facing = r.i32(), data.MoveID(r.u8()), r.u8(), r.u8(), r.i8()
}
