// Package input codes runs of input words: what a player held, frame after frame.
package input

import "errors"

// Word is a player's input of one frame, one bit per direction or button.
type Word interface{ ~uint8 | ~uint16 | ~uint32 }

// Errors of ParseRun and ParseLog. They are returned bare, without context, so that refusing a packet does not allocate.
var (
	ErrTruncated = errors.New("input: coded words end early")
	ErrCoding    = errors.New("input: coded words are not in their one legal form")
	ErrTooLong   = errors.New("input: more words than the bound allows")
)

// AppendRun appends the coding of words to b, each taken against the one before it and the first against prev.
func AppendRun[W Word](b []byte, prev W, words []W) []byte { return b }

// ParseRun fills dst from b, all of which is what AppendRun made of len(dst) words against prev.
func ParseRun[W Word](b []byte, prev W, dst []W) error { return ErrCoding }

// AppendLog appends a self-delimiting coding of words, minutes of them, made to be compressed by flate afterwards.
func AppendLog[W Word](b []byte, words []W) []byte { return b }

// ParseLog appends the words of one log to dst, at most bound of them, and returns them and what follows the log.
func ParseLog[W Word](b []byte, dst []W, bound int) (words []W, rest []byte, err error) {
	return dst, b, ErrTruncated
}
