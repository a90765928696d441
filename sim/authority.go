package sim

import (
	"fmt"

	"backstep/sim/data"
)

// Authority says who decides what a hit does (ABIL-01).
type Authority uint8

// The authorities. Under Rollback every machine runs the same simulation and nobody is asked; under ClientServer the host runs it
// and authorises what clients ask for.
const (
	Rollback Authority = iota
	ClientServer
)

// PredictionWindow is how many frames behind or ahead of the host a client's request may be.
const PredictionWindow = 8

// Activation is what a client asks its host for under ClientServer: the move its input stands for, and the frame it predicted.
type Activation struct {
	Slot  uint8
	Tag   data.Tag // of the move, under Action
	Move  data.MoveID
	Frame int32
}

// Authorise judges an activation on the host's world and gives the authoritative one: the same move on the frame after the
// world's (ABIL-03). It is refused under Rollback, where the simulation alone decides (ABIL-02), outside the prediction window,
// when tag and move do not belong together, and when the fighter could not begin the move. The error wraps ErrRefused and says why.
func (w *World) Authorise(by Authority, a Activation) (Activation, error) {
	return w.authorise(data.Embedded(), by, a)
}

func (w *World) authorise(r *data.Roster, by Authority, a Activation) (Activation, error) {
	if by != ClientServer {
		return Activation{}, fmt.Errorf("%w: under rollback the simulation alone decides", ErrRefused)
	}
	if d := a.Frame - w.frame; d < -PredictionWindow || d > PredictionWindow {
		return Activation{}, fmt.Errorf("%w: frame %d is more than %d from %d", ErrRefused, a.Frame, PredictionWindow, w.frame)
	}
	if err := w.canActivate(r, int(a.Slot), a.Move); err != nil {
		return Activation{}, err
	}
	if m := r.Fighter(w.fighters[a.Slot].ID).Move(a.Move); m.Tag != a.Tag {
		return Activation{}, fmt.Errorf("%w: %s is %s, not %s", ErrRefused, m.Name, r.Tags.Name(m.Tag), r.Tags.Name(a.Tag))
	}
	if !w.obeys(r.Ruleset(w.ruleset), Side(int(a.Slot))) || !w.Active(int(a.Slot)) {
		return Activation{}, fmt.Errorf("%w: the fighter does not obey its player now", ErrRefused)
	}
	a.Frame = w.frame + 1
	return a, nil
}
