package rendezvous

import (
	"encoding/hex"
	"errors"
)

// Version is the lobby protocol version of HOST.ver and JOIN.ver, and the second
// byte of every registration frame.
const Version = 1

// DefaultPort is the port of a relay that does not say another, UDP and TCP.
const DefaultPort = 3478

// LobbyPath and TunnelPath are the paths of the two WebSockets a relay serves.
const (
	LobbyPath  = "/lobby"
	TunnelPath = "/tunnel"
)

// Errors of the parsers. They are returned bare: a parser on a hot path
// allocates nothing, and the caller says what it was parsing.
var (
	ErrSize     = errors.New("rendezvous: wrong length")
	ErrType     = errors.New("rendezvous: wrong type byte")
	ErrVersion  = errors.New("rendezvous: unknown version")
	ErrReserved = errors.New("rendezvous: reserved bytes are not zero")
	ErrSide     = errors.New("rendezvous: side is neither 0 nor 1")
	ErrSymbol   = errors.New("rendezvous: a symbol is not in the code alphabet")
	ErrAddr     = errors.New("rendezvous: not a usable address")
)

// Side says which player: the host (A, the DTLS server) or the joiner.
type Side uint8

const (
	SideHost Side = 0
	SideJoin Side = 1
)

// Valid reports whether s is one of the two sides.
func (s Side) Valid() bool { return s <= SideJoin }

// Other is the opponent's side.
func (s Side) Other() Side { return s ^ 1 }

// String is "host" or "join", the words the key schedule and the report use.
func (s Side) String() string {
	switch s {
	case SideHost:
		return "host"
	case SideJoin:
		return "join"
	}
	return "invalid"
}

// LobbyID names one lobby of one relay; drawn at random by the relay.
type LobbyID [16]byte

// String is 32 hexadecimal digits.
func (l LobbyID) String() string { return hex.EncodeToString(l[:]) }

// RelayID names a relay; both players compare it inside the sealed sheet.
type RelayID [16]byte

// String is 32 hexadecimal digits.
func (r RelayID) String() string { return hex.EncodeToString(r[:]) }

// ResumeToken lets a host take its lobby back after its WebSocket dropped. All
// zero asks for a new lobby.
type ResumeToken [16]byte

// Nonce is a side's contribution (nJ, nH) to the session identifier of one run.
type Nonce [16]byte

// Share is an encoded CPace share (Ya, Yb), Tag a CPace confirmation (Ta, Tb).
type (
	Share [32]byte
	Tag   [64]byte
)

// RegKey authenticates the registration frames of one side of one session.
type RegKey [32]byte

// String hides the key from logs.
func (RegKey) String() string { return "[regkey]" }

// GoString hides the key from %#v.
func (RegKey) GoString() string { return "[regkey]" }
