package rollback

// Status is what the player should be shown.
type Status uint8

const (
	Running Status = iota
	Recovering
	FallbackOffered
)

// String is the sentence for the overlay, empty while running.
func (s Status) String() string {
	switch s {
	case Recovering:
		return "Recovering Connection…"
	case FallbackOffered:
		return "Connection unstable: continue in delay mode?"
	}
	return ""
}

// Result is what one tick did. Slices and functions in it are the session's own and are valid until its next call.
type Result struct {
	Frame     int32         // label of the newest state
	Confirmed int32         // newest frame for which every player's input is known
	Hash      func() uint64 // of the state labelled Frame, computed when called

	Status    Status
	Advanced  bool // one new frame was stepped
	Stalled   bool // refused: the prediction window is used up
	Waited    bool // refused: held back to let a late starter catch up, in the first second only, or until a change is agreed
	Frozen    bool // refused: a correction deeper than MaxRollbackFrames ran, or one came before the thaw
	Recovered bool // a correction ran
	Offer     bool // delay mode is offered; true once in a match
	Desynced  bool // a confirmed state was found to differ from another player's, see Session.Desync

	RollbackFrames int // newest frame - restored frame, 0 without a correction
	CountedFrames  int // of these, frames that are not free: the figure compared with the cap
	Resimulated    int // of these, frames stepped; the others came out the same and were skipped
	Rollback       *Rollback

	Emitted   []uint64 // ids of events that happen now: show them
	Cancelled []uint64 // ids of events shown before that turned out not to happen: stop them
}

// Rollback describes the correction of a tick, for telemetry.
type Rollback struct {
	Restored    int32         // label of the state that was restored
	First, Last int32         // frames that were looked at again
	Replayed    []int32       // frames that were stepped again, in order
	Before      func() uint64 // hash of the state labelled Last as it was predicted, computed when called
	After       func() uint64 // hash of the state labelled Last as it is now, computed when called
}
