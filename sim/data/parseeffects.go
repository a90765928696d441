package data

import "strings"

var (
	needNames     = [...]string{"heat", "rage", "soul-charge", "low-health", "once"}
	krushingNames = [...]string{"", "counter", "combo", "low-health"}
)

// parseEffects reads costs, gains, needs and effects.
func (m *Move) parseEffects(s *section, b *book) {
	m.Costs = Costs{Drive: s.optional("drive", 0, 10000, 0), Stamina: s.optional("stamina", 0, 10000, 0),
		MKStamina: s.optional("mk-stamina", 0, 10000, 0), Hype: s.optional("hype", 0, 10000, 0), Heat: s.optional("heat", 0, 10000, 0)}
	m.Gains = Gains{Heat: s.optional("heat-gain", 0, 1000, 0), Hype: s.optional("hype-gain", 0, 1000, 0), Stun: s.optional("stun", 0, 1000, 0),
		Limb: s.optional("limb-damage", 0, 1000, 0), Drain: s.optional("stamina-drain", 0, 1000, 0), Skill: s.optional("skill-gain", 0, Unit, 0)}
	if e, ok := s.one("need", false); ok {
		for _, w := range strings.Fields(e.value) {
			switch s.among(e.line, "need", w, needNames[:]) {
			case 0:
				m.Needs.Heat = true
			case 1:
				m.Needs.Rage = true
			case 2:
				m.Needs.SoulCharge = true
			case 3:
				m.Needs.LowHealth = true
			case 4:
				m.Needs.Once = true
			}
		}
	}
	m.Effects = Effects{Enters: b.stance(s, "enters"), KiCharge: s.optional("ki-charge", 0, 3600, 0), HeatBurst: s.yes("heat-burst"),
		HeatEngage: s.yes("heat-engage"), HeatSmash: s.yes("heat-smash"), SoulCharge: s.yes("soul-charge"),
		CriticalEdge: s.optional("critical-edge", 0, 120, 0), ReversalEdge: s.yes("reversal-edge"), Snapback: s.yes("snapback"),
		Down: s.optional("down", 0, 120, 0)}
	if m.Effects.HeatSmash && !m.Needs.Heat {
		s.fail(s.line, "heat-smash needs need = heat")
	}
}

// parseKrushing reads "CONDITION FREEZE SEQUENCE".
func (m *Move) parseKrushing(s *section) {
	e, ok := s.one("krushing-blow", false)
	if !ok {
		return
	}
	f := strings.Fields(e.value)
	if len(f) != 3 {
		s.fail(e.line, "krushing-blow: want a condition, frames of freeze and the number of a sequence")
		return
	}
	m.Krushing = Krushing{When: KrushingCondition(s.among(e.line, "krushing-blow", f[0], krushingNames[1:]) + 1),
		Freeze: s.int(e.line, "krushing-blow", f[1], 1, 60), Sequence: uint8(s.int(e.line, "krushing-blow", f[2], 1, 255))}
}

// yes reads an optional yes or no.
func (s *section) yes(key string) bool { return s.word(key, []string{"no", "yes"}, false, 0) == 1 }

// stands tells whether a key stands, without taking it.
func (s *section) stands(key string) bool {
	for i := range s.entries {
		if s.entries[i].key == key {
			return true
		}
	}
	return false
}

// spanOr reads an optional span.
func (s *section) spanOr(key string, last int32) Span {
	e, ok := s.one(key, false)
	if !ok {
		return Span{}
	}
	return s.span(e.line, key, e.value, last)
}

// rules reads names of rulesets as bits; without the key it is all of them.
func (s *section) rules(key string) uint16 {
	e, ok := s.one(key, false)
	if !ok {
		return 1<<RulesCount - 1
	}
	var mask uint16
	for _, w := range strings.Fields(e.value) {
		mask |= 1 << s.among(e.line, key, w, rulesNames[:])
	}
	return mask
}
