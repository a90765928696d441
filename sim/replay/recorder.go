package replay

import (
	"fmt"

	"backstep/sim"
)

// Recorder takes down a match while it is played. All room is taken in NewRecorder (108 kB a player); Add and Hash do not
// allocate. One goroutine at a time may use it.
type Recorder struct {
	build  string
	config sim.Config
	words  [][]uint16
	hashes [MaxFrames/HashEvery + 1]uint64
	known  [MaxFrames/HashEvery + 1]bool
	last   FrameHash
	full   bool
}

// NewRecorder makes a recorder of a match with the given settings and number of input words a frame.
func NewRecorder(build string, c sim.Config, players int) (*Recorder, error) {
	if players < 1 || players > MaxPlayers {
		return nil, fmt.Errorf("%w: %d, must be 1…%d", ErrPlayers, players, MaxPlayers)
	}
	if err := checkBuild(build); err != nil {
		return nil, err
	}
	if err := c.Valid(); err != nil {
		return nil, err
	}
	r := &Recorder{build: build, config: c, words: make([][]uint16, players), last: FrameHash{Frame: -1}}
	for p := range r.words {
		r.words[p] = make([]uint16, 0, MaxFrames)
	}
	return r, nil
}

// Add takes the words of the next frame, one a player. Frames must be confirmed: there is no way back. Once MaxFrames are
// recorded, Add takes nothing more and gives ErrFull; what has been recorded stays good.
func (r *Recorder) Add(words []uint16) error {
	if len(words) != len(r.words) {
		return ErrPlayers
	}
	if r.Frames() == MaxFrames {
		r.full = true
		return ErrFull
	}
	for p, w := range words {
		r.words[p] = append(r.words[p], w)
	}
	return nil
}

// Hash takes the hash of the confirmed state with a label, as the match had it. Only labels divisible by HashEvery and the
// highest one are kept. Labels that are negative or not recordable are ignored.
func (r *Recorder) Hash(frame int32, hash uint64) {
	if frame < 0 || frame >= MaxFrames {
		return
	}
	if frame%HashEvery == 0 {
		r.hashes[frame/HashEvery], r.known[frame/HashEvery] = hash, true
	}
	if frame >= r.last.Frame {
		r.last = FrameHash{Frame: frame, Hash: hash}
	}
}

// Frames gives the number of frames recorded.
func (r *Recorder) Frames() int { return len(r.words[0]) }

// Full tells whether frames were left out because the recording had reached its longest.
func (r *Recorder) Full() bool { return r.full }

// Replay gives the recording so far. Hashes the match had are taken as they are, also when they are wrong; those nobody gave,
// such as that of a last frame after a broken connection, are filled in by simulating the recorded inputs.
func (r *Recorder) Replay() (*Replay, error) {
	out := &Replay{Build: r.build, Sim: sim.Version, DataHash: sim.DataHash(), Config: r.config, Words: r.words}
	missing := false
	for _, label := range labels(r.Frames()) {
		h := FrameHash{Frame: label}
		switch {
		case label%HashEvery == 0 && r.known[label/HashEvery]:
			h.Hash = r.hashes[label/HashEvery]
		case label == r.last.Frame:
			h.Hash = r.last.Hash
		default:
			missing = true
		}
		out.Hashes = append(out.Hashes, h)
	}
	if !missing {
		return out, nil
	}
	i := 0
	err := play(r.config, r.words, func(w *sim.World) bool {
		if w.Frame() == out.Hashes[i].Frame {
			given := w.Frame()%HashEvery == 0 && r.known[w.Frame()/HashEvery] || w.Frame() == r.last.Frame
			if !given {
				out.Hashes[i].Hash = w.Hash()
			}
			i++
		}
		return i < len(out.Hashes)
	})
	return out, err
}

// Append appends the file of the recording so far.
func (r *Recorder) Append(b []byte) ([]byte, error) {
	rec, err := r.Replay()
	if err != nil {
		return b, err
	}
	return rec.Append(b)
}
