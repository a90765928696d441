package sim

import "backstep/sim/data"

// shotPause is how many frames a shot that survives a touch waits before it can touch again.
const shotPause = 8

// spend takes one touch off a shot.
func (p *Projectile) spend() {
	p.Durability--
	p.Pause = shotPause
	if p.Durability == 0 {
		*p = Projectile{}
	}
}

// shots lets new shots go, moves those under way and ends those that have flown out. A shot stands still while its owner does.
func (s *stepper) shots() {
	for i := range int(s.w.count) {
		if s.frozen[i] {
			continue
		}
		f := &s.w.fighters[i]
		for p := range f.Shots {
			if f.Shots[p].Life > 0 {
				s.carry(&f.Shots[p])
			}
		}
		if f.Action != Attack || !s.onStage(i) {
			continue
		}
		if m := s.move(i); m.Shot.Spawn == f.AnimationFrame {
			s.letGo(i, m)
		}
	}
}

func (s *stepper) carry(p *Projectile) {
	p.X += p.VX
	p.Y += p.VY
	p.Life--
	if p.Pause > 0 {
		p.Pause--
	}
	if p.Life == 0 || p.X.Abs() > s.rules.StageHalf+s.rules.MaxApart/4 || p.Y < 0 {
		*p = Projectile{}
	}
}

func (s *stepper) letGo(i int, m *data.Move) {
	f := &s.w.fighters[i]
	for p := range f.Shots {
		if f.Shots[p].Life != 0 {
			continue
		}
		f.Shots[p] = Projectile{X: f.X + m.Shot.X*Fixed(f.Facing), Y: f.Y + m.Shot.Y, VX: m.Shot.VX * Fixed(f.Facing), VY: m.Shot.VY,
			Life: m.Shot.Life, Move: m.ID, Durability: m.Shot.Durability, Facing: f.Facing}
		s.event(i, EventShot, int32(m.ID))
		return
	}
}

// shotBox places the box of a live shot.
func (s *stepper) shotBox(i int, p *Projectile) (data.Shape, *data.Move) {
	m := s.kind(i).Move(p.Move)
	return data.Shape{Box: data.Box{X: p.X, Y: p.Y, HW: m.Shot.HW, HH: m.Shot.HH}}, m
}

// clashShots lets shots of opposing sides that meet, and whose classes clash, each take one touch off the other. All meetings
// are found before any is applied.
func (s *stepper) clashShots() {
	n := int(s.w.count)
	var out [2]bool
	for i := range n {
		out[Side(i)] = out[Side(i)] || s.w.fighters[i].hasShot()
	}
	if !out[0] || !out[1] {
		return
	}
	var met [MaxFighters][Shots]bool
	for i := 0; i < n; i += 2 {
		for j := 1; j < n; j += 2 {
			for p := range Shots {
				for q := range Shots {
					if s.meet(i, p, j, q) {
						met[i][p], met[j][q] = true, true
					}
				}
			}
		}
	}
	for i := range n {
		for p := range Shots {
			if met[i][p] {
				s.w.fighters[i].Shots[p].spend()
				s.event(i, EventClash, 0)
			}
		}
	}
}

func (f *Fighter) hasShot() bool {
	for p := range f.Shots {
		if f.Shots[p].Life > 0 {
			return true
		}
	}
	return false
}

func (s *stepper) meet(i, p, j, q int) bool {
	a, b := &s.w.fighters[i].Shots[p], &s.w.fighters[j].Shots[q]
	if a.Life == 0 || b.Life == 0 || a.Pause > 0 || b.Pause > 0 {
		return false
	}
	ba, ma := s.shotBox(i, a)
	bb, mb := s.shotBox(j, b)
	return ma.Shot.Clash>>mb.Shot.Class&1 != 0 && mb.Shot.Clash>>ma.Shot.Class&1 != 0 && overlap(&ba.Box, &bb.Box)
}

// findShots adds what the shots of slot i touch, among fighters nothing else has touched in this frame.
func (s *stepper) findShots(i int, found *contactList) {
	f := &s.w.fighters[i]
	for p := range f.Shots {
		shot := &f.Shots[p]
		if shot.Life == 0 || shot.Pause > 0 {
			continue
		}
		box, m := s.shotBox(i, shot)
		for j := range int(s.w.count) {
			if Side(j) == Side(i) || !s.onStage(j) || found.touched(j) || s.refuses(j)&data.AgainstProjectile != 0 || !s.struck(j, &box) {
				continue
			}
			found.add(contact{attacker: i, defender: j, move: m, window: -1, shot: p, base: m.Damage, reaction: m.Reaction,
				hitstun: m.Hitstun, blockstun: m.Blockstun, dir: shot.Facing})
			break
		}
	}
}
