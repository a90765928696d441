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
	reaction           data.Reaction
	grab               bool // what a throw does, not the grab itself
	krushing           bool
	edge               bool // it asks both for a choice
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
		if s.w.fighters[i].Action == Attack && s.onStage(i) && !s.frozen[i] {
			s.findStrikes(i, &found)
		}
	}
	if found.n > 1 {
		s.settle(&found)
	}
	s.clashShots()
	for i := range int(s.w.count) {
		if !s.frozen[i] && s.w.fighters[i].hasShot() {
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
	for k := range found.n { // one that was itself hit in the frame asks for nothing
		if c := &found.list[k]; c.edge && s.w.fighters[c.attacker].Action == Attack && s.w.fighters[c.defender].Health > 0 {
			s.beginEdge(c.attacker, c.defender)
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
	m := s.move(i)
	for w := range m.Hits {
		win := &m.Hits[w]
		if !win.Holds(f.AnimationFrame) {
			continue
		}
		first, base, reaction := win.At(f.AnimationFrame)
		for j := range int(s.w.count) {
			if Side(j) == Side(i) || !s.onStage(j) || found.touched(j) || !s.reachable(m, j) {
				continue
			}
			if f.Registry.Has(HitKey(i, j, m.ID, w, f.MoveStart)) || !s.lands(f, win, first, j) {
				continue
			}
			found.add(contact{attacker: i, defender: j, move: m, window: w, priority: win.Priority, base: base, reaction: reaction,
				hitstun: win.Hitstun, blockstun: win.Blockstun, dir: away(f, &s.w.fighters[j])})
		}
	}
}

// lands tells whether any shape of a window touches a fighter.
func (s *stepper) lands(f *Fighter, win *data.Window, first *data.Shape, j int) bool {
	if shape := f.place(first); s.struck(j, &shape) {
		return true
	}
	for k := range win.More {
		if shape := f.place(&win.More[k]); s.struck(j, &shape) {
			return true
		}
	}
	return false
}

// reachable tells whether a move can touch a fighter in the state it is in.
func (s *stepper) reachable(m *data.Move, j int) bool {
	if m.Guard != data.Grab {
		return s.refuses(j)&data.AgainstStrike == 0
	}
	if m.Grounding() {
		d := &s.w.fighters[j]
		return d.Action == Down && d.Health > 0 && s.w.match.Owner == s.w.match.Target
	}
	return s.refuses(j)&data.AgainstThrow == 0 && s.grabbable(j)
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
	c.counter = a.Mechanics.KiCharge > 0
	if d.Action == Attack {
		m := s.move(c.defender)
		if c.move.Guard != data.Low && m.PowerCrush.Holds(d.AnimationFrame) {
			c.armored, c.counter = true, false
			return
		}
		if m.Armor.Holds(d.AnimationFrame) && d.Armor > 0 {
			c.armored, c.counter = true, false
			return
		}
		c.counter = c.counter || d.AnimationFrame <= m.Startup+m.Active
	}
	c.krushing = s.krushes(c)
}

// guards tells whether the defender blocks: on the ground, free to act or already blocking, holding away from what comes (in
// blockstun the stance alone counts), and in the stance the move asks for.
func (s *stepper) guards(c *contact) bool {
	d := &s.w.fighters[c.defender]
	if d.Air != 0 || (!d.Action.Neutral() && d.Action != Blockstun) || d.Mechanics.StanceKind != 0 || d.Mechanics.KiCharge > 0 {
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

// refuses gives the data.Against bits of what cannot touch a fighter now.
func (s *stepper) refuses(i int) uint8 {
	f := &s.w.fighters[i]
	if f.Action == Dazed && f.Health == 0 {
		return 0 // it waits for a finisher
	}
	if f.Health == 0 || f.Mechanics.CriticalEdge > 0 {
		return data.AgainstAll
	}
	switch f.Action {
	case Recoil, Down, Wakeup, Throwing, Thrown, Victory, Pinning, Pinned, Prompted, TagIn:
		return data.AgainstAll
	case Roll:
		return data.AgainstStrike | data.AgainstProjectile
	case TagOut:
		if f.Place == Assisting {
			return data.AgainstAll
		}
		return data.AgainstThrow
	case Launched:
		if int32(f.JuggleHits) >= s.rules.JuggleLimit {
			return data.AgainstAll
		}
		return data.AgainstThrow
	case Attack:
		if m := s.move(i); m.Invincible.Holds(f.AnimationFrame) {
			return m.Refuses
		}
	}
	return 0
}

// grabbable tells whether a fighter can be thrown now, invincibility aside.
func (s *stepper) grabbable(i int) bool {
	f := &s.w.fighters[i]
	switch f.Action {
	case PreJump, Hitstun, Blockstun, Teched, Dazed:
		return f.Action == Dazed && f.Health > 0 && f.HitstopFrames == 0
	}
	return f.Air == 0 && f.ThrowProtect == 0 && f.HitstopFrames == 0 && f.Place != Assisting
}
