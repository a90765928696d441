package cpace

import (
	"encoding/binary"
	"errors"

	"backstep/natpunch/rendezvous"
)

// Purpose separates what codes are for: a code for watching cannot be used for
// playing, because the purpose is part of the channel identifier.
type Purpose string

const (
	Play Purpose = "play"
	View Purpose = "view"
)

// Suite is the only cipher suite there is.
const Suite = 1

// appendLV appends LEB128(len(v)) and v: prepend_len of draft A.1.1.
func appendLV(b, v []byte) []byte {
	return append(binary.AppendUvarint(b, uint64(len(v))), v...)
}

// lvCat is lv_cat of draft A.1.3.
func lvCat(parts ...[]byte) []byte {
	var b []byte
	for _, p := range parts {
		b = appendLV(b, p)
	}
	return b
}

// transcript is transcript_ir of draft A.3.4.
func transcript(ya, ada, yb, adb []byte) []byte {
	return append(lvCat(ya, ada), lvCat(yb, adb)...)
}

// ChannelID is CI (draft 10.1: the initiator's name first). Both players compute
// it from what each believes about the lobby, so a relay that told them
// different things gets no common key.
func ChannelID(p Purpose, lookup rendezvous.Lookup, lobby rendezvous.LobbyID) []byte {
	return lvCat([]byte("backstep-lobby-1"), []byte("host"), []byte("join"), []byte(p), lookup[:], lobby[:])
}

// SessionID is sid = nJ | nH: fresh for every run, with a contribution of both
// sides (draft 10.9).
func SessionID(nJ, nH rendezvous.Nonce) []byte {
	return append(append(make([]byte, 0, 32), nJ[:]...), nH[:]...)
}

// ADSize is the length of an encoded AD.
const ADSize = 12

// ErrAD means associated data that is not one of ours, or of the wrong side: a
// share that was sent back to its sender, for instance.
var ErrAD = errors.New("cpace: malformed associated data")

// AD is the associated data of a share. It travels in clear, so nothing private
// is in it; the confirmation tags authenticate it.
//
//	'H'|'J' u8 | proto_min u8 | proto_max u8 | suite u8 | data_hash u64    12 bytes
type AD struct {
	Side     rendezvous.Side
	ProtoMin uint8 // oldest and newest protocol the side speaks
	ProtoMax uint8
	Suite    uint8
	DataHash uint64 // of the game data; both sides must have the same
}

// AppendAD appends a to b.
func AppendAD(b []byte, a *AD) []byte {
	letter := byte('H')
	if a.Side == rendezvous.SideJoin {
		letter = 'J'
	}
	b = append(b, letter, a.ProtoMin, a.ProtoMax, a.Suite)
	return binary.LittleEndian.AppendUint64(b, a.DataHash)
}

// ParseAD reads a from b.
func ParseAD(b []byte, a *AD) error {
	if len(b) != ADSize {
		return ErrAD
	}
	var side rendezvous.Side
	switch b[0] {
	case 'H':
		side = rendezvous.SideHost
	case 'J':
		side = rendezvous.SideJoin
	default:
		return ErrAD
	}
	*a = AD{side, b[1], b[2], b[3], binary.LittleEndian.Uint64(b[4:])}
	return nil
}
