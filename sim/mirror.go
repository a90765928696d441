package sim

// Mirror gives the world seen in a mirror: sides change places, everything along the stage changes sign. A world that is mirrored
// and stepped with the players' mirrored words exchanged is the mirror of the world stepped: no side is favoured. What the last
// step reported is left out.
func (w *World) Mirror() World {
	n := World{state: w.state}
	for i := 0; i+1 < int(w.count); i += 2 {
		n.fighters[i], n.fighters[i+1] = w.fighters[i+1].mirror(), w.fighters[i].mirror()
	}
	n.active = w.active&0b010101<<1 | w.active>>1&0b010101
	n.point = [2]uint8{w.point[1] ^ 1, w.point[0] ^ 1}
	n.teams[0], n.teams[1] = w.teams[1].mirror(), w.teams[0].mirror()
	m := &n.match
	m.Score[0], m.Score[1] = m.Score[1], m.Score[0]
	m.Fallen = m.Fallen&1<<1 | m.Fallen>>1
	if m.Owner != m.Target {
		m.Owner, m.Target = m.Owner^1, m.Target^1
	}
	m.Wins[0], m.Wins[1] = m.Wins[1], m.Wins[0]
	m.RoundWinner, m.MatchWinner = m.RoundWinner.mirror(), m.MatchWinner.mirror()
	return n
}

func (o Winner) mirror() Winner {
	switch o {
	case HostWins:
		return JoinWins
	case JoinWins:
		return HostWins
	}
	return o
}

func (f Fighter) mirror() Fighter {
	f.X, f.VX, f.Push = -f.X, -f.VX, -f.Push
	f.Facing, f.JumpDir, f.TapDir = -f.Facing, -f.JumpDir, -f.TapDir
	f.RollDir = -f.RollDir
	if f.Action.grips() {
		f.Partner ^= 1
	}
	for i, e := range f.Buffer {
		f.Buffer[i] = e&^(entryDash|0b1100<<entryShift) | e&(1<<10)<<1 | e&(1<<11)>>1 | e&(1<<12)<<1 | e&(1<<13)>>1
	}
	for i, key := range f.Registry {
		if key != 0 {
			f.Registry[i] = key ^ (1<<56 | 1<<48)
		}
	}
	for i := range f.Shots {
		p := &f.Shots[i]
		p.X, p.VX, p.Facing = -p.X, -p.VX, -p.Facing
	}
	return f
}

func (t Team) mirror() Team {
	if t.Phase != TagIdle {
		t.To ^= 1
	}
	return t
}

// MirrorWord exchanges left and right in an input word.
func MirrorWord(word uint16) uint16 {
	return word&^(LeftBit|RightBit) | word&LeftBit<<1 | word&RightBit>>1
}
