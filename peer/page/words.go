package page

import (
	"sync"

	"backstep/sim"
)

// heldMicros is how long a pressed word counts without being repeated, so that
// a page that froze does not hold a button for ever.
const heldMicros = 1_500_000

// Words are the input words of the two players at the page. Its methods may be
// called from any goroutine; they do not block and do not allocate.
type Words struct {
	mu   sync.Mutex
	held [2]uint16
	tap  [2]uint16 // pressed since the last frame took a word
	at   int64     // when the page last said so
	seq  uint16    // newest heard
	used uint16    // newest that a frame has taken
	now  func() int64
}

// press takes what is held now.
func (w *Words) press(in input) {
	at := w.now()
	w.mu.Lock()
	defer w.mu.Unlock()
	for i, word := range [2]uint16{in.word, in.word2} {
		w.tap[i] |= word &^ w.held[i]
		w.held[i] = word
	}
	w.seq, w.at = in.seq, at
}

// Release lets everything go, taps too.
func (w *Words) Release() {
	w.mu.Lock()
	w.held, w.tap = [2]uint16{}, [2]uint16{}
	w.mu.Unlock()
}

// Take gives player's word for a frame: what is held, and what was pressed and
// let go since the last frame. Of two opposite directions the one still held
// counts, so that rolling a stick quickly is not neutral.
func (w *Words) Take(player int) uint16 {
	at := w.now()
	w.mu.Lock()
	defer w.mu.Unlock()
	if at-w.at > heldMicros {
		w.held, w.tap = [2]uint16{}, [2]uint16{}
	}
	held, tap := w.held[player], w.tap[player]
	w.tap[player] = 0
	if player == 0 {
		w.used = w.seq
	}
	for _, pair := range [...]uint16{sim.LeftBit | sim.RightBit, sim.UpBit | sim.DownBit} {
		if held&pair != 0 {
			tap &^= pair &^ held
		}
	}
	return held | tap
}

// Seq is the number of the newest INPUT a frame has taken.
func (w *Words) Seq() uint16 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.used
}

// Next makes Words a source for the match loop: the first player's word.
func (w *Words) Next(int32, *sim.World) uint16 { return w.Take(0) }
