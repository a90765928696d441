package match

import (
	"fmt"

	"backstep/natpunch/rendezvous"
	"backstep/peer/dialog"
	"backstep/peer/setup"
	"backstep/rollback"
	"backstep/rollback/tally"
)

// Outcome is what there is to report of a match, whatever its end was.
type Outcome struct {
	End    End
	Err    error // nil when the match ended as it was meant to
	Match  setup.Match
	Known  bool // Match is set: the set-up was finished
	Frames int  // simulated, never more than were to be played
	// Confirmed counts final frames from 0 on.
	Confirmed int
	FinalHash uint64 // of the last frame; HasFinal says whether it was reached
	HasFinal  bool
	Hashes    [][2]uint64 // frame and hash, every 600 frames
	Events    []Event
	TickTime  tally.Histogram // µs
	Malformed int64           // full packets that made no sense
	Stats     rollback.Stats  // zero before the session began
	Agreed    int32           // newest frame whose hash both sides confirmed, -1 none
	Desyncs   int64           // differences between the two simulations, recovered from or not
	Suspended bool            // ranked: it stopped counting, both sides' figures said why
	NoContest bool            // ranked: and it ends without a result
	// Opponent is how the link looked from the other side when it said so last;
	// HasOpponent says whether it did.
	Opponent    dialog.Stamp
	HasOpponent bool
}

// Outcome returns the report's material. It is complete once Step has said
// that the match ended.
func (l *Loop) Outcome() Outcome {
	o := Outcome{
		End: l.end, Err: l.err, Match: l.match, Known: l.driver != nil,
		Confirmed: int(l.settled + 1), FinalHash: l.final, HasFinal: l.final != 0 || l.phase >= phaseDone && l.settled >= l.last,
		Hashes: l.hashes, Events: l.events, TickTime: l.ticks, Malformed: l.bad, Agreed: -1,
		Suspended: l.suspended, NoContest: l.noContest,
		Opponent: l.stamp, HasOpponent: l.stamped,
	}
	if l.driver != nil {
		o.Frames = int(min(l.driver.Frame(), l.last) + 1)
		if l.phase == phaseEnded {
			l.driver.Finish()
		}
		o.Stats = l.driver.Stats()
		o.Agreed = l.driver.Session().Agreed(1 - l.cfg.Side)
	}
	o.Desyncs = l.resync.count
	if l.end == EndDesync {
		o.Desyncs = max(1, o.Desyncs)
	}
	return o
}

// Opponent is how the link looks from the other side, as it said last; ok is
// false before it did.
func (l *Loop) Opponent() (s dialog.Stamp, ok bool) { return l.stamp, l.stamped }

// Driver is the session of the match, nil before the set-up is finished. For
// reading on the loop's goroutine only.
func (l *Loop) Driver() *rollback.Driver[World, uint16] { return l.driver }

func (l *Loop) incompatible() error {
	if other, ok := l.cfg.Setup.Other(); ok {
		return fmt.Errorf("%w: the opponent, build %q, refused this side's settings", setup.ErrIncompatible, rendezvous.CleanText(other.Build))
	}
	return fmt.Errorf("%w: the opponent refused this side's version or settings", setup.ErrIncompatible)
}
