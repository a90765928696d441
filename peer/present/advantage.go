package present

import "backstep/sim"

// Advantage measures who could act first after a contact, frame by frame.
//
//	idle ──hit or block──> measuring ──both actionable──> known
//	           ^──────────────┴──another contact──────────────┘
type Advantage struct {
	measuring bool
	free      [2]int32 // first actionable frame of each side, 0: not yet
	known     bool
	frames    int32
}

// Next takes the current state of a new frame and whether a hit or block fell
// on it. Frames must come in order.
func (a *Advantage) Next(s *State, contact bool) {
	if contact {
		a.measuring, a.free = true, [2]int32{}
		return
	}
	if !a.measuring {
		return
	}
	for side := range a.free {
		// Who acts at once was free all the same.
		if a.free[side] == 0 && s.Fighters[s.Point[side]%sim.MaxFighters].Code.Actionable() {
			a.free[side] = s.Frame + 1
		}
	}
	if a.free[0] != 0 && a.free[1] != 0 {
		a.measuring, a.known, a.frames = false, true, a.free[1]-a.free[0]
	}
}

// Of gives how many frames side can act before the other, if that is known.
func (a *Advantage) Of(side int) (frames int32, ok bool) {
	if side == 1 {
		return -a.frames, a.known
	}
	return a.frames, a.known
}
