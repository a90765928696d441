package sim

import "backstep/sim/data"

// enterStance puts a fighter into one of its stances.
func (s *stepper) enterStance(i int, kind uint8) {
	if kind == 0 {
		return
	}
	f := &s.w.fighters[i]
	st := &s.kind(i).Stances[kind-1]
	f.Mechanics.StanceKind = kind
	f.Mechanics.StanceEntry, f.Mechanics.StanceDuration = int16(st.Entry), int16(st.Entry+st.Duration)
	s.event(i, EventStance, int32(kind))
}

// leaveStance ends a stance; it takes recovery frames until everything can be done again.
func (f *Fighter) leaveStance(recovery int32) {
	m := &f.Mechanics
	m.StanceKind, m.StanceEntry, m.StanceDuration, m.StanceRecovery = 0, 0, 0, int16(recovery)
}

// stand is decide for a fighter in a stance, or on its way out of one: it tells whether nothing else is to be decided. A jump, a
// crouch, the stance button or the end of its time leaves a stance.
func (s *stepper) stand(i int) bool {
	f := &s.w.fighters[i]
	m := &f.Mechanics
	if m.StanceKind == 0 || m.StanceEntry > 0 {
		s.hold(i, Idle)
		return true
	}
	if s.startBuffered(i, data.Ground, 0xff) {
		return true
	}
	if m.StanceDuration == 0 || s.in[i].held&(UpBit|DownBit) != 0 || s.in[i].pressed&StanceBit != 0 {
		f.leaveStance(s.kind(i).Stances[m.StanceKind-1].Recovery)
		s.event(i, EventStance, 0)
		s.hold(i, Idle)
		return true
	}
	return false
}
