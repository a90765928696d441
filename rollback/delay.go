package rollback

// InputFrame is the frame that will get the next word of this side's player: the one given to Tick if that tick
// advances, or to Feed. A source that plays a recording asks it for the word of that frame.
func (s *Session[S, W]) InputFrame() int32 { return s.localNext }

// Missing is how many words Feed takes before the next Tick: the frames between the last word and the one the coming
// tick samples for. Without Feed they repeat the last word, neutral before the first.
func (s *Session[S, W]) Missing() int { return int(max(s.cur+1+s.delay-s.localNext, 0)) }

// Feed gives InputFrame its word ahead of the tick, for a source that knows its inputs beforehand. It reports whether
// the word was taken, see Missing.
func (s *Session[S, W]) Feed(w W) bool {
	if s.Missing() == 0 {
		return false
	}
	s.give(w)
	return true
}

// InputDelay is the delay asked for, in frames. A change takes effect at once when it is raised and, when it is
// lowered, as soon as that loses nothing; see SetInputDelay.
func (s *Session[S, W]) InputDelay() int { return int(s.delay) }

// SetInputDelay changes how many frames lie between sampling a word and the frame that uses it, 0 to MaxInputDelay,
// clamped. It may be called at any time and needs no agreement.
//
// A raised delay leaves frames without a sample; they repeat the last word, so a button is held longer, never pressed
// twice. A lowered one has a sample too many for words that are already sent; a sample is left out only when it
// repeats the word before it, so a button is held shorter, and no press, release or order of them is lost.
func (s *Session[S, W]) SetInputDelay(frames int) {
	s.delay = int32(min(max(frames, 0), MaxInputDelay))
	s.cfg.InputDelay = int(s.delay)
}

// assign gives the word sampled in this tick its frame.
func (s *Session[S, W]) assign(w W) {
	target := s.cur + 1 + s.delay
	if s.localNext > target && w == s.lastLocal {
		return
	}
	for s.localNext < target {
		s.give(s.lastLocal)
	}
	s.give(w)
}

// pledge gives a word away on a tick that waits for the others in delay mode. They may be waiting for it.
func (s *Session[S, W]) pledge(w W) {
	if s.window == 0 && s.pledged != s.cur+1 {
		s.assign(w)
		s.pledged = s.cur + 1
	}
}

func (s *Session[S, W]) give(w W) {
	s.set(s.cfg.Local, s.localNext, w)
	s.lastLocal = w
	s.localNext++
}
