// Package present is the present world: what a player sees of the simulation,
// and nothing that could change it.
//
//	session ──SubmitSimSnapshot──> [previous | current] ──TickPresentation──> view at 60, 120, 144 Hz
//	   │            ^                     │
//	   │            └─ a frame stepped    └─ trail of the last frames: words, phase codes, rollback depth
//	   │               again replaces
//	   └──Show/ClearRecoveryOverlay
//
// It keeps exactly two snapshots. One frame after the current one moves both on;
// the same frames again, as after a rewind, replace what is there; anything
// else is a jump and is shown without interpolation. Snapshots are copies, so
// the way back to the simulation does not exist in the types.
//
// The simulation's step is 1/60 s and is not touched by the display's delta,
// which only this package consumes. Floating point is fine here: nothing of it
// flows back.
package present
