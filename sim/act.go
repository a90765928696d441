package sim

import "backstep/sim/data"

// become puts a fighter into an action from its first frame.
func (s *stepper) become(i int, a Action, duration int32) {
	f := &s.w.fighters[i]
	f.Action, f.AnimationFrame, f.Duration = a, 0, duration
	f.Move, f.Contact, f.Armor, f.Partner, f.Choice = 0, NoContact, 0, 0, 0
	f.Registry.Reset()
	s.shut(i)
	f.Low = 0
	if !a.Neutral() && a != Attack {
		f.leaveStance(0)
	}
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
	f.TechTimer, f.RollDir, f.Lay, f.Hard, f.Launcher, f.Lie = 0, 0, 0, 0, 0, 0
	s.comboOver(i)
}

// comboOver forgets the combo on a fighter.
func (s *stepper) comboOver(i int) {
	f := &s.w.fighters[i]
	f.ComboHits, f.ComboDamage, f.ComboStarter, f.JuggleHits, f.Launcher = 0, 0, 0, 0, 0
	f.Combat.JuggleScaling = data.Unit
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
	case f.Place == Bench: // it has just left
		return
	case f.Action == Thrown:
		s.breaks[i] = f.AnimationFrame < s.rules.ThrowTech && s.breakable(i) && f.takeThrow()
	case f.Action == Prompted:
		s.choose(i)
	case f.Health == 0:
	case f.Place == Assisting:
		s.leaveAfterAssist(i)
	case s.w.count > 2 && s.tagCommand(i):
	case f.Action.Neutral():
		s.decide(i)
	case f.Action == Airborne:
		if f.AirUsed == 0 && s.startBuffered(i, data.Air, 0xff) {
			f.AirUsed = 1
		}
	case f.Action == Launched:
		s.readTech(i)
	case f.Action == Attack:
		s.followUp(i)
	}
	s.approach(i)
}

// followUp goes on from a move: by a cancel window, or in its first frames by kara-cancel.
func (s *stepper) followUp(i int) {
	f := &s.w.fighters[i]
	from := data.From(f.Air)
	if f.CancelOpen != 0 && s.startBuffered(i, from, f.CancelOpen) {
		return
	}
	if m := s.move(i); m.Kara != 0 && f.AnimationFrame <= s.rules.KaraFrames && f.Contact == NoContact {
		s.startBuffered(i, from, m.Kara)
	}
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
		f.VX, f.VY = k.JumpX*Fixed(dir), factor(k.JumpY, f.Movement.JumpMul)
		s.event(i, EventJump, int32(dir))
	case Attack:
		if f.Air != 0 {
			s.become(i, Airborne, 0)
			return
		}
		enters := s.move(i).Effects.Enters
		s.neutral(i)
		s.enterStance(i, enters)
	case Hitstun, Blockstun, Wakeup, Roll:
		dizzy := f.Action != Blockstun && s.rules.DizzyFrames > 0 && f.Stun == f.MaxStun
		f.ThrowProtect = uint8(s.rules.ThrowProtect)
		s.neutral(i)
		if dizzy {
			s.alter(i, AttrStun, -f.Stun)
			s.become(i, Dazed, s.rules.DizzyFrames)
			s.event(i, EventDazed, s.rules.DizzyFrames)
		}
	case Down:
		s.rise(i)
	case TagOut:
		if f.Place == Assisting {
			s.bench(i)
		} else {
			f.Duration = 0 // the handshake takes it off the stage
		}
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
	if f.Mechanics.StanceKind != 0 || f.Mechanics.StanceRecovery > 0 {
		if s.stand(i) {
			return
		}
	} else if s.startBuffered(i, data.Ground, 0xff) || s.dash(i) {
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
	case RoundEnd, MatchEnd, PostMatch:
		return s.w.match.RoundWinner == Winner(Side(i)+1)
	}
	return false
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
	case back && s.obeys[i]:
		f.RetreatFrames = min(f.RetreatFrames+1, 32000)
	}
}
