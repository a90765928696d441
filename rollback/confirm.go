package rollback

// Confirm hands in the input of a remote player for one frame, as it was received. Frames may come in any order and
// more than once. The correction it may make necessary runs in the next Tick.
//
// ErrPlayer, ErrFrame and ErrTooFar leave the session as it was. A *ConflictError (ErrConflict) says that the frame is
// confirmed with another word: the first one stays, and the match is over.
func (s *Session[S, W]) Confirm(player int, frame int32, w W) error {
	switch {
	case player < 0 || player >= s.cfg.Players || player == s.cfg.Local:
		return ErrPlayer
	case frame < 0:
		return ErrFrame
	case frame > s.Reach():
		s.stats.TooFar++
		return ErrTooFar
	}
	i := frame & inputMask
	if s.known[player][i] == frame+1 {
		if first := s.words[player][i]; first != w {
			s.conflict = &ConflictError{Player: player, Frame: frame, First: uint32(first), Second: uint32(w)}
			return s.conflict
		}
		return nil
	}
	if frame <= s.conf[player] {
		return nil // known once, and too old to be compared
	}
	s.set(player, frame, w)
	if frame <= s.cur && s.inputs(frame)[player].Now != w {
		s.fix = min(s.fix, frame)
	}
	s.confirmed = s.conf[player]
	for p := range s.cfg.Players {
		if p != s.cfg.Local {
			s.confirmed = min(s.confirmed, s.conf[p])
		}
	}
	return nil
}

// confirmRun is Confirm for words of consecutive frames. What is known already, as most of a packet is, costs little.
func (s *Session[S, W]) confirmRun(player int, first int32, words []W) error {
	known, have := &s.known[player], &s.words[player]
	for k, w := range words {
		f := first + int32(k)
		if i := f & inputMask; known[i] == f+1 && have[i] == w {
			continue
		}
		if err := s.Confirm(player, f, w); err != nil {
			return err
		}
	}
	return nil
}

// Reach is the newest frame for which an honest player can send an input: it may predict a full window beyond this
// side's newest input, and sample its own input as many frames ahead as the delay allows. Both are the other side's
// own choice, so the largest are taken.
func (s *Session[S, W]) Reach() int32 {
	return s.localNext - 1 + s.hard(MaxWindow) + MaxInputDelay
}

// Conflict is the contradiction that ended the match, nil if there is none.
func (s *Session[S, W]) Conflict() *ConflictError { return s.conflict }

// set stores a known word and moves the contiguous edge.
func (s *Session[S, W]) set(player int, frame int32, w W) {
	i := frame & inputMask
	s.words[player][i] = w
	s.known[player][i] = frame + 1
	c := s.conf[player]
	for s.known[player][(c+1)&inputMask] == c+2 {
		c++
	}
	s.conf[player] = c
}

// word is the input a player's frame runs with: the known one, or else the word of the frame before, so that the
// newest known word is repeated, neutral before the first and, with GuessFrames, that many frames after it.
func (s *Session[S, W]) word(player int, frame int32, before W) W {
	i := frame & inputMask
	if s.known[player][i] == frame+1 {
		return s.words[player][i]
	}
	if s.guess > 0 && frame > s.conf[player]+s.guess {
		return 0
	}
	return before
}
