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
	if s.foe.action == sim.Down || s.foe.action == sim.Wakeup {
		if word, ok := p.over(s); ok {
			return word
		}
	}
	if p.roll(p.skill.wait) {
		return p.wait(s)
	}
	want := p.favoured(s)
	switch {
	case s.stance() != 0:
		return p.attack(s)
	case s.distance > want+cm(25):
		return p.approach(s, want)
	case s.distance < want-cm(70) && !s.cornered() && p.roll(45):
		return p.retreat(s)
	}
	return p.attack(s)
}

// favoured is the distance a fighter likes: that of its shots, of its hands, or of its normals. Who is not ahead when time runs out,
// or has the edge of a stage to fall from behind it, does not keep away.
func (p *player) favoured(s *situation) sim.Fixed {
	a := &p.arsenal
	switch {
	case a.grappler:
		return a.kind.BodyHalf + a.foe.BodyHalf + cm(25)
	case a.zoner && (s.cornered() || (!s.leads() && s.w.Match().Timer < 50*sim.SimulationHz)):
		return a.shortest + cm(40)
	case a.zoner:
		return a.longest + cm(120)
	case a.stances:
		return a.longest + cm(10)
	}
	return a.shortest + cm(20)
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

// wait guards or stands for a moment.
func (p *player) wait(s *situation) uint16 {
	if s.stance() != 0 {
		return 0
	}
	if s.distance < cm(180) {
		return p.hold(s.behind|sim.DownBit, 6, 16)
	}
	return p.hold(0, 8, 16)
}

// attack uses a move that reaches, and stands for a moment after it.
func (p *player) attack(s *situation) uint16 {
	k := p.poke(s)
	if k == nil {
		if s.stance() != 0 {
			return 0
		}
		if p.arsenal.zoner {
			return p.hold(s.behind, 5, 8)
		}
		return p.hold(s.ahead, 4, 8)
	}
	p.plan, p.left = 0, 2
	return word(k.m, s.ahead)
}

// approach comes closer: walking, dashing, jumping, behind a shot or with a move that carries far.
func (p *player) approach(s *situation, want sim.Fixed) uint16 {
	n := int(p.chance.Next() % 100)
	if s.foe.shot && s.foe.shotComing && !p.roll(p.skill.wait) {
		return p.hold(s.ahead, 2, 3) // nobody runs into a shot
	}
	switch {
	case n < p.skill.far || (p.arsenal.zoner && n < 60):
		if k := p.poke(s); k != nil && (k.m.Shot.Spawn != 0 || k.m.Hitless() || k.reach > 0) {
			p.plan, p.left = 0, 2
			return word(k.m, s.ahead)
		}
	case n < 68 && s.distance > want+cm(90):
		return p.tapTwice(s.ahead)
	case n < 78 && s.distance < cm(300) && s.distance > cm(130):
		return p.hold(sim.UpBit|s.ahead, 1, 2)
	}
	return p.hold(s.ahead, 6, 10)
}

// cornered tells whether there is little stage left behind the fighter.
func (s *situation) cornered() bool {
	rules := data.Embedded().Ruleset(s.w.Ruleset())
	room := cm(170)
	if rules.RingOut { // there is no wall
		room = cm(420)
	}
	return rules.StageHalf+s.me.X*sim.Fixed(s.me.Facing) < room
}

// leads tells whether the fighter has more of its health left than the opponent.
func (s *situation) leads() bool { return s.me.Health*100/max(1, s.me.MaxHealth) > s.foe.health }

// retreat makes room.
func (p *player) retreat(s *situation) uint16 {
	switch n := p.chance.Next() % 10; {
	case n < 4:
		return p.tapTwice(s.behind)
	case n < 6:
		return p.hold(sim.UpBit|s.behind, 1, 2)
	}
	return p.hold(s.behind, 8, 12)
}

// over is the plan for when the opponent lies: a hold that works on who lies, or coming close for when it gets up.
func (p *player) over(s *situation) (uint16, bool) {
	for i := range p.arsenal.n {
		k := &p.arsenal.list[i]
		if k.m.Grounding() && p.usable(s, k) && s.foe.action == sim.Down {
			if p.arsenal.touches(k, s.distance) {
				p.plan, p.left = 0, 2
				return word(k.m, s.ahead), true
			}
			if s.distance < cm(160) && p.roll(70) {
				return p.hold(s.ahead, 3, 4), true
			}
		}
	}
	if p.arsenal.zoner && !p.arsenal.grappler {
		return 0, false
	}
	if s.distance > p.arsenal.shortest+cm(25) {
		if s.distance > cm(200) {
			return p.tapTwice(s.ahead), true
		}
		return p.hold(s.ahead, 4, 5), true
	}
	return 0, false
}

// team is what a player asks of its partners from neutral.
func (p *player) team(s *situation) (uint16, bool) {
	a := &p.arsenal
	if a.format == sim.Format1v1 {
		return 0, false
	}
	t := s.w.Team(p.side)
	partner := p.partner(s.w, 1)
	health := s.me.Health * 100 / max(1, s.me.MaxHealth)
	switch {
	case t.XFactorUsed == 0 && health < 40 && partner == 0 && p.roll(p.skill.team):
		return sim.AssistBit | sim.StanceBit, true
	case partner == 0:
		return 0, false
	case health < 45 && partner > health+15 && s.distance > cm(200) && p.roll(p.skill.team/4+1):
		return sim.AssistBit | s.ahead, true
	case s.me.SuperMeter >= 2500 && t.Cross == 0 && s.distance > cm(180) && p.roll(1):
		return sim.AssistBit | sim.StanceBit | sim.DownBit, true
	case a.format == sim.Format3v3 && t.AssistCooldown == 0 && s.distance < cm(320) && p.roll(p.skill.team/5+1):
		if p.roll(50) {
			return sim.AssistBit | s.behind, true
		}
		return sim.AssistBit, true
	case a.format == sim.FormatTrinity && t.AnchorUsed == 0 && s.distance < cm(260) && p.roll(1):
		return sim.AssistBit | s.behind, true
	}
	return 0, false
}

// teamFollow goes on from an own attack with a partner: into its super, by a tag cancel, or free again by a Baroque.
func (p *player) teamFollow(s *situation) (uint16, bool) {
	a := &p.arsenal
	if a.format == sim.Format1v1 || s.me.Contact != sim.Landed {
		return 0, false
	}
	m := a.kind.Move(s.me.Move)
	if m == nil || !p.once(ownLink, -s.me.MoveStart-2, p.skill.team) {
		return 0, false
	}
	switch {
	case m.Family == data.SuperFamily && s.me.AnimationFrame > m.Startup && s.me.SuperMeter >= 1000:
		return sim.SuperBit, true
	case m.TagCancel.Holds(s.me.AnimationFrame) && p.partner(s.w, 1) > 50:
		return sim.AssistBit | s.ahead, true
	case s.me.RecoverableHealth > 60 && s.w.Team(p.side).AssistCooldown == 0 && m.CancelInto == 0:
		return sim.AssistBit | s.behind, true
	}
	return 0, false
}

// partner gives the health of the n-th partner in percent, 0 if it is out.
func (p *player) partner(w *sim.World, n int) int32 {
	size := w.Fighters() / 2
	if n >= size {
		return 0
	}
	f := w.Fighter(p.side + 2*((w.Point(p.side)/2+n)%size))
	return f.Health * 100 / max(1, f.MaxHealth)
}
