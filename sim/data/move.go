package data

import (
	"math/bits"

	"backstep/sim/fixed"
)

// Move is one move of a fighter, checked and with everything derived that can be.
type Move struct {
	Key, Name string
	ID        MoveID
	Button    Button
	Direction Direction
	From      From
	Family    Family
	Kind      Kind
	Network   NetworkMode
	Tag       Tag    // under Action
	Class     uint8  // bit of the button, as cancels use it
	Rules     uint16 // bits of the rulesets it belongs to
	In        uint8  // stance it starts from, 0: none

	Startup, Active, Recovery int32
	Total                     int32 // commitment: Startup + Active + Recovery
	OnHit, OnBlock            int32 // who can act first, in frames, when the first active frame connects on the ground
	GapToFollowup             int32
	Landing                   int32 // frames on the ground after an air move

	Damage, Chip       int32
	Guard              Guard
	Reaction           Reaction
	Hard               bool  // no ground tech after it
	Starter            uint8 // row of Ruleset.Starter
	Juggle             []int32
	Feel               Hitstop
	Hitstun, Blockstun int32   // of air moves and shots; 0 where OnHit and OnBlock say it
	PushHit, PushBlock fixed.Q // first speed away from the attacker
	LaunchX, LaunchY   fixed.Q // X away from the attacker
	OwnLaunch          bool    // false: the launch impulse of the ruleset
	Gain               int32   // super meter
	Freeze             int32   // frames everybody stands still when the move starts

	Cost    int32 // super meter
	Costs   Costs
	Gains   Gains
	Needs   Needs
	Effects Effects

	Cancels    []Cancel
	CancelInto uint8 // all buttons of Cancels
	Kara       uint8 // buttons its first frames can be cancelled into, whatever it touches
	TagCancel  Span  // frames on which, after a hit, a partner may come in

	Invincible  Span
	Refuses     uint8 // Against bits during Invincible
	Armor       Span
	ArmorHits   uint8
	PowerCrush  Span
	ThrowImpact int32 // frame of the throw on which the damage falls
	ThrowTotal  int32 // frames the thrower is busy after the grab
	ThrowBehind bool  // the thrown fighter lands on the other side
	Crouches    bool  // the low body box counts
	Hits        []Window
	Hurts       []Hurt
	Motions     []Motion
	Shot        Shot

	SourceRequires, SourceBlocks TagMask
	TargetRequires, TargetBlocks TagMask

	Krushing   Krushing
	HitConfirm Span  // frames in which a player should confirm a hit; for pages
	Cosmetic   bool  // nothing but a show
	Cinematic  uint8 // ids for a presentation, 0: none
	Montage    uint8
	Rumble     uint8
}

// Costs are what a move takes of its fighter besides super meter.
type Costs struct{ Drive, Stamina, MKStamina, Hype, Heat int32 }

// Gains are what a hit of a move gives or takes besides health and super meter.
type Gains struct {
	Heat, Hype int32 // to the attacker
	Stun       int32 // to the defender
	Limb       int32 // torso damage of the defender
	Drain      int32 // stamina of the defender
	Skill      int32 // transition skill of the attacker, ten-thousandths
}

// Needs are conditions a move has besides meters.
type Needs struct {
	Heat, Rage, SoulCharge bool
	LowHealth              bool // below the ruleset's fatal blow share
	Once                   bool // once a round
}

// Effects are what a move does to its fighter or to the match besides hitting.
type Effects struct {
	Enters       uint8 // stance it ends in, 0: none
	KiCharge     int32 // frames
	HeatBurst    bool  // Heat begins
	HeatEngage   bool  // Heat begins with a hit
	HeatSmash    bool  // Heat ends
	SoulCharge   bool  // soul charge begins
	CriticalEdge int32 // frames nothing touches the fighter from the start of the move
	ReversalEdge bool  // a hit asks both players for a choice
	Snapback     bool  // a hit sends the opponent out
	Down         int32 // further frames the opponent lies
}

// KrushingCondition is when a move becomes a Krushing Blow.
type KrushingCondition uint8

// The conditions.
const (
	NoKrushing KrushingCondition = iota
	KrushingCounter
	KrushingCombo     // from the third hit of a combo on
	KrushingLowHealth // the opponent is below the ruleset's fatal blow share
)

// Krushing describes a move's Krushing Blow, once a round.
type Krushing struct {
	When     KrushingCondition
	Freeze   int32
	Sequence uint8
}

// MaxWindows is the most hit windows a move may have, so that its hits on two opponents fit the hit-once registry.
const MaxWindows = 4

// Hitless tells whether the move touches nobody.
func (m *Move) Hitless() bool { return len(m.Hits) == 0 && m.Shot.Spawn == 0 }

// Under tells whether the move belongs to a ruleset.
func (m *Move) Under(r Rules) bool { return m.Rules>>r&1 != 0 }

// HasCompleteFrameData tells whether a move has what the simulation needs to run it: a name, a window of at least one frame
// each, and either an effect on its own fighter or at least one hit or shot inside the window with damage, a hitstop row and,
// for a ground strike, a stun that follows from its advantage. Load accepts no move without it.
func (m *Move) HasCompleteFrameData() bool {
	if m.Key == "" || m.Name == "" || m.Startup < 1 || m.Active < 1 || m.Recovery < 1 {
		return false
	}
	if m.Total != m.Startup+m.Active+m.Recovery || bits.OnesCount8(m.Class) != 1 || m.Rules == 0 {
		return false
	}
	if m.Hitless() {
		return m.Cosmetic || m.Effects != (Effects{})
	}
	if m.Damage < 1 || m.Feel.Name == "" || (len(m.Hits) == 0) == (m.Shot.Spawn == 0) {
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

// Grounding tells whether the move works on an opponent who lies: a pin or a submission.
func (m *Move) Grounding() bool { return m.Family == GrapplePin || m.Family == GrappleSubmission }

// CancelSpan gives the frames from the first to the last on which a cancel window stands.
func (m *Move) CancelSpan() Span {
	var all Span
	for _, c := range m.Cancels {
		if all.Start == 0 || c.Start < all.Start {
			all.Start = c.Start
		}
		all.End = max(all.End, c.End)
	}
	return all
}
