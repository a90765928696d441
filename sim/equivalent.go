package sim

// Equivalent tells whether the step after w gives the same state for two inputs of a player, so that a session may skip
// simulating it again. It may say no where the answer is yes, never the other way round. It costs some nanoseconds.
func (w *World) Equivalent(player int, old, new Input) bool {
	a, b := derive(old), derive(new)
	if a == b || !w.match.AcceptsInput() {
		return true
	}
	// Presses go into the buffer in every action, together with the directions held, and count in a pin.
	if a.pressed != b.pressed || a.pressed&buttons != 0 {
		return false
	}
	if !w.Obeys(player) {
		return true
	}
	for i := player & 1; i < int(w.count); i += 2 {
		if w.Active(i) && w.fighters[i].Place != Assisting && w.fighters[i].readsHeld() {
			return false
		}
	}
	return true
}

// readsHeld tells whether the next step may look at the directions held: to move, to guard, or to do either after an action that
// ends now.
func (f *Fighter) readsHeld() bool {
	if f.Action.Neutral() || f.Action == Blockstun {
		return true
	}
	return f.Duration > 0 && f.AnimationFrame >= f.Duration && f.HitstopFrames == 0
}
