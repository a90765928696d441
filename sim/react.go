package sim

import "backstep/sim/data"

// blockstun is the second of the three base effects: it keeps a fighter in its guard.
func (s *stepper) blockstun(i int, frames int32) { s.become(i, Blockstun, frames) }

// block applies a blocked contact.
func (s *stepper) block(c *contact) {
	a, d := &s.w.fighters[c.attacker], &s.w.fighters[c.defender]
	chip := EvaluateBlockChipDamage(scale(scale(c.move.Chip, int32(a.Combat.ChipMul)), int32(a.Weapon.Chip)), d.Health)
	s.effect(c.defender, ChipDamage, chip)
	meter := scale(c.move.Gain, s.rules.BlockGain)
	s.alter(c.attacker, AttrSuperMeter, meter)
	s.alter(c.defender, AttrSuperMeter, meter)
	stun := c.blockstun
	if s.rules.DriveBlock > 0 {
		s.effect(c.defender, DriveCost, s.rules.DriveBlock)
		s.burn(c.defender)
		if d.Burnout != 0 {
			stun += s.rules.BurnoutStun
		}
	}
	crushed := s.wearGuard(c)
	if crushed {
		stun = s.rules.GuardCrush
		s.become(c.defender, Dazed, stun)
		s.event(c.defender, EventGuardCrush, stun)
	} else {
		s.blockstun(c.defender, stun)
	}
	d.Facing = -c.dir
	d.Low = b2u(c.low && !crushed)
	s.push(c, c.move.PushBlock)
	s.touch(c, Blocked)
	s.event(c.defender, EventBlock, chip)
	h := s.confirm(c, chip)
	h.Blocked, h.Hitstun = true, stun
	h.AttackerHitstop, h.DefenderHitstop, h.DefenderHitlag = int16(c.move.Feel.Block), int16(c.move.Feel.Block), 0
	s.feel(h)
}

// wearGuard takes of the guard where it can break, and tells whether it has.
func (s *stepper) wearGuard(c *contact) bool {
	if s.rules.GuardCrush == 0 {
		return false
	}
	d := &s.w.fighters[c.defender]
	s.alter(c.defender, AttrBlock, -min(d.Block, guardWear*c.move.Chip))
	if d.Block > 0 {
		return false
	}
	s.alter(c.defender, AttrBlock, s.rules.Block.Start)
	return true
}

// guardWear is how much more of the guard a blocked hit takes than of health.
const guardWear = 10

// hit applies a contact that was not blocked.
func (s *stepper) hit(c *contact) {
	d := &s.w.fighters[c.defender]
	dmg := s.damage(c)
	h := s.confirm(c, dmg)
	h.CounterHit, h.Armored = c.counter, c.armored
	if c.krushing {
		h.KrushingBlow, h.KrushingBlowFreeze, h.KrushingBlowSequence = true, int16(c.move.Krushing.Freeze), c.move.Krushing.Sequence
	}
	s.hurt(c, dmg)
	s.alter(c.attacker, AttrSuperMeter, c.move.Gain)
	s.alter(c.defender, AttrSuperMeter, scale(c.move.Gain, s.rules.HurtGain))
	s.gains(c)
	if c.armored && d.Health > 0 {
		s.alter(c.defender, AttrArmor, -1)
		s.touch(c, Blocked)
		s.event(c.defender, EventArmor, dmg)
		s.feel(h)
		return
	}
	s.count(c, dmg)
	h.Hitstun = s.react(c)
	s.touch(c, Landed)
	kind := EventHit
	if c.counter {
		kind = EventCounterHit
	}
	s.event(c.defender, kind, dmg)
	s.feel(h)
	s.landed(c)
}

// landed does what a landed hit sets off besides.
func (s *stepper) landed(c *contact) {
	a, d := &s.w.fighters[c.attacker], &s.w.fighters[c.defender]
	a.Mechanics.KiCharge = 0
	e := &c.move.Effects
	if e.HeatEngage && s.rules.HeatFrames > 0 && a.Heat == a.MaxHeat && a.Mechanics.Heat == 0 {
		s.beginHeat(c.attacker)
	}
	c.edge = e.ReversalEdge && s.rules.EdgeFrames > 0 && c.window >= 0
	if e.Snapback && d.Place == OnPoint {
		s.snapped[Side(c.defender)] = true // when all contacts of the frame are done
	}
	if s.w.match.Phase == FinisherWindow && d.Health == 0 {
		s.finisher(c)
	}
	s.promptEnvironment(c)
}

// count keeps the books of the combo on the defender.
func (s *stepper) count(c *contact, dmg int32) {
	d := &s.w.fighters[c.defender]
	if d.ComboHits == 0 {
		d.ComboStarter = c.move.Starter
	}
	d.ComboHits = min(d.ComboHits, 254) + 1
	d.ComboDamage += dmg
	if d.Air != 0 {
		d.JuggleHits = min(d.JuggleHits, 254) + 1
	}
}

// react puts the defender into what the hit does to it and gives the hitstun.
func (s *stepper) react(c *contact) int32 {
	d := &s.w.fighters[c.defender]
	d.Facing = -c.dir
	switch {
	case d.Health == 0 || c.reaction != data.Stagger || d.Action == Launched:
		x, y := s.rules.LaunchX, s.rules.LaunchY
		if c.reaction != data.Stagger {
			x, y = s.impulse(c.move)
		}
		launcher := d.Launcher
		if d.Air == 0 {
			launcher = b2u(c.reaction == data.Launch)
		}
		s.launch(c.defender, x*Fixed(c.dir), y)
		d.Launcher, d.Lie, d.Hard = launcher, int16(c.move.Effects.Down), b2u(c.move.Hard)
		return 0
	case d.Air != 0:
		s.become(c.defender, Recoil, 0)
		d.VX, d.VY, d.Push = s.rules.RecoilX*Fixed(c.dir), s.rules.RecoilY, 0
		return 0
	}
	stun := c.hitstun
	if c.counter {
		stun += s.rules.CounterStun
	}
	s.become(c.defender, Hitstun, stun)
	if c.low {
		d.Low = 1
	}
	s.push(c, c.move.PushHit)
	return stun
}

// impulse gives the speed of a launch by a move: its own, or that of the ruleset.
func (s *stepper) impulse(m *data.Move) (x, y Fixed) {
	if m.OwnLaunch {
		return m.LaunchX, m.LaunchY
	}
	return s.rules.LaunchX, s.rules.LaunchY
}

// launch takes a fighter off its feet.
func (s *stepper) launch(i int, vx, vy Fixed) {
	f := &s.w.fighters[i]
	s.become(i, Launched, 0)
	f.Air, f.VX, f.VY, f.Push = 1, vx, vy, 0
	f.Mechanics.AirJuggle = int16(2 * vy / max(1, s.rules.Gravity))
}

// push sets the defender sliding away. What a wall stops of it goes to an attacker that struck it from the ground.
func (s *stepper) push(c *contact, speed Fixed) {
	d := &s.w.fighters[c.defender]
	d.Push = speed * Fixed(c.dir)
	d.PushesBack = 0
	if c.window >= 0 && c.grounded {
		d.PushesBack = 1
	}
}

// touch records on the attacker what its move met. A landed hit is not undone by a later blocked one.
func (s *stepper) touch(c *contact, met Contact) {
	a := &s.w.fighters[c.attacker]
	if c.window >= 0 && a.Action == Attack {
		a.Contact = max(a.Contact, met)
	}
}

// confirm makes the payload of a contact from the move's hitstop row.
func (s *stepper) confirm(c *contact, dmg int32) HitConfirmed {
	a, d := &s.w.fighters[c.attacker], &s.w.fighters[c.defender]
	row := &c.move.Feel
	h := HitConfirmed{Frame: s.frame, Damage: dmg, Attacker: uint8(c.attacker), Defender: uint8(c.defender),
		AttackerID: a.ID, DefenderID: d.ID, Move: c.move.ID, Reaction: c.reaction, Shot: c.window < 0 && c.move.Shot.Spawn != 0,
		AttackerHitstop: int16(row.Attacker), DefenderHitstop: int16(row.Defender), DefenderHitlag: int16(row.Hitlag)}
	if c.counter {
		h.AttackerHitstop += int16(row.CounterHit)
		h.DefenderHitstop += int16(row.CounterHit)
	}
	return h
}

// feel reads nothing but the payload: it freezes both sides and reports the hit. A shot does not freeze who threw it.
func (s *stepper) feel(h HitConfirmed) {
	a, d := &s.w.fighters[h.Attacker], &s.w.fighters[h.Defender]
	if !h.Shot {
		a.HitstopFrames = max(a.HitstopFrames, h.AttackerHitstop)
	}
	d.HitstopFrames = max(d.HitstopFrames, h.DefenderHitstop)
	d.HitlagFrames = max(d.HitlagFrames, h.DefenderHitlag)
	if h.KrushingBlow {
		s.holdAll(h.KrushingBlowFreeze)
	}
	if o := &s.w.out; int(o.hit) < len(o.hits) {
		o.hits[o.hit] = h
		o.hit++
	}
}
