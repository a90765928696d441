package sim

import "backstep/sim/data"

// beginNode starts an injected node if the ruleset has it and the phase allows it, and reports whether it did.
func (s *stepper) beginNode(k data.NodeKind) bool {
	n := &s.rules.Nodes[k]
	m := &s.w.match
	if n.Frames == 0 || n.Entry>>m.Phase&1 == 0 {
		return false
	}
	if m.Nodes[k] == 0 {
		s.event(-1, EventNode, int32(k))
	}
	m.Nodes[k] = int16(n.Frames)
	return true
}

// blocked tells whether a node keeps fighters from obeying their players.
func (w *World) blocked(rules *data.Ruleset) bool {
	for k := range w.match.Nodes {
		if w.match.Nodes[k] > 0 && rules.Nodes[k].Blocks {
			return true
		}
	}
	return false
}

// obeys tells whether the fighters of a side obey their player now.
func (w *World) obeys(rules *data.Ruleset, side int) bool {
	switch w.match.Phase {
	case Live:
	case FinisherWindow:
		if w.match.RoundWinner != Winner(side+1) {
			return false
		}
	default:
		return false
	}
	return !w.blocked(rules)
}

// Obeys tells whether the fighters of a player (0 or 1) obey it now: the phase allows it and no node forbids it (MST-15).
func (w *World) Obeys(player int) bool {
	return w.count > 0 && w.obeys(data.Embedded().Ruleset(w.ruleset), player&1)
}

// nodes runs the injected nodes for one frame.
func (s *stepper) nodes() {
	m := &s.w.match
	for k := range data.NodeKind(data.NodeKinds) {
		if m.Nodes[k] == 0 {
			continue
		}
		if s.rules.Nodes[k].Exit>>m.Phase&1 != 0 {
			m.Nodes[k] = 0
			s.cutShort(k)
			continue
		}
		m.Nodes[k]--
		s.runNode(k)
		if m.Nodes[k] == 0 {
			s.event(-1, EventNodeEnd, int32(k))
		}
	}
}

// runNode is a frame of a node; it has as many left as its counter says.
func (s *stepper) runNode(k data.NodeKind) {
	m := &s.w.match
	switch k {
	case data.WWEPin, data.WWESubmission:
		s.struggle(k)
	case data.SCRingOutTermination:
		if m.Nodes[k] == 0 {
			s.endRingOut()
		}
	case data.DJEnvironmentFinisherPrompt:
		s.environment()
	}
}

// cutShort ends a node whose phase has gone.
func (s *stepper) cutShort(k data.NodeKind) {
	if k == data.WWEPin || k == data.WWESubmission {
		s.releaseHold()
	}
	if k == data.DJEnvironmentFinisherPrompt {
		s.w.match.Owner, s.w.match.Target = 0, 0
	}
	s.event(-1, EventNodeEnd, int32(k))
}

// ringOut takes note of a fighter that has been knocked over the edge.
func (s *stepper) ringOut(i int) {
	m := &s.w.match
	side := Side(i)
	if m.Phase != Live || m.Fallen>>side&1 != 0 || s.w.fighters[i].Place != OnPoint {
		return
	}
	m.Fallen |= 1 << side
	s.event(i, EventRingOut, 0)
	if m.Nodes[data.SCRingOutTermination] == 0 && !s.beginNode(data.SCRingOutTermination) {
		s.endRingOut()
	}
}

func (s *stepper) endRingOut() {
	switch s.w.match.Fallen {
	case 1:
		s.endRound(JoinWins)
	case 2:
		s.endRound(HostWins)
	case 3:
		s.endRound(DrawGame)
	}
}

// promptEnvironment offers the attacker a finish by the surroundings: the opponent is near a wall and low on health.
func (s *stepper) promptEnvironment(c *contact) {
	m := &s.w.match
	d := &s.w.fighters[c.defender]
	if s.rules.EnvironmentDamage == 0 || d.Health == 0 || d.Health*100 > d.MaxHealth*s.rules.EnvironmentShare ||
		d.X.Abs() < s.rules.StageHalf-s.rules.EnvironmentReach || m.Owner != m.Target || m.Nodes[data.DJEnvironmentFinisherPrompt] > 0 {
		return
	}
	if s.beginNode(data.DJEnvironmentFinisherPrompt) {
		m.Owner, m.Target = uint8(c.attacker), uint8(c.defender)
	}
}

// environment waits for the special button of the one who may finish.
func (s *stepper) environment() {
	m := &s.w.match
	o, t := int(m.Owner), int(m.Target)
	d := &s.w.fighters[t]
	done := m.Nodes[data.DJEnvironmentFinisherPrompt] == 0 || d.Health == 0 || !s.onStage(o) || !s.onStage(t)
	if !done && s.in[o].pressed&SpecialBit != 0 && !d.Action.grips() {
		c := contact{attacker: o, defender: t, dir: away(&s.w.fighters[o], d), window: -1}
		s.hurt(&c, s.rules.EnvironmentDamage)
		s.launch(t, -s.rules.LaunchX*Fixed(d.X.Sign()), s.rules.LaunchY)
		d.Hard = 1
		s.event(t, EventEnvironment, s.rules.EnvironmentDamage)
		s.feel(s.bare(&c, s.rules.EnvironmentDamage))
		done = true
	}
	if done {
		m.Nodes[data.DJEnvironmentFinisherPrompt] = 0
		m.Owner, m.Target = 0, 0
	}
}

// finisher ends the finisher window after its last blow.
func (s *stepper) finisher(c *contact) {
	m := &s.w.match
	k := data.MKFinisherWindow
	m.Nodes[k] = min(m.Nodes[k], afterFinisher)
	if c.move.Family == data.CinematicFinisher {
		m.FinisherFreeze = uint8(s.roster.Timing.FinisherFreeze)
		s.event(c.defender, EventFinisher, int32(c.move.ID))
	}
}

// afterFinisher is how long the window stays after its blow, so that the loser can fall.
const afterFinisher = 100
