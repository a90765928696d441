package rollback

// earlyHashes is how many hashes of frames that are not settled here yet are kept for each player: they reach
// 256 frames ahead, further than an honest player can be.
const earlyHashes = 32

// lingerPackets is how many more packets carry hashes after this side found the first differing frame, so that the
// other side finds it too.
const lingerPackets = 120

// agreement is how far a player's confirmed states were found equal to ours.
//
// When they differ, the two sides exchange the hashes of all frames between the last equal and the first different
// one, one in every packet, until the two are neighbours.
type agreement struct {
	next   int32 // next frame divisible by HashInterval whose hash is to be sent
	agreed int32 // newest frame found equal below bad, -1: only the start is taken to be equal
	bad    int32 // oldest frame found different, noFrame if none
	ours   uint32
	theirs uint32
	early  [earlyHashes]struct {
		frame1 int32
		hash   uint32
	}

	kept   [MaxHistory]uint32 // hashes of the frames from keptAt on, taken when the difference was found
	keptAt int32
	keptN  int32

	cursor int32 // next frame to send while a difference is open
	linger int
}

func newAgreement() agreement { return agreement{agreed: -1, bad: noFrame, linger: lingerPackets} }

func (a *agreement) exact() bool { return a.bad == a.agreed+1 }

// waiting takes the hash of a frame that arrived before the frame was settled here.
func (a *agreement) waiting(frame int32) (hash uint32, ok bool) {
	e := &a.early[frame/HashInterval%earlyHashes]
	if e.frame1 != frame+1 {
		return 0, false
	}
	e.frame1 = 0
	return e.hash, true
}

// Compare takes the hash another player sent for one of its confirmed frames. It is compared at once if the frame is
// settled here, or when it becomes so. Frames nobody can have confirmed, and frames too old to know, are ignored.
func (s *Session[S, W]) Compare(player int, frame int32, hash uint32) {
	if player < 0 || player >= s.cfg.Players || player == s.cfg.Local || frame < 0 || frame > s.Reach() {
		return
	}
	a := &s.agree[player]
	if ours, ok := a.keptHash(frame); ok {
		s.compare(player, frame, ours, hash)
		return
	}
	if ours, ok := s.settledHash(frame); ok {
		s.compare(player, frame, uint32(ours), hash)
		return
	}
	if frame > s.Settled() && frame%HashInterval == 0 {
		e := &a.early[frame/HashInterval%earlyHashes]
		e.frame1, e.hash = frame+1, hash
	}
}

func (s *Session[S, W]) compare(player int, frame int32, ours, theirs uint32) {
	a := &s.agree[player]
	if ours == theirs {
		if frame < a.bad {
			a.agreed = max(a.agreed, frame)
		}
		return
	}
	if frame >= a.bad {
		return
	}
	opened := a.bad == noFrame
	a.bad, a.ours, a.theirs = frame, ours, theirs
	if a.agreed >= frame {
		a.agreed = -1 // equal after different: the states met again, and nothing is known of what lies before
	}
	if opened {
		s.desynced = true
		s.stats.Desyncs++
		s.keep(a)
	}
}

// keep saves the hashes of the frames in question, before their states leave the history.
func (s *Session[S, W]) keep(a *agreement) {
	first := max(a.agreed, s.oldest, 0, a.bad-MaxHistory+1)
	a.keptAt, a.keptN, a.cursor = first, 0, first
	for f := first; f <= a.bad; f++ {
		a.kept[a.keptN] = uint32(s.game.Hash(s.state(f)))
		a.keptN++
	}
}

func (a *agreement) keptHash(frame int32) (uint32, bool) {
	if i := frame - a.keptAt; i >= 0 && i < a.keptN {
		return a.kept[i], true
	}
	return 0, false
}

// NextHash is the frame and hash to put into the next packet to a player; ok is false if there is none. Every hash
// divisible by HashInterval is handed out once; while a difference is open, every packet gets one.
func (s *Session[S, W]) NextHash(player int) (frame int32, hash uint32, ok bool) {
	if player < 0 || player >= s.cfg.Players || player == s.cfg.Local {
		return 0, 0, false
	}
	a := &s.agree[player]
	if s.desynced && a.bad != noFrame && a.keptN > 0 && (!a.exact() || a.linger > 0) {
		if a.exact() {
			a.linger--
		}
		if a.cursor > a.bad || a.cursor >= a.keptAt+a.keptN {
			a.cursor = max(min(a.agreed, a.bad-1), a.keptAt)
		}
		frame = a.cursor
		a.cursor++
		return frame, a.kept[frame-a.keptAt], true
	}
	for ; a.next < s.hashNext; a.next += HashInterval {
		if h, known := s.ConfirmedHash(a.next); known {
			frame = a.next
			a.next += HashInterval
			return frame, uint32(h), true
		}
	}
	return 0, 0, false
}

// Desync is a difference between confirmed states.
type Desync struct {
	Player       int
	Frame        int32 // oldest label known to differ
	Exact        bool  // the label before it is known to be equal, so Frame is where it went wrong
	Agreed       int32 // newest label known to be equal, -1 for the start alone
	Ours, Theirs uint32
}

// Desync is the difference found against a player; ok is false if there is none.
func (s *Session[S, W]) Desync(player int) (d Desync, ok bool) {
	if player < 0 || player >= s.cfg.Players {
		return Desync{}, false
	}
	a := &s.agree[player]
	if a.bad == noFrame {
		return Desync{}, false
	}
	return Desync{player, a.bad, a.exact(), a.agreed, a.ours, a.theirs}, true
}

// Agreed is the newest label whose state was found equal to that player's, -1 for none yet.
func (s *Session[S, W]) Agreed(player int) int32 {
	if player < 0 || player >= s.cfg.Players {
		return -1
	}
	return s.agree[player].agreed
}
