package rollback

import "backstep/rollback/quality"

// correct runs the correction that is due and decides whether the session is frozen.
func (s *Session[S, W]) correct(r *Result) {
	if s.fix > s.cur {
		s.frozen = false
		return
	}
	if s.fix-1 < s.oldest {
		s.lost = true
		return
	}
	first := s.fix
	r.CountedFrames = int(s.counted(first, s.cur))
	r.RollbackFrames = int(s.cur - first + 1)
	r.Recovered = true
	s.resimulate()
	r.Resimulated = len(s.replayed)
	s.rollback.Restored, s.rollback.First, s.rollback.Last = first-1, first, s.cur
	s.rollback.Replayed = s.replayed
	r.Rollback = &s.rollback

	s.stats.Rollbacks++
	s.stats.Resimulated += int64(r.Resimulated)
	s.stats.Depth.Add(int64(r.RollbackFrames))
	if r.Resimulated < r.RollbackFrames {
		s.stats.StoppedEarly++
	}
	if r.CountedFrames > s.cfg.MaxRollbackFrames {
		s.frozen = true
	}
	if s.frozen {
		r.Frozen = true
		s.stats.Frozen++
	}
}

// resimulate brings every state from s.fix on up to the inputs known now.
//
// A frame is skipped when the state before it is what it was and each of its inputs is the same or equivalent. That
// the state after a frame came out the same ends nothing by itself: a refuted guess changes the guesses of all later
// frames too.
func (s *Session[S, W]) resimulate() {
	policy := Emit
	if s.cfg.SuppressCosmeticsDuringResim {
		policy = SuppressCosmetics
	}
	s.replayed = s.replayed[:0]
	dirty := s.force
	for f := s.fix; f <= s.cur; f++ {
		in, before := s.inputs(f), s.inputs(f-1)
		same := true
		for p := range in {
			now := Input[W]{Now: s.word(p, f, before[p].Now), Prev: before[p].Now}
			if now == in[p] {
				continue
			}
			if !dirty && same && (s.equivalent == nil || !s.equivalent.Equivalent(s.state(f-1), p, in[p], now)) {
				same = false
			}
			in[p] = now
		}
		if same && !dirty {
			continue
		}
		next := &s.states[s.spare]
		*next = *s.state(f - 1)
		s.game.Step(next, in, policy)
		k := f & inputMask
		dirty = s.force || s.differs(next, &s.states[s.place[k]])
		s.place[k], s.spare = s.spare, s.place[k]
		s.replayed = append(s.replayed, f)
		s.classify(f, next)
		if s.cosmetics != nil {
			s.events.again(f, s.cosmetics.Events(next, s.events.scratch()))
		}
	}
	s.fix, s.force = noFrame, false
}

func (s *Session[S, W]) differs(a, b *S) bool {
	if s.equaler != nil {
		return !s.equaler.Equal(a, b)
	}
	return *a != *b
}

// hashBefore is the hash of the newest state as it was before the correction of this tick. If its frame was stepped
// again, last of all, the old state is the one that lies in the spare.
func (s *Session[S, W]) hashBefore() uint64 {
	if n := len(s.replayed); n > 0 && s.replayed[n-1] == s.rollback.Last {
		return s.game.Hash(&s.states[s.spare])
	}
	return s.game.Hash(s.state(s.rollback.Last))
}

// Invalidate forces every frame from first on to be stepped again in the next Tick, whatever its inputs. If the state
// before it is no longer kept, that tick offers the fallback and touches nothing.
func (s *Session[S, W]) Invalidate(first int32) error {
	if first < 0 || first > s.cur {
		return ErrFrame
	}
	s.fix = min(s.fix, first)
	s.force = true
	return nil
}

// Restore replaces the state labelled frame, for a resync, and forces what follows to be stepped again in the next
// Tick. Older states and corrections that lie before it are dropped. The label may be any from the newest one back to
// the length of the history, also one whose state is gone; for others it returns ErrSnapshot and changes nothing.
func (s *Session[S, W]) Restore(frame int32, state *S) error {
	if state == nil || frame < -1 || frame > s.cur || frame < s.cur-int32(s.cfg.SnapshotHistoryFrames) {
		return ErrSnapshot
	}
	*s.state(frame) = *state
	for p, in := range s.inputs(frame) {
		s.inputs(frame)[p].Now = s.word(p, frame, in.Now)
	}
	s.oldest = frame
	s.lost = false
	s.fix, s.force = noFrame, false
	if frame < s.cur {
		s.fix, s.force = frame+1, true
	}
	s.rehash(frame)
	return nil
}

// Answer is the player's answer to the offer of delay mode. It reports whether an offer stood.
func (s *Session[S, W]) Answer(accept bool) bool { return s.ladder.Answer(accept) }

// Ladder is the state of the offer, with what it means for a ranked match. The pointer stays valid.
func (s *Session[S, W]) Ladder() *quality.Ladder { return &s.ladder }
