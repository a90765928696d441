package sim

import "backstep/sim/data"

// become puts a fighter into an action from its first frame.
func (s *stepper) become(i int, a Action, duration int32) {
	f := &s.w.fighters[i]
	f.Action, f.AnimationFrame, f.Duration = a, 0, duration
	f.Move, f.Contact, f.ArmorLeft, f.Partner = 0, NoContact, 0, 0
	f.Registry.Reset()
	s.shut(i)
	f.Low = 0
}

// hold puts a fighter into an action without an end and keeps its animation running if it is in it already.
func (s *stepper) hold(i int, a Action) {
	if s.w.fighters[i].Action != a {
		s.become(i, a, 0)
	}
}

// neutral ends whatever a fighter was in; a combo on it is over.
func (s *stepper) neutral(i int) {
	s.become(i, Idle, 0)
	f := &s.w.fighters[i]
	f.Air, f.AirUsed, f.JumpDir, f.VX, f.VY = 0, 0, 0, 0, 0
	f.ComboHits, f.ComboDamage, f.ComboStarter, f.JuggleHits = 0, 0, 0, 0
}

// face turns a fighter toward its opponent.
func (s *stepper) face(i int) {
	f, o := &s.w.fighters[i], &s.w.fighters[s.foe(i)]
	if d := (o.X - f.X).Sign(); d != 0 {
		f.Facing = int8(d)
	}
}

// apply is step 1 for one fighter.
func (s *stepper) apply(i int) {
	f := &s.w.fighters[i]
	f.Approached = 0
	frozen := f.HitstopFrames > 0
	f.record(s.in[i], s.rules.DashWindow, frozen)
	if frozen {
		return
	}
	s.finish(i)
	switch {
	case f.Action == Thrown:
		s.breaks[i] = f.AnimationFrame < s.rules.ThrowTech && f.takeThrow()
	case f.Health == 0:
	case f.Action.Neutral():
		s.decide(i)
	case f.Action == Airborne:
		if f.AirUsed == 0 && s.startBuffered(i, data.Air, 0xff) {
			f.AirUsed = 1
		}
	case f.Action == Attack && f.CancelOpen != 0:
		s.startBuffered(i, data.From(f.Air), f.CancelOpen)
	}
	s.approach(i)
}

// finish ends an action that has run its length.
func (s *stepper) finish(i int) {
	f := &s.w.fighters[i]
	if f.Duration == 0 || f.AnimationFrame < f.Duration {
		return
	}
	switch f.Action {
	case PreJump:
		k := s.kind(i)
		dir := f.JumpDir
		s.become(i, Airborne, 0)
		f.Air, f.AirUsed = 1, 0
		f.VX, f.VY = k.JumpX*Fixed(dir), k.JumpY
		s.event(i, EventJump, int32(dir))
	case Attack:
		if f.Air != 0 {
			s.become(i, Airborne, 0)
			return
		}
		s.neutral(i)
	case Hitstun, Blockstun, Wakeup:
		f.ThrowProtect = uint8(s.rules.ThrowProtect)
		s.neutral(i)
	case Down:
		if f.Health == 0 {
			f.Duration = 0 // stays down until the round ends
			return
		}
		s.become(i, Wakeup, s.rules.WakeupFrames)
		s.face(i)
		s.event(i, EventWakeup, 0)
	default:
		s.neutral(i)
	}
}

// decide chooses what a fighter in neutral does.
func (s *stepper) decide(i int) {
	f := &s.w.fighters[i]
	s.face(i)
	if s.won(i) {
		s.hold(i, Victory)
		return
	}
	if s.startBuffered(i, data.Ground, 0xff) || s.dash(i) {
		return
	}
	held := s.in[i].held
	dir := toward(held)
	switch {
	case held&UpBit != 0:
		s.become(i, PreJump, s.kind(i).PreJump)
		f.JumpDir = dir
	case held&DownBit != 0:
		s.hold(i, Crouch)
		f.Low = 1
	case dir == 0:
		s.hold(i, Idle)
	case dir == f.Facing:
		s.hold(i, WalkForward)
	default:
		s.hold(i, WalkBack)
	}
}

// won tells whether the fighter's side has just won a round or the match.
func (s *stepper) won(i int) bool {
	switch s.w.match.Phase {
	case RoundEnd, FinisherWindow, MatchEnd, PostMatch:
		return s.w.match.RoundWinner == Winner(Side(i)+1)
	}
	return false
}

// priority is the order in which buttons of one frame are looked at.
var priority = [...]data.Button{data.Super, data.Special, data.Throw, data.Heavy, data.Medium, data.Light}

// startBuffered starts the move of the newest press in the buffer that has one among the buttons of mask. That press and older
// ones are used up.
func (s *stepper) startBuffered(i int, from data.From, mask uint8) bool {
	f := &s.w.fighters[i]
	k := s.kind(i)
	for age := range int32(BufferFrames) {
		e := *f.entry(age)
		if e&entryButtons == 0 {
			continue
		}
		for _, b := range priority {
			if e>>b&1 == 0 || mask>>b&1 == 0 {
				continue
			}
			m := k.Move(k.Command(from, b, commandDirection(e>>entryShift, f.Facing)))
			if m == nil || !s.affords(i, m) {
				continue
			}
			for old := age; old < BufferFrames; old++ {
				*f.entry(old) = 0
			}
			s.start(i, m)
			return true
		}
	}
	return false
}

func commandDirection(held uint16, facing int8) data.Direction {
	switch d := toward(held); {
	case held&DownBit != 0:
		return data.Down
	case d == 0:
		return data.Neutral
	case d == facing:
		return data.Forward
	}
	return data.Back
}

// affords tells whether a fighter has the meter and the free shot a move needs.
func (s *stepper) affords(i int, m *data.Move) bool {
	f := &s.w.fighters[i]
	if f.Meter < m.Cost {
		return false
	}
	return m.Shot.Spawn == 0 || f.Shots[0].Life == 0
}

// start begins a move.
func (s *stepper) start(i int, m *data.Move) {
	f := &s.w.fighters[i]
	s.become(i, Attack, m.Total)
	if f.Air == 0 {
		s.face(i)
	}
	f.Move, f.MoveStart, f.ArmorLeft = m.ID, s.frame, m.ArmorHits
	if m.Crouches {
		f.Low = 1
	}
	f.Meter -= m.Cost
	s.freeze[i] = m.Freeze
	s.event(i, EventMove, int32(m.ID))
	if m.Freeze > 0 {
		s.event(i, EventFlash, m.Freeze)
	}
}

// dash starts a dash that the buffer holds.
func (s *stepper) dash(i int) bool {
	f := &s.w.fighters[i]
	for age := range int32(BufferFrames) {
		e := *f.entry(age) & entryDash
		if e == 0 {
			continue
		}
		for old := age; old < BufferFrames; old++ {
			*f.entry(old) &^= entryDash
		}
		k := s.kind(i)
		if e == dashBit(f.Facing) {
			s.become(i, DashForward, k.DashForwardFrames)
			s.event(i, EventDash, 1)
		} else {
			s.become(i, DashBack, k.DashBackFrames)
			s.event(i, EventDash, -1)
		}
		return true
	}
	return false
}

// approach records whether the fighter's own doing moves it toward the opponent.
func (s *stepper) approach(i int) {
	f := &s.w.fighters[i]
	ahead := f.Action == WalkForward || f.Action == DashForward || (f.Action == PreJump && f.JumpDir == f.Facing)
	back := f.Action == WalkBack || f.Action == DashBack || (f.Action == PreJump && f.JumpDir == -f.Facing)
	switch {
	case ahead:
		f.Approached, f.RetreatFrames = 1, 0
	case back && s.listens:
		f.RetreatFrames = min(f.RetreatFrames+1, 32000)
	}
}

// windows opens and shuts the cancel windows after the hits of the frame are known.
func (s *stepper) windows() {
	for i := range int(s.w.count) {
		f := &s.w.fighters[i]
		if f.Action != Attack || f.Contact == NoContact {
			continue
		}
		m := s.move(i)
		open := m.Cancel.Holds(f.AnimationFrame)
		switch {
		case open && f.CancelOpen == 0:
			f.CancelOpen, f.CancelFrame = m.CancelInto, s.frame
			s.event(i, EventCancelOpen, int32(m.CancelInto))
		case !open:
			s.shut(i)
		}
	}
}

func (s *stepper) shut(i int) {
	f := &s.w.fighters[i]
	if f.CancelOpen != 0 {
		s.event(i, EventCancelShut, int32(f.CancelOpen))
	}
	f.CancelOpen, f.CancelFrame = 0, 0
}

// CancelWindow tells whether the fighter's move can be cancelled now, into which buttons (bits 1<<button), and since which frame.
func (f *Fighter) CancelWindow() (into uint8, since int32, open bool) {
	return f.CancelOpen, f.CancelFrame, f.CancelOpen != 0
}
