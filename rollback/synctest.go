package rollback

import (
	"bytes"
	"fmt"

	"backstep/rollback/input"
)

// MaxSyncDepth is the most frames a SyncTest rolls back.
const MaxSyncDepth = HardWindow

// SyncConfig says what a SyncTest works on.
type SyncConfig[S any, W input.Word] struct {
	Game    Game[S, W]
	Initial *S // the state before frame 0; copied
	Players int
	Depth   int // frames rolled back in every frame, 1 to MaxSyncDepth; 0 means 8

	// Append appends the whole state to b: every byte the next frame may depend on. States are compared by it.
	Append func(b []byte, s *S) []byte
	// Parse, if set, reads what Append wrote into *s. States are then restored through bytes, into a state that holds
	// something else, so that a field Append leaves out keeps a wrong value and shows.
	Parse func(s *S, b []byte) error

	Seed uint64 // of the wrong guesses
}

// SyncTest finds out whether a game can be rolled back, without a network and with one instance of it. In every frame
// it does what a session does at its worst, and compares whole encoded states byte by byte:
//
//	label f-Depth ──▶ wrong guesses, Depth frames ──▶ thrown away        poisons what lies outside the state
//	      │
//	      └─ restore ──▶ true words again, silent ──▶ f-Depth+1 … f      each must be what it was the first time
//	                                                        │
//	                              the game goes on from it ◀┘
//
// A counter kept in the game, a field that is not encoded, a map whose order shows, a policy that changes the state, a
// clock: each makes two runs of one frame differ, and the error says in which frame and at which byte. The optional
// methods are held to their word too: see SyncFault.
//
// One goroutine owns it. It allocates as it likes: it is for tests.
type SyncTest[S any, W input.Word] struct {
	cfg     SyncConfig[S, W]
	equiv   Equivalenter[S, W]
	equaler Equaler[S]
	freer   Freer[S]
	events  Cosmetics[S]

	frame  int32 // newest label
	live   S
	states []S      // by label modulo the length
	codes  [][]byte // what Append made of them
	hashes []uint64
	in     [][]Input[W]
	rng    uint64

	foreign S // of the last wrong guesses
	work    S
	buf     []byte
	ids     []uint64
}

// NewSyncTest prepares a sync test. It returns an error that wraps ErrConfig if cfg is incomplete.
func NewSyncTest[S any, W input.Word](cfg SyncConfig[S, W]) (*SyncTest[S, W], error) {
	if cfg.Depth == 0 {
		cfg.Depth = 8
	}
	switch {
	case cfg.Game == nil, cfg.Initial == nil, cfg.Append == nil:
		return nil, fmt.Errorf("%w: a sync test needs Game, Initial and Append", ErrConfig)
	case cfg.Players < 1 || cfg.Players > MaxPlayers:
		return nil, fmt.Errorf("%w: Players is %d, must be 1 to %d", ErrConfig, cfg.Players, MaxPlayers)
	case cfg.Depth < 1 || cfg.Depth > MaxSyncDepth:
		return nil, fmt.Errorf("%w: Depth is %d, must be 1 to %d", ErrConfig, cfg.Depth, MaxSyncDepth)
	}
	n := cfg.Depth + 1
	t := &SyncTest[S, W]{
		cfg: cfg, frame: -1, live: *cfg.Initial, foreign: *cfg.Initial, rng: cfg.Seed*2 + 1,
		states: make([]S, n), codes: make([][]byte, n), hashes: make([]uint64, n), in: make([][]Input[W], n),
	}
	t.equiv, _ = cfg.Game.(Equivalenter[S, W])
	t.equaler, _ = cfg.Game.(Equaler[S])
	t.freer, _ = cfg.Game.(Freer[S])
	t.events, _ = cfg.Game.(Cosmetics[S])
	for i := range t.in {
		t.in[i] = make([]Input[W], cfg.Players)
	}
	t.store(&t.live)
	return t, nil
}

func (t *SyncTest[S, W]) at(label int32) int { return int(label+1) % len(t.states) }

// store keeps a state under the newest label.
func (t *SyncTest[S, W]) store(s *S) {
	i := t.at(t.frame)
	t.states[i] = *s
	t.codes[i] = t.cfg.Append(t.codes[i][:0], s)
	t.hashes[i] = t.cfg.Game.Hash(s)
}

// Frame steps one frame with a word for each player, then rolls back and steps again. The error is a *SyncError.
func (t *SyncTest[S, W]) Frame(words ...W) error {
	if len(words) != t.cfg.Players {
		return fmt.Errorf("%w: %d words for %d players", ErrConfig, len(words), t.cfg.Players)
	}
	before := t.in[t.at(t.frame)]
	in := t.in[t.at(t.frame+1)]
	for p := range in {
		prev := before[p].Now
		if t.frame < 0 {
			prev = 0
		}
		in[p] = Input[W]{Now: words[p], Prev: prev}
	}
	if err := t.guesses(in); err != nil {
		return err
	}
	t.cfg.Game.Step(&t.live, in, Emit)
	t.frame++
	t.store(&t.live)
	if err := t.watchers(); err != nil {
		return err
	}
	oldest := max(t.frame-int32(t.cfg.Depth), -1)
	t.poison(oldest)
	if err := t.restore(oldest); err != nil {
		return err
	}
	return t.again(oldest)
}

// Run calls Frame for so many frames with the words that words gives.
func (t *SyncTest[S, W]) Run(frames int, words func(frame int32, player int) W) error {
	if words == nil {
		return fmt.Errorf("%w: a sync test needs words to play", ErrConfig)
	}
	now := make([]W, t.cfg.Players)
	for range frames {
		for p := range now {
			now[p] = words(t.frame+1, p)
		}
		if err := t.Frame(now...); err != nil {
			return err
		}
	}
	return nil
}

// poison plays wrong guesses from a label on, with words that were held lately, and throws the outcome away. What the
// game keeps outside its state is then that of another game.
func (t *SyncTest[S, W]) poison(oldest int32) {
	t.foreign = t.states[t.at(oldest)]
	wrong := make([]Input[W], t.cfg.Players)
	copy(wrong, t.in[t.at(oldest)])
	if oldest < 0 {
		clear(wrong)
	}
	for f := oldest + 1; f <= t.frame; f++ {
		for p := range wrong {
			now := t.in[t.at(f)][p].Now
			if r := t.draw(); r&1 != 0 {
				now = t.in[t.at(t.frame-int32(r>>8%uint64(t.frame-oldest)))][int(r>>32%uint64(len(wrong)))].Now
			}
			wrong[p] = Input[W]{Now: now, Prev: wrong[p].Now}
		}
		t.cfg.Game.Step(&t.foreign, wrong, Emit)
	}
}

func (t *SyncTest[S, W]) draw() uint64 {
	t.rng ^= t.rng << 13
	t.rng ^= t.rng >> 7
	t.rng ^= t.rng << 17
	return t.rng * 0x9E3779B97F4A7C15 >> 8
}

// restore brings back the state of a label.
func (t *SyncTest[S, W]) restore(label int32) error {
	i := t.at(label)
	if t.cfg.Parse == nil {
		t.live = t.states[i]
	} else {
		t.live = t.foreign
		if err := t.cfg.Parse(&t.live, t.codes[i]); err != nil {
			return &SyncError{Fault: SyncParse, Frame: label, Restored: label, Err: err}
		}
	}
	return t.compare(SyncRestore, label, label, &t.live)
}

// again steps the frames after a label once more.
func (t *SyncTest[S, W]) again(oldest int32) error {
	policy := SuppressCosmetics
	if t.draw()&1 != 0 {
		policy = TelemetryOnly
	}
	for f := oldest + 1; f <= t.frame; f++ {
		t.cfg.Game.Step(&t.live, t.in[t.at(f)], policy)
		if err := t.compare(SyncStep, oldest, f, &t.live); err != nil {
			return err
		}
	}
	return nil
}

// compare holds a state against what its label was the first time.
func (t *SyncTest[S, W]) compare(fault SyncFault, restored, label int32, s *S) error {
	i := t.at(label)
	t.buf = t.cfg.Append(t.buf[:0], s)
	if !bytes.Equal(t.buf, t.codes[i]) {
		return differing(fault, restored, label, t.codes[i], t.buf)
	}
	if h := t.cfg.Game.Hash(s); h != t.hashes[i] {
		return &SyncError{Fault: SyncHash, Frame: label, Restored: restored, Hashes: [2]uint64{t.hashes[i], h}}
	}
	return nil
}
