package sim

import "backstep/sim/data"

// place gives a shape of a fighter in stage coordinates.
func (f *Fighter) place(b *data.Shape) data.Shape {
	dir := Fixed(f.Facing)
	return data.Shape{Box: data.Box{X: f.X + b.X*dir, Y: f.Y + b.Y, HW: b.HW, HH: b.HH}, DX: b.DX * dir, DY: b.DY, R: b.R, Kind: b.Kind}
}

// overlap tells whether two placed boxes share an area. Boxes that only touch do not.
func overlap(a, b *data.Box) bool {
	return (a.X-b.X).Abs() < a.HW+b.HW && (a.Y-b.Y).Abs() < a.HH+b.HH
}

// touch tells whether two placed shapes share an area.
func touch(a, b *data.Shape) bool {
	if !overlap(&a.Box, &b.Box) {
		return false
	}
	switch {
	case a.Kind == data.BoxShape && b.Kind == data.BoxShape:
		return true
	case a.Kind == data.BoxShape:
		return roundTouchesBox(b, &a.Box)
	case b.Kind == data.BoxShape:
		return roundTouchesBox(a, &b.Box)
	}
	return roundsTouch(a, b)
}

// The precise tests reckon in 1/256 cm in 64 bits: places within 2^20 and radii within 2^17, so that no product overflows. Every
// division rounds toward zero, so that mirrored shapes give the mirrored result.

type point struct{ x, y int64 }

// segment is a line from a to b.
type segment struct{ a, b point }

func fine(q Fixed) int64 { return int64(q) / 256 }

// spine gives the line at the heart of a sphere or capsule.
func spine(s *data.Shape) segment {
	x, y, dx, dy := fine(s.X), fine(s.Y), fine(s.DX), fine(s.DY)
	return segment{point{x - dx, y - dy}, point{x + dx, y + dy}}
}

// away2 gives the square of the distance of a point from a line.
func (l segment) away2(p point) int64 {
	dx, dy := l.b.x-l.a.x, l.b.y-l.a.y
	px, py := p.x-l.a.x, p.y-l.a.y
	if length2 := dx*dx + dy*dy; length2 > 0 {
		along := max(0, min(length2, px*dx+py*dy))
		px -= dx * along / length2
		py -= dy * along / length2
	}
	return px*px + py*py
}

func cross(o, a, b point) int64 { return (a.x-o.x)*(b.y-o.y) - (a.y-o.y)*(b.x-o.x) }

// crosses tells whether two lines properly cross.
func (l segment) crosses(m segment) bool {
	c, d := cross(l.a, l.b, m.a), cross(l.a, l.b, m.b)
	e, f := cross(m.a, m.b, l.a), cross(m.a, m.b, l.b)
	return ((c > 0 && d < 0) || (c < 0 && d > 0)) && ((e > 0 && f < 0) || (e < 0 && f > 0))
}

// roundsTouch is touch for spheres and capsules.
func roundsTouch(a, b *data.Shape) bool {
	l, m := spine(a), spine(b)
	r := fine(a.R) + fine(b.R)
	return l.crosses(m) || min(l.away2(m.a), l.away2(m.b), m.away2(l.a), m.away2(l.b)) < r*r
}

// roundTouchesBox is touch for a sphere or capsule and a box.
func roundTouchesBox(c *data.Shape, b *data.Box) bool {
	l := spine(c)
	r := fine(c.R)
	x0, x1, y0, y1 := fine(b.X-b.HW), fine(b.X+b.HW), fine(b.Y-b.HH), fine(b.Y+b.HH)
	for _, p := range [...]point{l.a, l.b} {
		dx := p.x - max(x0, min(x1, p.x))
		dy := p.y - max(y0, min(y1, p.y))
		if dx*dx+dy*dy < r*r {
			return true
		}
	}
	if c.Kind == data.SphereShape {
		return false
	}
	corners := [...]point{{x0, y0}, {x1, y0}, {x1, y1}, {x0, y1}}
	for i, p := range corners {
		if l.away2(p) < r*r || l.crosses(segment{p, corners[(i+1)%4]}) {
			return true
		}
	}
	return false
}

// posture gives the hurtbox of a fighter's posture.
func (s *stepper) posture(i int) *data.Box {
	f, k := &s.w.fighters[i], s.kind(i)
	switch {
	case f.Air != 0:
		return &k.AirBox
	case f.Low != 0, f.Action == Down, f.Action == Pinned:
		return &k.CrouchBox
	}
	return &k.StandBox
}

func (f *Fighter) placeBox(b *data.Box) data.Shape {
	return data.Shape{Box: data.Box{X: f.X + b.X*Fixed(f.Facing), Y: f.Y + b.Y, HW: b.HW, HH: b.HH}}
}

// struck tells whether a placed shape touches a hurtbox of a fighter: that of its posture or one its move adds.
func (s *stepper) struck(i int, hit *data.Shape) bool {
	f := &s.w.fighters[i]
	if b := f.placeBox(s.posture(i)); touch(hit, &b) {
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
		if b := f.place(&m.Hurts[h].Shape); touch(hit, &b) {
			return true
		}
	}
	return false
}

// Shapes appends the shapes of the fighter in a slot as they stand now, in stage coordinates, for pages and the training room:
// first its hurtboxes, then its hitboxes. It gives the number of hurtboxes among them.
func (w *World) Shapes(slot int, dst []data.Shape) (all []data.Shape, hurt int) {
	if slot >= int(w.count) || !w.Active(slot) {
		return dst, 0
	}
	s := newStepper(w, data.Embedded())
	f, from := &w.fighters[slot], len(dst)
	dst = append(dst, f.placeBox(s.posture(slot)))
	m := s.move(slot)
	if m == nil {
		return dst, len(dst) - from
	}
	for i := range m.Hurts {
		if m.Hurts[i].Holds(f.AnimationFrame) {
			dst = append(dst, f.place(&m.Hurts[i].Shape))
		}
	}
	hurt = len(dst) - from
	if f.Action == Attack {
		for i := range m.Hits {
			if !m.Hits[i].Holds(f.AnimationFrame) {
				continue
			}
			first, _, _ := m.Hits[i].At(f.AnimationFrame)
			dst = append(dst, f.place(first))
			for k := range m.Hits[i].More {
				dst = append(dst, f.place(&m.Hits[i].More[k]))
			}
		}
	}
	return dst, hurt
}

// Boxes is Shapes with what encloses each shape.
func (w *World) Boxes(slot int, dst []data.Box) (all []data.Box, hurt int) {
	var buf [2 * (4 + 4*data.MaxWindows)]data.Shape
	shapes, hurt := w.Shapes(slot, buf[:0])
	for i := range shapes {
		dst = append(dst, shapes[i].Box)
	}
	return dst, hurt
}
