package sim

import "backstep/sim/data"

// priority is the order in which buttons of one frame are looked at.
var priority = [...]data.Button{data.Super, data.Special, data.Throw, data.Stance, data.Assist, data.Heavy, data.Medium, data.Light}

// startBuffered starts the move of the newest press in the buffer that has one among the buttons of mask. That press and older
// ones are used up.
func (s *stepper) startBuffered(i int, from data.From, mask uint8) bool {
	f := &s.w.fighters[i]
	mask &^= s.reserved
	for age := range int32(BufferFrames) {
		e := *f.entry(age)
		if e&entryButtons&uint16(mask) == 0 {
			continue
		}
		k := s.kind(i)
		for _, b := range priority {
			if e>>b&1 == 0 || mask>>b&1 == 0 {
				continue
			}
			m := k.Move(k.CommandIn(s.w.ruleset, f.Mechanics.StanceKind, from, b, commandDirection(e>>entryShift, f.Facing)))
			if m == nil || s.refusal(i, m) != allowed {
				continue
			}
			f.useUp(age)
			s.start(i, m)
			return true
		}
	}
	return false
}

// useUp takes the press of age frames ago and older ones out of the buffer.
func (f *Fighter) useUp(age int32) {
	for ; age < BufferFrames; age++ {
		*f.entry(age) = 0
	}
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

// start begins a move and takes what it costs.
func (s *stepper) start(i int, m *data.Move) {
	f := &s.w.fighters[i]
	stance := f.Mechanics.StanceKind
	s.become(i, Attack, m.Total)
	if f.Air == 0 {
		s.face(i)
	}
	if stance != 0 && m.Effects.Enters != stance {
		f.leaveStance(0)
	}
	f.Move, f.MoveStart, f.Armor = m.ID, s.frame, int32(m.ArmorHits)
	if m.Crouches {
		f.Low = 1
	}
	s.pay(i, m)
	s.freeze[i] = m.Freeze
	if m.Kind == data.TekkenRageArt {
		s.freeze[i] = s.roster.Timing.RageArtFreeze
		f.RageSpent, f.Mechanics.Rage = 1, 0
	}
	if m.Effects.CriticalEdge > 0 { // the counter runs through the freeze too
		f.Mechanics.CriticalEdge = max(f.Mechanics.CriticalEdge, int16(m.Effects.CriticalEdge+m.Freeze))
	}
	if m.Effects.HeatSmash {
		f.Mechanics.Heat = 0
	}
	if m.Cosmetic {
		s.event(i, EventTaunt, int32(m.ID))
		return
	}
	s.event(i, EventMove, int32(m.ID))
	if s.freeze[i] > 0 {
		s.event(i, EventFlash, s.freeze[i])
	}
}

// pay takes the costs of a move.
func (s *stepper) pay(i int, m *data.Move) {
	f := &s.w.fighters[i]
	s.alter(i, AttrSuperMeter, -m.Cost)
	if m.Costs != (data.Costs{}) {
		if m.Costs.Drive > 0 {
			s.effect(i, DriveCost, m.Costs.Drive)
		}
		s.alter(i, AttrStamina, -m.Costs.Stamina)
		s.alter(i, AttrMKStamina, -m.Costs.MKStamina)
		s.alter(i, AttrHype, -m.Costs.Hype)
		s.alter(i, AttrHeat, -m.Costs.Heat)
		s.burn(i)
	}
	if m.Needs.Once {
		f.Used |= 1 << (m.ID & 63)
	}
}

// windows opens and shuts the cancel windows after the hits of the frame are known, and lets moves do what they do to their own
// fighter.
func (s *stepper) windows() {
	for i := range int(s.w.count) {
		f := &s.w.fighters[i]
		if f.Action != Attack || !s.w.Active(i) {
			continue
		}
		m := s.move(i)
		if !s.frozen[i] {
			if f.AnimationFrame == m.Startup+1 && m.Effects != (data.Effects{}) {
				s.selfEffects(i, m)
			}
			if m.PowerCrush.Start > 0 && f.AnimationFrame == m.PowerCrush.Start {
				f.Mechanics.PowerCrush = int16(m.PowerCrush.End - m.PowerCrush.Start + 1)
			}
		}
		if m.CancelInto == 0 {
			continue
		}
		var open uint8
		for w := range m.Cancels {
			if c := &m.Cancels[w]; c.Holds(f.AnimationFrame) && met(c.When, f.Contact) {
				open |= c.Into
			}
		}
		switch {
		case open == f.CancelOpen:
		case open == 0:
			s.shut(i)
		default:
			if f.CancelOpen == 0 {
				f.CancelFrame = s.frame
			}
			f.CancelOpen = open
			s.event(i, EventCancelOpen, int32(open))
		}
	}
}

// met tells whether what a move has touched satisfies a cancel window.
func met(w data.When, c Contact) bool {
	switch w {
	case data.OnContact:
		return c != NoContact
	case data.OnHitOnly:
		return c == Landed
	case data.OnBlockOnly:
		return c == Blocked
	}
	return true
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
