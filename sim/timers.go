package sim

import "backstep/sim/data"

// timers is step 3.
func (s *stepper) timers() {
	for i := range int(s.w.count) {
		f := &s.w.fighters[i]
		f.Mechanics.run()
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
	for _, t := range [...]*int16{&m.AirJuggle, &m.Heat, &m.SoulCharge, &m.CriticalEdge, &m.ReversalEdge, &m.KiCharge, &m.PowerCrush,
		&m.StanceEntry, &m.StanceRecovery, &m.StanceDuration} {
		if *t > 0 {
			*t--
		}
	}
}

// rageShare is the share of health, in percent, at or below which a fighter under Tekken rules is in Rage.
const rageShare = 25

func (s *stepper) rage(i int) {
	f := &s.w.fighters[i]
	f.Mechanics.Rage = 0
	if s.w.ruleset == data.Tekken && f.Health > 0 && f.Health*100 <= f.MaxHealth*rageShare {
		f.Mechanics.Rage = 1
	}
}

// recover gives recoverable health back while a fighter is free to act in a running round.
func (s *stepper) recover(f *Fighter) {
	if f.Recoverable == 0 || !f.Action.Neutral() || s.w.match.Phase != Live {
		f.RecoverTimer = 0
		return
	}
	if f.RecoverTimer++; int32(f.RecoverTimer) >= s.rules.RecoverEvery {
		f.RecoverTimer = 0
		f.Health++
		f.Recoverable--
	}
}
