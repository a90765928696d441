package data

import "backstep/sim/fixed"

// FighterID names a fighter in match settings and state: the id of its file, 1…255. 0 is no fighter.
type FighterID uint8

// MoveID is the position of a move in its fighter's file, from 1. 0 is no move.
type MoveID uint8

// Button is one of the eight buttons a move can be bound to, in the order of the bits 4…11 of the input word.
type Button uint8

// The buttons. Tag, Assist and Stance are what bits 9 and 10 mean outside and inside tag formats.
const (
	Light Button = iota
	Medium
	Heavy
	Special
	Throw
	Assist
	Stance
	Super
	Buttons = 8
)

// Direction is what must be held for a move, seen from the fighter: Down wins over Forward and Back.
type Direction uint8

// The directions of a command.
const (
	Neutral Direction = iota
	Forward
	Back
	Down
	Directions = 4
)

// From says whether a move starts on the ground or in the air.
type From uint8

// Where a move starts.
const (
	Ground From = iota
	Air
)

// Family is the combat family of a move (ABIL-14).
type Family uint8

// The twelve combat families.
const (
	Strike Family = iota
	ThrowFamily
	GroundedSpecial
	AirSpecial
	ProjectileFamily
	AssistCall
	SuperFamily
	GrappleClinch
	GrappleTakedown
	GrapplePin
	GrappleSubmission
	CinematicFinisher
	Families = 12
)

// Guard says how a hit can be blocked.
type Guard uint8

// The guards. Mid is blocked standing and crouching, High only standing, Low only crouching.
const (
	Mid Guard = iota
	High
	Low
	Unblockable
	Grab
)

// Reaction is what a hit does to a fighter on the ground.
type Reaction uint8

// The reactions. Stagger leaves the defender on its feet for the hitstun; Launch and Knockdown take it off them.
const (
	Stagger Reaction = iota
	Launch
	Knockdown
)

// Kinds are bits of what invincibility refuses.
const (
	AgainstStrike uint8 = 1 << iota
	AgainstThrow
	AgainstProjectile
	AgainstAll = AgainstStrike | AgainstThrow | AgainstProjectile
)

// Span is a range of frames of a move, both ends included, counted from 1. The zero Span holds no frame.
type Span struct{ Start, End int32 }

// Holds tells whether frame lies in the span.
func (s Span) Holds(frame int32) bool { return s.Start <= frame && frame <= s.End && s.Start > 0 }

// Box is a centre (X forward of the feet, Y up) and half extents.
type Box struct{ X, Y, HW, HH fixed.Q }

// Window is one hitbox of a move: while the move's frame lies in Span it can hit each opponent once.
type Window struct {
	Span
	Box
	Priority           uint8 // when both fighters would hit in the same frame the higher one does; equal ones trade
	Damage             int32
	Hitstun, Blockstun int32 // frames after the freeze; see Move.OnHit
}

// Hurt is an extra hurtbox of a move.
type Hurt struct {
	Span
	Box
}

// Motion is a velocity that a move gives its fighter during Span, X forward.
type Motion struct {
	Span
	VX, VY fixed.Q
}

// Shot is the projectile a move lets go on its frame Spawn. A move without one has Spawn 0.
type Shot struct {
	Spawn      int32
	Box                // where it starts, forward of the feet, and its half extents
	VX, VY     fixed.Q // X forward
	Life       int32   // frames
	Durability uint8   // hits or clashes it survives
	Class      uint8   // 0…7
	Clash      uint8   // bit c set: it clashes with shots of class c
}

// Move is one move of a fighter, checked and with everything derived that can be.
type Move struct {
	Key, Name string
	ID        MoveID
	Button    Button
	Direction Direction
	From      From
	Family    Family
	Class     uint8 // bit of the button, as CancelInto uses it

	Startup, Active, Recovery int32
	Total                     int32 // commitment: Startup + Active + Recovery
	OnHit, OnBlock            int32 // who can act first, in frames, when the first active frame connects on the ground
	GapToFollowup             int32
	Landing                   int32 // frames on the ground after an air move

	Damage, Chip       int32
	Guard              Guard
	Reaction           Reaction
	Starter            uint8 // row of Ruleset.Starter
	Juggle             []int32
	Feel               Hitstop
	Hitstun, Blockstun int32   // of air moves and shots; 0 where OnHit and OnBlock say it
	PushHit, PushBlock fixed.Q // first speed away from the attacker
	LaunchX, LaunchY   fixed.Q // X away from the attacker
	Gain, Cost         int32   // super meter
	Freeze             int32   // frames everybody stands still when the move starts

	Cancel      Span
	CancelInto  uint8 // bits 1<<Button of the moves that may follow after a contact in Cancel
	Invincible  Span
	Refuses     uint8 // Against bits during Invincible
	Armor       Span
	ArmorHits   uint8
	ThrowImpact int32 // frame of the throw on which the damage falls
	ThrowTotal  int32 // frames the thrower is busy after the grab
	ThrowBehind bool  // the thrown fighter lands on the other side
	Crouches    bool  // the low body box counts
	Hits        []Window
	Hurts       []Hurt
	Motions     []Motion
	Shot        Shot
}

// MaxWindows is the most hit windows a move may have, so that its hits on two opponents fit the hit-once registry.
const MaxWindows = 4

// Fighter is one fighter of the roster.
type Fighter struct {
	ID        FighterID
	Key, Name string
	Plan      string
	Health    int32

	WalkForward, WalkBack             fixed.Q
	DashForward, DashBack             fixed.Q
	DashForwardFrames, DashBackFrames int32
	PreJump, Land                     int32
	JumpX, JumpY, Gravity             fixed.Q

	BodyHalf                    fixed.Q // half width of the body that cannot be walked through
	StandHeight, CrouchHeight   fixed.Q
	StandBox, CrouchBox, AirBox Box // hurtboxes by posture
	moves                       []Move
	commands                    [2][Buttons][Directions]MoveID
}

// Moves gives the number of moves. Their ids are 1…Moves().
func (f *Fighter) Moves() int { return len(f.moves) }

// Move gives a move by id, nil if there is none.
func (f *Fighter) Move(id MoveID) *Move {
	if id == 0 || int(id) > len(f.moves) {
		return nil
	}
	return &f.moves[id-1]
}

// MoveByKey gives a move by its key, nil if there is none.
func (f *Fighter) MoveByKey(key string) *Move {
	for i := range f.moves {
		if f.moves[i].Key == key {
			return &f.moves[i]
		}
	}
	return nil
}

// Command gives the move of a button with a direction held: the one bound to both, else the one bound to the button
// without a direction, else 0.
func (f *Fighter) Command(from From, b Button, d Direction) MoveID {
	return f.commands[from&1][b&7][d&3]
}
