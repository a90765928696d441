package sim

import "backstep/sim/data"

// Practice is what a training room adds after a step: the timer stands, meters are full, and a fighter that is out of every combo,
// throw and fall has all its health. It is part of the game that room plays, a function of the state alone, and no part of a match.
func (w *World) Practice() {
	rules := data.Embedded().Ruleset(w.ruleset)
	if w.match.Phase != Live || rules == nil {
		return
	}
	w.match.Timer = rules.RoundFrames.Of(w.format.Roster())
	for slot := range int(w.count) {
		f := &w.fighters[slot]
		f.SuperMeter, f.Meter, f.Drive, f.Burnout = f.MaxSuperMeter, f.MaxMeter, f.MaxDrive, 0
		switch f.Action {
		case Hitstun, Blockstun, Recoil, Launched, Down, Wakeup, Thrown:
		default:
			if f.Health > 0 {
				f.Health, f.RecoverableHealth = f.MaxHealth, 0
			}
		}
	}
}
