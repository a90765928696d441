package bot

import (
	"backstep/sim"
	"backstep/sim/data"
)

// carryOn carries out the plan, or makes a new one when it has run out.
func (p *player) carryOn(s *situation) uint16 {
	if p.dash > 0 {
		// Two taps: down, up, down.
		p.dash--
		if p.dash == 1 {
			return 0
		}
		return p.plan
	}
	if p.left > 0 {
		p.left--
		return p.plan
	}
	near := p.arsenal.kind.BodyHalf + p.arsenal.foe.BodyHalf + sim.Fixed(45<<16)
	switch {
	case s.distance <= near:
		return p.close(s)
	case s.distance <= p.arsenal.longest+p.arsenal.foe.StandBox.HW:
		return p.middle(s)
	}
	return p.far(s)
}

// hold makes a plan of directions for some frames and gives its first word.
func (p *player) hold(word uint16, least, spread int) uint16 {
	p.plan = word
	p.left = least + int(p.chance.Next()%uint64(spread))
	return word
}

// tapTwice begins a dash.
func (p *player) tapTwice(dir uint16) uint16 {
	p.plan, p.dash, p.left = dir, 2, 0
	return dir
}

// use gives the word for the move of a button and direction, after which the plan is to guard for a moment.
func (p *player) use(s *situation, b data.Button, d data.Direction) uint16 {
	k := p.arsenal.kind
	m := k.Move(k.Command(data.Ground, b, d))
	if m == nil || s.me.Meter < m.Cost {
		return p.hold(s.behind|sim.DownBit, 4, 6)
	}
	p.plan, p.left = 0, 2
	return word(m, s.ahead)
}

// close is the plan for when bodies nearly touch.
func (p *player) close(s *situation) uint16 {
	if p.roll(p.skill.wait) {
		return p.hold(s.behind|sim.DownBit, 8, 20)
	}
	if p.arsenal.zoner && p.roll(35) {
		return p.tapTwice(s.behind)
	}
	switch p.chance.Next() % 10 {
	case 0, 1:
		return p.use(s, data.Throw, data.Neutral)
	case 2:
		return p.use(s, data.Throw, data.Back)
	case 3, 4:
		return p.use(s, data.Light, data.Down)
	case 5:
		return p.use(s, data.Medium, data.Down)
	case 6:
		return p.use(s, data.Medium, data.Neutral)
	case 7:
		return p.use(s, data.Heavy, data.Forward)
	case 8:
		return p.use(s, data.Special, data.Back)
	}
	return p.use(s, data.Light, data.Neutral)
}

// middle is the plan for the range of the long normals.
func (p *player) middle(s *situation) uint16 {
	if p.roll(p.skill.wait) {
		return p.hold(s.behind, 6, 14)
	}
	if k := p.arsenal.kind; p.roll(8) {
		if m := k.Move(k.Command(data.Ground, data.Super, data.Neutral)); m != nil && s.me.Meter >= m.Cost && p.arsenal.touches(m, s.distance) {
			return word(m, s.ahead)
		}
	}
	switch p.chance.Next() % 9 {
	case 0, 1:
		return p.use(s, data.Heavy, data.Neutral)
	case 2:
		return p.use(s, data.Medium, data.Neutral)
	case 3:
		return p.use(s, data.Medium, data.Down)
	case 4:
		return p.use(s, data.Heavy, data.Down)
	case 5:
		return p.use(s, data.Special, data.Forward)
	case 6:
		return p.use(s, data.Special, data.Neutral)
	case 7:
		return p.hold(sim.UpBit|s.ahead, 1, 2)
	}
	if p.arsenal.zoner {
		return p.hold(s.behind, 8, 12)
	}
	return p.hold(s.ahead, 6, 12)
}

// far is the plan for beyond that.
func (p *player) far(s *situation) uint16 {
	if p.roll(p.skill.wait) {
		return p.hold(0, 8, 20)
	}
	n := p.chance.Next() % 10
	if p.arsenal.zoner {
		switch {
		case n < 3:
			return p.use(s, data.Special, data.Neutral)
		case n < 5:
			return p.use(s, data.Special, data.Forward)
		case n < 8:
			return p.hold(s.ahead, 10, 20)
		case n < 9:
			return p.hold(s.behind, 6, 14)
		}
		return p.hold(sim.UpBit|s.ahead, 1, 2)
	}
	switch {
	case n < 4:
		return p.hold(s.ahead, 10, 25)
	case n < 7:
		return p.tapTwice(s.ahead)
	case n < 8:
		return p.use(s, data.Special, data.Neutral)
	}
	return p.hold(sim.UpBit|s.ahead, 1, 2)
}
