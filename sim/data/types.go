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

// Where a move starts. Rise is on the ground, in the place of getting up.
const (
	Ground From = iota
	Air
	Rise
	Froms = 3
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

// Window is one hitbox of a move: while the move's frame lies in Span it can hit each opponent once, with any of its shapes.
type Window struct {
	Span
	Shape
	More               []Shape    // further shapes of the window
	Keyframes          []Keyframe // in order of frame
	Priority           uint8      // when both fighters would hit in the same frame the higher one does; equal ones trade
	Damage             int32
	Hitstun, Blockstun int32 // frames after the freeze; see Move.OnHit
	Reaction           Reaction
}

// Keyframe changes a window from its frame on, until the next keyframe of the window.
type Keyframe struct {
	Frame    int32
	Moves    bool // Shape stands for the first shape of the window
	Shape    Shape
	Damage   int32 // 0: as before
	Reaction Reaction
	Reacts   bool // Reaction counts
}

// At gives the first shape, the damage and the reaction of the window on a frame in its span.
func (w *Window) At(frame int32) (shape *Shape, damage int32, reaction Reaction) {
	shape, damage, reaction = &w.Shape, w.Damage, w.Reaction
	for i := range w.Keyframes {
		k := &w.Keyframes[i]
		if k.Frame > frame {
			break
		}
		if k.Moves {
			shape = &k.Shape
		}
		if k.Damage != 0 {
			damage = k.Damage
		}
		if k.Reacts {
			reaction = k.Reaction
		}
	}
	return shape, damage, reaction
}

// Hurt is an extra hurtbox of a move.
type Hurt struct {
	Span
	Shape
}

// When says after what a cancel window takes a follow-up.
type When uint8

// The conditions of a cancel window.
const (
	OnContact When = iota
	OnHitOnly
	OnBlockOnly
	Always
)

// Cancel is one cancel window: on its frames the moves of the buttons in Into (bits 1<<Button) may follow.
type Cancel struct {
	Span
	Into uint8
	When When
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

// Fighter is one fighter of the roster.
type Fighter struct {
	ID        FighterID
	Key, Name string
	Plan      string
	House     string // whose fighter it is, for the pairing table
	Health    int32

	WalkForward, WalkBack             fixed.Q
	DashForward, DashBack             fixed.Q
	DashForwardFrames, DashBackFrames int32
	PreJump, Land                     int32
	JumpX, JumpY, Gravity             fixed.Q

	BodyHalf                    fixed.Q // half width of the body that cannot be walked through
	StandHeight, CrouchHeight   fixed.Q
	StandBox, CrouchBox, AirBox Box          // hurtboxes by posture
	Stances                     []StanceKind // their numbers count from 1
	Assist                      MoveID       // what it does when a partner calls it
	moves                       []Move
	commands                    [RulesCount][1 + MaxStances][Froms][Buttons][Directions]MoveID
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

// Command is CommandIn for the rules of SF, outside any stance.
func (f *Fighter) Command(from From, b Button, d Direction) MoveID {
	return f.CommandIn(SF, 0, from, b, d)
}

// CommandIn gives the move of a button with a direction held, under a ruleset and in a stance (0: none): the one bound to both,
// else the one bound to the button without a direction, else 0. A move for some rulesets only goes before one for all.
func (f *Fighter) CommandIn(r Rules, stance uint8, from From, b Button, d Direction) MoveID {
	if r >= RulesCount || stance > MaxStances || from >= Froms {
		return 0
	}
	return f.commands[r][stance][from][b&7][d&3]
}
