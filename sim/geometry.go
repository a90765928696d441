package sim

import "backstep/sim/data"

// place gives a box of a fighter in stage coordinates: centre and half extents.
func (f *Fighter) place(b *data.Box) data.Box {
	return data.Box{X: f.X + b.X*Fixed(f.Facing), Y: f.Y + b.Y, HW: b.HW, HH: b.HH}
}

// overlap tells whether two placed boxes share an area. Boxes that only touch do not.
func overlap(a, b *data.Box) bool {
	return (a.X-b.X).Abs() < a.HW+b.HW && (a.Y-b.Y).Abs() < a.HH+b.HH
}

// posture gives the hurtbox of a fighter's posture.
func (s *stepper) posture(i int) *data.Box {
	f, k := &s.w.fighters[i], s.kind(i)
	switch {
	case f.Air != 0:
		return &k.AirBox
	case f.Low != 0:
		return &k.CrouchBox
	}
	return &k.StandBox
}

// struck tells whether a placed box touches a hurtbox of a fighter: that of its posture or one its move adds.
func (s *stepper) struck(i int, hit *data.Box) bool {
	f := &s.w.fighters[i]
	if b := f.place(s.posture(i)); overlap(hit, &b) {
		return true
	}
	m := s.move(i)
	if m == nil {
		return false
	}
	for h := range m.Hurts {
		if !m.Hurts[h].Holds(f.AnimationFrame) {
			continue
		}
		if b := f.place(&m.Hurts[h].Box); overlap(hit, &b) {
			return true
		}
	}
	return false
}

// refuses gives the data.Against bits of what cannot touch a fighter now.
func (s *stepper) refuses(i int) uint8 {
	f := &s.w.fighters[i]
	if f.Health == 0 {
		return data.AgainstAll
	}
	switch f.Action {
	case Recoil, Down, Wakeup, Throwing, Thrown, Victory:
		return data.AgainstAll
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
	case PreJump, Hitstun, Blockstun, Teched:
		return false
	}
	return f.Air == 0 && f.ThrowProtect == 0 && f.HitstopFrames == 0
}

// Boxes appends the boxes of the fighter in a slot as they stand now, in stage coordinates, for pages and the training room:
// first its hurtboxes, then its hitboxes. It gives the number of hurtboxes among them.
func (w *World) Boxes(slot int, dst []data.Box) (all []data.Box, hurt int) {
	if !w.Active(slot) || slot >= int(w.count) {
		return dst, 0
	}
	r := data.Embedded()
	s := stepper{w: w, roster: r, rules: r.Ruleset(w.ruleset)}
	f, from := &w.fighters[slot], len(dst)
	dst = append(dst, f.place(s.posture(slot)))
	m := s.move(slot)
	if m == nil {
		return dst, len(dst) - from
	}
	for i := range m.Hurts {
		if m.Hurts[i].Holds(f.AnimationFrame) {
			dst = append(dst, f.place(&m.Hurts[i].Box))
		}
	}
	hurt = len(dst) - from
	if f.Action == Attack {
		for i := range m.Hits {
			if m.Hits[i].Holds(f.AnimationFrame) {
				dst = append(dst, f.place(&m.Hits[i].Box))
			}
		}
	}
	return dst, hurt
}
