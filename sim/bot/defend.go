package bot

import (
	"backstep/sim"
	"backstep/sim/data"
)

// react answers what the opponent does.
func (p *player) react(s *situation) (word uint16, ok bool) {
	foe := &s.foe
	attack := p.arsenal.foe.Move(foe.move)
	switch {
	case foe.action == sim.Attack && attack != nil && len(attack.Hits) > 0:
		last := attack.Startup + attack.Active
		if foe.frame <= last && s.distance <= p.arsenal.threat(attack)+p.arsenal.kind.StandBox.HW {
			return p.guardAgainst(s, attack)
		}
		if foe.frame > last {
			return p.punish(s, attack.Total-foe.frame-int32(p.skill.delay))
		}
	case foe.action == sim.Dazed:
		return p.punish(s, 20)
	case foe.action == sim.Landing:
		return p.punish(s, 6-int32(p.skill.delay)/4)
	case foe.y > 0 && foe.action == sim.Airborne && s.distance < cm(210):
		return p.antiAir(s)
	}
	if foe.shot && foe.shotComing {
		if word, ok := p.dodge(s); ok {
			return word, true
		}
	}
	if s.me.Action == sim.Blockstun {
		return s.behind | sim.DownBit, true
	}
	return 0, false
}

// dodge answers a shot: over it, through it, or behind the guard. Shots fly straight, so a player knows where one is by now.
func (p *player) dodge(s *situation) (uint16, bool) {
	speed := s.foe.shotVX.Abs()
	gap := (s.foe.shotX - s.me.X).Abs() - speed*sim.Fixed(p.skill.delay) - p.arsenal.kind.StandBox.HW
	if speed == 0 || gap < -cm(60) {
		return 0, false
	}
	frames := int32(gap / speed) // until it arrives
	if p.once(aShot, s.foe.shotBegan, p.skill.through) && s.stance() == 0 {
		for i := range p.arsenal.n {
			k := &p.arsenal.list[i]
			if m := k.m; m.Refuses&data.AgainstProjectile != 0 && m.Cost == 0 && len(m.Motions) > 0 && frames >= m.Invincible.Start && frames < 16 && p.usable(s, k) {
				return word(m, s.ahead), true
			}
		}
		if frames > 4 && frames < 18 && s.distance < cm(360) {
			return sim.UpBit | s.ahead, true
		}
	}
	if frames < 10 && p.once(aGuess, s.foe.shotBegan, p.skill.guard+p.skill.guess) {
		return s.behind, true
	}
	return 0, false
}

// guardAgainst blocks an attack it has seen: in the right stance, low on a guess, or not at all.
func (p *player) guardAgainst(s *situation, attack *data.Move) (uint16, bool) {
	which := s.foe.began
	if attack.Guard == data.Grab {
		// Nobody blocks a grab. Who sees one coming from afar jumps.
		if attack.Startup > int32(p.skill.delay)+4 && s.stance() == 0 && p.once(anAttack, which, p.skill.antiAir) {
			return sim.UpBit, true
		}
		return 0, false
	}
	if p.once(anAttack, which, p.skill.guard) {
		if attack.Guard == data.High || s.foe.y > 0 {
			return s.behind, true
		}
		return s.behind | sim.DownBit, true
	}
	if p.once(aGuess, which, p.skill.guess) {
		return s.behind | sim.DownBit, true
	}
	return 0, false
}

// antiAir answers a jump with a move that reaches up in time, or by blocking high.
func (p *player) antiAir(s *situation) (uint16, bool) {
	jump := s.w.Frame() - s.foe.frame
	if s.foe.vy > cm(3) {
		return 0, false
	}
	if p.once(aJump, jump, p.skill.antiAir) && s.distance < cm(130) {
		var best *known
		for i := range p.arsenal.n {
			k := &p.arsenal.list[i]
			m := k.m
			if !p.usable(s, k) || m.Guard == data.Grab || m.Cost > 0 || m.Startup > 12 || k.top < cm(195) || k.reach < cm(40) {
				continue
			}
			if best == nil || m.Startup < best.m.Startup {
				best = k
			}
		}
		if best != nil {
			return word(best.m, s.ahead), true
		}
	}
	if s.foe.vy < 0 && p.once(anAttack, jump, p.skill.guard) {
		return s.behind, true
	}
	return 0, false
}
