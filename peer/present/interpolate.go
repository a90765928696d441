package present

import "backstep/sim"

// snapDistance in centimetres: what moves farther in one frame was put there,
// as at the start of a round, and is not drawn on the way.
const snapDistance = 120

// Point is a place on the stage in centimetres.
type Point struct{ X, Y float64 }

// View is what a display draws. Everything but the positions is that of the
// current snapshot.
type View struct {
	Frame    int32
	Alpha    float64 // 0: the previous snapshot, 1: the current one
	Count    int
	Fighters [sim.MaxFighters]Point
	Overlay  string
}

// TickPresentation moves the display on by delta seconds and gives what to
// draw. It can be called at any rate; a negative delta counts as none. Without
// a snapshot the view's Count is 0.
func (w *World) TickPresentation(delta float64) View {
	if delta > 0 {
		w.since += delta
	}
	v := View{Frame: w.current.Frame, Alpha: min(w.since/StepSeconds, 1), Overlay: w.overlay}
	if w.count == 0 {
		return v
	}
	if w.count == 1 {
		v.Alpha = 1
	}
	v.Count = int(w.current.Count)
	for i := range v.Count {
		v.Fighters[i] = between(&w.previous, &w.current, i, v.Alpha)
	}
	return v
}

func between(p, c *State, i int, a float64) Point {
	from, to := at(&p.Fighters[i]), at(&c.Fighters[i])
	dx, dy := to.X-from.X, to.Y-from.Y
	if p.Round != c.Round || dx > snapDistance || dx < -snapDistance || dy > snapDistance || dy < -snapDistance {
		return to
	}
	return Point{from.X + a*dx, from.Y + a*dy}
}

func at(f *Fighter) Point {
	return Point{float64(f.X) / float64(1<<16), float64(f.Y) / float64(1<<16)}
}
