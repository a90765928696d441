package match

import (
	"backstep/rollback"
	"backstep/sim"
)

// World is the state the session rolls back.
type World = sim.World

// game plugs the sim into the session: the two rooms do not know each other.
type game struct{}

var (
	_ rollback.Game[World, uint16]         = game{}
	_ rollback.Equivalenter[World, uint16] = game{}
	_ rollback.Equaler[World]              = game{}
	_ rollback.Freer[World]                = game{}
	_ rollback.Cosmetics[World]            = game{}
)

// game is what the session drives; a test may put one with a flaw in its place.
func (l *Loop) game() rollback.Game[World, uint16] {
	if l.cfg.flawed != nil {
		return l.cfg.flawed
	}
	return game{}
}

func (game) Step(w *World, in []rollback.Input[uint16], p rollback.Policy) {
	var words [rollback.MaxPlayers]sim.Input
	for i, x := range in {
		words[i] = sim.Input(x)
	}
	w.Step(words[:len(in)], sim.Policy(p))
}

func (game) Hash(w *World) uint64 { return w.Hash() }

func (game) Equivalent(w *World, player int, old, new rollback.Input[uint16]) bool {
	return w.Equivalent(player, sim.Input(old), sim.Input(new))
}

func (game) Equal(a, b *World) bool { return a.Equal(b) }

func (game) Free(w *World) bool { return w.Free() }

func (game) Events(w *World, dst []uint64) []uint64 {
	for _, e := range w.Events() {
		dst = append(dst, e.ID())
	}
	return dst
}
