package sim

import "backstep/sim/data"

// techLock is how long after a press that came too early no ground tech is possible.
const techLock = 20

const anyAttack = LightBit | MediumBit | HeavyBit

// readTech takes a press of a falling fighter as the wish to tech the fall.
func (s *stepper) readTech(i int) {
	f := &s.w.fighters[i]
	switch {
	case f.TechTimer > 0:
		if f.TechTimer--; f.TechTimer == 0 {
			f.TechTimer, f.RollDir = -techLock, 0
		}
	case f.TechTimer < 0:
		f.TechTimer++
	case s.rules.RollWindow > 0 && f.Hard == 0 && s.in[i].pressed&anyAttack != 0:
		f.TechTimer, f.RollDir = int8(s.rules.RollWindow), toward(s.in[i].held)
	}
}

// fall lays a launched fighter down, or lets it roll.
func (s *stepper) fall(i int) {
	f := &s.w.fighters[i]
	if f.TechTimer > 0 && f.Health > 0 {
		dir := f.RollDir
		s.roll(i, dir)
		s.event(i, EventGroundTech, int32(dir))
		return
	}
	s.become(i, Down, s.rules.DownFrames+int32(f.Lie))
	f.TechTimer, f.RollDir, f.Lie = 0, 0, 0
	s.event(i, EventFall, 0)
}

// roll moves a fighter along the ground out of reach of strikes.
func (s *stepper) roll(i int, dir int8) {
	f := &s.w.fighters[i]
	s.become(i, Roll, s.rules.RollFrames)
	s.comboOver(i)
	f.TechTimer, f.RollDir, f.Low = 0, dir, 1
}

// rise chooses how a fighter that has lain its time gets up, by what its player has buffered and holds: a strike from the ground,
// a roll, lying on, or just getting up.
func (s *stepper) rise(i int) {
	f := &s.w.fighters[i]
	if f.Health == 0 {
		f.Duration = 0 // stays down until the round ends, or a partner comes in
		return
	}
	f.TechTimer = 0
	held := s.in[i].held
	dir := toward(held)
	switch {
	case s.rules.WakeAttack && s.riseStriking(i):
	case s.rules.WakeDelay > 0 && f.Lay == 0 && held&DownBit != 0:
		f.Duration += s.rules.WakeDelay
		f.Lay = 1
	case s.rules.WakeRoll && dir != 0:
		s.roll(i, dir)
		s.event(i, EventWakeup, int32(dir))
	default:
		s.become(i, Wakeup, s.rules.WakeupFrames)
		s.face(i)
		s.event(i, EventWakeup, 0)
	}
}

// riseStriking starts a get-up attack that the buffer holds.
func (s *stepper) riseStriking(i int) bool {
	if !s.startBuffered(i, data.Rise, 0xff) {
		return false
	}
	f := &s.w.fighters[i]
	f.Lay = 0
	s.comboOver(i)
	s.event(i, EventWakeup, 2)
	return true
}
