package sim

import "backstep/sim/data"

// takeThrow tells whether the buffer holds a press of the throw button, and uses it up.
func (f *Fighter) takeThrow() bool {
	for age := range int32(BufferFrames) {
		if e := f.entry(age); *e>>data.Throw&1 != 0 {
			*e = 0
			return true
		}
	}
	return false
}

// grab binds the two fighters of a grab together.
func (s *stepper) grab(c *contact) {
	a, d := &s.w.fighters[c.attacker], &s.w.fighters[c.defender]
	if c.move.Grounding() {
		s.beginContest(c)
		return
	}
	s.become(c.attacker, Throwing, c.move.ThrowTotal)
	a.Move, a.Partner, a.Push = c.move.ID, uint8(c.defender), 0
	s.become(c.defender, Thrown, 0)
	d.Partner, d.Facing, d.Push, d.VX = uint8(c.attacker), -c.dir, 0, 0
	a.Facing = c.dir
	s.event(c.attacker, EventGrab, int32(c.move.ID))
}

// throws carries on with the throws that are under way. A thrown fighter whom nobody holds falls.
func (s *stepper) throws() {
	s.edges()
	for i := range int(s.w.count) {
		a := &s.w.fighters[i]
		if a.Action == Thrown && !s.held(i) {
			s.launch(i, 0, s.rules.LaunchY)
		}
		if a.Action != Throwing || s.frozen[i] {
			continue
		}
		m := s.move(i)
		j := int(a.Partner)
		switch {
		case a.AnimationFrame < m.ThrowImpact:
			s.bind(i, j, a.Facing)
		case a.AnimationFrame == m.ThrowImpact:
			s.release(i, j, m)
		}
	}
}

// held tells whether the thrown fighter i is in somebody's hands.
func (s *stepper) held(i int) bool {
	p := s.w.fighters[i].Partner
	if p >= s.w.count {
		return false
	}
	a := &s.w.fighters[p]
	return a.Action == Throwing && int(a.Partner) == i && a.AnimationFrame <= s.move(int(p)).ThrowImpact
}

// bind keeps the thrown fighter in front of the thrower, or behind it, and both between the walls.
func (s *stepper) bind(i, j int, dir int8) {
	a, d := &s.w.fighters[i], &s.w.fighters[j]
	gap := (s.kind(i).BodyHalf + s.kind(j).BodyHalf) * Fixed(dir)
	d.X = s.inside(a.X + gap)
	a.X = d.X - gap
	a.X = s.inside(a.X)
	d.Y = 0
}

// release does what the throw does.
func (s *stepper) release(i, j int, m *data.Move) {
	a, d := &s.w.fighters[i], &s.w.fighters[j]
	if d.Action != Thrown || int(d.Partner) != i {
		return
	}
	dir := a.Facing
	if m.ThrowBehind {
		dir = -dir
		s.bind(i, j, dir)
		a.Facing = dir
	}
	c := contact{attacker: i, defender: j, move: m, window: -1, base: m.Hits[0].Damage, reaction: m.Reaction, dir: dir, grab: true}
	dmg := s.damage(&c)
	if s.w.match.Phase == Live { // a throw that outlives the round hurts nobody
		s.hurt(&c, dmg)
		s.alter(i, AttrSuperMeter, m.Gain)
		s.alter(j, AttrSuperMeter, scale(m.Gain, s.rules.HurtGain))
		s.gains(&c)
	}
	s.count(&c, dmg)
	if m.Reaction == data.Stagger && d.Health > 0 {
		s.become(j, Hitstun, m.Hitstun)
		d.Air, d.VY = 0, 0
	} else {
		x, y := s.impulse(m)
		s.launch(j, x*Fixed(dir), y)
		d.JuggleHits = uint8(s.rules.JuggleLimit) // a throw leads to no juggle
		d.Lie = int16(m.Effects.Down)
		d.Hard = b2u(m.Hard)
	}
	d.Facing = -dir
	s.event(j, EventHit, dmg)
	s.feel(s.confirm(&c, dmg))
}

func b2u(b bool) uint8 {
	if b {
		return 1
	}
	return 0
}

// breakable tells whether the thrown fighter i could break what holds it: a throw, but no grapple.
func (s *stepper) breakable(i int) bool {
	p := int(s.w.fighters[i].Partner)
	if p >= int(s.w.count) {
		return false
	}
	m := s.move(p)
	return m != nil && m.Family == data.ThrowFamily
}

// breakThrow lets the thrown fighter i out.
func (s *stepper) breakThrow(i int) { s.tech(i, int(s.w.fighters[i].Partner)) }

// tech pushes two fighters apart after a broken throw.
func (s *stepper) tech(i, j int) {
	fi, fj := &s.w.fighters[i], &s.w.fighters[j]
	dir := Fixed(away(fi, fj))
	s.become(i, Teched, s.rules.TechFrames)
	s.become(j, Teched, s.rules.TechFrames)
	fi.Push, fi.PushesBack = -dir*s.rules.TechPush, 0
	fj.Push, fj.PushesBack = dir*s.rules.TechPush, 0
	s.event(i, EventTech, 0)
	s.event(j, EventTech, 0)
}
