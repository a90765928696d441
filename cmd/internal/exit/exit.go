// Package exit holds the exit codes both commands promise, and the way an error or a signal becomes one.
//
//	error ── has ExitCode() int? ──yes──> that code
//	   │                └──no──────────> 1 (I/O or internal)
//	  nil ─────────────────────────────> 0
//
//	running ──SIGINT|SIGTERM──> context cancelled, cause Signal ──> goodbye, report ──> exit 130|143
//	                               └──a second signal───────────────────────────────> exit at once
package exit

import "errors"

// The codes of the command line contract. Scripts depend on them.
const (
	OK           = 0 // ended as asked
	Internal     = 1 // I/O or internal error
	Usage        = 2 // usage, or a malformed trace, replay, data or config file
	Relay        = 3 // relay unreachable, or it refused the token
	Lobby        = 4 // lobby unknown, full, expired or wrong code
	NoPath       = 5 // no path to the opponent
	Opponent     = 6 // opponent left or timed out
	Desync       = 7 // desync that was not recovered, or a replay whose hashes do not match
	Incompatible = 8 // other wire version, sim version, game data or explicit setting
)

// Error is an error that knows the exit code it ends the program with.
type Error struct {
	Code int
	Err  error
}

func (e *Error) Error() string { return e.Err.Error() }

// Unwrap gives the error the code was attached to.
func (e *Error) Unwrap() error { return e.Err }

// ExitCode is the code given to With.
func (e *Error) ExitCode() int { return e.Code }

// With attaches an exit code to err. It returns nil for a nil err.
func With(code int, err error) error {
	if err == nil {
		return nil
	}
	return &Error{Code: code, Err: err}
}

// Code is the exit code err stands for: 0 for nil, the code of the outermost error in its chain that has an
// ExitCode method, 1 otherwise.
func Code(err error) int {
	if err == nil {
		return OK
	}
	var coded interface{ ExitCode() int }
	if errors.As(err, &coded) {
		return coded.ExitCode()
	}
	return Internal
}
