package data

import (
	"strings"

	"backstep/sim/fixed"
)

// ShapeKind says what a Shape is.
type ShapeKind uint8

// The kinds of shapes.
const (
	BoxShape ShapeKind = iota
	CapsuleShape
	SphereShape
)

// Half extents of a box that is given without any (HITB-02; the third axis of the source's 25, 18, 18 is dropped).
const (
	DefaultHalfWidth  = fixed.Q(25 << 16)
	DefaultHalfHeight = fixed.Q(18 << 16)
)

// Shape is an area. Box is what encloses it: for BoxShape it is the area. A sphere is a circle of radius R around X, Y. A
// capsule is everything within R of the line from (X-DX, Y-DY) to (X+DX, Y+DY).
type Shape struct {
	Box
	DX, DY, R fixed.Q
	Kind      ShapeKind
}

var shapeNames = [...]string{"box", "capsule", "sphere"}

// Limits of shapes, in centimetres.
const (
	farthest = 600
	thickest = 300
)

// shape reads a shape off the front of words and gives what is left: "X Y HALF-WIDTH HALF-HEIGHT" or one of
//
//	box X Y [HALF-WIDTH HALF-HEIGHT]
//	sphere X Y RADIUS
//	capsule X1 Y1 X2 Y2 RADIUS
func (s *section) shape(e entry, words []string) (Shape, []string) {
	kind, named := BoxShape, false
	if len(words) > 0 {
		for i, n := range shapeNames {
			if words[0] == n {
				kind, named, words = ShapeKind(i), true, words[1:]
			}
		}
	}
	n := 0
	for n < len(words) && n < 5 && strings.ContainsAny(words[n][:1], "-0123456789") {
		n++
	}
	want := [...]int{4, 5, 3}[kind]
	if kind == BoxShape && named && n == 2 {
		q := s.fixes(e, words[:2], -farthest, farthest)
		return Shape{Box: Box{q[0], q[1], DefaultHalfWidth, DefaultHalfHeight}}, words[2:]
	}
	if n < want {
		s.fail(e.line, "%s: a %s is %d numbers: %s", e.key, shapeNames[kind], want,
			[...]string{"x y half-width half-height", "x1 y1 x2 y2 radius", "x y radius"}[kind])
		return Shape{}, nil
	}
	if kind == BoxShape {
		return Shape{Box: s.box(e, words[:4])}, words[4:]
	}
	q := s.fixes(e, words[:want-1], -farthest, farthest)
	r := s.fix(e.line, e.key, words[want-1], 0, thickest)
	if r <= 0 {
		s.fail(e.line, "%s: the radius must be above 0", e.key)
	}
	words = words[want:]
	if kind == SphereShape {
		return Shape{Box: Box{q[0], q[1], r, r}, R: r, Kind: kind}, words
	}
	dx, dy := (q[2]-q[0])/2, (q[3]-q[1])/2
	return Shape{Box: Box{q[0] + dx, q[1] + dy, dx.Abs() + r, dy.Abs() + r}, DX: dx, DY: dy, R: r, Kind: kind}, words
}
