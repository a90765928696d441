package rollback

type frameHash struct {
	frame1 int32 // frame + 1, 0 for none
	hash   uint64
}

// settle hashes the frames divisible by HashInterval that can no longer change. A predicted state is never hashed here.
func (s *Session[S, W]) settle() {
	if s.lost {
		return
	}
	for top := s.Settled(); s.hashNext <= top; s.hashNext += HashInterval {
		if s.hashNext < s.oldest {
			continue
		}
		f := s.hashNext
		h := s.game.Hash(s.state(f))
		s.hashes[f/HashInterval%HashRing] = frameHash{f + 1, h}
		for p := range s.cfg.Players {
			if theirs, ok := s.agree[p].waiting(f); ok {
				s.compare(p, f, uint32(h), theirs)
			}
		}
	}
}

// rehash forgets the hashes after a frame whose state was replaced.
func (s *Session[S, W]) rehash(frame int32) {
	first := (frame + HashInterval) / HashInterval * HashInterval
	for f := first; f < s.hashNext; f += HashInterval {
		s.hashes[f/HashInterval%HashRing] = frameHash{}
	}
	s.hashNext = min(s.hashNext, first)
	s.desynced = false
	for p := range s.agree {
		next := min(s.agree[p].next, s.hashNext)
		s.agree[p] = newAgreement()
		s.agree[p].agreed, s.agree[p].next = frame, next
	}
}

// ConfirmedHash is the hash of the state labelled frame, for the last HashRing frames divisible by HashInterval that
// were confirmed and had run with their true inputs; ok is false for all others.
func (s *Session[S, W]) ConfirmedHash(frame int32) (hash uint64, ok bool) {
	if frame < 0 || frame%HashInterval != 0 {
		return 0, false
	}
	h := s.hashes[frame/HashInterval%HashRing]
	return h.hash, h.frame1 == frame+1
}

// settledHash is the hash of any settled state that is kept, or of an older one in the ring.
func (s *Session[S, W]) settledHash(frame int32) (hash uint64, ok bool) {
	if hash, ok = s.ConfirmedHash(frame); ok {
		return hash, true
	}
	if frame < s.oldest || frame > s.Settled() || s.lost {
		return 0, false
	}
	return s.game.Hash(s.state(frame)), true
}
