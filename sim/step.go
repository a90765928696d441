package sim

import "backstep/sim/data"

// stepper is what one step works with besides the world. It lives on the stack.
type stepper struct {
	w       *World
	roster  *data.Roster
	rules   *data.Ruleset
	frame   int32 // label of the state being made
	listens bool  // input is accepted in this frame
	in      [MaxFighters]control
	frozen  [MaxFighters]bool
	was     [MaxFighters]Fixed // X before motion
	freeze  [MaxFighters]int32 // a move begun in this frame freezes everybody for so long
	breaks  [MaxFighters]bool  // a thrown fighter breaks the throw
	shift   [MaxFighters]Fixed // pushback that a wall gave to somebody else
}

// TickResult is what a step gives back. It is good until the world is stepped or assigned.
type TickResult struct {
	Frame int32 // label of the new state
	Free  bool  // every fighter on the stage is in hitstop
	world *World
}

// Hash computes the hash of the new state. It is not computed unless asked for, because most predicted frames never need it.
func (r TickResult) Hash() uint64 {
	if r.world == nil {
		return 0
	}
	return r.world.Hash()
}

// Step advances w in place by one frame. in holds a word for each player (Players); missing ones are neutral, further ones are
// ignored. The policy is passed on in the present event and changes nothing else. Step does not allocate. A zero World, which
// has not been Reset, stays as it is.
func (w *World) Step(in []Input, p Policy) TickResult { return w.step(data.Embedded(), in, p) }

func (w *World) step(r *data.Roster, in []Input, p Policy) TickResult {
	if w.count == 0 {
		return TickResult{Frame: w.frame, world: w}
	}
	w.out = outputs{}
	s := stepper{w: w, roster: r, rules: r.Ruleset(w.ruleset), frame: w.frame + 1, listens: w.match.AcceptsInput()}
	copy(w.out.inputs[:], in)
	s.input()
	s.tick()
	s.timers()
	s.motion()
	s.throws()
	s.bodies()
	if w.match.Phase == Live {
		s.resolveHits()
	}
	s.windows()
	s.advanceMatch()
	for i := range int(w.count) {
		f := &w.fighters[i]
		f.StanceTag = s.stanceTag(i)
		f.RNGCursor = LCG(f.RNGCursor)
	}
	w.frame++
	w.out.present = present(w.frame, p, w.match.Phase)
	return TickResult{Frame: w.frame, Free: w.Free(), world: w}
}

// kind gives the fighter's data.
func (s *stepper) kind(i int) *data.Fighter { return s.roster.Fighter(s.w.fighters[i].ID) }

// move gives the move the fighter in slot i is in, nil if it is in none.
func (s *stepper) move(i int) *data.Move {
	f := &s.w.fighters[i]
	if f.Move == 0 {
		return nil
	}
	return s.kind(i).Move(f.Move)
}

// foe gives the slot of the fighter that slot i faces.
func (s *stepper) foe(i int) int { return int(s.w.point[Side(i)^1]) }

// input is step 1.
func (s *stepper) input() {
	w := s.w
	for i := range int(w.count) {
		s.was[i] = w.fighters[i].X
		if !w.Active(i) {
			continue
		}
		if s.listens {
			s.in[i] = derive(w.out.inputs[Side(i)])
		}
		s.apply(i)
	}
	for i := range int(w.count) {
		if s.breaks[i] {
			s.breakThrow(i)
		}
		if s.freeze[i] == 0 {
			continue
		}
		for j := range int(w.count) {
			f := &w.fighters[j]
			f.HitstopFrames = max(f.HitstopFrames, int16(s.freeze[i]))
		}
	}
}

// tick is step 2.
func (s *stepper) tick() {
	for i := range int(s.w.count) {
		f := &s.w.fighters[i]
		if f.HitstopFrames == 0 {
			f.AnimationFrame++
			continue
		}
		s.frozen[i] = true
		f.HitstopFrames--
		if f.HitstopFrames == 0 { // the defender's hitlag follows its hitstop (S-08)
			f.HitstopFrames, f.HitlagFrames = f.HitlagFrames, 0
		}
	}
}
