package bot

import (
	"backstep/sim"
	"backstep/sim/data"
)

// known is what a player knows of one of its moves.
type known struct {
	m     *data.Move
	reach sim.Fixed // how far from the feet it touches on its first active frame, 0 for shots and moves that touch nobody
	top   sim.Fixed // how high
}

// most is more than the moves a fighter can have.
const most = 65

// arsenal is what a player knows of the two fighters that face each other under the rules of the match.
type arsenal struct {
	kind, foe *data.Fighter
	rules     sim.Ruleset
	format    sim.Format
	list      [most]known // moves that can be commanded
	n         int
	reserved  uint8     // bits 1<<button of what belongs to tag play
	longest   sim.Fixed // reach of the longest normal
	shortest  sim.Fixed // reach of the shortest
	zoner     bool      // has a shot from the ground
	grappler  bool      // has a grab besides its throws
	stances   bool
}

func (a *arsenal) learn(w *sim.World, me, foe sim.FighterID) {
	if a.kind != nil && a.kind.ID == me && a.foe.ID == foe {
		return
	}
	c := w.Config()
	r := data.Embedded()
	*a = arsenal{kind: r.Fighter(me), foe: r.Fighter(foe), rules: c.Ruleset, format: c.Format}
	if c.Format != sim.Format1v1 {
		a.reserved = 1 << data.Assist
	}
	a.stances = len(a.kind.Stances) > 0
	a.shortest = sim.Fixed(600 << 16)
	for id := data.MoveID(1); int(id) <= a.kind.Moves(); id++ {
		m := a.kind.Move(id)
		if a.kind.CommandIn(a.rules, m.In, m.From, m.Button, m.Direction) != id || a.reserved>>m.Button&1 != 0 || m.Family == data.AssistCall {
			continue
		}
		k := known{m: m}
		if len(m.Hits) > 0 {
			k.reach, k.top = reach(m), m.Hits[0].Y+m.Hits[0].HH
		}
		if m.From == data.Ground && m.In == 0 {
			switch {
			case m.Shot.Spawn != 0:
				a.zoner = true
			case m.Guard == data.Grab && m.Button == data.Special:
				a.grappler = true
			case m.Button <= data.Heavy && m.Guard != data.Grab && k.reach > 0:
				a.longest, a.shortest = max(a.longest, k.reach), min(a.shortest, k.reach)
			}
		}
		a.list[a.n] = k
		a.n++
	}
}

// reach gives how far a move touches on its first active frame.
func reach(m *data.Move) sim.Fixed {
	if len(m.Hits) == 0 {
		return 0
	}
	var moved sim.Fixed
	for f := int32(1); f <= m.Hits[0].Start; f++ {
		vx, _, _ := m.Speed(f)
		moved += vx
	}
	return m.Hits[0].X + m.Hits[0].HW + moved
}

// threat gives how far an attack of the opponent may touch while it lasts.
func (a *arsenal) threat(m *data.Move) sim.Fixed {
	if m == nil || len(m.Hits) == 0 {
		return 0
	}
	return reach(m) + cm(40)
}

// touches tells whether a move reaches an opponent at a distance between the feet.
func (a *arsenal) touches(k *known, distance sim.Fixed) bool {
	return k.reach > 0 && k.reach+a.foe.StandBox.HW-cm(4) >= distance
}

// affords tells whether a fighter has what a move costs and needs.
func (a *arsenal) affords(f *sim.Fighter, m *data.Move) bool {
	c := &m.Costs
	if f.SuperMeter < m.Cost || f.Drive < c.Drive || (c.Drive > 0 && f.Burnout != 0) || f.Stamina < c.Stamina || f.MKStamina < c.MKStamina ||
		f.Hype < c.Hype || f.Heat < c.Heat || (m.Shot.Spawn != 0 && f.Shots[0].Life != 0) {
		return false
	}
	n := &m.Needs
	switch {
	case n.Heat && f.Mechanics.Heat == 0, n.Rage && f.Mechanics.Rage == 0, n.SoulCharge && f.Mechanics.SoulCharge == 0:
		return false
	case n.Once && f.Used>>(m.ID&63)&1 != 0:
		return false
	case n.LowHealth:
		return f.Health*100 < f.MaxHealth*data.Embedded().Ruleset(a.rules).FatalShare
	}
	return true
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

// cm gives whole centimetres.
func cm(n int) sim.Fixed { return sim.Fixed(n << 16) }
