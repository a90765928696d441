package sim

import (
	"errors"
	"fmt"

	"backstep/sim/data"
	"github.com/cespare/xxhash/v2"
)

// ErrState means that bytes or a snapshot are not a state this version can be in.
var ErrState = errors.New("not a valid state of the simulation")

// encodedMost is more than the longest canonical encoding.
const encodedMost = 4096

// AppendState appends the canonical encoding of the state.
func (w *World) AppendState(b []byte) []byte { return w.state.append(b) }

// ParseState makes w the state that b is the canonical encoding of, from exactly all of b. What w reported before is gone.
// Bytes that are not such an encoding, or encode a state that no match can be in, are refused with ErrState and w stays as it was.
func (w *World) ParseState(b []byte) error { return w.parse(data.Embedded(), b) }

func (w *World) parse(roster *data.Roster, b []byte) error {
	var n World
	r := reader{b: b}
	r.state(&n.state)
	switch {
	case r.bad:
		return fmt.Errorf("%w: %d bytes end early or hold an impossible value", ErrState, len(b))
	case len(r.b) != 0:
		return fmt.Errorf("%w: %d bytes too many", ErrState, len(r.b))
	}
	if err := n.valid(roster); err != nil {
		return err
	}
	*w = n
	return nil
}

// Hash is xxHash64 of the canonical encoding: seed, frame, fighters, match. It does not allocate.
func (w *World) Hash() uint64 {
	var buf [encodedMost]byte
	return sum64(w.AppendState(buf[:0]))
}

// FighterHash is the hash of the fighter in a slot alone, 0 outside 0…Fighters()-1.
func (w *World) FighterHash(slot int) uint64 {
	if slot < 0 || slot >= int(w.count) {
		return 0
	}
	var buf [encodedMost]byte
	return sum64(w.fighters[slot].append(buf[:0]))
}

func sum64(b []byte) uint64 { return xxhash.Sum64(b) }

// Snapshot is a saved state together with the inputs of the frame it came from. It is a value; copying it copies everything.
// A World saves the same state and is what a history of frames should hold; a Snapshot also refuses to be restored when it is
// not the work of CaptureSnapshot.
type Snapshot struct {
	state  state
	inputs [2]Input
	hash   uint64
}

// CaptureSnapshot saves the state.
func (w *World) CaptureSnapshot() Snapshot {
	return Snapshot{state: w.state, inputs: w.out.inputs, hash: w.Hash()}
}

// RestoreSnapshot makes w the saved state. A snapshot that was not captured, or was changed since, is refused with ErrState and w
// stays as it was.
func (w *World) RestoreSnapshot(s *Snapshot) error {
	n := World{state: s.state}
	if n.count == 0 || n.Hash() != s.hash {
		return fmt.Errorf("%w: the snapshot is not one that was captured", ErrState)
	}
	n.out.inputs = s.inputs
	*w = n
	return nil
}

// Frame gives the label of the saved state.
func (s *Snapshot) Frame() int32 { return s.state.frame }

// Inputs gives the words of the frame that led to the saved state.
func (s *Snapshot) Inputs() [2]Input { return s.inputs }

// Bounds of the snapshot budget, in bytes a fighter.
const (
	MinSnapshotBudget     = 512
	DefaultSnapshotBudget = 8192
)

// ClampSnapshotBudget limits a budget to [MinSnapshotBudget, DefaultSnapshotBudget].
func ClampSnapshotBudget(n int) int { return max(MinSnapshotBudget, min(DefaultSnapshotBudget, n)) }

// BytesPerFighter gives encoded bytes a fighter, rounded up; 0 without fighters.
func BytesPerFighter(bytes, fighters int) int {
	if fighters <= 0 {
		return 0
	}
	return (bytes + fighters - 1) / fighters
}

// WithinBudget tells whether an encoding of so many bytes fits the budget a fighter. Without fighters nothing fits.
func WithinBudget(bytes, fighters, budget int) bool {
	return fighters > 0 && BytesPerFighter(bytes, fighters) <= ClampSnapshotBudget(budget)
}
