package lobby

import (
	"errors"
	"fmt"

	"backstep/natpunch/rendezvous"
)

// Failure is the type of the Err variables: a sentence and the exit code of the
// command line contract.
type Failure struct {
	code int
	text string
}

// ofRelay reports whether err is about a relay rather than about the opponent or
// the code, so that a sentence names the relay it is about.
func ofRelay(err error) bool {
	var f *Failure
	return errors.As(err, &f) && (f.code == exitRelay || f == ErrRelayVersion || f == ErrSlowDown)
}

func (f *Failure) Error() string { return f.text }

// ExitCode is the code with which a program that fails for this reason ends.
func (f *Failure) ExitCode() int { return f.code }

const (
	exitRelay        = 3
	exitLobby        = 4
	exitOpponent     = 6
	exitIncompatible = 8
)

// What can go wrong between a code and a Session.
var (
	ErrUnreachable  = &Failure{exitRelay, "the relay could not be reached; check its address, or use another relay"}
	ErrUnauthorized = &Failure{exitRelay, "the relay wants a token; ask its operator and pass it with --relay-token"}
	ErrBusy         = &Failure{exitRelay, "the relay takes no one in at the moment; try again later, or use another relay"}
	ErrProtocol     = &Failure{exitRelay, "the relay sent something that makes no sense; use another relay"}
	ErrTampered     = &Failure{exitRelay, "something between the players altered a message or told them different things; do not trust this relay, use another one"}

	ErrUnknownCode = &Failure{exitLobby, "no lobby has this code; check it, or ask the host for a new one"}
	ErrFull        = &Failure{exitLobby, "the lobby has already found its opponent; ask the host for a new code"}
	ErrExpired     = &Failure{exitLobby, "the code has expired; ask the host for a new one"}
	ErrWrongCode   = &Failure{exitLobby, "the code did not fit; check it and type it again (after three wrong tries the host shows a new one)"}
	ErrSlowDown    = &Failure{exitLobby, "the relay saw too many tries from this network; wait a minute and try again"}
	ErrDisplaced   = &Failure{exitLobby, "another attempt to join from this network took this one's place; type the code again"}
	ErrNobodyCame  = &Failure{exitLobby, "nobody joined in time; host again when your opponent is ready"}

	ErrGone     = &Failure{exitOpponent, "the opponent left the lobby; ask for a new code and try again"}
	ErrNoAnswer = &Failure{exitOpponent, "the opponent did not answer in time; check that they are still waiting and try again"}
	ErrAway     = &Failure{exitOpponent, "the host is away: its program ended or its network is down; ask whether the host still waits, and try again or ask for a new code"}
	ErrLost     = &Failure{exitRelay, "the connection to the relay was lost; try again"}

	ErrIncompatible = &Failure{exitIncompatible, "the two players cannot play together"}
	ErrRelayVersion = &Failure{exitIncompatible, "the relay speaks another version of the lobby protocol; update the older of the two"}
)

// Misuse of a Session, and its end.
var (
	ErrNotAccepted = errors.New("lobby: candidates may only be sent after both players accepted")
	ErrHidden      = errors.New("lobby: a player hides its address, so nobody sends candidates")
	ErrAgain       = errors.New("lobby: no third attempt at a secure link")
	ErrClosed      = errors.New("lobby: session closed")
)

// relayFailure turns the relay's refusal into a Failure.
func relayFailure(m rendezvous.ErrorMsg) error {
	var f *Failure
	switch m.Code {
	case rendezvous.CodeUnknown:
		f = ErrUnknownCode
	case rendezvous.CodeFull:
		f = ErrFull
	case rendezvous.CodeExpired:
		f = ErrExpired
	case rendezvous.CodeGone:
		f = ErrGone
	case rendezvous.CodeAway:
		f = ErrAway
	case rendezvous.CodeRunEnded:
		f = ErrNoAnswer
	case rendezvous.CodeVersion:
		return ErrRelayVersion
	case rendezvous.CodeSlowDown:
		if m.Retry > 0 {
			return fmt.Errorf("%w (in %d s at the earliest)", ErrSlowDown, m.Retry)
		}
		f = ErrSlowDown
	case rendezvous.CodeBusy, rendezvous.CodeDraining, rendezvous.CodeLobbies:
		if m.Retry > 0 {
			return fmt.Errorf("%w (%v; it says in %d s)", ErrBusy, m.Code, m.Retry)
		}
		return fmt.Errorf("%w (%v)", ErrBusy, m.Code)
	case rendezvous.CodeStunOnly, rendezvous.CodeInternal:
		return fmt.Errorf("%w (%v)", ErrBusy, m.Code)
	default:
		return fmt.Errorf("%w (%v)", ErrProtocol, m.Code)
	}
	return f
}
