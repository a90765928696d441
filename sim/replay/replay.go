// Package replay is the file of a match: its settings and the inputs of all players, from which everything else follows, with
// hashes that prove it.
//
//	magic     4     "BSRP"
//	format    u8    1
//	sim       u16   version of the rules in code the match was played with
//	data      u64   hash of the data files
//	config    17    settings, as sim.AppendConfig writes them
//	build     lv8   build id, a length byte and UTF-8 without control characters
//	players   u8    1…6
//	frames    u32   at most 54 000
//	raw       u32   length of the inputs
//	packed    u32   length of the compressed inputs
//	inputs    packed bytes: DEFLATE (RFC 1951) of one input log per player, as rollback/input writes it
//	hashes    8 each: the state labelled 0, 600, 1200, … and the last one's, once if it is one of them
//	digest    32    SHA-256 over all before it
//
// Integers are little-endian. Everything but the compressed inputs has one legal form; those may be compressed by any
// compressor, but must unpack to exactly raw bytes in the one form of the input codec.
package replay

import (
	"errors"
	"fmt"

	"backstep/sim"
)

// Bounds of a file.
const (
	Format     = 1
	MaxFrames  = 54000 // 15 minutes at 60 Hz
	MaxPlayers = sim.MaxFighters
	MaxBuild   = 64
	HashEvery  = 600

	// mostWord is more than the input codec takes for a word that changes everything every frame.
	mostWord = 8
	mostRaw  = MaxPlayers * (MaxFrames*mostWord + 16)
	// MaxFile is more than the longest file a recorder can write.
	MaxFile = mostRaw + mostRaw/1000 + 1<<16
)

const magic = "BSRP"

// Errors. ErrMalformed: the bytes are no replay, or were damaged, cut or made up. ErrIncompatible: it is one, but of other rules
// or other data, so this program cannot run it. ErrMismatch: it ran and came to another state; see Mismatch.
var (
	ErrMalformed    = errors.New("malformed replay")
	ErrIncompatible = errors.New("the replay was made with another version")
	ErrMismatch     = errors.New("the replay does not reproduce its hashes")
	ErrFull         = errors.New("the recording has reached its longest")
	ErrPlayers      = errors.New("impossible number of players")
)

// FrameHash is the hash of the state with a label.
type FrameHash struct {
	Frame int32
	Hash  uint64
}

// Replay is a decoded file.
type Replay struct {
	Build    string
	Sim      uint16
	DataHash uint64
	Config   sim.Config
	Words    [][]uint16 // by player, one word a frame, equally long
	Hashes   []FrameHash
}

// Frames gives the number of frames.
func (r *Replay) Frames() int {
	if len(r.Words) == 0 {
		return 0
	}
	return len(r.Words[0])
}

// labels gives the labels a file of so many frames has hashes for.
func labels(frames int) []int32 {
	var out []int32
	for f := 0; f < frames; f += HashEvery {
		out = append(out, int32(f))
	}
	if frames > 0 && (frames-1)%HashEvery != 0 {
		out = append(out, int32(frames-1))
	}
	return out
}

// Compatible tells whether this program can run the replay, and if not which part is of another version (ErrIncompatible), or
// that no match of this version has such settings (ErrMalformed).
func (r *Replay) Compatible() error {
	switch {
	case r.Sim < sim.Version:
		return fmt.Errorf("%w: its rules are version %d, older than this program's %d", ErrIncompatible, r.Sim, sim.Version)
	case r.Sim > sim.Version:
		return fmt.Errorf("%w: its rules are version %d, newer than this program's %d", ErrIncompatible, r.Sim, sim.Version)
	case r.DataHash != sim.DataHash():
		return fmt.Errorf("%w: its game data is %016x, this program's %016x", ErrIncompatible, r.DataHash, sim.DataHash())
	}
	if err := r.Config.Valid(); err != nil {
		return malformed("%v", err) // this version would not have written it
	}
	return nil
}

// Play simulates the replay from its beginning and calls visit after every frame until visit gives false. The world is the
// caller's to read until visit returns.
func (r *Replay) Play(visit func(w *sim.World) bool) error {
	if err := r.Compatible(); err != nil {
		return err
	}
	return play(r.Config, r.Words, visit)
}

func play(c sim.Config, words [][]uint16, visit func(w *sim.World) bool) error {
	var w sim.World
	if err := w.Reset(c); err != nil {
		return err
	}
	if len(words) == 0 {
		return nil
	}
	in := make([]sim.Input, len(words))
	for f := range words[0] {
		for p := range words {
			in[p] = sim.Input{Now: words[p][f], Prev: in[p].Now}
		}
		w.Step(in, sim.SuppressCosmetics)
		if !visit(&w) {
			return nil
		}
	}
	return nil
}

// Mismatch is the first hash of a replay that did not come out. It matches ErrMismatch.
type Mismatch struct {
	Frame            int32
	Stored, Computed uint64
}

// Error says which hash it is.
func (m *Mismatch) Error() string {
	return fmt.Sprintf("%v: frame %d has %016x in the file, %016x when simulated", ErrMismatch, m.Frame, m.Stored, m.Computed)
}

// Unwrap gives ErrMismatch.
func (m *Mismatch) Unwrap() error { return ErrMismatch }

// Verify simulates the whole match and compares every stored hash. The error wraps ErrIncompatible, or is a *Mismatch for the
// first label that differs. A minute of play takes some milliseconds.
func (r *Replay) Verify() error {
	next := 0
	var bad *Mismatch
	err := r.Play(func(w *sim.World) bool {
		if next == len(r.Hashes) || w.Frame() != r.Hashes[next].Frame {
			return true
		}
		stored := r.Hashes[next].Hash
		next++
		if h := w.Hash(); h != stored {
			bad = &Mismatch{Frame: w.Frame(), Stored: stored, Computed: h}
		}
		return bad == nil
	})
	switch {
	case err != nil:
		return err
	case bad != nil:
		return bad
	case next != len(r.Hashes):
		return fmt.Errorf("%w: a hash for frame %d, which the match does not have", ErrMalformed, r.Hashes[next].Frame)
	}
	return nil
}
