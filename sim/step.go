package sim

import "backstep/sim/data"

// stepper is what one step works with besides the world. It lives on the stack.
type stepper struct {
	w        *World
	roster   *data.Roster
	rules    *data.Ruleset
	frame    int32 // label of the state being made
	reserved uint8 // buttons that tag play has taken
	obeys    [MaxFighters]bool
	in       [MaxFighters]control
	frozen   [MaxFighters]bool
	was      [MaxFighters]Fixed // X before motion
	freeze   [MaxFighters]int32 // a move begun in this frame freezes everybody for so long
	breaks   [MaxFighters]bool  // a thrown fighter breaks the throw
	shift    [MaxFighters]Fixed // pushback that a wall gave to somebody else
	snapped  [2]bool            // a snapback has hit the point of the side
	kinds    [MaxFighters]*data.Fighter
}

func newStepper(w *World, r *data.Roster) stepper {
	s := stepper{w: w, roster: r, rules: r.Ruleset(w.ruleset), frame: w.frame + 1, reserved: w.format.reserved()}
	for i := range int(w.count) {
		s.kinds[i] = r.Fighter(w.fighters[i].ID)
	}
	return s
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
	s := newStepper(w, r)
	copy(w.out.inputs[:], in)
	s.input()
	s.tick()
	s.timers()
	s.motion()
	s.throws()
	s.bodies()
	if w.match.AcceptsInput() {
		s.resolveHits()
	}
	s.windows()
	if w.count > 2 {
		s.teams()
	}
	s.nodes()
	s.advanceMatch()
	for i := range int(w.count) {
		s.settleFighter(i)
	}
	w.frame++
	s.present(p)
	return TickResult{Frame: w.frame, Free: w.Free(), world: w}
}

// settleFighter is step 4: what follows from the state of a fighter, and its generator.
func (s *stepper) settleFighter(i int) {
	f := &s.w.fighters[i]
	f.StanceTag = s.stanceTag(i)
	f.Meter, f.MaxMeter = f.SuperMeter, f.MaxSuperMeter
	if f.MaxStun > 0 {
		f.Stunmeter = f.Stun * 100 / f.MaxStun
	}
	f.RNGCursor = LCG(f.RNGCursor)
}

// kind gives the fighter's data.
func (s *stepper) kind(i int) *data.Fighter { return s.kinds[i] }

// move gives the move the fighter in slot i is in, nil if it is in none.
func (s *stepper) move(i int) *data.Move { return s.kinds[i].Move(s.w.fighters[i].Move) }

// foe gives the slot of the fighter that slot i faces.
func (s *stepper) foe(i int) int { return int(s.w.point[Side(i)^1]) }

// onStage tells whether the fighter in a slot is on the stage.
func (s *stepper) onStage(i int) bool { return s.w.active>>i&1 != 0 }

// input is step 1.
func (s *stepper) input() {
	w := s.w
	for i := range int(w.count) {
		s.was[i] = w.fighters[i].X
		if !s.onStage(i) {
			continue
		}
		if w.fighters[i].Place != Assisting && w.obeys(s.rules, Side(i)) {
			s.obeys[i] = true
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
		s.holdAll(int16(s.freeze[i]))
	}
}

// holdAll keeps every fighter on the stage in hitstop for at least some frames.
func (s *stepper) holdAll(frames int16) {
	for i := range int(s.w.count) {
		if s.onStage(i) {
			f := &s.w.fighters[i]
			f.HitstopFrames = max(f.HitstopFrames, frames)
		}
	}
}

// tick is step 2.
func (s *stepper) tick() {
	for i := range int(s.w.count) {
		if !s.onStage(i) {
			continue
		}
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
