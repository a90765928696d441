package channel

import "errors"

// Errors of Send. The message was not taken.
var (
	// ErrFull: as many messages are on their way as the channel may have. Try
	// again when some are acknowledged.
	ErrFull = errors.New("channel: the channel is full")
	// ErrSize: an empty message, or one longer than the channel carries.
	ErrSize = errors.New("channel: the message is empty or too long")
	// ErrInputs: inputs have packets of their own.
	ErrInputs = errors.New("channel: inputs do not travel in sections")
	// ErrChannel: there is no such channel, or it is closed in this direction.
	ErrChannel = errors.New("channel: no such channel, or not open in this direction")
	// ErrPlaying: the channel is closed while a match is running.
	ErrPlaying = errors.New("channel: closed during a match")
)

// Errors of Check. They are returned bare, so that refusing does not allocate.
var (
	// ErrSection: bytes that no sender makes.
	ErrSection = errors.New("channel: malformed section")
	// ErrWindow: a message further ahead than the sender may be.
	ErrWindow = errors.New("channel: message beyond the window")
	// ErrConflict: a fragment that contradicts one of the same message.
	ErrConflict = errors.New("channel: fragments contradict each other")
	// ErrControl: a control packet with more or less in it than a section.
	ErrControl = errors.New("channel: malformed control packet")
)
