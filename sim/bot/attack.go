package bot

import (
	"backstep/sim"
	"backstep/sim/data"
)

// choice draws one of several moves by weight, without keeping them all.
type choice struct {
	best *known
	sum  int
}

// offer puts a move into the draw.
func (c *choice) offer(p *player, k *known, weight int) {
	if weight <= 0 {
		return
	}
	c.sum += weight
	if int(p.chance.Next()%uint64(c.sum)) < weight {
		c.best = k
	}
}

// follow goes on from a move that touched: into what its cancel window takes, or to the partner.
func (p *player) follow(s *situation) uint16 {
	if word, ok := p.teamFollow(s); ok {
		return word
	}
	into, _, open := s.me.CancelWindow()
	if !open {
		return 0
	}
	landed := s.me.Contact == sim.Landed
	share := p.skill.combo
	if !landed {
		share = p.skill.pressure
	}
	if !p.once(ownMove, s.me.MoveStart, share) {
		return 0
	}
	var c choice
	for i := range p.arsenal.n {
		k := &p.arsenal.list[i]
		m := k.m
		if into>>m.Button&1 == 0 || !p.usable(s, k) || m.ID == s.me.Move {
			continue
		}
		c.offer(p, k, p.link(s, k, landed))
	}
	if c.best == nil {
		return 0
	}
	return word(c.best.m, s.ahead)
}

// link gives how much a player likes to go on into a move.
func (p *player) link(s *situation, k *known, landed bool) int {
	m := k.m
	if m.Guard == data.Grab || (m.Shot.Spawn == 0 && !p.arsenal.touches(k, s.distance)) {
		if m.Effects.Enters != 0 && m.Hitless() {
			return 4
		}
		return 0
	}
	if m.Button == data.Super {
		if !landed || !p.once(ownLink, s.me.MoveStart, p.skill.super) {
			return 0
		}
		return 200
	}
	if !landed {
		if m.OnBlock < -8 || m.Startup > 16 {
			return 0
		}
		return 10
	}
	// In a combo what is slow drops out; of the rest, the more damage the better.
	if m.Startup > 18 {
		return 1
	}
	return 1 + int(m.Damage)/8
}

// poke draws a move that reaches an opponent at the distance seen.
func (p *player) poke(s *situation) *known {
	var c choice
	for i := range p.arsenal.n {
		k := &p.arsenal.list[i]
		if p.usable(s, k) {
			c.offer(p, k, p.taste(s, k))
		}
	}
	return c.best
}

// taste gives how much a player likes to begin with a move from where it stands.
func (p *player) taste(s *situation, k *known) int {
	m := k.m
	risky := m.OnBlock < -12
	switch {
	case m.Cosmetic:
		return 0
	case m.Hitless():
		return p.tasteOfStance(s, m)
	case m.Grounding():
		return 40
	case m.Shot.Spawn != 0:
		if s.distance < cm(150) {
			return 1
		}
		return 6
	case !p.arsenal.touches(k, s.distance):
		return 0
	case m.Guard == data.Grab:
		if s.foe.y > 0 || s.foe.action == sim.Blockstun || s.foe.action == sim.Hitstun {
			return 0
		}
		if m.Button == data.Special || m.Button == data.Super {
			return 4 + int(m.Damage)/40
		}
		return 6
	case m.Button == data.Super || m.Cost > 0 || m.Costs.Drive > 0 || m.Costs.Hype > 0:
		if risky && p.roll(p.skill.super) {
			return 0
		}
		return 1
	case risky:
		if p.roll(p.skill.guard) {
			return 0
		}
		return 1
	case m.Startup > 16:
		return 2
	}
	return 4
}

// tasteOfStance is taste for moves that only change the fighter.
func (p *player) tasteOfStance(s *situation, m *data.Move) int {
	switch {
	case m.Effects.Enters != 0 && s.stance() == 0:
		// A guard is worth changing where its moves reach, or where nothing else does.
		if s.distance < cm(190) {
			return 5
		}
		return 1
	case m.Effects.Enters != 0:
		return 1
	case s.distance > cm(240):
		return 3
	}
	return 0
}

// punish attacks an opponent who cannot act for some frames more, with the strongest move that is in time and reaches.
func (p *player) punish(s *situation, frames int32) (uint16, bool) {
	if !p.once(anOpening, s.foe.began, p.skill.punish) {
		return 0, false
	}
	var best *known
	for i := range p.arsenal.n {
		k := &p.arsenal.list[i]
		m := k.m
		if !p.usable(s, k) || m.Startup >= max(frames, 4) || !p.arsenal.touches(k, s.distance) || m.Grounding() {
			continue
		}
		if m.Button == data.Super && !p.once(ownLink, s.foe.began, p.skill.super) {
			continue
		}
		if best == nil || value(m) > value(best.m) {
			best = k
		}
	}
	if best == nil {
		return 0, false
	}
	return word(best.m, s.ahead), true
}

// value is what a move is worth when it is sure to hit: its damage, and half as much again if it can go on into others. A finisher
// goes before everything.
func value(m *data.Move) int32 {
	if m.Family == data.CinematicFinisher {
		return 1000
	}
	if m.CancelInto != 0 {
		return m.Damage * 3 / 2
	}
	return m.Damage
}
