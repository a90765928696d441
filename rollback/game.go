package rollback

import "backstep/rollback/input"

// Policy says which side effects a step may have.
type Policy uint8

const (
	Emit              Policy = iota // a frame seen for the first time: sounds, sparks, shakes
	SuppressCosmetics               // a frame stepped again: silent
	TelemetryOnly                   // nobody watches: verification, fast forward
)

// Input is what one player holds during a frame.
type Input[W input.Word] struct {
	Now  W
	Prev W // the same player's word of the frame before; 0 before frame 0
}

// Game is a deterministic game over a state S that is copied by assignment: no pointers, slices, maps or strings inside.
type Game[S any, W input.Word] interface {
	// Step advances *s by one frame. in has one entry per player and is valid during the call.
	// Everything the frame depends on is in *s and in; the policy must not change the state.
	Step(s *S, in []Input[W], p Policy)
	// Hash identifies a state. It is called on confirmed frames divisible by HashInterval, and on request.
	Hash(s *S) uint64
}

// Equivalenter is a Game that can tell that a frame started in *s comes out the same for two inputs of one player,
// whatever the others hold. A frame whose inputs changed only equivalently is not stepped again.
type Equivalenter[S any, W input.Word] interface {
	Equivalent(s *S, player int, old, new Input[W]) bool
}

// Equaler is a Game whose states also hold what their last step reported, on which no later frame depends. Equal leaves
// it out. Without it states are compared with ==.
type Equaler[S any] interface {
	Equal(a, b *S) bool
}

// Freer is a Game that can tell that the frame which produced *s costs no prediction budget,
// because every active fighter stands in hitstop after it.
type Freer[S any] interface {
	Free(s *S) bool
}

// Cosmetics is a Game whose events carry ids. Events appends the ids of what the step that produced *s emitted,
// at most MaxEvents of them. An id names frame, fighter, kind and serial: the same event has the same id in every
// step of the same frame, and no other event has it.
type Cosmetics[S any] interface {
	Events(s *S, dst []uint64) []uint64
}

// MaxEvents is how many event ids of one frame are reconciled; more are dropped and counted.
const MaxEvents = 16
