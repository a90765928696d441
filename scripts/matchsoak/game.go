package main

import "backstep/rollback"

// state is a game whose whole history of inputs shows in its sum: one different word anywhere changes all that follows.
type state struct {
	Frame int32
	Sum   uint64
}

func (s *state) take(in []rollback.Input[uint16]) {
	for p, i := range in {
		s.Sum = (s.Sum ^ uint64(i.Now)<<16 ^ uint64(i.Prev) ^ uint64(p)<<40) * 0x9E3779B185EBCA87
		s.Sum ^= s.Sum >> 31
	}
}

// eager looks at every word of every frame.
type eager struct{}

func (eager) Step(s *state, in []rollback.Input[uint16], _ rollback.Policy) {
	s.Frame++
	s.take(in)
}

func (eager) Hash(s *state) uint64 { return s.Sum ^ uint64(s.Frame) }

// busy looks at the words in every fourth frame only, like a fighter in the middle of a move: after a refuted guess the
// states are often equal again for some frames, and then differ after all.
type busy struct{ eager }

func (g busy) Step(s *state, in []rollback.Input[uint16], p rollback.Policy) {
	if s.Frame&3 != 0 {
		s.Frame++
		return
	}
	g.eager.Step(s, in, p)
}

// knowing is busy and says so.
type knowing struct{ busy }

func (knowing) Equivalent(s *state, _ int, _, _ rollback.Input[uint16]) bool { return s.Frame&3 != 0 }

// stopping is eager, and its fighters stand in hitstop for some frames that depend on the inputs.
type stopping struct{ eager }

func (stopping) Free(s *state) bool { return s.Sum>>58 == 0 }

var games = [...]rollback.Game[state, uint16]{eager{}, busy{}, knowing{}, stopping{}}
