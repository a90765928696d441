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
	aGuess
	aJump
	aShot
	anOpening
	aThrow
	aFall
	aRise
	aChoice
	ownMove
	ownLink
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
	if ph := w.Phase(); ph != sim.Live && ph != sim.FinisherWindow {
		p.eyes, p.plan, p.left, p.dash, p.last = eyes{}, 0, 0, 0, 0
		return 0
	}
	p.arsenal.learn(w, s.me.ID, foe.ID)
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

// since gives the frame on which the own action began, as the name of what happens to the fighter.
func (s *situation) since() int32 { return s.w.Frame() - s.me.AnimationFrame }

func (p *player) decide(s *situation) uint16 {
	switch s.me.Action {
	case sim.Thrown:
		if p.once(aThrow, s.since(), p.skill.tech) {
			return sim.ThrowBit
		}
		return 0
	case sim.Pinned, sim.Pinning:
		// Who is held fights harder than who holds.
		share := p.skill.mash
		if s.me.Action == sim.Pinning {
			share = share * 2 / 3
		}
		if p.roll(share) {
			return sim.LightBit << (p.chance.Next() & 1)
		}
		return 0
	case sim.Prompted:
		// The choice is a guess for anybody; who is slow makes none.
		if s.me.AnimationFrame > int32(p.skill.delay) && p.once(aChoice, s.since(), 90) {
			return sim.LightBit << (uint64(s.since()) ^ p.chance.State) % 3
		}
		return 0
	case sim.Launched:
		if s.me.VY < 0 && s.me.Y < cm(60) && p.once(aFall, s.me.MoveStart+s.w.Frame()/40, p.skill.tech) {
			return sim.LightBit | s.behind
		}
		return 0
	case sim.Down, sim.Wakeup:
		return p.getUp(s)
	case sim.Hitstun, sim.Recoil, sim.Landing, sim.Teched, sim.Roll:
		if p.roll(p.skill.guard + p.skill.guess) {
			return s.behind | sim.DownBit
		}
		return 0
	case sim.Attack:
		return p.follow(s)
	case sim.Airborne:
		return p.strike(s)
	case sim.PreJump, sim.Throwing, sim.Victory, sim.DashForward, sim.DashBack, sim.Dazed, sim.TagOut, sim.TagIn:
		return 0
	}
	if word, ok := p.react(s); ok {
		p.left, p.dash = 0, 0
		return word
	}
	if word, ok := p.team(s); ok {
		p.left, p.dash = 0, 0
		return word
	}
	return p.carryOn(s)
}

// getUp is how a player lies and rises: with a strike, a roll, a pause, or behind its guard.
func (p *player) getUp(s *situation) uint16 {
	if s.me.Action == sim.Down && p.once(aRise, s.since(), p.skill.rise) {
		switch uint64(s.since()) % 3 {
		case 0:
			return sim.LightBit
		case 1:
			return s.behind
		}
		return sim.DownBit
	}
	if s.me.Action == sim.Wakeup && p.roll(p.skill.guard+p.skill.guess) {
		return s.behind | sim.DownBit
	}
	return 0
}

// strike attacks from a jump on the way down, when the opponent is near.
func (p *player) strike(s *situation) uint16 {
	if s.me.AirUsed != 0 || s.me.VY > 0 || s.distance > cm(150) {
		return s.ahead
	}
	if s.me.Y > cm(165) {
		return s.ahead
	}
	return sim.MediumBit << (p.chance.Next() & 1)
}

// stance gives the stance a fighter stands in, 0 for none.
func (s *situation) stance() uint8 { return s.me.Mechanics.StanceKind }

// usable tells whether a move can be begun from where the fighter stands.
func (p *player) usable(s *situation, k *known) bool {
	m := k.m
	if m.From != data.Ground || m.In != s.stance() || !p.arsenal.affords(&s.me, m) {
		return false
	}
	if m.Grounding() {
		return s.foe.action == sim.Down
	}
	if m.TargetRequires != 0 {
		return s.w.Phase() == sim.FinisherWindow
	}
	return true
}
