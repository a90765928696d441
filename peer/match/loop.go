package match

import (
	"fmt"
	"sync/atomic"

	"backstep/fec"
	"backstep/peer/dialog"
	"backstep/peer/setup"
	"backstep/rollback"
	"backstep/rollback/accord"
	"backstep/rollback/desync"
	"backstep/rollback/tally"
	"backstep/rollback/wire"
	"backstep/sim"
)

const (
	setupInterval = 50_000    // µs between repeated set-up messages
	setupPoll     = 2_000     // µs between looks at the queue before frame 0
	doneLimit     = 2_000_000 // µs to wait for the opponent's DONE
	byeCopies     = 3
	byeSpacing    = 5_000 // µs between them, so that one burst does not take all
	pauseMicros   = 500_000
	tickMicros    = 1_000_000 / sim.SimulationHz

	holdLimit = 20 * sim.SimulationHz // ticks that an opponent who is heard may hold the match up
	holdHeard = 500_000               // µs since it was

	maxDrain = 512 // packets handled in one step, so that a flood cannot hold a tick

	tickBins  = 4096 // of 1<<tickShift µs
	tickShift = 2
)

// Config is everything a Loop needs to know beforehand.
type Config struct {
	Side   int          // 0 host, 1 joiner; also the player's slot
	Setup  *setup.Setup // begun by the caller, finished here
	Source Source       // the local player

	Frames     int32                // play frames 0…Frames-1; 0 = until the match is decided, or what the opponent asks for
	Window     int                  // frames that may be predicted, 1 to rollback.MaxWindow
	InputDelay int                  // frames
	Delay      rollback.DelayPolicy // whether InputDelay follows the link
	Deepest    int                  // window up to which the two sides may go if there are stalls and the simulation affords it; 0 none
	Unattended bool                 // nobody answers questions: what the opponent asks for is accepted
	AutoMode   bool                 // unattended: the mode follows what is measured
	FEC        fec.Mode
	Timeout    int64 // µs of silence after which the opponent counts as gone

	// Clock gives µs for measuring how long a tick takes; nil leaves that
	// unmeasured. Everything else uses the times given to Step.
	Clock func() int64

	// Dialog is what the two sides say to each other beside inputs. It is of the
	// link, not of the match; without one nothing is said.
	Dialog *dialog.Dialog

	// Build is the name of this build, for the evidence of a desync.
	Build string
	// Accept is asked again and again whether the host's state is accepted when
	// two simulations keep differing, see package desync; nil declines. Of an
	// unranked match, on the guest's side, once.
	Accept func() desync.Answer

	// Other answers control messages of kinds a Loop does not know: it appends
	// the answer to b, or nothing. Without it they count as malformed.
	Other func(b, msg []byte) []byte

	// Observer, all optional, is called on the loop's goroutine.
	Observer Observer

	flawed rollback.Game[World, uint16] // in tests: a game that comes out differently here
}

// Observer sees what happens in a match. The arguments are valid during the call.
type Observer struct {
	// Started: both sides know the match; frame 0 follows.
	Started func(m setup.Match, w *World)
	// Settled: a frame is confirmed and final; once for every frame, in order.
	Settled func(frame int32, words [2]uint16, w *World)
	// Ticked: after every tick, with the session's result.
	Ticked func(now int64, r rollback.Result)
	// Changed: another mode or window is in force, or was not agreed on.
	Changed func(e accord.Event)
	// Said: something arrived on a channel, or a transfer ended, that the loop
	// does not use itself. Without it offers of blobs are declined.
	Said func(e dialog.Event)
	// Corrected: a settled frame whose hash is kept has another state after the
	// recovery from a desync.
	Corrected func(frame int32, w *World)
	// Evidence: the two simulations differed. It is complete and the receiver's.
	Evidence func(e *desync.Evidence)
}

// Event is a line of the report's event list.
type Event struct {
	Frame int32
	Kind  string
	Text  string
}

const (
	maxEvents = 256
	hashRoom  = 128 // hashes a match of 21 minutes has; a longer one allocates once more
)

type phase uint8

const (
	phaseSetup phase = iota
	phasePlaying
	phaseDone
	phaseBye
	phaseEnded
)

// Loop is one match. One goroutine owns it; only Interrupt may be called from
// another.
type Loop struct {
	cfg    Config
	pipe   Pipe
	phase  phase
	driver *rollback.Driver[World, uint16]
	match  setup.Match

	interrupt     atomic.Bool
	heardAt       int64 // last authenticated packet, moved on by pauses of this process
	due           int64 // when Step wanted to be called
	sendAt        int64 // next repetition of a set-up message, or next packet of Done and Bye
	opponentPlays bool

	word      uint16 // of wordFrame
	wordFrame int32

	idle    int   // ticks since a frame became final
	held    int   // of them those that count against the opponent, in all
	settled int32 // last frame handed to the observer
	last    int32 // label of the last frame of the match, or open
	final   uint64
	doneAt  int64
	theirs  done
	heard   bool // theirs is set
	byes    int
	reason  byeReason

	graded    bool // unattended, in automatic mode
	suspended bool // ranked
	noContest bool

	end     End
	err     error
	hashes  [][2]uint64
	events  []Event
	ticks   tally.Histogram
	stampAt int64 // when the opponent is told next how the link looks
	stamp   dialog.Stamp
	stamped bool // stamp is the opponent's
	resync  resync
	bad     int64 // full packets that did not parse or said something impossible

	buf [wire.MaxPacket]byte
	msg [wire.MaxPacket]byte
	pkt wire.Packet
}

// openEnd marks that the last frame is not known yet.
const openEnd = int32(1<<31 - 1)

// New makes a loop that begins with the set-up at its first Step.
func New(cfg Config, pipe Pipe) *Loop {
	return &Loop{
		cfg: cfg, pipe: pipe, wordFrame: -1, settled: -1, last: openEnd,
		ticks: tally.New(tickBins, tickShift), hashes: make([][2]uint64, 0, hashRoom),
	}
}

// Interrupt asks the loop to say goodbye and end. It may be called from any
// goroutine and more than once.
func (l *Loop) Interrupt() { l.interrupt.Store(true) }

// Step does what is due at now (µs) and returns when it wants to be called
// next, and whether the match has ended.
func (l *Loop) Step(now int64) (next int64, ended bool) {
	if l.heardAt == 0 {
		l.heardAt, l.due = now, now
	}
	// Who did not run could not hear: a pause of this process is no silence of the opponent's.
	if late := now - l.due; late > pauseMicros {
		l.heardAt += late
	}
	l.drain(now)
	if l.interrupt.Load() && l.phase < phaseBye {
		l.leave(now, byeLeave, EndInterrupt, ErrInterrupted)
	}
	if l.phase < phaseBye {
		l.watch(now)
	}
	switch l.phase {
	case phaseSetup:
		next = l.setup(now)
	case phasePlaying:
		next = l.play(now)
	case phaseDone:
		next = l.finish(now)
	case phaseBye:
		next = l.goodbye(now)
	}
	l.due = max(now, l.talk(now, next))
	return l.due, l.phase == phaseEnded
}

// watch ends the match when the opponent cannot be there any more.
func (l *Loop) watch(now int64) {
	switch {
	case l.pipe.Broken():
		l.stop(EndLeft, fmt.Errorf("%w: the connection was closed", ErrOpponentLeft))
	case l.cfg.Timeout > 0 && now-l.heardAt > l.cfg.Timeout:
		// It may be there and hear us, and need not wait as long.
		l.leave(now, byeLeave, EndTimeout, fmt.Errorf("%w for %d seconds", ErrTimeout, l.cfg.Timeout/1_000_000))
	default:
		return
	}
	if l.final != 0 || l.phase == phaseDone {
		// Everything of this side's is complete; only the goodbye is missing.
		l.end, l.err = l.goal(), nil
	}
}

// drain handles what has arrived, oldest first.
func (l *Loop) drain(now int64) {
	for range maxDrain {
		pkt, at, ok := l.pipe.Receive()
		if !ok {
			return
		}
		l.heardAt = max(l.heardAt, at)
		if wire.IsCompact(pkt) {
			l.opponentPlays = true
			if l.driver != nil {
				// What a packet did wrong is counted by the driver.
				_ = l.driver.Receive(at, pkt)
				l.hear(now)
			}
			continue
		}
		l.control(now, at, pkt)
	}
}

func (l *Loop) control(now, at int64, b []byte) {
	if err := wire.ParseFull(b, &l.pkt); err != nil {
		if l.phase == phaseSetup {
			if v := versionOf(err); v != nil {
				l.leave(now, byeVersion, EndVersion, v)
				return
			}
		}
		l.bad++
		return
	}
	msg := l.pkt.Message
	if len(msg) == 0 {
		l.bad++
		return
	}
	if l.heardDialog(now, at) {
		return
	}
	switch msg[0] {
	case setup.Kind:
		l.heardSetup(now, msg)
	case kindTerms:
		l.heardTerms(msg)
	case kindDone:
		d, ok := parseDone(msg)
		if !ok {
			l.bad++
			return
		}
		l.theirs, l.heard = d, true
	case kindBye:
		m, ok := parseBye(msg)
		if !ok {
			l.bad++
			return
		}
		l.heardBye(m)
	default:
		if l.cfg.Other == nil {
			l.bad++
			return
		}
		if b := l.cfg.Other(l.msg[:0], msg); len(b) > 0 {
			l.sendControl(b)
		}
	}
}

// send sends a control message.
func (l *Loop) sendControl(msg []byte) {
	if b := AppendControl(l.buf[:0], msg); len(b) > 0 {
		l.pipe.Send(b)
	}
}

// leave begins the goodbye.
func (l *Loop) leave(now int64, reason byeReason, end End, err error) {
	l.played()
	l.reason, l.end, l.err = reason, end, err
	l.phase, l.sendAt, l.byes = phaseBye, now, 0
}

// stop ends at once: there is nobody to say goodbye to.
func (l *Loop) stop(end End, err error) {
	l.played()
	l.end, l.err, l.phase = end, err, phaseEnded
}

func (l *Loop) note(frame int32, kind, text string) {
	if len(l.events) < maxEvents {
		l.events = append(l.events, Event{frame, kind, text})
	}
}
