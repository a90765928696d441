package sim

import "backstep/sim/data"

// motion moves every fighter and shot that is not frozen.
func (s *stepper) motion() {
	for i := range int(s.w.count) {
		if s.frozen[i] || !s.onStage(i) {
			continue
		}
		if s.w.fighters[i].Air != 0 {
			s.fly(i)
		} else {
			s.walk(i)
		}
	}
	for i := range int(s.w.count) {
		if s.shift[i] != 0 {
			f := &s.w.fighters[i]
			f.X = s.inside(f.X + s.shift[i])
		}
	}
	s.shots()
}

// inside keeps a position between the walls.
func (s *stepper) inside(x Fixed) Fixed { return x.Clamp(-s.rules.StageHalf, s.rules.StageHalf) }

// walk moves a fighter on the ground by its action and by pushback.
func (s *stepper) walk(i int) {
	f := &s.w.fighters[i]
	f.VX = s.groundSpeed(i) * Fixed(f.Facing)
	f.VY = 0
	f.X = s.inside(f.X + f.VX)
	if f.Push == 0 {
		f.PushesBack = 0
		return
	}
	want := f.X + f.Push
	f.X = s.inside(want)
	if stopped := want - f.X; stopped != 0 && f.PushesBack != 0 {
		o := s.foe(i)
		if s.w.fighters[o].Air == 0 {
			s.shift[o] -= stopped
		}
	}
	f.Push = f.Push.Toward(s.rules.Friction)
}

// groundSpeed gives the speed along the facing.
func (s *stepper) groundSpeed(i int) Fixed {
	f := &s.w.fighters[i]
	k := s.kind(i)
	switch f.Action {
	case WalkForward:
		return factor(k.WalkForward, f.Movement.WalkMul)
	case WalkBack:
		return -factor(k.WalkBack, f.Movement.WalkMul)
	case DashForward:
		return factor(k.DashForward, f.Movement.DashMul)
	case DashBack:
		return -factor(k.DashBack, f.Movement.DashMul)
	case Roll:
		return s.rules.RollSpeed * Fixed(f.RollDir*f.Facing)
	case Attack:
		vx, _, _ := s.move(i).Speed(f.AnimationFrame)
		return vx
	}
	return 0
}

// fly moves a fighter in the air and lands it.
func (s *stepper) fly(i int) {
	f := &s.w.fighters[i]
	gravity := s.kind(i).Gravity
	steered := false
	switch f.Action {
	case Attack:
		var vx, vy Fixed
		if vx, vy, steered = s.move(i).Speed(f.AnimationFrame); steered {
			f.VX, f.VY = vx*Fixed(f.Facing), vy
		}
	case Launched, Recoil:
		gravity = s.rules.Gravity
	}
	want := f.X + f.VX
	f.X = s.inside(want)
	if s.rules.RingOut && f.Action == Launched && f.X != want {
		s.ringOut(i)
	}
	f.Y += f.VY
	if !steered {
		f.VY -= gravity
	}
	if f.Y <= 0 && f.VY <= 0 {
		s.land(i)
	}
}

// land puts a fighter on the ground.
func (s *stepper) land(i int) {
	f := &s.w.fighters[i]
	frames := s.kind(i).Land
	if m := s.move(i); m != nil && m.From == data.Air {
		frames = m.Landing
	}
	f.Y, f.VX, f.VY, f.Air, f.AirUsed, f.JumpDir = 0, 0, 0, 0, 0, 0
	if f.Action == Launched {
		s.fall(i)
		return
	}
	s.become(i, Landing, frames)
	s.event(i, EventLand, 0)
}

// solid tells whether a fighter's body is in the way of others.
func (s *stepper) solid(i int) bool {
	switch s.w.fighters[i].Action {
	case Launched, Down, Throwing, Thrown, Recoil, Pinning, Pinned, Prompted, Roll, TagOut, TagIn:
		return false
	}
	return !s.frozen[i]
}

// height gives how tall a fighter's body stands.
func (s *stepper) height(i int) Fixed {
	if s.w.fighters[i].Low != 0 {
		return s.kind(i).CrouchHeight
	}
	return s.kind(i).StandHeight
}

// foot gives where a fighter's body begins: in the air the legs are drawn up by a third of its height.
func (s *stepper) foot(i int) Fixed {
	f := &s.w.fighters[i]
	if f.Air != 0 {
		return f.Y + s.kind(i).StandHeight/3
	}
	return f.Y
}

// bodies pushes opponents apart and keeps them within sight of each other. Every rule treats both alike, so that a mirrored
// world gives the mirrored result.
func (s *stepper) bodies() {
	a, b := int(s.w.point[0]), int(s.w.point[1])
	fa, fb := &s.w.fighters[a], &s.w.fighters[b]
	if s.solid(a) && s.solid(b) && s.foot(a) < fb.Y+s.height(b) && s.foot(b) < fa.Y+s.height(a) {
		s.separate(a, b)
	}
	far := (fa.X - fb.X).Abs() - s.rules.MaxApart
	if far <= 0 {
		return
	}
	dir := Fixed((fb.X - fa.X).Sign()) // from a to b
	outA, outB := (s.was[a]-fa.X)*dir > 0, (fb.X-s.was[b])*dir > 0
	switch {
	case outA && !outB:
		fa.X += dir * far
	case outB && !outA:
		fb.X -= dir * far
	default:
		half := (far + 1) / 2
		fa.X += dir * half
		fb.X -= dir * half
	}
}

func (s *stepper) separate(a, b int) {
	fa, fb := &s.w.fighters[a], &s.w.fighters[b]
	over := s.kind(a).BodyHalf + s.kind(b).BodyHalf - (fa.X - fb.X).Abs()
	if over <= 0 {
		return
	}
	dir := Fixed((fb.X - fa.X).Sign()) // from a to b
	if dir == 0 {
		// Exactly on top of each other: each backs off from where it looks. Two that look the same way wait for one to move.
		if fa.Facing == fb.Facing {
			return
		}
		dir = Fixed(fa.Facing)
	}
	half := min((over+1)/2, s.rules.BodyPush)
	xa, xb := fa.X-dir*half, fb.X+dir*half
	fa.X, fb.X = s.inside(xa), s.inside(xb)
	lostA, lostB := (xa - fa.X).Abs(), (xb - fb.X).Abs()
	fa.X = s.inside(fa.X - dir*lostB)
	fb.X = s.inside(fb.X + dir*lostA)
}
