package accord

import (
	"encoding/binary"
	"errors"

	"backstep/rollback/quality"
)

// ErrMessage: not a message that the other side can have sent.
var ErrMessage = errors.New("accord: impossible message")

const (
	hostTag  = 'H'
	guestTag = 'G'
	hostLen  = 21
	guestLen = 19

	wantAnswer = 1

	// MaxMessage is the length of the longest message.
	MaxMessage = hostLen
)

// Stage is how far a change is.
type Stage uint8

const (
	Idle Stage = iota
	Poll
	Propose
	Commit
	Abort
)

// Reason says why a change was dropped.
type Reason uint8

const (
	None     Reason = iota
	Refused         // a player said no
	NoAnswer        // a player did not answer in time
	NoFrame         // no frame could be agreed on
	NoChange        // the terms are in force already, or beyond what a side affords
)

func (r Reason) String() string {
	switch r {
	case Refused:
		return "a player refused"
	case NoAnswer:
		return "a player did not answer"
	case NoFrame:
		return "the connection is too bad to agree on a frame"
	case NoChange:
		return "there is nothing to change"
	}
	return ""
}

type vote uint8

const (
	undecided vote = iota
	yes
	no
	ready // for the frame of that attempt
	late  // beyond it
	done  // the change is in force, or dropped
)

// head is what both messages begin with.
type head struct {
	revision, heard uint16
	want            bool
	offer           quality.Offer
	limit           uint8
}

// hostState and guestState are what a message says beside its head.
type hostState struct {
	serial  uint16
	stage   Stage
	attempt uint8
	asker   uint8
	ask     uint8
	reason  Reason
	terms   Terms
	frame   int32
}

type guestState struct {
	serial  uint16
	vote    vote
	attempt uint8
	ask     uint8
	want    Terms
	newest  int32
}

func appendHead(b []byte, tag byte, h head) []byte {
	b = append(b, tag)
	b = binary.LittleEndian.AppendUint16(b, h.revision)
	b = binary.LittleEndian.AppendUint16(b, h.heard)
	flags := byte(0)
	if h.want {
		flags = wantAnswer
	}
	return append(b, flags, byte(h.offer), h.limit)
}

func parseHead(b []byte) (h head, ok bool) {
	h = head{
		revision: binary.LittleEndian.Uint16(b[1:]), heard: binary.LittleEndian.Uint16(b[3:]),
		want: b[5] == wantAnswer, offer: quality.Offer(b[6]), limit: b[7],
	}
	return h, b[5] <= wantAnswer && h.offer <= quality.Declined && h.limit >= 1 && h.limit <= MaxWindow
}

func appendHost(b []byte, h head, s hostState) []byte {
	b = appendHead(b, hostTag, h)
	b = binary.LittleEndian.AppendUint16(b, s.serial)
	b = append(b, byte(s.stage), s.attempt, s.asker, s.ask, byte(s.reason), byte(s.terms.Mode), s.terms.Window)
	return binary.LittleEndian.AppendUint32(b, uint32(s.frame))
}

func parseHost(b []byte) (h head, s hostState, err error) {
	if len(b) != hostLen || b[0] != hostTag {
		return h, s, ErrMessage
	}
	h, ok := parseHead(b)
	s = hostState{
		serial: binary.LittleEndian.Uint16(b[8:]), stage: Stage(b[10]), attempt: b[11], asker: b[12], ask: b[13],
		reason: Reason(b[14]), terms: Terms{quality.Mode(b[15]), b[16]}, frame: int32(binary.LittleEndian.Uint32(b[17:])),
	}
	if !ok || s.stage > Abort || s.asker >= MaxPlayers || s.reason > NoChange || !s.terms.Valid() || s.frame < 0 {
		return head{}, hostState{}, ErrMessage
	}
	return h, s, nil
}

func appendGuest(b []byte, h head, s guestState) []byte {
	b = appendHead(b, guestTag, h)
	b = binary.LittleEndian.AppendUint16(b, s.serial)
	b = append(b, byte(s.vote), s.attempt, s.ask, byte(s.want.Mode), s.want.Window)
	return binary.LittleEndian.AppendUint32(b, uint32(s.newest))
}

func parseGuest(b []byte) (h head, s guestState, err error) {
	if len(b) != guestLen || b[0] != guestTag {
		return h, s, ErrMessage
	}
	h, ok := parseHead(b)
	s = guestState{
		serial: binary.LittleEndian.Uint16(b[8:]), vote: vote(b[10]), attempt: b[11], ask: b[12],
		want: Terms{quality.Mode(b[13]), b[14]}, newest: int32(binary.LittleEndian.Uint32(b[15:])),
	}
	if !ok || s.vote > done || !s.want.Valid() || s.newest < -1 {
		return head{}, guestState{}, ErrMessage
	}
	return h, s, nil
}
