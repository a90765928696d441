package sim

import "backstep/sim/data"

// enter puts a fighter of the bench onto the stage.
func (s *stepper) enter(i int, place Place, x Fixed, facing int8) {
	f := &s.w.fighters[i]
	f.X, f.Y, f.VX, f.VY, f.Push, f.PushesBack = x, 0, 0, 0, 0, 0
	f.Air, f.Facing, f.Place = 0, facing, place
	f.HitstopFrames, f.HitlagFrames = 0, 0
	f.Buffer = [BufferFrames]uint16{}
	f.TapDir, f.TapTimer, f.ThrowProtect = 0, 0, 0
	s.neutral(i)
	s.w.active |= 1 << i
	s.was[i] = x
}

// bench takes a fighter off the stage.
func (s *stepper) bench(i int) {
	s.neutral(i)
	f := &s.w.fighters[i]
	f.Y, f.Push, f.PushesBack, f.Place = 0, 0, 0, Bench
	f.HitstopFrames, f.HitlagFrames, f.RecoverTimer = 0, 0, 0
	f.Mechanics = Mechanics{Heat: f.Mechanics.Heat, SoulCharge: f.Mechanics.SoulCharge}
	f.Buffer = [BufferFrames]uint16{}
	f.TapDir, f.TapTimer, f.ThrowProtect, f.Approached = 0, 0, 0, 0
	s.w.active &^= 1 << i
}

// swap puts the fighter in slot to in the place of the point. The meter is the team's. A partner that is on the stage already only
// takes over; swap tells whether it came from the bench.
func (s *stepper) swap(side, to int) bool {
	p := int(s.w.point[side])
	f, n := &s.w.fighters[p], &s.w.fighters[to]
	x, facing := f.X, f.Facing
	n.SuperMeter, n.Hype = min(f.SuperMeter, n.MaxSuperMeter), min(f.Hype, n.MaxHype)
	crossing := n.Place == Crossing
	s.w.point[side] = uint8(to)
	s.bench(p)
	if crossing {
		n.Place = OnPoint
		return false
	}
	s.enter(to, OnPoint, x, facing)
	return true
}

// teams runs tag play for one frame, after the hits.
func (s *stepper) teams() {
	for side := range 2 {
		t := &s.w.teams[side]
		t.AssistCooldown = max(0, t.AssistCooldown-1)
		t.XFactor = max(0, t.XFactor-1)
		t.Baroque = max(0, t.Baroque-1)
		if t.Cross > 0 {
			t.Cross--
		}
		if s.snapped[side] {
			s.snap(side)
		}
		s.handshake(side)
		s.knockedOut(side)
	}
	for i := range int(s.w.count) {
		f := &s.w.fighters[i]
		f.Lock = max(0, f.Lock-1)
		switch f.Place {
		case Bench:
			s.regenerate(f)
		case Assisting:
			if f.Health == 0 && f.Action == Down && f.Duration == 0 {
				s.bench(i)
			}
		case Crossing:
			out := f.Health == 0 && f.Action == Down && f.Duration == 0
			if out || (s.w.teams[Side(i)].Cross == 0 && f.Action.Neutral()) {
				s.bench(i)
			}
		}
	}
}

// handshake takes a team's change of fighters a frame further.
func (s *stepper) handshake(side int) {
	t := &s.w.teams[side]
	p := int(s.w.point[side])
	f := &s.w.fighters[p]
	if t.Timer > 0 {
		t.Timer--
	}
	switch t.Phase {
	case TagOutRequested:
		s.beginTag(side, p)
	case TagOutMontageStarted:
		switch {
		case f.Action != TagOut && t.Why == plainTag:
			t.Transition(TagRejected) // it was hit on its way out
			s.tagEvent(side)
		case t.Timer == 0:
			s.completeOut(side)
		}
	case TagInMontageStarted:
		if t.Timer == 0 {
			t.Transition(TagCompleted)
			s.tagEvent(side)
		}
	}
}

// beginTag judges a request: who comes must be able to, the pairing table must allow it.
func (s *stepper) beginTag(side, p int) {
	t := &s.w.teams[side]
	n := &s.w.fighters[t.To]
	row, houses := s.pair(p, int(t.To))
	forced := t.Why == data.Snapback || t.Why == afterKnockout
	f := &s.w.fighters[p]
	ok := n.Health > 0 && (n.Place == Bench || n.Place == Crossing) && (forced || (n.Lock == 0 && houses))
	if t.Why == data.TagCancel {
		ok = ok && row.TagCancel && f.Action == Attack
	}
	if t.Why == plainTag {
		ok = ok && f.Action.Neutral()
	}
	if !ok {
		t.Transition(TagRejected)
		s.tagEvent(side)
		return
	}
	t.Transition(TagOutMontageStarted)
	s.tagEvent(side)
	if t.Why == plainTag {
		s.become(p, TagOut, s.roster.Team.TagOut)
		t.Timer = int16(s.roster.Team.TagOut)
		return
	}
	if t.Why == data.TagCancel {
		s.mechanic(p, data.TagCancel)
	}
	s.completeOut(side)
}

// completeOut lets the partner come.
func (s *stepper) completeOut(side int) {
	t := &s.w.teams[side]
	to := int(t.To)
	if s.w.fighters[to].Health == 0 { // it fell as an assist meanwhile
		t.Transition(TagRejected)
		s.tagEvent(side)
		if p := int(s.w.point[side]); s.w.fighters[p].Action == TagOut {
			s.neutral(p)
		}
		return
	}
	frames := s.roster.Team.TagIn
	if t.Why == data.TagCancel {
		frames = s.roster.Team.Mechanics[data.TagCancel].Frames
	}
	if s.swap(side, to) {
		s.become(to, TagIn, frames)
	}
	t.Transition(TagInMontageStarted)
	t.Timer = int16(frames)
	s.tagEvent(side)
}

// snap sends the point of a side out and the next one in. Without a partner nothing happens.
func (s *stepper) snap(side int) {
	t := &s.w.teams[side]
	p := int(s.w.point[side])
	to := s.ready(side)
	if to < 0 || s.w.fighters[p].Health == 0 || s.w.fighters[to].Place == Assisting {
		return
	}
	s.abandon(side)
	if !s.requestTag(side, to, data.Snapback) {
		return
	}
	t.Transition(TagOutMontageStarted)
	s.w.fighters[p].Lock = int16(s.roster.Team.Mechanics[data.Snapback].Frames)
	s.mechanic(p, data.Snapback)
	s.completeOut(side)
}

// abandon ends a handshake that something stronger overtakes.
func (s *stepper) abandon(side int) {
	t := &s.w.teams[side]
	switch t.Phase {
	case TagOutRequested, TagOutMontageStarted:
		t.Transition(TagRejected)
		s.tagEvent(side)
	case TagInMontageStarted:
		t.Transition(TagCompleted)
		s.tagEvent(side)
	}
}

// knockedOut brings in the next fighter for a point that is out. While the round is over nobody comes.
func (s *stepper) knockedOut(side int) {
	p := int(s.w.point[side])
	f := &s.w.fighters[p]
	if s.w.match.Phase != Live || f.Health > 0 || f.Action != Down || f.HitstopFrames > 0 || f.AnimationFrame < s.roster.Team.DownEntry {
		return
	}
	to := s.ready(side)
	if to < 0 || s.w.fighters[to].Place == Assisting {
		return
	}
	s.abandon(side)
	s.event(p, EventKO, 0)
	s.requestTag(side, to, afterKnockout)
}

// regenerate gives a fighter off the stage its health back: Regen points of every thousand in 120 frames (TAGT-11).
func (s *stepper) regenerate(f *Fighter) {
	if f.Health == 0 || f.Health == f.MaxHealth || s.w.match.Phase != Live {
		return
	}
	f.Regen += s.roster.Team.Regen * f.MaxHealth
	for f.Regen >= regenUnit {
		f.Regen -= regenUnit
		f.Health = min(f.MaxHealth, f.Health+1)
		f.RecoverableHealth = min(f.RecoverableHealth, f.MaxHealth-f.Health)
	}
}

// regenUnit is one point of health in Fighter.Regen.
const regenUnit = 120 * 1000
