package rendezvous

import "encoding/binary"

// Type is the first byte of a lobby message.
type Type uint8

// The lobby messages and who sends them to whom (H host, J joiner, R relay,
// C either player).
const (
	TypeHost    Type = 0x01 // H>R
	TypeCode    Type = 0x02 // R>H
	TypeJoin    Type = 0x03 // J>R
	TypeRun     Type = 0x04 // R>H
	TypeShareA  Type = 0x05 // H>J
	TypeShareB  Type = 0x06 // J>H
	TypeConfA   Type = 0x07 // H>J
	TypeTaken   Type = 0x08 // H>R
	TypeSession Type = 0x09 // R>H, R>J
	TypeSealed  Type = 0x0A // H<>J
	TypeFail    Type = 0x0E // H>R>J
	TypeError   Type = 0x0F // R>C
)

// MaxMessage is the longest lobby message a relay or player accepts, in bytes.
const MaxMessage = 4096

// MaxAD is the longest associated data (ADa, ADb): one length byte.
const MaxAD = 255

// TypeOf is the type byte of a lobby message, known or not. An empty message is
// ErrSize.
func TypeOf(b []byte) (Type, error) {
	if len(b) == 0 {
		return 0, ErrSize
	}
	return Type(b[0]), nil
}

// RunOf is the run number of the messages that carry one (RUN, SHARE_A, SHARE_B,
// CONF_A, TAKEN, SESSION, SEALED, FAIL): what a relay routes by.
func RunOf(b []byte) (run uint32, ok bool) {
	if len(b) < 5 {
		return 0, false
	}
	switch Type(b[0]) {
	case TypeRun, TypeShareA, TypeShareB, TypeConfA, TypeTaken, TypeSession, TypeSealed, TypeFail:
		return binary.LittleEndian.Uint32(b[1:]), true
	}
	return 0, false
}

// check tells whether b is a message of this type and of exactly size bytes.
func check(b []byte, t Type, size int) error {
	if len(b) == 0 {
		return ErrSize
	}
	if Type(b[0]) != t {
		return ErrType
	}
	if len(b) != size {
		return ErrSize
	}
	return nil
}

// checkMin is check for messages of variable length.
func checkMin(b []byte, t Type, least int) error {
	if len(b) == 0 {
		return ErrSize
	}
	if Type(b[0]) != t {
		return ErrType
	}
	if len(b) < least || len(b) > MaxMessage {
		return ErrSize
	}
	return nil
}

// HostMsg opens a lobby, or takes it back after the WebSocket dropped. On a
// connection that already holds a lobby it replaces that lobby: how a host
// retires a code.
//
//	01 | ver u8 | resume 16                                            18 bytes
type HostMsg struct {
	Version uint8
	Resume  ResumeToken
}

const hostSize = 1 + 1 + 16

// AppendHost appends m to b.
func AppendHost(b []byte, m *HostMsg) []byte {
	b = append(b, byte(TypeHost), m.Version)
	return append(b, m.Resume[:]...)
}

// ParseHost reads m from b; any version is accepted, the relay judges it.
func ParseHost(b []byte, m *HostMsg) error {
	if err := check(b, TypeHost, hostSize); err != nil {
		return err
	}
	m.Version = b[1]
	copy(m.Resume[:], b[2:])
	return nil
}

// CodeMsg tells the host its lobby, the first half of the code, the token for
// taking the lobby back, and for how many seconds the code lives.
//
//	02 | lobby 16 | lookup 4 | resume 16 | ttl u16                     39 bytes
type CodeMsg struct {
	Lobby  LobbyID
	Lookup Lookup
	Resume ResumeToken
	TTL    uint16
}

const codeSize = 1 + 16 + 4 + 16 + 2

// AppendCode appends m to b.
func AppendCode(b []byte, m *CodeMsg) []byte {
	b = append(b, byte(TypeCode))
	b = append(b, m.Lobby[:]...)
	b = append(b, m.Lookup[:]...)
	b = append(b, m.Resume[:]...)
	return binary.LittleEndian.AppendUint16(b, m.TTL)
}

// ParseCodeMsg reads m from b. A lookup outside the alphabet is ErrSymbol.
func ParseCodeMsg(b []byte, m *CodeMsg) error {
	if err := check(b, TypeCode, codeSize); err != nil {
		return err
	}
	if !validSymbols(b[17:21]) {
		return ErrSymbol
	}
	copy(m.Lobby[:], b[1:])
	copy(m.Lookup[:], b[17:])
	copy(m.Resume[:], b[21:])
	m.TTL = binary.LittleEndian.Uint16(b[37:])
	return nil
}

// JoinMsg asks for a run with the host of a lobby.
//
//	03 | ver u8 | lookup 4 | nJ 16                                     22 bytes
type JoinMsg struct {
	Version uint8
	Lookup  Lookup
	NonceJ  Nonce
}

const joinSize = 1 + 1 + 4 + 16

// AppendJoin appends m to b.
func AppendJoin(b []byte, m *JoinMsg) []byte {
	b = append(b, byte(TypeJoin), m.Version)
	b = append(b, m.Lookup[:]...)
	return append(b, m.NonceJ[:]...)
}

// ParseJoin reads m from b; any version is accepted, the relay judges it. A
// lookup outside the alphabet is ErrSymbol.
func ParseJoin(b []byte, m *JoinMsg) error {
	if err := check(b, TypeJoin, joinSize); err != nil {
		return err
	}
	if !validSymbols(b[2:6]) {
		return ErrSymbol
	}
	m.Version = b[1]
	copy(m.Lookup[:], b[2:])
	copy(m.NonceJ[:], b[6:])
	return nil
}

// RunMsg tells the host that somebody typed its lookup.
//
//	04 | run u32 | nJ 16                                               21 bytes
type RunMsg struct {
	Run    uint32
	NonceJ Nonce
}

const runSize = 1 + 4 + 16

// AppendRun appends m to b.
func AppendRun(b []byte, m *RunMsg) []byte {
	b = append(b, byte(TypeRun))
	b = binary.LittleEndian.AppendUint32(b, m.Run)
	return append(b, m.NonceJ[:]...)
}

// ParseRun reads m from b.
func ParseRun(b []byte, m *RunMsg) error {
	if err := check(b, TypeRun, runSize); err != nil {
		return err
	}
	m.Run = binary.LittleEndian.Uint32(b[1:])
	copy(m.NonceJ[:], b[5:])
	return nil
}
