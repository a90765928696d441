package rendezvous

import (
	"encoding/binary"
	"fmt"
)

// ErrorCode says why a relay refuses or ends something (message 0F).
type ErrorCode uint8

// The error codes. A code a player does not know is shown by its number.
const (
	CodeVersion   ErrorCode = 1  // ver is not one the relay speaks
	CodeUnknown   ErrorCode = 2  // no lobby has this lookup
	CodeFull      ErrorCode = 3  // the lobby has found its opponent
	CodeExpired   ErrorCode = 4  // the lobby's time is over
	CodeBusy      ErrorCode = 5  // the relay as a whole is at a limit
	CodeSlowDown  ErrorCode = 6  // this source tried too often
	CodeMalformed ErrorCode = 7  // a message did not parse or came out of turn
	CodeDraining  ErrorCode = 8  // the relay is about to stop
	CodeGone      ErrorCode = 9  // the other player's connection to the lobby ended
	CodeResume    ErrorCode = 10 // the resume token is not known (any more)
	CodeLobbies   ErrorCode = 11 // this source holds too many lobbies
	CodeRunEnded  ErrorCode = 12 // the run took too long, or with Retry made room for a newer one
	CodeStunOnly  ErrorCode = 13 // the relay offers STUN only
	CodeInternal  ErrorCode = 14 // the relay failed
	CodeAway      ErrorCode = 15 // the host's connection is lost, and the lobby waits for it
)

var codeSentences = [...]string{
	CodeVersion:   "the relay speaks another version of the lobby protocol",
	CodeUnknown:   "the relay knows no lobby with this code",
	CodeFull:      "the lobby has already found its opponent",
	CodeExpired:   "the code has expired",
	CodeBusy:      "the relay is busy",
	CodeSlowDown:  "too many tries from this network",
	CodeMalformed: "the relay did not understand a message",
	CodeDraining:  "the relay is about to stop",
	CodeGone:      "the other player left the lobby",
	CodeResume:    "the relay no longer knows this lobby",
	CodeLobbies:   "this network holds too many lobbies at this relay",
	CodeRunEnded:  "the relay ended the attempt to join",
	CodeStunOnly:  "this relay offers no lobby",
	CodeInternal:  "the relay failed",
	CodeAway:      "the host is away",
}

// Known reports whether c is one of the constants above.
func (c ErrorCode) Known() bool { return int(c) < len(codeSentences) && codeSentences[c] != "" }

// String is one sentence without capital and full stop.
func (c ErrorCode) String() string {
	if c.Known() {
		return codeSentences[c]
	}
	return fmt.Sprintf("the relay answered with error %d", uint8(c))
}

// ErrorMsg refuses or ends something. Retry is the number of seconds after which
// trying again makes sense; 0 says nothing about it.
//
//	0F | code u8 | retry_s u16                                          4 bytes
type ErrorMsg struct {
	Code  ErrorCode
	Retry uint16
}

const errorSize = 1 + 1 + 2

// AppendError appends m to b.
func AppendError(b []byte, m *ErrorMsg) []byte {
	return binary.LittleEndian.AppendUint16(append(b, byte(TypeError), byte(m.Code)), m.Retry)
}

// ParseError reads m from b; unknown codes are accepted.
func ParseError(b []byte, m *ErrorMsg) error {
	if err := check(b, TypeError, errorSize); err != nil {
		return err
	}
	m.Code = ErrorCode(b[1])
	m.Retry = binary.LittleEndian.Uint16(b[2:])
	return nil
}
