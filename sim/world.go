package sim

import "backstep/sim/data"

// Input is a player's word of a frame and of the frame before. Which bits mean what is in input.go.
type Input struct{ Now, Prev uint16 }

// Policy says what the caller wants done with what a step reports. It never changes the state.
type Policy uint8

// The policies.
const (
	Emit Policy = iota
	SuppressCosmetics
	TelemetryOnly
)

// state is what is saved, sent, hashed and compared.
type state struct {
	seed     uint64
	random   SplitMix64
	fighters [MaxFighters]Fighter
	match    Match
	teams    [2]Team
	frame    int32
	drawn    uint32
	count    uint8    // fighters in the world, on both sides
	active   uint8    // bit of each slot that is on the stage
	point    [2]uint8 // slot of the fighter that leads each side
	ruleset  Ruleset
	format   Format
	rounds   uint8
}

// World is the whole state of a match and the report of its last step. It is a comparable value without pointers: assigning it
// copies it. The zero value is Uninitialized: Step leaves it alone until Reset. One goroutine at a time may use it.
type World struct {
	state
	out outputs
}

// Reset makes w the world before frame 0 of a match. Nothing of what w was remains, so a rematch begins like a first match.
// An invalid c is refused and leaves w as it was.
func (w *World) Reset(c Config) error { return w.reset(data.Embedded(), c) }

func (w *World) reset(r *data.Roster, c Config) error {
	if err := c.valid(r); err != nil {
		return err
	}
	*w = World{}
	w.seed, w.frame = c.Seed, -1
	w.ruleset, w.format, w.rounds = c.Ruleset, c.Format, c.Rounds
	w.count = uint8(2 * c.Format.Roster())
	w.random.State = c.Seed
	for slot := range w.fighters {
		seed := uint32(w.draw(-1, uint8(slot), DrawSeed))
		if slot >= int(w.count) {
			continue
		}
		f := &w.fighters[slot]
		f.ID = c.Teams[Side(slot)][slot/2]
		f.RNGCursor = seed
	}
	w.match.Transition(Intro)
	w.startRound(r)
	return nil
}

// Rematch starts a match with the same settings and another seed. It is refused, and w left alone, unless the match is over
// (PostMatch); then w is exactly what Reset with that seed gives.
func (w *World) Rematch(seed uint64) error {
	if !CanTransition(w.match.Phase, Intro) || w.count == 0 {
		return ErrPhase
	}
	c := w.Config()
	c.Seed = seed
	return w.Reset(c)
}

// Config gives the settings the world was made with.
func (w *World) Config() Config {
	c := Config{Seed: w.seed, Ruleset: w.ruleset, Format: w.format, Rounds: w.rounds}
	for slot := range int(w.count) {
		c.Teams[Side(slot)][slot/2] = w.fighters[slot].ID
	}
	return c
}

// Frame gives the label of the state: the number of the last frame stepped, -1 before the first.
func (w *World) Frame() int32 { return w.frame }

// Phase gives the phase of the match.
func (w *World) Phase() Phase { return w.match.Phase }

// Match gives the match state as a value.
func (w *World) Match() Match { return w.match }

// Fighters gives the number of fighters in the world. Their slots are 0…Fighters()-1.
func (w *World) Fighters() int { return int(w.count) }

// Fighter gives a copy of the fighter in a slot, the zero Fighter outside 0…Fighters()-1.
func (w *World) Fighter(slot int) Fighter {
	if slot < 0 || slot >= int(w.count) {
		return Fighter{}
	}
	return w.fighters[slot]
}

// Active tells whether the fighter in a slot is on the stage.
func (w *World) Active(slot int) bool {
	return slot >= 0 && slot < MaxFighters && w.active>>slot&1 != 0
}

// Ruleset gives the rules of the match.
func (w *World) Ruleset() Ruleset { return w.ruleset }

// Team gives what a side (0 or 1) has of tag play.
func (w *World) Team(side int) Team { return w.teams[side&1] }

// Point gives the slot of the fighter that leads a side (0 or 1).
func (w *World) Point(side int) int { return int(w.point[side&1]) }

// Players gives the number of input words a step takes: one a side.
func (w *World) Players() int { return 2 }

// Free tells whether every fighter on the stage is in hitstop, so that the frame after this one costs no rollback budget.
func (w *World) Free() bool {
	for slot := range int(w.count) {
		if w.Active(slot) && w.fighters[slot].HitstopFrames == 0 {
			return false
		}
	}
	return w.count > 0
}

// Equal tells whether two worlds are in the same state. What their last steps reported is not compared.
func (w *World) Equal(o *World) bool { return w.state == o.state }
