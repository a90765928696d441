package present

import (
	"backstep/sim"
	"backstep/sim/data"
)

// Code is what a fighter is in at a frame, as a frame meter shows it.
type Code uint8

// The codes. Frozen is a bit of its own: the fighter stands in hitstop.
const (
	Free Code = iota
	Startup
	Active
	Recovery
	Hitstun
	Blockstun
	Grounded // down or getting up
	Jump
	Landing
	Throwing
	Thrown
	Dash
	Launched
	Other
	codes
	Frozen Code = 0x80
)

var codeNames = [codes]string{"free", "startup", "active", "recovery", "hitstun", "blockstun", "down", "jump", "landing",
	"throwing", "thrown", "dash", "launched", "other"}

// Names lists the codes in order.
func Names() []string { return append([]string(nil), codeNames[:]...) }

func codeOf(f *sim.Fighter) Code {
	c := code(f)
	if f.HitstopFrames > 0 || f.HitlagFrames > 0 {
		c |= Frozen
	}
	return c
}

func code(f *sim.Fighter) Code {
	switch f.Action {
	case sim.Idle, sim.Crouch, sim.WalkForward, sim.WalkBack:
		return Free
	case sim.Attack:
		return moveCode(f)
	case sim.Blockstun:
		return Blockstun
	case sim.Hitstun, sim.Recoil, sim.Dazed:
		return Hitstun
	case sim.Launched:
		return Launched
	case sim.Down, sim.Wakeup, sim.Roll:
		return Grounded
	case sim.Airborne:
		return Jump
	case sim.PreJump, sim.Landing:
		return Landing
	case sim.DashForward, sim.DashBack:
		return Dash
	case sim.Throwing, sim.Pinning:
		return Throwing
	case sim.Thrown, sim.Pinned, sim.Prompted:
		return Thrown
	}
	return Other
}

func moveCode(f *sim.Fighter) Code {
	kind := data.Embedded().Fighter(f.ID)
	if kind == nil {
		return Other
	}
	m := kind.Move(f.Move)
	switch {
	case m == nil:
		return Other
	case f.AnimationFrame <= m.Startup:
		return Startup
	case f.AnimationFrame <= m.Startup+m.Active:
		return Active
	}
	return Recovery
}

// Actionable tells whether a fighter of this code could do something new.
func (c Code) Actionable() bool { return c == Free || c == Jump }
