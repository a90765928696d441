package sim

import "backstep/sim/data"

// Commands of tag play, with the assist button (A) and the stance button (B); directions as seen from the fighter:
//
//	          2v2                      3v3                              trinity
//	A         tag to the partner       call partner 1                   tag to partner 1
//	F+A       likewise                 tag to partner 1                 likewise
//	Back+A    likewise                 call partner 2                   call the anchor, once a match
//	D+A       likewise                 tag to partner 2                 likewise
//	Back+A    Baroque instead, while an own attack has landed and there is health to recover
//	B+A       X-Factor
//	D+B+A     Cross Assault
//	super     while an own super runs: Delayed Hyper Combo
//
// The stance button alone is the fighter's own, as in a duel; what a fighter has on the assist button is for duels.
//
// A tag while a move is in its tag-cancel frames after a hit is a Tag Cancel. Partner 1 is the next of the team after the point,
// partner 2 the one after that.

// tagCommand carries out what the buffer of a point asks of its team, and reports whether that is what the fighter does now.
func (s *stepper) tagCommand(i int) bool {
	f := &s.w.fighters[i]
	if f.Place != OnPoint {
		return false
	}
	if f.Action == Attack && s.joinSuper(i) {
		return true
	}
	for age := range int32(BufferFrames) {
		e := *f.entry(age)
		if e&uint16(1<<data.Assist) == 0 {
			continue
		}
		if done, changed := s.teamEntry(i, e); done {
			f.useUp(age)
			return changed
		}
		return false
	}
	return false
}

// teamEntry tries what one entry of the buffer asks: whether it has been done, and whether the fighter is now in another action.
func (s *stepper) teamEntry(i int, e uint16) (done, changed bool) {
	f := &s.w.fighters[i]
	b := e>>data.Stance&1 != 0
	dir := commandDirection(e>>entryShift, f.Facing)
	free := f.Action.Neutral()
	linked := f.Action == Attack && f.Contact == Landed
	switch {
	case b && dir == data.Down:
		return free && s.crossAssault(i), false
	case b:
		return (free || linked) && s.xFactor(i), false
	case dir == data.Back && linked && s.baroque(i):
		return true, true
	}
	tag, n := s.tagWish(dir)
	switch {
	case !tag:
		return s.callAssist(i, n), false
	case free:
		done = s.requestTag(Side(i), s.partner(i, n), plainTag)
		return done, done
	case linked && s.move(i).TagCancel.Holds(f.AnimationFrame):
		done = s.requestTag(Side(i), s.partner(i, n), data.TagCancel)
		return done, done
	}
	return false, false
}

// tagWish tells what the assist button asks for with a direction: a tag or a call, and of which partner.
func (s *stepper) tagWish(dir data.Direction) (tag bool, n int) {
	switch {
	case s.w.format == Format2v2:
		return true, 1
	case dir == data.Forward:
		return true, 1
	case dir == data.Down:
		return true, 2
	case dir == data.Back:
		return false, 2
	}
	return s.w.format == FormatTrinity, 1
}

// partner gives the slot of the n-th fighter of the team after slot i, -1 if there is none that can fight.
func (s *stepper) partner(i, n int) int {
	size := int(s.w.count) / 2
	if n >= size {
		return -1
	}
	j := Side(i) + 2*((i/2+n)%size)
	if s.w.fighters[j].Health == 0 {
		return -1
	}
	return j
}

// ready gives the next fighter of a side that could come in for the point, -1 if there is none.
func (s *stepper) ready(side int) int {
	p := int(s.w.point[side])
	for n := 1; n < int(s.w.count)/2; n++ {
		if j := s.partner(p, n); j >= 0 {
			return j
		}
	}
	return -1
}

// pair gives the row of the pairing table for two slots, and whether their houses may pair.
func (s *stepper) pair(i, j int) (data.Pair, bool) {
	p := s.roster.Team.Pair(s.w.fighters[i].ID, s.w.fighters[j].ID)
	return p, p.CrossIP || s.kind(i).House == s.kind(j).House
}

// requestTag begins the handshake.
func (s *stepper) requestTag(side, to int, why data.Mechanic) bool {
	t := &s.w.teams[side]
	if to < 0 || !t.Transition(TagOutRequested) {
		return false
	}
	t.To, t.Why, t.Timer = uint8(to), why, 0
	s.tagEvent(side)
	return true
}

func (s *stepper) tagEvent(side int) {
	s.event(int(s.w.point[side]), EventTag, int32(s.w.teams[side].Phase))
}

// callAssist brings a partner onto the stage for one move.
func (s *stepper) callAssist(i, n int) bool {
	f := &s.w.fighters[i]
	t := &s.w.teams[Side(i)]
	j := s.partner(i, n)
	anchor := s.w.format == FormatTrinity
	if j < 0 || s.onStage(j) || t.AssistCooldown > 0 || s.w.fighters[j].Lock > 0 || (anchor && t.AnchorUsed != 0) {
		return false
	}
	switch f.Action {
	case Idle, Crouch, WalkForward, WalkBack, DashForward, DashBack, PreJump, Airborne, Attack, Landing:
	default:
		return false
	}
	t.AssistCooldown = int16(s.roster.Team.Mechanics[data.AssistCalled].Cooldown)
	if anchor {
		t.AnchorUsed = 1
	}
	k := s.kind(j)
	s.enter(j, Assisting, s.inside(f.X-(s.kind(i).BodyHalf+k.BodyHalf)*Fixed(f.Facing)), f.Facing)
	s.start(j, k.Move(k.Assist))
	s.event(j, EventAssist, int32(k.Assist))
	return true
}

// leaveAfterAssist lets a called partner go when its move is over.
func (s *stepper) leaveAfterAssist(i int) {
	if s.w.fighters[i].Action.Neutral() {
		s.become(i, TagOut, s.roster.Team.AssistLeave)
	}
}

// crossAssault brings partner 1 onto the stage under the same hands.
func (s *stepper) crossAssault(i int) bool {
	t := &s.w.teams[Side(i)]
	row := &s.roster.Team.Mechanics[data.CrossAssault]
	f := &s.w.fighters[i]
	j := s.partner(i, 1)
	if j < 0 || s.onStage(j) || t.Cross > 0 || f.SuperMeter < row.Meter || s.w.fighters[j].Lock > 0 {
		return false
	}
	s.alter(i, AttrSuperMeter, -row.Meter)
	t.Cross = int16(row.Frames)
	s.enter(j, Crossing, s.inside(f.X-(s.kind(i).BodyHalf+s.kind(j).BodyHalf)*Fixed(f.Facing)), f.Facing)
	s.become(j, TagIn, s.roster.Team.TagIn)
	s.mechanic(i, data.CrossAssault)
	return true
}

// xFactor trades health for damage and speed, once a match.
func (s *stepper) xFactor(i int) bool {
	t := &s.w.teams[Side(i)]
	row := &s.roster.Team.Mechanics[data.XFactorPandora]
	f := &s.w.fighters[i]
	if t.XFactorUsed != 0 || f.SuperMeter < row.Meter {
		return false
	}
	t.XFactorUsed, t.XFactor = 1, int16(row.Frames)
	s.alter(i, AttrSuperMeter, -row.Meter)
	s.alter(i, AttrHealth, -min(f.Health-1, f.Health*row.Health/100))
	s.mechanic(i, data.XFactorPandora)
	return true
}

// baroque pays recoverable health and the call of a partner to be free at once after a hit.
func (s *stepper) baroque(i int) bool {
	t := &s.w.teams[Side(i)]
	row := &s.roster.Team.Mechanics[data.BaroqueDuoCancel]
	f := &s.w.fighters[i]
	pay := f.RecoverableHealth * row.Health / 100
	if pay == 0 || t.AssistCooldown > 0 || f.Air != 0 {
		return false
	}
	s.alter(i, AttrRecoverableHealth, -pay)
	t.AssistCooldown = int16(s.roster.Team.Mechanics[data.AssistCalled].Cooldown)
	t.Baroque = int16(row.Frames)
	s.neutral(i)
	s.mechanic(i, data.BaroqueDuoCancel)
	return true
}

// joinSuper cancels a super into the super of partner 1, for its price in meter.
func (s *stepper) joinSuper(i int) bool {
	f := &s.w.fighters[i]
	m := s.move(i)
	if m.Family != data.SuperFamily || f.AnimationFrame <= m.Startup || f.Air != 0 || *f.entry(0)>>data.Super&1 == 0 {
		return false
	}
	side := Side(i)
	t := &s.w.teams[side]
	j := s.partner(i, 1)
	if j < 0 || s.onStage(j) || s.w.fighters[j].Lock > 0 || !CanTag(t.Phase, TagOutRequested) {
		return false
	}
	row := &s.roster.Team.Mechanics[data.DelayedHyperCombo]
	k := s.kind(j)
	n := k.Move(k.CommandIn(s.w.ruleset, 0, data.Ground, data.Super, data.Neutral))
	p, houses := s.pair(i, j)
	if n == nil || !p.DHC || !houses || (n.Cinematic != 0 && !p.Cinematic) || f.SuperMeter < n.Cost+row.Meter || n.Network != data.DeterministicRollback {
		return false
	}
	f.useUp(0)
	s.requestTag(side, j, data.DelayedHyperCombo)
	t.Transition(TagOutMontageStarted)
	s.alter(i, AttrSuperMeter, -row.Meter)
	s.swap(side, j)
	s.start(j, n)
	t.Transition(TagInMontageStarted)
	t.Timer = int16(row.Frames)
	s.tagEvent(side)
	s.mechanic(j, data.DelayedHyperCombo)
	return true
}

func (s *stepper) mechanic(i int, k data.Mechanic) { s.event(i, EventMechanic, int32(k)) }
