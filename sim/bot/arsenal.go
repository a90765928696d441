package bot

import (
	"backstep/sim"
	"backstep/sim/data"
)

// arsenal is what a player knows of its fighter's moves.
type arsenal struct {
	kind *data.Fighter
	foe  *data.Fighter
	// reach of ground moves by id: how far from the feet they touch, in centimetres; 0 for shots and air moves
	reach   [65]sim.Fixed
	longest sim.Fixed // reach of the longest normal
	zoner   bool      // has a shot from the ground
}

func (a *arsenal) learn(me, foe sim.FighterID) {
	r := data.Embedded()
	if a.kind != nil && a.kind.ID == me && a.foe.ID == foe {
		return
	}
	*a = arsenal{kind: r.Fighter(me), foe: r.Fighter(foe)}
	for id := data.MoveID(1); int(id) <= a.kind.Moves(); id++ {
		m := a.kind.Move(id)
		if m.From != data.Ground {
			continue
		}
		if m.Shot.Spawn != 0 {
			a.zoner = true
			continue
		}
		a.reach[id] = reach(m)
		if m.Button <= data.Heavy {
			a.longest = max(a.longest, a.reach[id])
		}
	}
}

// reach gives how far a move touches on its first active frame.
func reach(m *data.Move) sim.Fixed {
	var moved sim.Fixed
	for f := int32(1); f <= m.Hits[0].Start; f++ {
		vx, _, _ := m.Speed(f)
		moved += vx
	}
	return m.Hits[0].X + m.Hits[0].HW + moved
}

// threat gives how far an attack of the opponent may touch while it lasts.
func (a *arsenal) threat(id data.MoveID) sim.Fixed {
	m := a.foe.Move(id)
	if m == nil || len(m.Hits) == 0 {
		return 0
	}
	return reach(m) + sim.Fixed(40<<16)
}

// touches tells whether a ground move reaches an opponent at a distance between the feet.
func (a *arsenal) touches(m *data.Move, distance sim.Fixed) bool {
	return m != nil && a.reach[m.ID] > 0 && a.reach[m.ID]+a.foe.StandBox.HW-sim.Fixed(4<<16) >= distance
}

// word gives the word for a move, holding what it asks for. ahead is the bit of the direction toward the opponent.
func word(m *data.Move, ahead uint16) uint16 {
	w := sim.LightBit << m.Button
	switch m.Direction {
	case data.Forward:
		w |= ahead
	case data.Back:
		w |= ahead ^ (sim.LeftBit | sim.RightBit)
	case data.Down:
		w |= sim.DownBit
	}
	return w
}
