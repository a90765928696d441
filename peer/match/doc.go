// Package match runs one match on one goroutine: it drives the rollback
// session with the local player's inputs, sends one packet a tick, and ends
// so that neither side loses the other's last inputs.
//
//	        setup done               N frames confirmed        heard DONE, or 2 s
//	Setup ------------> Playing ------------------> Done ------------------> Bye -> Ended
//	  |                   |  |                        |                        ^
//	  |                   |  +-- desync that is not settled, conflict ---------+
//	  |                   +----- interrupt -----------|------------------------+
//	  +--- timeout, opponent's bye, broken link ------+-------> Ended
//
// When the states of both sides differ no frame is stepped until it is settled,
// see package desync; then Playing goes on, also from Done.
//
// Clock and wire are parameters: a Loop is stepped with a time and a Pipe, so
// thousands of matches run in virtual time with the code that plays the real
// ones. In the steady state a step does not allocate.
//
// Four messages travel as the message section of full packets, outside the
// session's sequence: the set-up (package setup), and
//
//	DONE  kind 2 | frames u32 | hash u64      all N frames are confirmed here; repeated every tick
//	TERMS kind 8 | message of package accord  another mode or window, see rollback/accord
//	BYE   kind 3 | reason u8  | frames u32    the last word, sent three times
package match

import (
	"errors"

	"backstep/sim"
)

// A Pipe carries packets to and from the opponent. Its methods never block.
type Pipe interface {
	// Send hands over one packet and does not keep it. Loss is not an error.
	Send(pkt []byte)
	// Receive returns the next packet that has arrived and when, in µs of the
	// loop's clock. The packet is valid until the next call.
	Receive() (pkt []byte, at int64, ok bool)
	// Broken reports that nothing will arrive any more.
	Broken() bool
}

// A Source gives the local player's word for each frame, see package source.
type Source interface {
	Next(frame int32, w *sim.World) uint16
}

// End says why a match ended. Its text is the end_reason of the report.
type End uint8

// The reasons, in the order of the contract.
const (
	EndNone      End = iota
	EndFrames        // all frames that were asked for
	EndMatchOver     // the match was decided
	EndLeft          // the opponent left
	EndTimeout       // the opponent fell silent
	EndDesync        // the two simulations differ
	EndProtocol      // the opponent broke a rule
	EndVersion       // incompatible versions, data or settings
	EndNoPath        // set by the caller
	EndInterrupt     // this side was told to stop
	EndError         // set by the caller
	ends
)

var endNames = [ends]string{"", "frames", "match_over", "opponent_left", "timeout", "desync", "protocol_error", "version", "no_path", "interrupted", "error"}

func (e End) String() string {
	if e < ends {
		return endNames[e]
	}
	return "unknown"
}

// Sentinels that Loop.Err wraps, one for each way a match can fail.
var (
	ErrOpponentLeft = errors.New("the opponent left")
	ErrTimeout      = errors.New("the opponent fell silent")
	ErrDesync       = errors.New("the two simulations differ")
	ErrProtocol     = errors.New("the opponent broke the protocol")
	ErrInterrupted  = errors.New("interrupted")
)
