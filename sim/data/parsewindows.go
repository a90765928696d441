package data

import "strings"

// parseWindows reads hit, also and keyframe.
func (m *Move) parseWindows(s *section) {
	for _, e := range s.all("hit") {
		f := strings.Fields(e.value)
		w := Window{Span: s.span(e.line, "hit", f[0], m.Total), Damage: m.Damage, Priority: 1, Reaction: m.Reaction}
		var rest []string
		w.Shape, rest = s.shape(e, f[1:])
		for ; len(rest) > 0; rest = rest[2:] {
			if len(rest) < 2 {
				s.fail(e.line, "hit: %q has no value", rest[0])
				return
			}
			switch rest[0] {
			case "damage":
				w.Damage = s.int(e.line, "damage", rest[1], 1, 1000)
			case "priority":
				w.Priority = uint8(s.int(e.line, "priority", rest[1], 0, 9))
			case "reaction":
				w.Reaction = Reaction(s.among(e.line, "reaction", rest[1], reactionNames[:]))
			default:
				s.fail(e.line, "hit: %q is neither damage nor priority nor reaction", rest[0])
				return
			}
		}
		m.Hits = append(m.Hits, w)
	}
	if len(m.Hits) > MaxWindows {
		s.fail(s.line, "%d hit windows, more than %d", len(m.Hits), MaxWindows)
	}
	for i, w := range m.Hits {
		if w.Start <= m.Startup || w.End > m.Startup+m.Active {
			s.fail(s.line, "hit window %d-%d lies outside the active frames %d-%d", w.Start, w.End, m.Startup+1, m.Startup+m.Active)
		}
		if i > 0 && w.Start <= m.Hits[i-1].End {
			s.fail(s.line, "hit window %d-%d starts before the one above it ends", w.Start, w.End)
		}
	}
	if n := len(m.Hits); n > 0 && (m.Hits[0].Start != m.Startup+1 || m.Hits[n-1].End != m.Startup+m.Active) {
		s.fail(s.line, "the hit windows must begin and end with the active frames %d-%d", m.Startup+1, m.Startup+m.Active)
	}
	for _, e := range s.all("also") {
		if w, f := m.window(s, e); w != nil {
			shape, rest := s.shape(e, f)
			if len(rest) > 0 {
				s.fail(e.line, "also: %q after the shape", rest[0])
			}
			if w.More = append(w.More, shape); len(w.More) > 3 {
				s.fail(e.line, "also: more than four shapes in a window")
			}
		}
	}
	for _, e := range s.all("keyframe") {
		if w, f := m.window(s, e); w != nil {
			m.parseKeyframe(s, e, w, f)
		}
	}
}

// window reads the number of a hit window off the front of an entry.
func (m *Move) window(s *section, e entry) (*Window, []string) {
	f := strings.Fields(e.value)
	if len(m.Hits) == 0 {
		s.fail(e.line, "%s: there is no hit", e.key)
		return nil, nil
	}
	n := s.int(e.line, e.key, f[0], 1, int32(len(m.Hits)))
	return &m.Hits[n-1], f[1:]
}

func (m *Move) parseKeyframe(s *section, e entry, w *Window, f []string) {
	if len(f) == 0 {
		s.fail(e.line, "keyframe: want the number of the hit, a frame, then a shape, damage N or reaction R")
		return
	}
	k := Keyframe{Frame: s.int(e.line, "keyframe", f[0], w.Start, w.End)}
	if n := len(w.Keyframes); n > 0 && w.Keyframes[n-1].Frame >= k.Frame {
		s.fail(e.line, "keyframe: frame %d must come after frame %d", k.Frame, w.Keyframes[n-1].Frame)
	}
	if n := len(w.Keyframes); n > 0 {
		last := w.Keyframes[n-1]
		k.Moves, k.Shape, k.Damage, k.Reacts, k.Reaction = last.Moves, last.Shape, last.Damage, last.Reacts, last.Reaction
	}
	f = f[1:]
	if len(f) == 0 {
		s.fail(e.line, "keyframe: it changes nothing")
	}
	for len(f) > 0 {
		switch {
		case f[0] == "damage" && len(f) > 1:
			k.Damage, f = s.int(e.line, "damage", f[1], 1, 1000), f[2:]
		case f[0] == "reaction" && len(f) > 1:
			k.Reaction, k.Reacts, f = Reaction(s.among(e.line, "reaction", f[1], reactionNames[:])), true, f[2:]
		default:
			k.Shape, f = s.shape(e, f)
			k.Moves = true
			if s.err != nil {
				return
			}
		}
	}
	if w.Keyframes = append(w.Keyframes, k); len(w.Keyframes) > 8 {
		s.fail(e.line, "keyframe: more than eight in a window")
	}
}

// parseBodies reads hurt and motion.
func (m *Move) parseBodies(s *section) {
	for _, e := range s.all("hurt") {
		f := strings.Fields(e.value)
		shape, rest := s.shape(e, f[1:])
		if len(rest) > 0 {
			s.fail(e.line, "hurt: %q after the shape", rest[0])
		}
		m.Hurts = append(m.Hurts, Hurt{s.span(e.line, "hurt", f[0], m.Total), shape})
	}
	if len(m.Hurts) > 4 {
		s.fail(s.line, "%d hurt boxes, more than 4", len(m.Hurts))
	}
	for _, e := range s.all("motion") {
		f := strings.Fields(e.value)
		if len(f) != 3 {
			s.fail(e.line, "motion: want frames and two speeds, forward and up")
			return
		}
		q := s.fixes(e, f[1:], -30, 30)
		m.Motions = append(m.Motions, Motion{s.span(e.line, "motion", f[0], m.Total), q[0], q[1]})
		if q[1] != 0 && m.From != Air {
			s.fail(e.line, "motion: a move from the ground cannot leave it")
		}
	}
	if len(m.Motions) > 4 {
		s.fail(s.line, "%d motions, more than 4", len(m.Motions))
	}
}

func (m *Move) parseShot(s *section) {
	e, ok := s.one("shot", false)
	if !ok {
		if len(m.Hits) == 0 {
			s.fail(s.line, "there is neither a hit nor a shot")
		}
		return
	}
	f := strings.Fields(e.value)
	if len(f) != 9 {
		s.fail(e.line, "shot: want frame x y half-width half-height forward-speed up-speed life durability")
		return
	}
	m.Shot.Spawn = s.int(e.line, "shot", f[0], m.Startup+1, m.Startup+m.Active)
	m.Shot.Box = s.box(e, f[1:5])
	v := s.fixes(e, f[5:7], -30, 30)
	m.Shot.VX, m.Shot.VY = v[0], v[1]
	m.Shot.Life = s.int(e.line, "shot", f[7], 1, 600)
	m.Shot.Durability = uint8(s.int(e.line, "shot", f[8], 1, 9))
	m.Shot.Class = uint8(s.integer("shot-class", 0, 7))
	c, ok := s.one("shot-clash", true)
	if ok && c.value != "none" {
		for _, w := range strings.Fields(c.value) {
			m.Shot.Clash |= 1 << s.int(c.line, "shot-clash", w, 0, 7)
		}
	}
	if len(m.Hits) > 0 {
		s.fail(e.line, "a move has either hits or a shot")
	}
}
