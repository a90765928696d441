// Package bot plays. Its players are deterministic: the same name, seed, side and sequence of worlds give the same words. They
// read only what stands on a screen, and what the opponent does only after a reaction delay; of their own fighter they know what
// a player feels in the hands.
//
//	              screen of each frame
//	                       │
//	         ┌─────────────┴──────────────┐
//	   own fighter, now          opponent, delay frames ago
//	         └─────────────┬──────────────┘
//	held or hit ──> break throws, guard on the way up
//	own attack touched ──> go on into the next move
//	in the air ──> attack on the way down
//	opponent attacks, jumps, shoots ──> guard or answer      (rolled once for each thing seen)
//	opponent recovers ──> punish
//	nothing of these ──> carry out the plan, or make a new one for the distance
package bot

import (
	"errors"
	"fmt"
	"strings"

	"backstep/sim"
)

// Bot makes the word of one side for the frame after w. It must be asked once a frame, in order; it keeps what it saw. One
// goroutine at a time may use it. Next does not change w and does not allocate.
type Bot interface {
	Next(w *sim.World) uint16
}

// Errors of New.
var (
	ErrUnknown = errors.New("unknown bot")
	ErrSide    = errors.New("a side is 0 or 1")
)

var names = [...]string{"easy", "hard", "idle", "medium", "random"}

// Names lists what New takes, in order of the alphabet.
func Names() []string { return append([]string(nil), names[:]...) }

// New makes a bot for a side (0 or 1). Bots of equal name and seed on different sides draw different numbers.
func New(name string, seed uint64, side int) (Bot, error) {
	if side != 0 && side != 1 {
		return nil, fmt.Errorf("%w, not %d", ErrSide, side)
	}
	chance := sim.SplitMix64{State: seed ^ uint64(side)*0xA5A5A5A5A5A5A5A5}
	switch name {
	case "idle":
		return idle{}, nil
	case "random":
		return &random{chance: chance}, nil
	}
	for _, s := range skills {
		if s.name == name {
			return &player{skill: s, side: side, chance: chance}, nil
		}
	}
	return nil, fmt.Errorf("%w: %q, there are %s", ErrUnknown, name, strings.Join(names[:], ", "))
}

// idle does nothing.
type idle struct{}

func (idle) Next(*sim.World) uint16 { return 0 }

// random holds words drawn at random for 1 to 20 frames.
type random struct {
	chance sim.SplitMix64
	word   uint16
	left   int
}

func (r *random) Next(*sim.World) uint16 {
	if r.left--; r.left <= 0 {
		v := r.chance.Next()
		r.left = 1 + int(v>>32%20)
		r.word = uint16(v) & 0xf
		if v>>16&1 != 0 {
			r.word |= sim.LightBit << (v >> 20 & 7)
		}
	}
	return r.word
}
