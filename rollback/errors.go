package rollback

import (
	"errors"
	"fmt"
)

var (
	// ErrPlayer: there is no such player, or the session's own player was meant to be confirmed from outside.
	ErrPlayer = errors.New("rollback: no such remote player")
	// ErrFrame: a negative frame.
	ErrFrame = errors.New("rollback: no such frame")
	// ErrTooFar: an input lies further ahead than an honest player can be. It was dropped.
	ErrTooFar = errors.New("rollback: input is too far ahead")
	// ErrConflict: a second, different input for a confirmed frame. The match cannot go on.
	ErrConflict = errors.New("rollback: conflicting inputs for one frame")
	// ErrSnapshot: the label lies outside the kept history.
	ErrSnapshot = errors.New("rollback: no snapshot of that frame")
)

// ConflictError says which input was contradicted. It matches ErrConflict.
type ConflictError struct {
	Player        int
	Frame         int32
	First, Second uint32 // the word confirmed first and the word that contradicts it
}

func (e *ConflictError) Error() string {
	return fmt.Sprintf("rollback: player %d sent %#x for frame %d and %#x later", e.Player, e.First, e.Frame, e.Second)
}

func (e *ConflictError) Is(target error) bool { return target == ErrConflict }
