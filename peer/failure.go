package peer

import (
	"errors"
	"fmt"

	"backstep/peer/match"
	"backstep/peer/setup"
)

// Failure is a reason for which a match did not end as asked.
type Failure struct {
	code int
	end  match.End
	text string
	err  error
}

func (f *Failure) Error() string { return f.text }

// Unwrap gives the cause.
func (f *Failure) Unwrap() error { return f.err }

// ExitCode is the exit code of the contract.
func (f *Failure) ExitCode() int { return f.code }

// The exit codes a match can end with, besides those of package lobby.
const (
	exitInternal     = 1
	exitUsage        = 2
	exitRelay        = 3
	exitNoPath       = 5
	exitOpponent     = 6
	exitDesync       = 7
	exitIncompatible = 8
)

func fail(code int, end match.End, err error, format string, args ...any) *Failure {
	return &Failure{code: code, end: end, err: err, text: fmt.Sprintf(format, args...)}
}

// matchFailure turns the end of a match into the error of Run.
func matchFailure(o match.Outcome) error {
	if o.Err == nil {
		return nil
	}
	switch {
	case errors.Is(o.Err, match.ErrInterrupted):
		return o.Err
	case errors.Is(o.Err, setup.ErrIncompatible):
		return fail(exitIncompatible, o.End, o.Err, "%v", o.Err)
	case errors.Is(o.Err, match.ErrOpponentLeft):
		return fail(exitOpponent, o.End, o.Err, "%v; the match is over, host or join again for another one", o.Err)
	case errors.Is(o.Err, match.ErrTimeout):
		return fail(exitOpponent, o.End, o.Err, "%v and was given up; check the network on both sides and play again", o.Err)
	case errors.Is(o.Err, match.ErrDesync):
		return fail(exitDesync, o.End, o.Err, "%v; please report it with both sides' --record files", o.Err)
	}
	return fail(exitInternal, o.End, o.Err, "%v", o.Err)
}

// endOf is the end_reason of an error that came before or around the match.
func endOf(err error) match.End {
	var f *Failure
	var coded interface{ ExitCode() int }
	switch {
	case err == nil:
		return match.EndFrames
	case errors.As(err, &f):
		return f.end
	case errors.As(err, &coded):
		switch c := coded.ExitCode(); {
		case c == exitOpponent:
			return match.EndLeft
		case c == exitIncompatible:
			return match.EndVersion
		case c > 128:
			return match.EndInterrupt
		case c == exitRelay, c == exitNoPath:
			return match.EndNoPath
		}
	}
	return match.EndError
}
