package data

import "strings"

// parseContact reads what a contact does. A ground strike is described by the advantage it leaves on its first active frame;
// an air move, whose end depends on the landing, and a shot, whose way is long, by the stun itself.
func (m *Move) parseContact(s *section, feel []Hitstop) {
	name := s.text("hitstop", 40)
	found := false
	for _, h := range feel {
		if h.Name == name {
			m.Feel, found = h, true
		}
	}
	if e, ok := s.one("hitstop", true); ok && !found {
		s.fail(e.line, "hitstop: %q is not a row of %s", name, HitstopPath)
	}
	m.PushHit = s.decimal("push-hit", 0, 30, m.Guard != Grab)
	m.PushBlock = s.decimal("push-block", 0, 30, m.Guard != Grab)
	m.parseLaunch(s)
	if m.Guard == Grab {
		m.parseGrab(s)
		return
	}
	if m.From == Air || m.Shot.Spawn != 0 {
		m.Hitstun = s.integer("hitstun", 1, longest)
		m.Blockstun = s.integer("blockstun", 1, longest)
		for i := range m.Hits {
			m.Hits[i].Hitstun, m.Hits[i].Blockstun = m.Hitstun, m.Blockstun
		}
		return
	}
	stagger := m.staggers()
	if stagger {
		m.OnHit = s.integer("on-hit", -60, 60)
	}
	m.OnBlock = s.integer("on-block", -60, 60)
	for i := range m.Hits {
		// The attacker acts after Attacker + rest frames, the defender after Defender + Hitlag + stun: the difference is OnHit.
		w := &m.Hits[i]
		rest := m.Total - w.Start
		w.Hitstun = 1
		if stagger {
			w.Hitstun = m.OnHit + m.Feel.Attacker - m.Feel.Defender - m.Feel.Hitlag + rest
		}
		w.Blockstun = m.OnBlock + rest
		if w.Hitstun < 1 || w.Hitstun > longest {
			s.fail(s.line, "on-hit %d would need a hitstun of %d frames, outside 1…%d", m.OnHit, w.Hitstun, longest)
		}
		if w.Blockstun < 1 || w.Blockstun > longest {
			s.fail(s.line, "on-block %d would need a blockstun of %d frames, outside 1…%d", m.OnBlock, w.Blockstun, longest)
		}
	}
}

// staggers tells whether any part of the move leaves a fighter on its feet.
func (m *Move) staggers() bool {
	stagger := m.Reaction == Stagger
	for i := range m.Hits {
		stagger = stagger || m.Hits[i].Reaction == Stagger
		for _, k := range m.Hits[i].Keyframes {
			stagger = stagger || (k.Reacts && k.Reaction == Stagger)
		}
	}
	return stagger
}

// launches tells whether any part of the move takes a fighter off its feet.
func (m *Move) launches() bool {
	off := m.Reaction != Stagger
	for i := range m.Hits {
		off = off || m.Hits[i].Reaction != Stagger
		for _, k := range m.Hits[i].Keyframes {
			off = off || (k.Reacts && k.Reaction != Stagger)
		}
	}
	return off
}

// parseLaunch reads launch-x and launch-y. A launch may do without them; it then has the impulse of the ruleset.
func (m *Move) parseLaunch(s *section) {
	if !m.launches() {
		return
	}
	if m.Reaction == Launch && !s.stands("launch-x") && !s.stands("launch-y") {
		return
	}
	m.OwnLaunch = true
	m.LaunchX, m.LaunchY = s.decimal("launch-x", 0, 30, true), s.decimal("launch-y", 1, 30, true)
}

func (m *Move) parseGrab(s *section) {
	m.ThrowImpact = s.integer("throw-impact", 1, 60)
	m.ThrowTotal = s.integer("throw-total", 1, 120)
	m.ThrowBehind = s.word("throw-side", sideNames[:], false, 0) == 1
	if m.ThrowImpact >= m.ThrowTotal {
		s.fail(s.line, "throw-impact must lie before throw-total")
	}
	if m.From != Ground || m.Shot.Spawn != 0 || m.Chip != 0 {
		s.fail(s.line, "a grab starts on the ground and has no shot and no chip")
	}
	if m.Grounding() {
		return
	}
	if m.Reaction == Stagger {
		if m.Family != GrappleClinch {
			s.fail(s.line, "a grab that is no clinch launches or knocks down")
		}
		m.OnHit = s.integer("on-hit", -30, 60)
		m.Hitstun = max(1, m.OnHit+m.Feel.Attacker-m.Feel.Defender-m.Feel.Hitlag+m.ThrowTotal-m.ThrowImpact)
	}
}

// parseCancels reads cancel, kara and tag-cancel.
func (m *Move) parseCancels(s *section) {
	for _, e := range s.all("cancel") {
		f := strings.Fields(e.value)
		c := Cancel{Span: s.span(e.line, "cancel", f[0], m.Total)}
		for _, w := range f[1:] {
			if i := indexOf(whenNames[:], w); i >= 0 {
				c.When = When(i)
				continue
			}
			bit := uint8(1) << s.among(e.line, "cancel", w, buttonNames[:])
			if c.Into&bit != 0 {
				s.fail(e.line, "cancel: %s stands twice", w)
			}
			c.Into |= bit
		}
		if c.Into == 0 {
			s.fail(e.line, "cancel: want frames and at least one of %s", strings.Join(buttonNames[:], ", "))
		}
		m.Cancels, m.CancelInto = append(m.Cancels, c), m.CancelInto|c.Into
	}
	if len(m.Cancels) > 3 {
		s.fail(s.line, "%d cancel windows, more than 3", len(m.Cancels))
	}
	if e, ok := s.one("kara", false); ok {
		for _, w := range strings.Fields(e.value) {
			m.Kara |= 1 << s.among(e.line, "kara", w, buttonNames[:])
		}
	}
	m.TagCancel = s.spanOr("tag-cancel", m.Total)
}

func indexOf(words []string, w string) int {
	for i := range words {
		if words[i] == w {
			return i
		}
	}
	return -1
}

// parseGuards reads invincible, armor and power-crush.
func (m *Move) parseGuards(s *section) {
	if e, ok := s.one("invincible", false); ok {
		f := strings.Fields(e.value)
		m.Invincible = s.span(e.line, "invincible", f[0], m.Total)
		for _, w := range f[1:] {
			switch k := s.among(e.line, "invincible", w, kindsNames[:]); k {
			case 3:
				m.Refuses |= AgainstAll
			default:
				m.Refuses |= 1 << k
			}
		}
		if m.Refuses == 0 {
			s.fail(e.line, "invincible: want frames and at least one of %s", strings.Join(kindsNames[:], ", "))
		}
	}
	if e, ok := s.one("armor", false); ok {
		f := strings.Fields(e.value)
		if len(f) != 2 {
			s.fail(e.line, "armor: want frames and the number of hits it takes")
			return
		}
		m.Armor = s.span(e.line, "armor", f[0], m.Total)
		m.ArmorHits = uint8(s.int(e.line, "armor", f[1], 1, 9))
	}
	m.PowerCrush = s.spanOr("power-crush", m.Total)
}
