// Package source makes a local player's input words: from a recorded trace or
// from a bot. The match loop asks for one word a frame.
//
//	--input trace:FILE:COL     one column of a CSV file, repeated from its start
//	--input bot:NAME[:SEED]    one of the sim's bots
//
// A trace file is CSV, perhaps gzipped:
//
//	# a comment
//	frame,w1,w2        the header row names the columns
//	-39,000,004        data row 0: the words of frame 0, in hexadecimal
//
// Data row f is the input of frame f, whatever its frame column says and
// whatever the input delay is.
package source

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"backstep/sim"
	"backstep/sim/bot"
)

// ErrSource reports an --input value or a trace file that cannot be used.
var ErrSource = errors.New("bad input source")

// maxBit is the highest bit an input word of the sim may have set.
const maxBit = 11

// A Source gives the local player's word for each frame, in order, one call a
// frame. The world is what the player sees at that time; a trace ignores it.
// A source belongs to the goroutine that owns the session.
type Source interface {
	Next(frame int32, w *sim.World) uint16
}

// Open reads the value of --input. Side is the local player's index, 0 for
// the host and 1 for the joiner; a bot needs it to know whom it plays.
func Open(spec string, side int) (Source, error) {
	kind, rest, _ := strings.Cut(spec, ":")
	switch kind {
	case "trace":
		cut := strings.LastIndexByte(rest, ':')
		if cut <= 0 || cut == len(rest)-1 {
			return nil, fmt.Errorf("%w: %q should be trace:FILE:COLUMN", ErrSource, spec)
		}
		return ReadTrace(rest[:cut], rest[cut+1:])
	case "bot":
		name, seedText, seeded := strings.Cut(rest, ":")
		seed := uint64(1)
		if seeded {
			var err error
			if seed, err = strconv.ParseUint(seedText, 10, 64); err != nil {
				return nil, fmt.Errorf("%w: the seed of a bot is a whole number, not %q", ErrSource, seedText)
			}
		}
		b, err := bot.New(name, seed, side)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrSource, err)
		}
		return botSource{b}, nil
	}
	return nil, fmt.Errorf("%w: %q is neither trace:FILE:COLUMN nor bot:NAME[:SEED]", ErrSource, spec)
}

type botSource struct{ b bot.Bot }

func (s botSource) Next(_ int32, w *sim.World) uint16 { return s.b.Next(w) }
