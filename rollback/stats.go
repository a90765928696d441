package rollback

import "backstep/rollback/tally"

// SessionStats are a session's counters since it started or since ResetStats.
type SessionStats struct {
	Ticks        int64 // calls of Tick
	Frames       int64 // new frames
	Stalls       int64 // ticks refused because the window was used up
	LongestStall int   // ticks
	Frozen       int64 // ticks refused because of a deep correction
	Waited       int64 // ticks held back by time sync
	Rollbacks    int64
	Resimulated  int64 // frames stepped again
	StoppedEarly int64 // rollbacks in which at least one frame was skipped
	TooFar       int64 // inputs dropped because they lay too far ahead
	Dropped      int64 // cosmetic events beyond what is reconciled
	Desyncs      int64
	Depth        tally.Histogram // frames of each rollback, skipped ones included
}

func newStats() SessionStats { return SessionStats{Depth: tally.New(MaxHistory+2, 0)} }

// Stats are the counters so far. The histogram is the session's own.
func (s *Session[S, W]) Stats() SessionStats {
	s.stats.Dropped = s.events.dropped
	return s.stats
}

// ResetStats starts all counters anew.
func (s *Session[S, W]) ResetStats() {
	depth := s.stats.Depth
	depth.Reset()
	s.stats = SessionStats{Depth: depth}
	s.events.dropped = 0
}
