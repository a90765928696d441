package sim

import "backstep/sim/data"

// contact is a hit, block or grab that geometry found, before anything of it has been applied.
type contact struct {
	attacker, defender int
	move               *data.Move
	window             int // -1: a shot
	shot               int
	priority           uint8
	base               int32
	hitstun, blockstun int32
	dir                int8 // along the stage, away from the attacker
	blocked            bool
	low                bool // the guard, or the hurt fighter, crouches
	armored            bool
	counter            bool
	grounded           bool // the attacker stands
	dropped            bool
}

// contacts are the contacts of one frame: each fighter is touched at most once a frame, so there are no more than fighters.
type contactList struct {
	list [MaxFighters]contact
	n    int
}

// resolveHits finds all contacts of the frame from the state before any of them, settles those that meet, and applies the rest.
// So two fighters that hit each other are both hit, whichever slot they stand in.
func (s *stepper) resolveHits() {
	var found contactList
	for i := range int(s.w.count) {
		if s.w.Active(i) && !s.frozen[i] {
			s.findStrikes(i, &found)
		}
	}
	s.settle(&found)
	s.clashShots()
	for i := range int(s.w.count) {
		if s.w.Active(i) && !s.frozen[i] {
			s.findShots(i, &found)
		}
	}
	found.interruptGrabs()
	for k := range found.n {
		if c := &found.list[k]; !c.dropped {
			s.judge(c)
		}
	}
	for k := range found.n {
		if c := &found.list[k]; !c.dropped {
			s.connect(c)
		}
	}
}

// touched tells whether a fighter already has a contact in this frame.
func (l *contactList) touched(defender int) bool {
	for k := range l.n {
		if l.list[k].defender == defender && !l.list[k].dropped {
			return true
		}
	}
	return false
}

func (l *contactList) add(c contact) {
	if l.n < len(l.list) {
		l.list[l.n] = c
		l.n++
	}
}

// away gives the direction from a to b along the stage, a's facing if they stand on one spot.
func away(a, b *Fighter) int8 {
	if d := (b.X - a.X).Sign(); d != 0 {
		return int8(d)
	}
	return a.Facing
}

// findStrikes adds what the attack of slot i touches.
func (s *stepper) findStrikes(i int, found *contactList) {
	f := &s.w.fighters[i]
	if f.Action != Attack {
		return
	}
	m := s.move(i)
	for w := range m.Hits {
		win := &m.Hits[w]
		if !win.Holds(f.AnimationFrame) {
			continue
		}
		box := f.place(&win.Box)
		for j := range int(s.w.count) {
			if Side(j) == Side(i) || !s.w.Active(j) || found.touched(j) {
				continue
			}
			against := data.AgainstStrike
			if m.Guard == data.Grab {
				against = data.AgainstThrow
			}
			if s.refuses(j)&against != 0 || (m.Guard == data.Grab && !s.grabbable(j)) {
				continue
			}
			if f.Registry.Has(HitKey(i, j, m.ID, w, f.MoveStart)) || !s.struck(j, &box) {
				continue
			}
			found.add(contact{attacker: i, defender: j, move: m, window: w, priority: win.Priority, base: win.Damage,
				hitstun: win.Hitstun, blockstun: win.Blockstun, dir: away(f, &s.w.fighters[j])})
		}
	}
}

// settle decides between two fighters that touch each other in the same frame: a strike beats a grab, the higher priority beats
// the lower, equal strikes trade, two grabs break each other.
func (s *stepper) settle(found *contactList) {
	for a := range found.n {
		for b := a + 1; b < found.n; b++ {
			x, y := &found.list[a], &found.list[b]
			if x.attacker != y.defender || y.attacker != x.defender {
				continue
			}
			gx, gy := x.move.Guard == data.Grab, y.move.Guard == data.Grab
			switch {
			case gx && gy:
				x.dropped, y.dropped = true, true
				s.tech(x.attacker, y.attacker)
			case gx != gy:
				x.dropped, y.dropped = gx, gy
			case x.priority != y.priority:
				x.dropped, y.dropped = x.priority < y.priority, y.priority < x.priority
			}
		}
	}
}

// interruptGrabs drops grabs of fighters that are themselves touched in the same frame.
func (l *contactList) interruptGrabs() {
	for k := range l.n {
		if c := &l.list[k]; c.move.Guard == data.Grab && l.touched(c.attacker) {
			c.dropped = true
		}
	}
}

// judge completes a contact from the state before any contact of the frame: hit-once, guard, armour, counter-hit.
func (s *stepper) judge(c *contact) {
	a, d := &s.w.fighters[c.attacker], &s.w.fighters[c.defender]
	if c.window >= 0 && !a.Registry.RegisterHitIfAllowed(HitKey(c.attacker, c.defender, c.move.ID, c.window, a.MoveStart)) {
		c.dropped = true
		return
	}
	c.grounded = a.Air == 0
	c.low = d.Low != 0
	if c.move.Guard == data.Grab {
		return
	}
	if s.guards(c) {
		c.blocked = true
		c.low = s.in[c.defender].held&DownBit != 0
		return
	}
	if d.Action != Attack {
		return
	}
	m := s.move(c.defender)
	if m.Armor.Holds(d.AnimationFrame) && d.ArmorLeft > 0 {
		c.armored = true
		return
	}
	c.counter = d.AnimationFrame <= m.Startup+m.Active
}

// guards tells whether the defender blocks: on the ground, free to act or already blocking, holding away from what comes (in
// blockstun the stance alone counts), and in the stance the move asks for.
func (s *stepper) guards(c *contact) bool {
	d := &s.w.fighters[c.defender]
	if d.Air != 0 || (!d.Action.Neutral() && d.Action != Blockstun) {
		return false
	}
	held := s.in[c.defender].held
	if d.Action != Blockstun && toward(held) != c.dir {
		return false
	}
	switch c.move.Guard {
	case data.Mid:
		return true
	case data.High:
		return held&DownBit == 0
	case data.Low:
		return held&DownBit != 0
	}
	return false
}

// connect applies a contact.
func (s *stepper) connect(c *contact) {
	if c.window < 0 {
		s.w.fighters[c.attacker].Shots[c.shot].spend()
	}
	switch {
	case c.move.Guard == data.Grab:
		s.grab(c)
	case c.blocked:
		s.block(c)
	default:
		s.hit(c)
	}
}
