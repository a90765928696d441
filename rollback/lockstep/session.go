package lockstep

import (
	"errors"
	"fmt"
)

const (
	HashIntervalFrames     = 100 // frames between two checkpoints: 4 s
	RecoveryRollbackFrames = 4   // frames before a difference that are dropped with it
	MaxInputWaitMicros     = 3_000_000

	maxDelay      = 8
	ring          = 256 // frames of bundles and digests kept
	checkpoints   = 64
	maxPeers      = 2 * MaxPlayers
	maxRecoveries = 3
	bundleBytes   = 900  // encoded, so that a packet takes one
	catchUp       = 64   // frames stepped in one tick while catching up
	maxOutbox     = 1024 // commands that wait for a bundle
	stuckFor      = 12   // packets after which the host passes on what another player said
	newest        = int32(maxFrame - 1)
)

var (
	// ErrConfig: a configuration no match can be played with.
	ErrConfig = errors.New("lockstep: invalid configuration")
	// ErrConflict: a player sent two different bundles for one frame.
	ErrConflict = errors.New("lockstep: two bundles for one frame")
	// ErrDesync: the game differs from the host's again and again.
	ErrDesync = errors.New("lockstep: the game differs from the host's after every recovery")
	// ErrBacklog: more commands wait for a bundle than are kept; the frames that run make room.
	ErrBacklog = errors.New("lockstep: too many commands wait for a bundle")
	// ErrCommand: a command that is not one.
	ErrCommand = errors.New("lockstep: invalid command")
)

// Game is what is played. It is owned by its Session.
type Game interface {
	// Step runs one frame with the commands of all players in canonical order, valid during the call.
	Step(frame int32, commands []Command, d *Draws)
	// Hash identifies the state.
	Hash() uint64
	// AppendState appends the whole state, 1 byte to MaxState; LoadState takes it over. It fails for bytes that are none.
	AppendState(b []byte) []byte
	LoadState(b []byte) error
}

// Pipe carries packets to the other sides; it does not keep them.
type Pipe interface {
	Send(to int, pkt []byte)
}

// Config is one side of a match.
type Config struct {
	Match Match
	Local int   // this side's slot; from Match.Players on an observer's, below 8
	Delay int   // frames a command is scheduled ahead, 1 to 8, the same on all sides; 0 is 2
	Late  bool  // the match runs already: take it over from the host
	Life  uint8 // how often this side began before in this match
}

// Status is what the match is doing on this side.
type Status uint8

const (
	Running Status = iota
	Waiting
	PauseExceeded // waited for more than MaxInputWaitMicros
	Recovering    // taking over the host's state after a difference
	Joining       // taking it over to begin with
)

func (s Status) String() string {
	return [...]string{"running", "waiting", "waiting too long", "recovering", "joining"}[s]
}

// peer is what is known of another side.
type peer struct {
	heard    bool
	life     uint8
	known    [MaxPlayers]int32
	stuck    [MaxPlayers]int // packets since that changed, while this side knows more
	done     int32
	catching bool
	pending  [16]mark // digests of frames not run here yet
	at       int
	servedAt int64
}

type mark struct {
	frame  int32
	digest uint64
}

// Session is one side of a match. One goroutine owns it; it reads no clock and starts nothing.
type Session struct {
	cfg  Config
	game Game
	pipe Pipe

	clock  Clock
	ticked int64
	saidAt int64
	began  bool

	cur      int32 // newest frame run
	digest   uint64
	digests  [ring]mark
	checks   [checkpoints]mark
	bundles  [MaxPlayers][ring][]Command
	framed   [MaxPlayers][ring]int32 // frame of the bundle that lies there, -1 for none
	known    [MaxPlayers]int32       // newest frame up to which every bundle of that player is there
	outbox   []Command
	draws    Draws
	names    names
	snaps    snapshots
	incoming incoming
	catching bool // behind, stepping as fast as bundles allow

	waitFrom  int64
	waiting   bool
	flagged   bool
	desynced  bool
	differs   mark // the newest difference: frame and this side's digest
	recovered int
	err       error
	peers     [maxPeers]peer
	record    *Record

	commands []Command
	scratch  []Command
	buf      [MaxPacket]byte
	stats    Stats
}

// Stats are counters since the start.
type Stats struct {
	Sent, Received     int64 // packets
	SentBytes          int64
	Malformed          int64
	Waits              int64 // frames that had to wait
	Desyncs            int64 // differences found
	Recoveries         int64
	SnapshotsServed    int64 // chunks
	LongestWait        int64 // µs
	RefusedCommands    int64
	DifferencesOfOther int64 // found by the host in a guest
}

// New is a side of a match with a game before frame 0, or, if cfg.Late, with one that is taken over.
func New(game Game, cfg Config, pipe Pipe) (*Session, error) {
	if cfg.Delay == 0 {
		cfg.Delay = 2
	}
	switch m := cfg.Match; {
	case m.Players < 1 || m.Players > MaxPlayers:
		return nil, fmt.Errorf("%w: %d players, must be 1 to %d", ErrConfig, m.Players, MaxPlayers)
	case cfg.Local < 0 || cfg.Local >= maxPeers:
		return nil, fmt.Errorf("%w: slot %d, must be 0 to %d", ErrConfig, cfg.Local, maxPeers-1)
	case cfg.Delay < 1 || cfg.Delay > maxDelay:
		return nil, fmt.Errorf("%w: a delay of %d frames, must be 1 to %d", ErrConfig, cfg.Delay, maxDelay)
	case cfg.Late && cfg.Local == 0:
		return nil, fmt.Errorf("%w: the host cannot be late", ErrConfig)
	}
	s := &Session{cfg: cfg, game: game, pipe: pipe, cur: -1, draws: NewDraws(cfg.Match.Seed), names: names{known: make(map[string]string)}}
	for i := range s.digests {
		s.digests[i].frame = -1
	}
	for i := range s.checks {
		s.checks[i].frame = -1
	}
	for p := range s.peers {
		s.peers[p].done = -1
		for q := range s.peers[p].known {
			s.peers[p].known[q] = -1
		}
		for i := range s.peers[p].pending {
			s.peers[p].pending[i].frame = -1
		}
	}
	for p := range s.known {
		// No command can be for the first frames; their bundles are empty and never sent.
		s.known[p] = int32(cfg.Delay) - 1
		for f := range s.framed[p] {
			s.framed[p][f] = -1
		}
		for f := range cfg.Delay {
			s.framed[p][f] = int32(f)
		}
	}
	if cfg.Late {
		s.catching = true
		s.incoming.begin(newest)
	} else {
		s.snapshot()
	}
	return s, nil
}

func (s *Session) player() bool { return s.cfg.Local < s.cfg.Match.Players }

// Add schedules a command of this side's player. It goes into the next bundle that has room; up to 1024 wait, then it
// returns ErrBacklog. ErrCommand is for one that is not valid or not a player's. Neither changes anything.
func (s *Session) Add(c Command) error {
	c.Player = uint8(s.cfg.Local)
	if !c.Valid() || !s.player() {
		s.stats.RefusedCommands++
		return ErrCommand
	}
	if len(s.outbox) == maxOutbox {
		s.stats.RefusedCommands++
		return ErrBacklog
	}
	s.outbox = append(s.outbox, c)
	return nil
}

// Frame is the newest frame run, -1 before frame 0; Digest that of it.
func (s *Session) Frame() int32   { return s.cur }
func (s *Session) Digest() uint64 { return s.digest }

// DigestOf is the digest of one of the last 256 frames.
func (s *Session) DigestOf(frame int32) (digest uint64, ok bool) {
	if frame < 0 {
		return 0, false
	}
	m := s.digests[frame%ring]
	return m.digest, m.frame == frame
}

// Checkpoint is the digest of one of the last 64 frames divisible by HashIntervalFrames.
func (s *Session) Checkpoint(frame int32) (digest uint64, ok bool) {
	if frame < 0 || frame%HashIntervalFrames != 0 {
		return 0, false
	}
	m := s.checks[frame/HashIntervalFrames%checkpoints]
	return m.digest, m.frame == frame
}

// Desynced reports whether this side's game was ever found to differ from another's, Difference where it did last.
func (s *Session) Desynced() bool { return s.desynced }

// Difference is the frame of the newest difference, and this side's digest of it.
func (s *Session) Difference() (frame int32, digest uint64, ok bool) {
	return s.differs.frame, s.differs.digest, s.desynced
}

// Flagged reports whether the match once waited for longer than MaxInputWaitMicros: a player is to be taken back by a
// snapshot and a replay of what it lost.
func (s *Session) Flagged() bool { return s.flagged }

// Err is the error that ended the match: ErrConflict, ErrDesync, ErrDrawOrder, or what LoadState said; nil while it goes on.
func (s *Session) Err() error { return s.err }

// Stats are the counters so far.
func (s *Session) Stats() Stats { return s.stats }

// Draws are the random numbers of the match, for evidence.
func (s *Session) Draws() *Draws { return &s.draws }

// SetRecord records every frame from now on into r, which must hold as many frames as were run.
func (s *Session) SetRecord(r *Record) { s.record = r }

// Status is what the match is doing, at the time of the last Tick.
func (s *Session) Status() Status {
	switch {
	case s.incoming.active && s.desynced, s.catching && s.desynced:
		return Recovering
	case s.catching:
		return Joining
	case s.waiting && s.ticked-s.waitFrom > MaxInputWaitMicros:
		return PauseExceeded
	case s.waiting:
		return Waiting
	}
	return Running
}
