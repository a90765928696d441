package training

import (
	"errors"
	"fmt"
	"slices"
)

// Options of the room. The zero value of everything but Dummy and Speed means
// off.
type Options struct {
	Dummy    string // one of Dummies
	Slot     int    // 0 to 2
	Refill   bool   // health, meter and timer do not run out
	Latency  int    // ms, round trip, 0 to 400
	Jitter   int    // ms, one way, 0 to 60
	Loss     int    // per cent, 0 to 30
	Rollback int    // frames by which the dummy's inputs come late, 0 to 8
	Delay    int    // input delay in frames, 0 to 8
	Side     int    // the player's, 0 or 1
}

// Default is a standing dummy and full bars.
func Default() Options { return Options{Dummy: "stand", Refill: true} }

// Dummies lists what the dummy can do.
func Dummies() []string {
	return []string{"stand", "crouch", "jump", "guard", "guard-low", "player2", "bot-easy", "bot-medium", "bot-hard", "play"}
}

// Slots is how many recordings there are, MaxRecording how long each may be.
const (
	Slots        = 3
	MaxRecording = 600 // frames
)

// ErrOptions is wrapped by every error of Options.Valid.
var ErrOptions = errors.New("the training room does not have this")

// Valid names the first option that is out of range.
func (o Options) Valid() error {
	if !slices.Contains(Dummies(), o.Dummy) {
		return fmt.Errorf("%w: a dummy %.20q", ErrOptions, o.Dummy)
	}
	for _, x := range []struct {
		name      string
		v, lo, hi int
	}{
		{"slot", o.Slot, 0, Slots - 1}, {"latency", o.Latency, 0, 400}, {"jitter", o.Jitter, 0, 60}, {"loss", o.Loss, 0, 30},
		{"rollback", o.Rollback, 0, 8}, {"delay", o.Delay, 0, 8}, {"side", o.Side, 0, 1},
	} {
		if x.v < x.lo || x.v > x.hi {
			return fmt.Errorf("%w: %s %d, must be %d to %d", ErrOptions, x.name, x.v, x.lo, x.hi)
		}
	}
	return nil
}

// netted tells whether the room needs two sessions.
func (o Options) netted() bool {
	return o.Latency > 0 || o.Jitter > 0 || o.Loss > 0 || o.Rollback > 0 || o.Delay > 0
}
