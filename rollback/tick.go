package rollback

import "backstep/rollback/quality"

// Tick makes one frame: it runs the correction that is due, if any, and steps the next frame with this side's word,
// unless the window is used up, a deep correction froze the session, or a needed snapshot is gone. On a tick that does
// not advance, the word is not used: InputFrame stays where it is. In delay mode it is used, once for each frame that is
// waited for, in place of the word of the tick that makes the frame. It does not allocate.
func (s *Session[S, W]) Tick(local W) (r Result) {
	s.tick(&r, local, true)
	return r
}

// Reconcile runs the correction that is due and steps no new frame. A session that is held back calls it instead of
// Tick: a correction never waits for the next frame.
func (s *Session[S, W]) Reconcile() (r Result) {
	s.events.begin()
	s.correct(&r)
	s.settle()
	s.finish(&r)
	return r
}

func (s *Session[S, W]) tick(r *Result, local W, may bool) {
	s.events.begin()
	s.correct(r)
	s.stats.Ticks++
	switch {
	case s.lost, r.Frozen:
	case !may:
		r.Waited = true
		s.stats.Waited++
	case s.full():
		r.Stalled = true
		s.pledge(local)
	default:
		if s.pledged != s.cur+1 {
			s.assign(local)
		}
		s.advance()
		r.Advanced = true
	}
	s.stall(r.Stalled)
	s.settle()
	r.Offer = s.pressure(!r.Advanced && !r.Waited)
	s.finish(r)
}

// advance steps the frame after the newest one, in place of the oldest.
func (s *Session[S, W]) advance() {
	f := s.cur + 1
	in, before := s.inputs(f), s.inputs(f-1)
	for p := range in {
		in[p] = Input[W]{Now: s.word(p, f, before[p].Now), Prev: before[p].Now}
	}
	s.place[f&inputMask] = s.place[(f-int32(s.cfg.SnapshotHistoryFrames)-1)&inputMask]
	next := s.state(f)
	*next = *s.state(f - 1)
	s.game.Step(next, in, Emit)
	s.cur = f
	if s.oldest < f-int32(s.cfg.SnapshotHistoryFrames) {
		s.oldest++
	}
	s.classify(f, next)
	if s.cosmetics != nil {
		s.events.first(f, s.cosmetics.Events(next, s.events.scratch()))
	}
	s.stats.Frames++
}

func (s *Session[S, W]) classify(frame int32, state *S) {
	if s.freer != nil {
		s.free[frame&inputMask] = s.freer.Free(state)
	}
}

// full reports whether the next frame would lie further beyond the confirmed one than the window allows. Free frames
// do not count, up to a hard bound.
func (s *Session[S, W]) full() bool {
	next, window := s.cur+1, s.window
	if next-s.confirmed <= window {
		return false
	}
	return s.freer == nil || window == 0 || next-s.confirmed > s.hard(window) || s.counted(s.confirmed+1, s.cur)+1 > window
}

// hard is the most frames that may be predicted with the given window, free ones included.
func (s *Session[S, W]) hard(window int32) int32 {
	if s.freer == nil {
		return window
	}
	return min(window+FreeFrames, HardWindow)
}

// counted is how many of the frames from first to last are not free.
func (s *Session[S, W]) counted(first, last int32) int32 {
	n := max(last-first+1, 0)
	if s.freer == nil {
		return n
	}
	for f := first; f <= last; f++ {
		if s.free[f&inputMask] {
			n--
		}
	}
	return n
}

func (s *Session[S, W]) stall(stalled bool) {
	if !stalled {
		s.stallRun = 0
		return
	}
	s.stallRun++
	s.stalls++
	s.stats.Stalls++
	s.stats.LongestStall = max(s.stats.LongestStall, s.stallRun)
}

// pressure takes the sample of this tick: frames predicted plus ticks held among the last PressureSpan. It reports
// whether delay mode is to be offered now.
func (s *Session[S, W]) pressure(held bool) bool {
	if s.held[s.heldAt] {
		s.heldCount--
	}
	if s.held[s.heldAt] = held; held {
		s.heldCount++
	}
	s.heldAt = (s.heldAt + 1) % PressureSpan
	if s.cfg.Mode == quality.Delay {
		return s.ladder.Sample(0, s.cfg.MaxRollbackFrames, s.cfg.SustainedRollbackPressureFrames)
	}
	demand := int(s.counted(s.confirmed+1, s.cur)) + s.heldCount
	return s.ladder.Sample(demand, s.cfg.MaxRollbackFrames, s.cfg.SustainedRollbackPressureFrames)
}

// finish fills in what every result says.
func (s *Session[S, W]) finish(r *Result) {
	r.Frame, r.Confirmed, r.Hash = s.cur, s.confirmed, s.hashCur
	r.Emitted, r.Cancelled = s.events.emitted, s.events.cancelled
	r.Status = s.Status()
	r.Desynced = s.desynced
}

// recoveringMillis of stall in a row are shown as Recovering.
const recoveringMillis = 250

// Status is what the player should be shown now.
func (s *Session[S, W]) Status() Status {
	switch {
	case s.lost:
		return FallbackOffered
	case s.frozen, s.stallRun*1000 >= recoveringMillis*s.cfg.SimulationHz:
		return Recovering
	case s.ladder.Offer() == quality.Offered:
		return FallbackOffered
	}
	return Running
}
