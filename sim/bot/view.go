package bot

import (
	"backstep/sim"
	"backstep/sim/data"
)

// view is what the screen shows of the opponent in a frame.
type view struct {
	x, y, vy   sim.Fixed
	action     sim.Action
	move       data.MoveID
	frame      int32 // how far its animation has come
	began      int32 // which attack this is: the frame it began on
	health     int32 // percent
	shotX      sim.Fixed
	shotVX     sim.Fixed
	shot       bool
	shotBegan  int32 // which shot this is
	shotComing bool  // toward the bot's side of it
}

// memory is how many frames a bot remembers, more than any reaction delay.
const memory = 32

// eyes keep the last views.
type eyes struct {
	ring [memory]view
	n    int
	shot int32
}

// look takes in the opponent of slot me.
func (e *eyes) look(w *sim.World, me, foe *sim.Fighter) {
	v := view{x: foe.X, y: foe.Y, vy: foe.VY, action: foe.Action, frame: foe.AnimationFrame,
		health: foe.Health * 100 / max(1, foe.MaxHealth)}
	if foe.Action == sim.Attack || foe.Action == sim.Throwing {
		v.move, v.began = foe.Move, foe.MoveStart
	}
	for _, s := range foe.Shots {
		if s.Life > 0 {
			if last := e.back(1); !last.shot {
				e.shot = w.Frame()
			}
			v.shot, v.shotX, v.shotVX, v.shotBegan = true, s.X, s.VX, e.shot
			v.shotComing = (s.VX > 0) == (me.X > s.X)
		}
	}
	e.ring[e.n%memory] = v
	e.n++
}

// back gives the view of so many frames ago, the oldest there is if the memory does not reach that far.
func (e *eyes) back(frames int) view {
	if e.n == 0 {
		return view{}
	}
	return e.ring[(e.n-1-min(frames, e.n-1, memory-1))%memory]
}
