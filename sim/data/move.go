package data

import (
	"math/bits"
	"strings"

	"backstep/sim/fixed"
)

var (
	buttonNames    = [Buttons]string{"light", "medium", "heavy", "special", "throw", "assist", "stance", "super"}
	directionNames = [Directions]string{"neutral", "forward", "back", "down"}
	fromNames      = [2]string{"ground", "air"}
	guardNames     = [...]string{"mid", "high", "low", "unblockable", "grab"}
	reactionNames  = [...]string{"stagger", "launch", "knockdown"}
	kindNames      = [...]string{"strike", "throw", "projectile", "all"}
	sideNames      = [...]string{"front", "behind"}
	familyNames    = [Families]string{"strike", "throw", "grounded-special", "air-special", "projectile", "assist-call", "super",
		"grapple-clinch", "grapple-takedown", "grapple-pin", "grapple-submission", "cinematic-finisher"}
)

// longest is the most frames a move may take, and the longest stun.
const longest = 180

func parseMove(s *section, feel []Hitstop) Move {
	m := Move{Key: s.name}
	m.Name = s.text("name", 40)
	m.Button = Button(s.word("button", buttonNames[:], true, 0))
	m.Direction = Direction(s.word("direction", directionNames[:], false, uint8(Neutral)))
	m.From = From(s.word("from", fromNames[:], false, uint8(Ground)))
	m.Family = Family(s.word("family", familyNames[:], true, 0))
	m.Class = 1 << m.Button

	m.Startup = s.integer("startup", 1, 60)
	m.Active = s.integer("active", 1, 60)
	m.Recovery = s.integer("recovery", 1, 120)
	m.Total = m.Startup + m.Active + m.Recovery
	if m.Total > longest {
		s.fail(s.line, "startup, active and recovery add up to %d frames, more than %d", m.Total, longest)
	}
	m.GapToFollowup = s.optional("gap", 0, 60, 0)
	if m.From == Air {
		m.Landing = s.integer("landing", 1, 60)
	}
	m.Damage = s.integer("damage", 1, 1000)
	m.Chip = s.optional("chip", 0, 200, 0)
	m.Guard = Guard(s.word("guard", guardNames[:], true, 0))
	m.Reaction = Reaction(s.word("reaction", reactionNames[:], false, uint8(Stagger)))
	m.Starter = s.word("starter", starterNames[:], true, 0)
	m.Juggle = s.parts("juggle", Unit, 1, 12, false)
	m.Gain = s.optional("gain", 0, 500, 0)
	m.Cost = s.optional("cost", 0, 3000, 0)
	m.Freeze = s.optional("freeze", 0, 60, 0)
	m.Crouches = s.word("posture", []string{"standing", "crouching"}, false, 0) == 1

	m.parseWindows(s)
	m.parseShot(s)
	m.parseContact(s, feel)
	return m
}

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
	if m.Reaction != Stagger {
		m.LaunchX, m.LaunchY = s.decimal("launch-x", 0, 30, true), s.decimal("launch-y", 1, 30, true)
	}
	if m.Guard == Grab {
		m.ThrowImpact = s.integer("throw-impact", 1, 60)
		m.ThrowTotal = s.integer("throw-total", 1, 120)
		m.ThrowBehind = s.word("throw-side", sideNames[:], false, 0) == 1
		if m.ThrowImpact >= m.ThrowTotal {
			s.fail(s.line, "throw-impact must lie before throw-total")
		}
		if m.Reaction == Stagger || m.From != Ground || m.Shot.Spawn != 0 || m.Chip != 0 {
			s.fail(s.line, "a grab starts on the ground, has no shot and no chip, and launches or knocks down")
		}
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
	if m.Reaction == Stagger {
		m.OnHit = s.integer("on-hit", -60, 60)
	}
	m.OnBlock = s.integer("on-block", -60, 60)
	for i := range m.Hits {
		// The attacker acts after Attacker + rest frames, the defender after Defender + Hitlag + stun: the difference is OnHit.
		w := &m.Hits[i]
		rest := m.Total - w.Start
		w.Hitstun = 1
		if m.Reaction == Stagger {
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

func (m *Move) parseWindows(s *section) {
	for _, e := range s.all("hit") {
		f := strings.Fields(e.value)
		if len(f) < 5 {
			s.fail(e.line, "hit: want frames x y half-width half-height, then damage N and priority N if they differ")
			return
		}
		w := Window{Span: s.span(e.line, "hit", f[0], m.Total), Box: s.box(e, f[1:5]), Damage: m.Damage, Priority: 1}
		for rest := f[5:]; len(rest) > 0; rest = rest[2:] {
			if len(rest) < 2 {
				s.fail(e.line, "hit: %q has no value", rest[0])
				return
			}
			switch rest[0] {
			case "damage":
				w.Damage = s.int(e.line, "damage", rest[1], 1, 1000)
			case "priority":
				w.Priority = uint8(s.int(e.line, "priority", rest[1], 0, 9))
			default:
				s.fail(e.line, "hit: %q is neither damage nor priority", rest[0])
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
	for _, e := range s.all("hurt") {
		f := strings.Fields(e.value)
		if len(f) != 5 {
			s.fail(e.line, "hurt: want frames x y half-width half-height")
			return
		}
		m.Hurts = append(m.Hurts, Hurt{s.span(e.line, "hurt", f[0], m.Total), s.box(e, f[1:])})
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
		if q[1] != 0 && m.From == Ground {
			s.fail(e.line, "motion: a move from the ground cannot leave it")
		}
	}
	if len(m.Motions) > 4 {
		s.fail(s.line, "%d motions, more than 4", len(m.Motions))
	}
	if e, ok := s.one("cancel", false); ok {
		f := strings.Fields(e.value)
		m.Cancel = s.span(e.line, "cancel", f[0], m.Total)
		for _, w := range f[1:] {
			bit := uint8(1) << s.among(e.line, "cancel", w, buttonNames[:])
			if m.CancelInto&bit != 0 {
				s.fail(e.line, "cancel: %s stands twice", w)
			}
			m.CancelInto |= bit
		}
		if m.CancelInto == 0 {
			s.fail(e.line, "cancel: want frames and at least one of %s", strings.Join(buttonNames[:], ", "))
		}
	}
	if e, ok := s.one("invincible", false); ok {
		f := strings.Fields(e.value)
		m.Invincible = s.span(e.line, "invincible", f[0], m.Total)
		for _, w := range f[1:] {
			switch k := s.among(e.line, "invincible", w, kindNames[:]); k {
			case 3:
				m.Refuses |= AgainstAll
			default:
				m.Refuses |= 1 << k
			}
		}
		if m.Refuses == 0 {
			s.fail(e.line, "invincible: want frames and at least one of %s", strings.Join(kindNames[:], ", "))
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

// HasCompleteFrameData tells whether a move has what the simulation needs to run it: a name, a window of at least one frame
// each, at least one hit or shot inside it, damage, a hitstop row, and for a ground strike a stun that follows from its
// advantage. Load accepts no move without it.
func (m *Move) HasCompleteFrameData() bool {
	if m.Key == "" || m.Name == "" || m.Startup < 1 || m.Active < 1 || m.Recovery < 1 || m.Damage < 1 || m.Feel.Name == "" {
		return false
	}
	if m.Total != m.Startup+m.Active+m.Recovery || bits.OnesCount8(m.Class) != 1 || (len(m.Hits) == 0) == (m.Shot.Spawn == 0) {
		return false
	}
	for _, w := range m.Hits {
		if w.Start < 1 || w.End < w.Start || (m.Guard != Grab && (w.Hitstun < 1 || w.Blockstun < 1)) {
			return false
		}
	}
	return m.Shot.Spawn == 0 || (m.Hitstun > 0 && m.Blockstun > 0)
}

// Speed gives the speed the move prescribes on a frame, X forward, and whether it prescribes one.
func (m *Move) Speed(frame int32) (vx, vy fixed.Q, ok bool) {
	for i := range m.Motions {
		if m.Motions[i].Holds(frame) {
			return m.Motions[i].VX, m.Motions[i].VY, true
		}
	}
	return 0, 0, false
}
