package present

import "backstep/sim"

// StepSeconds is the simulation's step.
const StepSeconds = 1.0 / sim.SimulationHz

// TrailFrames is how many frames the trail holds.
const TrailFrames = 16

// Trail is what one of the last frames was like.
type Trail struct {
	Words [2]uint16
	Codes [2]Code // of each side's leader
	Depth uint8   // frames of the rollback that ran in that frame's tick
	Bits  TrailBits
}

// TrailBits are facts about a frame of the trail.
type TrailBits uint8

// The bits.
const (
	Predicted   TrailBits = 1 << iota // not confirmed when last looked at
	Resimulated                       // stepped again
	Stalled                           // the session held before it
)

// World holds the two newest snapshots. One goroutine owns it; nothing
// allocates.
type World struct {
	previous, current State
	count             int // snapshots held, 0 to 2
	since             float64
	trail             [TrailFrames]Trail
	trailFrom         int32 // oldest frame of the trail that is set
	overlay           string
}

// Reset forgets everything, for another match.
func (w *World) Reset() { *w = World{} }

// SubmitSimSnapshot takes a snapshot in. Frames that were stepped again are
// submitted again, oldest first.
func (w *World) SubmitSimSnapshot(s *State) {
	t := &w.trail[trailSlot(s.Frame)]
	switch {
	case w.count > 0 && s.Frame == w.current.Frame+1:
		w.previous, w.current = w.current, *s
		w.count, w.since = 2, 0
		*t = Trail{}
	case w.count > 0 && s.Frame == w.current.Frame:
		w.current = *s
		t.Bits |= Resimulated
	case w.count == 2 && s.Frame == w.previous.Frame:
		w.previous = *s
		t.Bits |= Resimulated
	case w.count > 0 && s.Frame < w.current.Frame && s.Frame >= w.trailFrom && s.Frame > w.current.Frame-TrailFrames:
		// Older than what is shown: only the trail remembers it.
		t.Bits |= Resimulated
	default:
		w.current, w.previous = *s, *s
		w.count, w.since = 1, 0
		w.trail = [TrailFrames]Trail{}
		w.trailFrom = s.Frame
	}
	w.trailFrom = max(w.trailFrom, w.current.Frame-TrailFrames+1)
	for side := range t.Words {
		f := &s.Fighters[s.Point[side]%sim.MaxFighters]
		t.Words[side], t.Codes[side] = f.Word, f.Code
	}
}

func trailSlot(frame int32) int { return int(uint32(frame) % TrailFrames) }

// Mark notes what the tick that led to the current frame was like.
func (w *World) Mark(depth int, confirmed int32, stalled bool) {
	if w.count == 0 {
		return
	}
	t := &w.trail[trailSlot(w.current.Frame)]
	t.Depth = max(t.Depth, uint8(min(depth, 255)))
	if stalled {
		t.Bits |= Stalled
	}
	for f := w.trailFrom; f <= w.current.Frame; f++ {
		if f > confirmed {
			w.trail[trailSlot(f)].Bits |= Predicted
		} else {
			w.trail[trailSlot(f)].Bits &^= Predicted
		}
	}
}

// AppendTrail appends the trail, oldest frame first.
func (w *World) AppendTrail(dst []Trail) []Trail {
	if w.count == 0 {
		return dst
	}
	for f := w.trailFrom; f <= w.current.Frame; f++ {
		dst = append(dst, w.trail[trailSlot(f)])
	}
	return dst
}

// Snapshots gives both snapshots for reading until the next call, and whether
// there is something between them to interpolate.
func (w *World) Snapshots() (previous, current *State, pair bool) {
	return &w.previous, &w.current, w.count == 2
}

// ShowRecoveryOverlay puts a sentence over the picture until it is cleared.
func (w *World) ShowRecoveryOverlay(text string) { w.overlay = text }

// ClearRecoveryOverlay takes it away.
func (w *World) ClearRecoveryOverlay() { w.overlay = "" }

// RecoveryOverlay gives the sentence, empty for none.
func (w *World) RecoveryOverlay() string { return w.overlay }
