// Package theatre plays replays: forward frame by frame, and back by
// snapshots.
//
//	file ──Open──> [ S0 . . . S60 . . . S120 . . . ]   one state a second
//	                        ^ Seek(frame): the snapshot before it, then steps
//
// It has no clock: whoever shows it decides how fast it runs.
package theatre

import (
	"backstep/sim"
	"backstep/sim/replay"
)

// every is how many frames lie between two snapshots.
const every = 60

// Theatre is one replay. One goroutine owns it.
type Theatre struct {
	rep    *replay.Replay
	states []sim.World // after frame every*i - 1; the first is before frame 0
	world  sim.World
	marks  []int
}

// Open reads a file and simulates it once. The error says in one sentence why
// it cannot be played; it wraps those of package replay.
func Open(b []byte) (*Theatre, error) {
	rep, err := replay.Decode(b)
	if err != nil {
		return nil, err
	}
	if err := rep.Compatible(); err != nil {
		return nil, err
	}
	t := &Theatre{rep: rep}
	if err := t.world.Reset(rep.Config); err != nil {
		return nil, err
	}
	if len(rep.Words) != t.world.Players() {
		return nil, replay.ErrPlayers
	}
	t.states = append(t.states, t.world)
	for t.Step() {
		f := int(t.world.Frame())
		if (f+1)%every == 0 {
			t.states = append(t.states, t.world)
		}
		if m := t.world.Match(); m.Phase == sim.RoundStart && m.PhaseFrames == 0 {
			t.marks = append(t.marks, f)
		}
	}
	t.Seek(-1)
	return t, nil
}

// Replay gives what was read.
func (t *Theatre) Replay() *replay.Replay { return t.rep }

// Frames is how many there are, Frame the label of the state shown, -1 before
// the first.
func (t *Theatre) Frames() int { return t.rep.Frames() }
func (t *Theatre) Frame() int  { return int(t.world.Frame()) }

// World is the state shown, for reading.
func (t *Theatre) World() *sim.World { return &t.world }

// Marks are the frames on which rounds begin.
func (t *Theatre) Marks() []int { return t.marks }

// Step goes one frame on and reports whether there was one.
func (t *Theatre) Step() bool {
	f := int(t.world.Frame()) + 1
	if f >= t.Frames() {
		return false
	}
	var in [2]sim.Input
	for p := range in {
		in[p].Now = t.rep.Words[p][f]
		if f > 0 {
			in[p].Prev = t.rep.Words[p][f-1]
		}
	}
	t.world.Step(in[:], sim.Emit)
	return true
}

// Seek shows the state with a label, the nearest there is.
func (t *Theatre) Seek(frame int) {
	frame = max(-1, min(frame, t.Frames()-1))
	if frame < t.Frame() || frame-t.Frame() > every {
		t.world = t.states[min((frame+1)/every, len(t.states)-1)]
	}
	for t.Frame() < frame && t.Step() {
	}
}

// Verify compares every stored hash. See replay.Replay.Verify.
func (t *Theatre) Verify() error { return t.rep.Verify() }
