package bot

import (
	"backstep/sim"
	"backstep/sim/data"
)

// player plays by a skill.
type player struct {
	skill   skill
	side    int
	chance  sim.SplitMix64
	eyes    eyes
	arsenal arsenal

	plan     uint16 // directions of the plan
	left     int    // frames of it
	dash     int    // frames of a dash being tapped
	last     uint16 // the word of the frame before
	answered [kindsOfThreat]int32
	answer   [kindsOfThreat]bool
}

// Things that are answered once each: the roll is made when one is first noticed and kept.
const (
	anAttack = iota
	aJump
	aShot
	anOpening
	aThrow
	ownMove
	kindsOfThreat
)

// situation is what the player has in mind in one frame.
type situation struct {
	w        *sim.World
	me       sim.Fighter
	foe      view
	distance sim.Fixed
	ahead    uint16
	behind   uint16
}

func (p *player) Next(w *sim.World) uint16 {
	slot, other := w.Point(p.side), w.Point(p.side^1)
	s := situation{w: w, me: w.Fighter(slot)}
	foe := w.Fighter(other)
	if w.Phase() != sim.Live {
		p.eyes, p.plan, p.left, p.dash, p.last = eyes{}, 0, 0, 0, 0
		return 0
	}
	p.arsenal.learn(s.me.ID, foe.ID)
	p.eyes.look(w, &s.me, &foe)
	s.foe = p.eyes.back(p.skill.delay)
	s.distance = (s.foe.x - s.me.X).Abs()
	s.ahead, s.behind = sim.RightBit, sim.LeftBit
	if s.me.Facing < 0 {
		s.ahead, s.behind = s.behind, s.ahead
	}
	word := p.decide(&s)
	// A button that is still down from the frame before would be a hold, not a press.
	word &^= p.last & word & 0x0ff0
	p.last = word
	return word
}

// roll tells true in share percent of all cases.
func (p *player) roll(share int) bool { return int(p.chance.Next()%100) < share }

// once rolls for a thing the first time it is asked about that thing, and remembers.
func (p *player) once(kind int, which int32, share int) bool {
	if p.answered[kind] != which+1 {
		p.answered[kind], p.answer[kind] = which+1, p.roll(share)
	}
	return p.answer[kind]
}

func (p *player) decide(s *situation) uint16 {
	guard := s.behind | sim.DownBit
	switch s.me.Action {
	case sim.Thrown:
		if p.once(aThrow, s.w.Frame()-s.me.AnimationFrame, p.skill.tech) {
			return sim.ThrowBit
		}
		return 0
	case sim.Hitstun, sim.Launched, sim.Recoil, sim.Down, sim.Wakeup, sim.Landing, sim.Teched:
		if p.roll(p.skill.guard + p.skill.guess) {
			return guard
		}
		return 0
	case sim.Attack:
		return p.follow(s)
	case sim.Airborne:
		return p.strike(s)
	case sim.PreJump, sim.Throwing, sim.Victory, sim.DashForward, sim.DashBack:
		return 0
	}
	if word, ok := p.react(s); ok {
		p.left, p.dash = 0, 0
		return word
	}
	return p.carryOn(s)
}

// follow goes on from a move that touched.
func (p *player) follow(s *situation) uint16 {
	into, _, open := s.me.CancelWindow()
	if !open {
		return 0
	}
	share := p.skill.combo
	if s.me.Contact != sim.Landed {
		share = p.skill.pressure
	}
	if !p.once(ownMove, s.me.MoveStart, share) {
		return 0
	}
	k := p.arsenal.kind
	if into>>data.Super&1 != 0 && s.me.Contact == sim.Landed {
		if m := k.Move(k.Command(data.Ground, data.Super, data.Neutral)); m != nil && s.me.Meter >= m.Cost && p.roll(p.skill.super) {
			return word(m, s.ahead)
		}
	}
	for _, b := range [...]data.Button{data.Heavy, data.Medium, data.Special} {
		if into>>b&1 == 0 {
			continue
		}
		d := data.Neutral
		if b != data.Special && p.roll(30) {
			d = data.Down
		}
		if m := k.Move(k.Command(data.Ground, b, d)); m != nil {
			return word(m, s.ahead)
		}
	}
	return 0
}

// strike attacks from a jump on the way down, when the opponent is near.
func (p *player) strike(s *situation) uint16 {
	if s.me.AirUsed != 0 || s.me.VY > 0 || s.me.Y > sim.Fixed(110<<16) || s.distance > sim.Fixed(130<<16) {
		return s.ahead
	}
	return sim.MediumBit << (p.chance.Next() & 1)
}

// react answers what the opponent does.
func (p *player) react(s *situation) (word uint16, ok bool) {
	foe := &s.foe
	attack := p.arsenal.foe.Move(foe.move)
	switch {
	case foe.action == sim.Attack && attack != nil && len(attack.Hits) > 0:
		if foe.frame <= attack.Startup+attack.Active && s.distance <= p.arsenal.threat(foe.move)+p.arsenal.kind.StandBox.HW {
			return p.guardAgainst(s, attack)
		}
		if foe.frame > attack.Startup+attack.Active {
			return p.punish(s, attack.Total-foe.frame-int32(p.skill.delay))
		}
	case foe.action == sim.Landing:
		return p.punish(s, 6-int32(p.skill.delay)/4)
	case foe.y > 0 && foe.action == sim.Airborne && s.distance < sim.Fixed(210<<16):
		return p.antiAir(s)
	}
	if foe.shot && foe.shotComing && (foe.shotX-s.me.X).Abs() < sim.Fixed(170<<16) {
		if p.once(aShot, foe.shotBegan, p.skill.guard+p.skill.guess) {
			return s.behind, true
		}
		if p.roll(4) {
			return sim.UpBit | s.ahead, true
		}
	}
	if s.me.Action == sim.Blockstun {
		return s.behind | sim.DownBit, true
	}
	return 0, false
}

// guardAgainst blocks an attack it has seen: in the right stance, low on a guess, or not at all.
func (p *player) guardAgainst(s *situation, attack *data.Move) (uint16, bool) {
	which := s.foe.began
	if attack.Guard == data.Grab {
		return 0, false
	}
	if p.once(anAttack, which, p.skill.guard) {
		if attack.Guard == data.High || s.foe.y > 0 {
			return s.behind, true
		}
		return s.behind | sim.DownBit, true
	}
	if p.once(anOpening, -which-2, p.skill.guess) {
		return s.behind | sim.DownBit, true
	}
	return 0, false
}

// punish attacks an opponent who cannot act for some frames more, with the strongest move that is in time and reaches.
func (p *player) punish(s *situation, frames int32) (uint16, bool) {
	if !p.once(anOpening, s.foe.began, p.skill.punish) {
		return 0, false
	}
	k := p.arsenal.kind
	for _, b := range [...]data.Button{data.Super, data.Heavy, data.Medium, data.Light} {
		m := k.Move(k.Command(data.Ground, b, data.Neutral))
		if m != nil && m.Startup < max(frames, 3) && s.me.Meter >= m.Cost && p.arsenal.touches(m, s.distance) {
			return word(m, s.ahead), true
		}
	}
	return 0, false
}

// antiAir answers a jump with the move made for it, or by blocking high.
func (p *player) antiAir(s *situation) (uint16, bool) {
	jump := s.w.Frame() - s.foe.frame
	if s.foe.vy > sim.Fixed(3<<16) {
		return 0, false
	}
	if p.once(aJump, jump, p.skill.antiAir) && s.distance < sim.Fixed(130<<16) {
		k := p.arsenal.kind
		if m := k.Move(k.Command(data.Ground, data.Special, data.Down)); m != nil {
			return word(m, s.ahead), true
		}
	}
	if s.foe.vy < 0 && p.once(anAttack, jump, p.skill.guard) {
		return s.behind, true
	}
	return 0, false
}
