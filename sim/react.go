package sim

import "backstep/sim/data"

// What a fighter that is launched by a hit without a launch of its own gets.
const (
	plainLaunchX = Fixed(3 << 16)
	plainLaunchY = Fixed(7 << 16)
)

// block applies a blocked contact.
func (s *stepper) block(c *contact) {
	a, d := &s.w.fighters[c.attacker], &s.w.fighters[c.defender]
	chip := EvaluateBlockChipDamage(c.move.Chip, d.Health)
	d.chip(chip)
	meter := scale(c.move.Gain, s.rules.BlockGain)
	a.gain(meter)
	d.gain(meter)
	s.become(c.defender, Blockstun, c.blockstun)
	d.Facing = -c.dir
	if c.low {
		d.Low = 1
	}
	s.push(c, c.move.PushBlock)
	s.touch(c, Blocked)
	s.event(c.defender, EventBlock, chip)
	h := s.confirm(c, chip)
	h.Blocked, h.Hitstun = true, c.blockstun
	h.AttackerHitstop, h.DefenderHitstop, h.DefenderHitlag = int16(c.move.Feel.Block), int16(c.move.Feel.Block), 0
	s.feel(h)
}

// hit applies a contact that was not blocked.
func (s *stepper) hit(c *contact) {
	a, d := &s.w.fighters[c.attacker], &s.w.fighters[c.defender]
	dmg := s.damage(c)
	h := s.confirm(c, dmg)
	h.CounterHit, h.Armored = c.counter, c.armored
	d.hurt(dmg)
	a.gain(c.move.Gain)
	d.gain(scale(c.move.Gain, s.rules.HurtGain))
	if c.armored && d.Health > 0 {
		d.ArmorLeft--
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
	case d.Health == 0 || c.move.Reaction != data.Stagger || d.Action == Launched:
		x, y := c.move.LaunchX, c.move.LaunchY
		if c.move.Reaction == data.Stagger {
			x, y = plainLaunchX, plainLaunchY
		}
		s.launch(c.defender, x*Fixed(c.dir), y)
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
		AttackerID: a.ID, DefenderID: d.ID, Move: c.move.ID, Reaction: c.move.Reaction, Shot: c.window < 0 && c.move.Shot.Spawn != 0,
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
	if o := &s.w.out; int(o.hit) < len(o.hits) {
		o.hits[o.hit] = h
		o.hit++
	}
}
