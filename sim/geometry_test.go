package sim

import (
	"math/rand/v2"
	"testing"

	"backstep/sim/data"
)

func cm(n int) Fixed { return Fixed(n) << 16 }

func box(x, y, hw, hh int) data.Shape {
	return data.Shape{Box: data.Box{X: cm(x), Y: cm(y), HW: cm(hw), HH: cm(hh)}}
}

func sphere(x, y, r int) data.Shape {
	return data.Shape{Box: data.Box{X: cm(x), Y: cm(y), HW: cm(r), HH: cm(r)}, R: cm(r), Kind: data.SphereShape}
}

func capsule(x0, y0, x1, y1, r int) data.Shape {
	dx, dy := cm(x1-x0)/2, cm(y1-y0)/2
	return data.Shape{Box: data.Box{X: cm(x0) + dx, Y: cm(y0) + dy, HW: dx.Abs() + cm(r), HH: dy.Abs() + cm(r)}, DX: dx, DY: dy, R: cm(r), Kind: data.CapsuleShape}
}

// HITB-02: shapes touch where they share an area, not where only what encloses them does.
func TestShapesTouch(t *testing.T) {
	for _, c := range []struct {
		name string
		a, b data.Shape
		want bool
	}{
		{"boxes", box(0, 0, 10, 10), box(19, 19, 10, 10), true}, {"boxes side by side", box(0, 0, 10, 10), box(20, 0, 10, 10), false},
		{"sphere on an edge", sphere(0, 0, 10), box(19, 0, 10, 10), true}, {"sphere past a corner", sphere(0, 0, 10), box(18, 18, 10, 10), false},
		{"sphere on a corner", sphere(0, 0, 10), box(16, 16, 10, 10), true}, {"sphere inside", sphere(0, 0, 3), box(1, 1, 40, 40), true},
		{"spheres", sphere(0, 0, 10), sphere(14, 14, 10), true}, {"spheres apart", sphere(0, 0, 10), sphere(15, 15, 10), false},
		{"capsule through a box", capsule(-50, 0, 50, 0, 2), box(0, 0, 5, 5), true},
		{"slanted capsule past a corner", capsule(-40, 40, 40, -40, 4), box(30, 30, 20, 20), false},
		{"slanted capsule on a corner", capsule(-40, 40, 40, -40, 16), box(30, 30, 20, 20), true},
		{"crossing capsules", capsule(-40, -40, 40, 40, 1), capsule(-40, 40, 40, -40, 1), true},
		{"capsules in line", capsule(0, 0, 10, 0, 3), capsule(20, 0, 30, 0, 8), true}, {"capsules apart", capsule(0, 0, 10, 0, 3), capsule(20, 0, 30, 0, 6), false},
		{"capsule and sphere", capsule(0, 0, 0, 60, 5), sphere(12, 30, 8), true}, {"capsule past a sphere", capsule(0, 0, 60, 60, 5), sphere(40, 10, 15), false},
		{"capsule without length", capsule(5, 5, 5, 5, 4), sphere(11, 5, 3), true},
	} {
		if got := touch(&c.a, &c.b); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
		if got := touch(&c.b, &c.a); got != c.want {
			t.Errorf("%s, the other way round: %v", c.name, got)
		}
	}
}

// The precise tests agree with their mirror images and with a count of sampled points, and nothing outside the boxes touches.
func TestShapesAgainstSampling(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	random := func() data.Shape {
		x, y := r.IntN(120)-60, r.IntN(120)
		switch r.IntN(3) {
		case 0:
			return box(x, y, 1+r.IntN(30), 1+r.IntN(30))
		case 1:
			return sphere(x, y, 1+r.IntN(30))
		}
		return capsule(x, y, x+r.IntN(80)-40, y+r.IntN(80)-40, 1+r.IntN(14))
	}
	inside := func(s data.Shape, x, y int) bool {
		half := Fixed(1 << 15) // well inside: what only touches does not count
		s.HW, s.HH, s.R = s.HW-half, s.HH-half, max(0, s.R-half)
		p := data.Shape{Box: data.Box{X: cm(x) / 2, Y: cm(y) / 2, HW: 1, HH: 1}, R: 256, Kind: data.SphereShape}
		return touch(&s, &p)
	}
	yes := 0
	for range 500 {
		a, b := random(), random()
		got := touch(&a, &b)
		ma, mb := a, b
		ma.X, ma.DX, mb.X, mb.DX = -a.X, -a.DX, -b.X, -b.DX
		if touch(&ma, &mb) != got {
			t.Fatalf("%+v and %+v: %v, mirrored not", a, b, got)
		}
		shared := false
		for x := -240; x <= 240 && !shared && !got; x += 2 {
			for y := -120; y <= 360; y += 2 {
				if inside(a, x, y) && inside(b, x, y) {
					shared = true
					break
				}
			}
		}
		if shared && !got {
			t.Fatalf("%+v and %+v share a point and do not touch", a, b)
		}
		if got {
			yes++
		}
	}
	if yes < 60 {
		t.Fatalf("only %d touch", yes)
	}
}

// What a page draws is what hits: shapes of hurtboxes first, then of hitboxes, inside their boxes.
func TestShapesAreDrawn(t *testing.T) {
	g := newRing(t, data.SF, Format1v1, 300)
	m := g.attack("5h", 0)
	g.until(20, 0, 0, "the active frame", func() bool { return g.p(0).AnimationFrame == m.Startup+1 })
	s := newStepper(&g.w, g.r)
	first, _, _ := m.Hits[0].At(g.p(0).AnimationFrame)
	want := g.p(0).place(first)
	if want.X <= g.p(0).X || want.Kind != data.SphereShape || s.struck(1, &want) {
		t.Fatalf("%+v", want)
	}
	if shapes, hurt := g.w.Shapes(5, nil); len(shapes) != 0 || hurt != 0 {
		t.Fatal("shapes of nobody")
	}
}
