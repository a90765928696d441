package match

import (
	"encoding/binary"

	"backstep/rollback/wire"
)

const (
	kindDone = 2
	kindBye  = 3

	doneLen = 1 + 4 + 8
	byeLen  = 1 + 1 + 4
)

// byeReason is what a BYE says to the other side.
type byeReason uint8

const (
	byeDone byeReason = iota // all frames are confirmed on this side
	byeLeave
	byeDesync
	byeProtocol
	byeVersion
	byeReasons
)

type done struct {
	frames uint32
	hash   uint64
}

func appendDone(b []byte, d done) []byte {
	b = append(b, kindDone)
	b = binary.LittleEndian.AppendUint32(b, d.frames)
	return binary.LittleEndian.AppendUint64(b, d.hash)
}

func parseDone(b []byte) (done, bool) {
	if len(b) != doneLen || b[0] != kindDone {
		return done{}, false
	}
	return done{binary.LittleEndian.Uint32(b[1:]), binary.LittleEndian.Uint64(b[5:])}, true
}

type bye struct {
	reason byeReason
	frames uint32 // confirmed at the sender
}

func appendBye(b []byte, m bye) []byte {
	b = append(b, kindBye, byte(m.reason))
	return binary.LittleEndian.AppendUint32(b, m.frames)
}

func parseBye(b []byte) (bye, bool) {
	if len(b) != byeLen || b[0] != kindBye || b[1] >= byte(byeReasons) {
		return bye{}, false
	}
	return bye{byeReason(b[1]), binary.LittleEndian.Uint32(b[2:])}, true
}

// AppendControl wraps a message into a full packet of its own. Such packets
// stand outside the session's sequence and are never acknowledged.
func AppendControl(b, msg []byte) []byte {
	return wire.AppendFull(b, &wire.Packet{Newest: -1, Message: msg})
}

// IsLeaving tells whether a control message is the goodbye of somebody who
// left, not of somebody whose match was complete.
func IsLeaving(msg []byte) bool {
	m, ok := parseBye(msg)
	return ok && m.reason != byeDone
}
