package sim

import "backstep/sim/data"

// Action is what a fighter is doing.
type Action uint8

// The actions. The first four are neutral: the fighter can do anything from them.
const (
	Idle Action = iota
	Crouch
	WalkForward
	WalkBack
	DashForward
	DashBack
	PreJump
	Airborne // in a jump, free to attack
	Landing
	Attack
	Blockstun
	Hitstun
	Recoil   // hit out of the air, will land on its feet, cannot be hit
	Launched // off its feet, can be juggled, will fall
	Down
	Wakeup
	Throwing
	Thrown
	Teched
	Victory
	Roll     // a ground tech, or rolling up
	Dazed    // stands and can do nothing
	Pinning  // holds an opponent down
	Pinned   // is held down
	Prompted // chooses in a reversal edge
	TagOut   // leaves the stage
	TagIn    // comes onto it
	actions
)

var actionNames = [actions]string{"idle", "crouch", "walk forward", "walk back", "dash forward", "dash back", "pre-jump", "airborne",
	"landing", "attack", "blockstun", "hitstun", "recoil", "launched", "down", "wakeup", "throwing", "thrown", "teched", "victory", "roll", "dazed", "pinning", "pinned", "prompted", "tag out", "tag in"}

// String gives a name for logs and pages.
func (a Action) String() string {
	if a < actions {
		return actionNames[a]
	}
	return "unknown"
}

// Neutral tells whether everything can be done from the action.
func (a Action) Neutral() bool { return a <= WalkBack }

// grips tells whether the action ties the fighter to a partner.
func (a Action) grips() bool {
	return a == Throwing || a == Thrown || a == Pinning || a == Pinned || a == Prompted
}

// Place says where a fighter of a team is.
type Place uint8

// The places. Only a fighter on the bench is off the stage.
const (
	Bench Place = iota
	OnPoint
	Assisting
	Crossing // on the stage beside the point, under the same hands
	places
)

// Contact says what the current move has touched so far.
type Contact uint8

// The contacts of a move.
const (
	NoContact Contact = iota
	Blocked
	Landed
	contacts
)

// Mechanics are the counters of the rulesets' own mechanics, in frames; all of them run down in step 3.
type Mechanics struct {
	AirJuggle      int16 // since the launch that began a juggle, as time left of it
	Heat           int16
	SoulCharge     int16
	CriticalEdge   int16
	ReversalEdge   int16
	KiCharge       int16
	PowerCrush     int16
	StanceEntry    int16
	StanceRecovery int16
	StanceDuration int16
	Rage           uint8 // 1: the fighter is in Rage
	StanceKind     uint8
}

// Projectile is one shot of a fighter. Life 0: there is none.
type Projectile struct {
	X, Y, VX, VY Fixed
	Life         int32 // frames left
	Move         data.MoveID
	Durability   uint8
	Pause        uint8 // frames until it can touch again
	Facing       int8
}

// BufferFrames is the length of the input buffer: a press can be used on its own frame and the five after it.
const BufferFrames = 6

// Shots is the number of shots a fighter can have on the stage.
const Shots = 2

// Fighter is the state of one fighter. Positions are centimetres from the middle of the stage and up from the ground.
type Fighter struct {
	Registry HitRegistry
	Shots    [Shots]Projectile

	Vitals

	X, Y, VX, VY Fixed
	Push         Fixed // speed of pushback, dying down by friction

	ComboDamage int32 // taken in the running combo
	Regen       int32 // health gained off the stage, in 1/120000

	AnimationFrame int32 // of the action, from 1 after its first step; stands still in hitstop
	Duration       int32 // frames of the action, 0: until something ends it
	MoveStart      int32 // label of the frame on which the move began
	CancelFrame    int32 // label of the frame on which the open cancel window opened
	Clock          int32 // the fighter's own frame count for its input buffer; stands still in hitstop

	Used      uint64 // bits of the moves that only one of a round allows
	RNGCursor uint32
	StanceTag uint32 // CRC-32 of the name of the stance tag

	Mechanics Mechanics
	Combat    Combat
	MMA       MMA
	Movement  Movement
	Weapon    Weapon
	Wrestling Wrestling

	HitstopFrames, HitlagFrames int16
	RecoverTimer                int16
	RetreatFrames               int16 // frames of going back since it last came closer
	Lie                         int16 // further frames of the next time it lies
	Lock                        int16 // frames it may not come back onto the stage
	Buffer                      [BufferFrames]uint16

	ID           FighterID
	Facing       int8 // 1: looks toward positive X
	Action       Action
	Move         data.MoveID
	Contact      Contact
	CancelOpen   uint8 // bits 1<<button of what the move can be cancelled into now
	Air          uint8 // 1: off the ground
	Low          uint8 // 1: the low boxes count
	AirUsed      uint8 // 1: this jump has had its attack
	JumpDir      int8
	TapDir       int8
	TapTimer     uint8
	ThrowProtect uint8
	ComboHits    uint8
	ComboStarter uint8
	JuggleHits   uint8
	PushesBack   uint8 // 1: pushback the wall stops goes to the opponent
	Approached   uint8 // 1: its input moved it toward the opponent in this frame
	Partner      uint8 // in Throwing, Thrown and their like: the other fighter's slot
	Place        Place
	TechTimer    int8  // above 0: frames a ground tech is ready; below 0: frames until the next may be
	RollDir      int8  // where a roll goes
	Lay          uint8 // 1: it has used its delay on the ground
	Hard         uint8 // 1: it cannot tech the fall
	Launcher     uint8 // 1: a launcher began the juggle
	RageSpent    uint8 // 1: no more Rage in this round
	Burnout      uint8 // 1: the drive is burnt out
	Choice       uint8 // in a reversal edge: button + 1
}

// Side gives the side of a slot.
func Side(slot int) int { return slot & 1 }

// HitRegistry is the set of hits that have counted for the current move. The zero value is empty. A key is never 0.
type HitRegistry [2 * data.MaxWindows]uint64

// RegisterHitIfAllowed takes key into the set and reports true, or reports false if it is there already or the set is full.
func (r *HitRegistry) RegisterHitIfAllowed(key uint64) bool {
	for i, k := range r {
		switch k {
		case key:
			return false
		case 0:
			r[i] = key
			return true
		}
	}
	return false
}

// Has tells whether key is in the set.
func (r *HitRegistry) Has(key uint64) bool {
	for _, k := range r {
		if k == key {
			return true
		}
	}
	return false
}

// Reset empties the set.
func (r *HitRegistry) Reset() { *r = HitRegistry{} }

const hitKey = uint64(1) << 63

// HitKey makes the key of a hit: bit 63 set, attacker and defender slot, move, window, low 32 bits of the frame the move began on.
func HitKey(attacker, defender int, move data.MoveID, window int, began int32) uint64 {
	return hitKey | uint64(attacker&7)<<56 | uint64(defender&7)<<48 | uint64(move)<<40 | uint64(window&255)<<32 | uint64(uint32(began))
}
