package dialog

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"unicode/utf8"

	"backstep/natpunch/rendezvous"
	"backstep/peer/bulk"
)

// Topic is the first byte of a MatchState message. Those below TopicDesync are
// this package's own.
type Topic uint8

// The topics of a match, eight numbers each. What a side does not know it ignores.
const (
	TopicDesync Topic = 16 // evidence of a desync and the recovery from it
	TopicMode   Topic = 24 // changes of mode and input delay
)

const (
	topicOffer  = 1
	topicAnswer = 2
	topicEnd    = 3

	chatLine = 1
	chatHere = 2

	telemetryStamp = 1

	offerLen  = 1 + 2 + 1 + 4 + sha256.Size
	answerLen = 1 + 2 + 1
	endLen    = 1 + 2
	hereLen   = 1 + 1
	stampLen  = 1 + 4*2

	// MaxChatRunes and MaxChatBytes bound a chat line.
	MaxChatRunes = 120
	MaxChatBytes = 400
)

// Purpose says what a blob is for.
type Purpose uint8

// The purposes.
const (
	Snapshot Purpose = iota + 1 // state to go on from
	Replay                      // a recorded match
	Evidence                    // what one side knows of a desync
	purposes
)

// Offer announces a blob.
type Offer struct {
	ID      uint16
	Purpose Purpose
	Length  uint32 // bytes
	Sum     [sha256.Size]byte
}

type verdict uint8

const (
	accepted verdict = iota
	declined
	verdicts
)

// errMessage: bytes that no sender makes.
var errMessage = errors.New("dialog: malformed message")

func appendOffer(b []byte, o *Offer) []byte {
	b = binary.LittleEndian.AppendUint16(append(b, topicOffer), o.ID)
	b = binary.LittleEndian.AppendUint32(append(b, byte(o.Purpose)), o.Length)
	return append(b, o.Sum[:]...)
}

func parseOffer(b []byte) (o Offer, err error) {
	if len(b) != offerLen || b[0] != topicOffer {
		return o, errMessage
	}
	o = Offer{ID: binary.LittleEndian.Uint16(b[1:]), Purpose: Purpose(b[3]), Length: binary.LittleEndian.Uint32(b[4:])}
	if o.Purpose == 0 || o.Purpose >= purposes || o.Length == 0 || o.Length > bulk.MaxBlob {
		return Offer{}, errMessage
	}
	copy(o.Sum[:], b[8:])
	return o, nil
}

func appendAnswer(b []byte, id uint16, v verdict) []byte {
	return append(binary.LittleEndian.AppendUint16(append(b, topicAnswer), id), byte(v))
}

func parseAnswer(b []byte) (id uint16, v verdict, err error) {
	if len(b) != answerLen || b[0] != topicAnswer || verdict(b[3]) >= verdicts {
		return 0, 0, errMessage
	}
	return binary.LittleEndian.Uint16(b[1:]), verdict(b[3]), nil
}

func appendEnd(b []byte, id uint16) []byte {
	return binary.LittleEndian.AppendUint16(append(b, topicEnd), id)
}

func parseEnd(b []byte) (id uint16, err error) {
	if len(b) != endLen || b[0] != topicEnd {
		return 0, errMessage
	}
	return binary.LittleEndian.Uint16(b[1:]), nil
}

// CleanChat makes a chat line of what somebody typed: without control, format
// and bidirectional characters, at most MaxChatRunes and MaxChatBytes. It may be
// empty.
func CleanChat(text string) string { return rendezvous.CleanLine(text, MaxChatRunes, MaxChatBytes) }

// parseChat takes a line only as CleanChat leaves it: a program that sends
// others is not ours.
func parseChat(b []byte) (string, error) {
	if len(b) < 2 || len(b) > 1+MaxChatBytes || b[0] != chatLine || !utf8.Valid(b[1:]) {
		return "", errMessage
	}
	text := string(b[1:])
	if CleanChat(text) != text {
		return "", errMessage
	}
	return text, nil
}

func appendHere(b []byte, away bool) []byte {
	if away {
		return append(b, chatHere, 1)
	}
	return append(b, chatHere, 0)
}

func parseHere(b []byte) (away bool, err error) {
	if len(b) != hereLen || b[0] != chatHere || b[1] > 1 {
		return false, errMessage
	}
	return b[1] == 1, nil
}

// Stamp is how the link looks from one side.
type Stamp struct {
	RTT, Jitter int64 // µs, in steps of 100, at most 6.5 s
	Loss        int64 // inbound before FEC, millionths, in steps of 100
	Stalls      int64 // ticks refused in this match, at most 65535
}

const (
	stampMicros = 100
	stampLoss   = 100
	maxLoss     = 1_000_000 / stampLoss
)

func appendStamp(b []byte, s *Stamp) []byte {
	b = append(b, telemetryStamp)
	for _, v := range [...]int64{s.RTT / stampMicros, s.Jitter / stampMicros, min(s.Loss/stampLoss, maxLoss), s.Stalls} {
		b = binary.LittleEndian.AppendUint16(b, uint16(min(max(v, 0), 1<<16-1)))
	}
	return b
}

func parseStamp(b []byte) (s Stamp, err error) {
	if len(b) != stampLen || b[0] != telemetryStamp {
		return s, errMessage
	}
	at := func(i int) int64 { return int64(binary.LittleEndian.Uint16(b[1+2*i:])) }
	if at(2) > maxLoss {
		return s, errMessage
	}
	return Stamp{RTT: at(0) * stampMicros, Jitter: at(1) * stampMicros, Loss: at(2) * stampLoss, Stalls: at(3)}, nil
}
