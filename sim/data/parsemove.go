package data

import "strings"

var (
	buttonNames    = [Buttons]string{"light", "medium", "heavy", "special", "throw", "assist", "stance", "super"}
	directionNames = [Directions]string{"neutral", "forward", "back", "down"}
	fromNames      = [Froms]string{"ground", "air", "rise"}
	guardNames     = [...]string{"mid", "high", "low", "unblockable", "grab"}
	reactionNames  = [...]string{"stagger", "launch", "knockdown"}
	kindsNames     = [...]string{"strike", "throw", "projectile", "all"}
	sideNames      = [...]string{"front", "behind"}
	whenNames      = [...]string{"on-contact", "on-hit", "on-block", "always"}
	familyNames    = [Families]string{"strike", "throw", "grounded-special", "air-special", "projectile", "assist-call", "super",
		"grapple-clinch", "grapple-takedown", "grapple-pin", "grapple-submission", "cinematic-finisher"}
)

// longest is the most frames a move may take, and the longest stun.
const longest = 180

// book is what a move may refer to.
type book struct {
	feel    []Hitstop
	tags    *Tags
	stances []StanceKind
}

func parseMove(s *section, b *book) Move {
	m := Move{Key: s.name}
	m.Name = s.text("name", 40)
	m.Button = Button(s.word("button", buttonNames[:], true, 0))
	m.Direction = Direction(s.word("direction", directionNames[:], false, uint8(Neutral)))
	m.From = From(s.word("from", fromNames[:], false, uint8(Ground)))
	m.Family = Family(s.word("family", familyNames[:], true, 0))
	m.Kind = Kind(s.word("kind", kindNames[:], false, uint8(kindOf(m.Family))))
	m.Network = NetworkMode(s.word("net", networkNames[:], false, uint8(DeterministicRollback)))
	m.Class = 1 << m.Button
	m.Rules = s.rules("rules")
	m.In = b.stance(s, "in")
	m.Cosmetic = s.yes("cosmetic")

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
	m.Crouches = s.word("posture", []string{"standing", "crouching"}, false, 0) == 1
	m.Freeze = s.optional("freeze", 0, 60, 0)
	m.Cost = s.optional("cost", 0, 3000, 0)

	m.parseEffects(s, b)
	hits := s.stands("hit") || s.stands("shot") || !(m.Cosmetic || m.Effects != (Effects{}))
	if hits {
		m.Damage = s.integer("damage", 1, 1000)
		m.Chip = s.optional("chip", 0, 200, 0)
		m.Guard = Guard(s.word("guard", guardNames[:], true, 0))
		m.Reaction = Reaction(s.word("reaction", reactionNames[:], false, uint8(Stagger)))
		m.Hard = s.yes("hard")
		m.Starter = s.word("starter", starterNames[:], true, 0)
		m.Juggle = s.parts("juggle", Unit, 1, 12, false)
		m.Gain = s.optional("gain", 0, 500, 0)
	}
	m.parseWindows(s)
	m.parseBodies(s)
	m.parseCancels(s)
	m.parseGuards(s)
	if hits {
		m.parseShot(s)
		m.parseContact(s, b.feel)
		m.parseKrushing(s)
	}
	m.parseTags(s, b.tags)
	m.HitConfirm = s.spanOr("hit-confirm", m.Total)
	m.Cinematic = uint8(s.optional("cinematic", 0, 255, 0))
	m.Montage = uint8(s.optional("montage", 0, 255, 0))
	m.Rumble = uint8(s.optional("rumble", 0, 255, 0))
	m.consistent(s)
	return m
}

// stance reads the name of a stance of the fighter.
func (b *book) stance(s *section, key string) uint8 {
	e, ok := s.one(key, false)
	if !ok {
		return 0
	}
	names := make([]string, len(b.stances))
	for i := range b.stances {
		names[i] = b.stances[i].Name
	}
	return s.among(e.line, key, e.value, names) + 1
}

// consistent checks what no single key can be blamed for.
func (m *Move) consistent(s *section) {
	if m.Kind.Family() != m.Family {
		s.fail(s.line, "kind %s does not belong to family %s", m.Kind, familyNames[m.Family])
	}
	if r, only := m.Kind.Rules(); only && m.Rules != 1<<r {
		s.fail(s.line, "kind %s needs rules = %s", m.Kind, r)
	}
	if m.Cosmetic && !m.Hitless() {
		s.fail(s.line, "a cosmetic move has neither hits nor a shot")
	}
	// ABIL-20: a cancel into specials takes only what is tagged as a special, one into supers only supers.
	special, super := m.Button == Special, m.Button == Super
	if (special && !specialFamily(m.Family)) || (super && !superFamily(m.Family)) {
		s.fail(s.line, "family %s on the button %s: the special button is for specials and grapples, the super button for supers, finishers and grapples", familyNames[m.Family], buttonNames[m.Button])
	}
	if m.Kara != 0 && (m.Cost != 0 || m.Costs != (Costs{}) || m.From == Rise) {
		s.fail(s.line, "a move with a cost, or from rising, cannot be kara-cancelled")
	}
	if m.Grounding() && (m.Guard != Grab || len(m.Hits) == 0 || m.From != Ground) {
		s.fail(s.line, "a pin or submission is a grab from the ground")
	}
	if level := int32(m.Kind) - int32(SFCriticalArt1) + 1; level >= 1 && level <= 3 && m.Cost != 1000*level {
		s.fail(s.line, "critical art %d costs %d, not %d", level, 1000*level, m.Cost)
	}
	for _, c := range [...]struct {
		ok   bool
		kind Kind
		what string
	}{{m.Costs.Drive > 0 && (m.ArmorHits > 0 || m.PowerCrush.Start > 0), SFDriveImpact, "a drive cost and armor"},
		{m.Needs.Rage, TekkenRageArt, "need = rage"}, {m.Cost > 0, MKXRay, "a cost of super meter"},
		{m.Needs.LowHealth, MKFatalBlow, "need = low-health"}, {m.Effects.CriticalEdge > 0, SCCriticalEdge, "critical-edge"},
		{m.Costs.Hype > 0, DJBlazin, "a hype cost"}, {m.Cost > 0, KindSuper, "a cost of super meter"}} {
		if m.Kind == c.kind && !c.ok {
			s.fail(s.line, "kind %s needs %s", c.kind, c.what)
		}
	}
}

func specialFamily(f Family) bool {
	return (f >= GroundedSpecial && f <= ProjectileFamily) || (f >= GrappleClinch && f <= GrappleSubmission)
}

func superFamily(f Family) bool {
	return f == SuperFamily || f == CinematicFinisher || (f >= GrappleClinch && f <= GrappleSubmission)
}

// parseTags works out the action tag and reads the filters (ABIL-12).
func (m *Move) parseTags(s *section, t *Tags) {
	name := "Action." + map[Family]string{ThrowFamily: "Throw", GroundedSpecial: "Special", AirSpecial: "Special", ProjectileFamily: "Special",
		AssistCall: "Assist.Call", SuperFamily: "Super", GrappleClinch: "Throw", GrappleTakedown: "Throw", GrapplePin: "Throw",
		GrappleSubmission: "Throw", CinematicFinisher: "Super"}[m.Family]
	switch {
	case m.Button == Super:
		name = "Action.Super"
	case m.Button == Special:
		name = "Action.Special"
	case m.Cosmetic:
		name = "Action.Taunt"
	case m.Effects.Enters != 0 && m.Hitless():
		name = "Action.StanceSwitch"
	case m.Family == Strike && m.Button <= Heavy:
		name = "Action." + [...]string{"Light", "Medium", "Heavy"}[m.Button]
	case m.Family == Strike:
		name = "Action.Counter"
	}
	if e, ok := s.one("tag", false); ok {
		if name = e.value; !strings.HasPrefix(name, "Action.") {
			s.fail(e.line, "tag: %q is not a tag under Action", name)
		}
	}
	if m.Tag = t.ByName(name); m.Tag == 0 {
		s.fail(s.line, "tag: %q is not in %s", name, TagsPath)
	}
	m.SourceRequires, m.SourceBlocks = s.tagMask("requires", t), s.tagMask("blocked-by", t)
	m.TargetRequires, m.TargetBlocks = s.tagMask("target-requires", t), s.tagMask("target-blocked-by", t)
}
