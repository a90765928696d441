package rollback

import (
	"fmt"

	"backstep/rollback/input"
	"backstep/rollback/quality"
)

const (
	// inputRing holds words by frame and player: MaxHistory frames behind the present one and all that may lie ahead.
	inputRing = 256
	inputMask = inputRing - 1

	noFrame = int32(1<<31 - 1)
)

// Session is one player's view of a running game: its states, the inputs they came from, and what is known of the
// others' inputs. S is copied by assignment and compared with ==, or by the game if it is an Equaler.
//
// Confirm hands in what arrived, Tick makes one frame. Memory is allocated by NewSession alone.
type Session[S comparable, W input.Word] struct {
	cfg        Config
	game       Game[S, W]
	equivalent Equivalenter[S, W] // nil if the game is none
	equaler    Equaler[S]
	freer      Freer[S]
	cosmetics  Cosmetics[S]

	// The state labelled f lies in states[place[f & inputMask]]. One state more than labels is kept: a frame is stepped
	// again in the spare, so that it can be compared with what was there, and then they change places.
	states []S
	place  [inputRing]uint8
	spare  uint8

	cur    int32 // newest state
	oldest int32 // oldest state
	fix    int32 // earliest frame that ran with a refuted input, noFrame if none
	force  bool  // the frame to fix changed for a reason other than its inputs
	lost   bool  // the snapshot a correction needs is gone

	conf      [MaxPlayers]int32 // newest frame up to which every word of that player is known
	confirmed int32             // least conf over the remote players
	words     [MaxPlayers][inputRing]W
	known     [MaxPlayers][inputRing]int32 // frame + 1 of the word that lies there
	used      []Input[W]                   // what each frame ran with: inputRing entries of Players each
	conflict  *ConflictError

	free      [inputRing]bool
	frozen    bool
	stallRun  int
	stalls    int64 // since the start
	held      [PressureSpan]bool
	heldCount int
	heldAt    int
	ladder    quality.Ladder

	localNext int32 // next frame of this side's player to get a word
	lastLocal W
	pledged   int32 // frame that was waited for when a word was given for its tick, see pledge
	delay     int32
	guess     int32 // frames a guess repeats the newest known word; 0: without end
	window    int32 // frames that may be predicted now: none in delay mode

	hashes   [HashRing]frameHash
	hashNext int32
	agree    [MaxPlayers]agreement
	desynced bool

	events   eventLog
	rollback Rollback
	replayed []int32
	hashCur  func() uint64
	stats    SessionStats
}

// NewSession starts a session before its first frame. initial is copied. It returns an error that wraps ErrConfig if
// cfg is not valid. It allocates everything the session will ever need.
func NewSession[S comparable, W input.Word](game Game[S, W], cfg Config, initial *S) (*Session[S, W], error) {
	if err := cfg.Valid(); err != nil {
		return nil, err
	}
	if game == nil || initial == nil {
		return nil, fmt.Errorf("%w: a session needs a game and its initial state", ErrConfig)
	}
	labels := cfg.SnapshotHistoryFrames + 1
	s := &Session[S, W]{
		cfg:      cfg,
		game:     game,
		states:   make([]S, labels+1),
		spare:    uint8(labels),
		cur:      -1,
		oldest:   -1,
		pledged:  -1,
		fix:      noFrame,
		used:     make([]Input[W], inputRing*cfg.Players),
		replayed: make([]int32, 0, MaxHistory),
		delay:    int32(cfg.InputDelay),
		guess:    int32(cfg.GuessFrames),
		stats:    newStats(),
	}
	s.window = s.cfg.window()
	s.equivalent, _ = game.(Equivalenter[S, W])
	s.equaler, _ = game.(Equaler[S])
	s.freer, _ = game.(Freer[S])
	if s.cosmetics, _ = game.(Cosmetics[S]); s.cosmetics != nil {
		s.events = newEventLog()
	}
	// Before the first frame the labels below -1 hold the states that the first frames will be put in.
	for i := range labels {
		s.place[(i-labels)&inputMask] = uint8(i)
	}
	*s.state(-1) = *initial
	for p := range s.conf {
		s.conf[p] = -1
		s.agree[p] = newAgreement()
	}
	s.confirmed = -1
	s.hashCur = func() uint64 { return s.game.Hash(s.state(s.cur)) }
	s.rollback.Before = s.hashBefore
	s.rollback.After = func() uint64 { return s.game.Hash(s.state(s.rollback.Last)) }
	return s, nil
}

func (s *Session[S, W]) state(frame int32) *S { return &s.states[s.place[frame&inputMask]] }

// inputs is what frame ran with, one entry per player.
func (s *Session[S, W]) inputs(frame int32) []Input[W] {
	n := s.cfg.Players
	i := int(frame&inputMask) * n
	return s.used[i : i+n : i+n]
}

// Config is the configuration the session runs with. The input delay and the window may have been changed since.
func (s *Session[S, W]) Config() Config { return s.cfg }

// Frame is the label of the newest state, -1 before frame 0.
func (s *Session[S, W]) Frame() int32 { return s.cur }

// Oldest is the label of the oldest state kept.
func (s *Session[S, W]) Oldest() int32 { return s.oldest }

// Confirmed is the newest frame for which the inputs of all remote players are known, -1 for none.
func (s *Session[S, W]) Confirmed() int32 { return s.confirmed }

// ConfirmedOf is the newest frame up to which every input of that player is known, -1 for none.
func (s *Session[S, W]) ConfirmedOf(player int) int32 {
	if player < 0 || player >= s.cfg.Players {
		return -1
	}
	return s.conf[player]
}

// Settled is the newest label whose state can no longer change: all its inputs are known and it has run with them.
func (s *Session[S, W]) Settled() int32 {
	top := min(s.confirmed, s.cur)
	if s.fix <= top {
		top = s.fix - 1
	}
	return top
}

// Advantage is the frame advantage of player 0 over player 1: the difference of their newest confirmed frames.
func (s *Session[S, W]) Advantage() int32 { return s.conf[0] - s.conf[1] }

// State is the state labelled frame as it stands now, for reading until the next call; ok is false if it is not kept.
func (s *Session[S, W]) State(frame int32) (state *S, ok bool) {
	if frame < s.oldest || frame > s.cur {
		return nil, false
	}
	return s.state(frame), true
}

// Word is the input of a player in a frame that is known for sure; ok is false if it is not, or no longer kept.
func (s *Session[S, W]) Word(player int, frame int32) (w W, ok bool) {
	if player < 0 || player >= s.cfg.Players || frame < 0 {
		return 0, false
	}
	i := frame & inputMask
	return s.words[player][i], s.known[player][i] == frame+1
}

// Used is what a player's frame ran with, guessed or known; ok is false outside the kept history.
func (s *Session[S, W]) Used(player int, frame int32) (in Input[W], ok bool) {
	if player < 0 || player >= s.cfg.Players || frame <= s.oldest || frame > s.cur {
		return in, false
	}
	return s.inputs(frame)[player], true
}
