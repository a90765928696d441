package sim

import (
	"errors"

	"backstep/sim/data"
)

// Phase is a phase of the match.
type Phase uint8

// The eight phases.
const (
	Uninitialized Phase = iota
	Intro
	RoundStart
	Live
	RoundEnd
	MatchEnd
	FinisherWindow
	PostMatch
	Phases = 8

	Fight         = Live      // alias
	MatchComplete = PostMatch // alias
)

var phaseNames = [Phases]string{"uninitialized", "intro", "round start", "live", "round end", "match end", "finisher window", "post match"}

// String gives a name for logs and pages.
func (p Phase) String() string {
	if p < Phases {
		return phaseNames[p]
	}
	return "unknown"
}

// ErrPhase means that a change of phase is not legal.
var ErrPhase = errors.New("the match is not in a phase that allows this")

// legal holds, for each phase, a bit for each phase that may follow.
var legal = [Phases]uint8{
	Uninitialized:  1 << Intro,
	Intro:          1 << RoundStart,
	RoundStart:     1 << Live,
	Live:           1 << RoundEnd,
	RoundEnd:       1<<RoundStart | 1<<FinisherWindow | 1<<MatchEnd | 1<<PostMatch,
	MatchEnd:       1 << PostMatch,
	FinisherWindow: 1<<MatchEnd | 1<<PostMatch,
	PostMatch:      1 << Intro,
}

// CanTransition tells whether the change from one phase to another is one of the twelve legal ones.
func CanTransition(from, to Phase) bool {
	return from < Phases && to < Phases && legal[from]>>to&1 != 0
}

// Winner says who has won: nobody yet, a side, or both by a draw.
type Winner uint8

// The values of Winner.
const (
	NoWinner Winner = iota
	HostWins        // side 0
	JoinWins        // side 1
	DrawGame
	winners
)

// Transition is the last change of phase that was asked for.
type Transition struct {
	From, To Phase
	Accepted bool
}

// Match is the state of the match machine. It is a value; it is part of the World and is saved and restored with it.
type Match struct {
	PhaseFrames    int32 // frames in the phase so far
	Timer          int32 // frames left of the round
	Phase          Phase
	Last           Transition
	Round          uint8    // number of the round, from 0
	Wins           [2]uint8 // rounds won; a drawn round counts for both
	RoundWinner    Winner
	MatchWinner    Winner
	SlowMotion     uint8 // frames left of the slow motion after a knockout
	FinisherFreeze uint8 // frames left of the freeze after a finisher

	Nodes         [data.NodeKinds]int16 // frames left of each injected node
	Score         [2]int32              // damage dealt in the round
	Struggle      int16                 // presses in a pin or submission: of the one held, minus those of the one holding
	Owner, Target uint8                 // slots of who holds, and who is held
	Fallen        uint8                 // bits of the sides that fell off the stage
}

// Transition changes the phase if that is legal and reports whether it did. Either way it is recorded in Last; a refused one
// changes nothing else.
func (m *Match) Transition(to Phase) bool {
	m.Last = Transition{From: m.Phase, To: to, Accepted: CanTransition(m.Phase, to)}
	if m.Last.Accepted {
		m.Phase, m.PhaseFrames = to, 0
	}
	return m.Last.Accepted
}

// AcceptsInput tells whether fighters can obey their players in this phase. World.Obeys knows about nodes too.
func (m *Match) AcceptsInput() bool { return m.Phase == Live || m.Phase == FinisherWindow }

// Hash is a hash of the match state alone.
func (m *Match) Hash() uint64 {
	var buf [128]byte
	return sum64(m.append(buf[:0]))
}

// MatchSnapshot is what a presentation or a spectator is told about the match.
type MatchSnapshot struct {
	Match             Match
	DeterministicHash uint64
	// PresentationSideEffectsStripped is set on frames that must not start an intro or a replay of a knockout again.
	PresentationSideEffectsStripped bool
}

// MatchSnapshot gives the match state of w with its hash.
func (w *World) MatchSnapshot() MatchSnapshot {
	return MatchSnapshot{Match: w.match, DeterministicHash: w.match.Hash(), PresentationSideEffectsStripped: w.out.present.PresentationSuppressed}
}
