package sim

import "backstep/sim/data"

// hasContest tells whether the rules have what a pin or submission begins.
func (s *stepper) hasContest(m *data.Move) bool { return s.rules.Nodes[contestNode(m)].Frames > 0 }

func contestNode(m *data.Move) data.NodeKind {
	if m.Family == data.GrapplePin {
		return data.WWEPin
	}
	return data.WWESubmission
}

// beginContest binds two fighters into a pin or submission.
func (s *stepper) beginContest(c *contact) {
	m := &s.w.match
	if m.Owner != m.Target || !s.beginNode(contestNode(c.move)) {
		return
	}
	m.Owner, m.Target, m.Struggle = uint8(c.attacker), uint8(c.defender), 0
	a, d := &s.w.fighters[c.attacker], &s.w.fighters[c.defender]
	s.become(c.attacker, Pinning, 0)
	a.Partner, a.Push, a.VX = uint8(c.defender), 0, 0
	s.become(c.defender, Pinned, 0)
	d.Partner, d.Push, d.VX = uint8(c.attacker), 0, 0
	s.event(c.attacker, EventGrab, int32(c.move.ID))
	if c.move.Family == data.GrappleSubmission && s.w.match.Phase == Live {
		s.gains(c)
	}
}

// pressedAny tells whether a side pressed any button in this frame.
func (s *stepper) pressedAny(side int) bool { return derive(s.w.out.inputs[side]).pressed&buttons != 0 }

// struggle is a frame of a pin or submission.
func (s *stepper) struggle(k data.NodeKind) {
	m := &s.w.match
	o, t := int(m.Owner), int(m.Target)
	d := &s.w.fighters[t]
	if s.w.fighters[o].Action != Pinning || d.Action != Pinned {
		m.Nodes[k] = 0
		s.releaseHold()
		return
	}
	if s.pressedAny(Side(t)) {
		m.Struggle++
	}
	if k == data.WWEPin {
		if int32(m.Struggle) >= s.pinNeed(d) {
			s.alter(t, AttrResolve, -kickOutCost)
			s.event(t, EventKickOut, int32(m.Struggle))
			m.Nodes[k] = 0
			s.releaseHold()
		} else if m.Nodes[k]%60 == 0 {
			s.event(o, EventCount, 3-int32(m.Nodes[k])/60)
			if m.Nodes[k] == 0 {
				s.wonOnGround(o)
			}
		}
		return
	}
	if s.pressedAny(Side(o)) {
		m.Struggle--
	}
	need := int16(s.rules.SubmitNeed)
	switch {
	case m.Struggle <= -s.tapNeed(o, d):
		s.event(t, EventTapOut, 0)
		m.Nodes[k] = 0
		s.wonOnGround(o)
	case m.Struggle >= need || m.Nodes[k] == 0:
		s.event(t, EventEscape, 0)
		m.Nodes[k] = 0
		s.releaseHold()
	}
}

// kickOutCost is how much resolve a kick-out takes, in percent.
const kickOutCost = 20

// pinNeed gives the presses that kick out: more the less health and resolve are left.
func (s *stepper) pinNeed(d *Fighter) int32 {
	missing := d.MaxHealth - d.Health
	return s.rules.PinNeed + s.rules.PinHurt*missing/max(1, d.MaxHealth) + (100-d.Resolve)/10
}

// tapNeed gives the presses by which the one holding must be ahead: fewer the more the torso has suffered, the more tired it is,
// the more skilled the holder, and if it is still on top after a takedown.
func (s *stepper) tapNeed(o int, d *Fighter) int16 {
	need := int16(s.rules.SubmitNeed)
	skill := &s.w.fighters[o].MMA
	need -= d.Wrestling.LimbDamageTorso/50 + (100-d.MMA.LimbStaminaTorso)/20 + skill.TransitionSkill/2500
	if skill.TopPosition > 0 {
		need -= onTop
	}
	return max(2, need)
}

// onTop is how many presses the top position spares.
const onTop = 2

// releaseHold lets go of a pin or submission: the holder is free, the other gets up.
func (s *stepper) releaseHold() {
	m := &s.w.match
	o, t := int(m.Owner), int(m.Target)
	m.Owner, m.Target, m.Struggle = 0, 0, 0
	if s.w.fighters[o].Action == Pinning {
		s.neutral(o)
	}
	if s.w.fighters[t].Action == Pinned {
		s.become(t, Wakeup, s.rules.WakeupFrames)
	}
}

// wonOnGround ends the round for the one holding.
func (s *stepper) wonOnGround(o int) {
	s.releaseHold()
	if Side(o) == 0 {
		s.endRound(HostWins)
	} else {
		s.endRound(JoinWins)
	}
}
