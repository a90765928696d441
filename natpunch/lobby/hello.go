package lobby

import (
	"encoding/binary"
	"errors"

	"backstep/natpunch/keys"
	"backstep/natpunch/rendezvous"
)

// Hello is what a player tells the opponent about itself, sealed.
type Hello struct {
	Name  string // cleaned by rendezvous.CleanText on either side
	Build string // likewise; builds may differ, a program warns about it
	// Config is the program's own: versions, ruleset, region. The lobby does
	// not look into it.
	Config []byte
	// Hide keeps both players' addresses from each other.
	Hide bool
}

const (
	sheetSize = 32
	helloMin  = 1 + 1 + 2 + 1 + sheetSize
)

// MaxConfig is the longest Hello.Config in bytes: what is left of a sealed
// message beside the longest name and build.
const MaxConfig = keys.MaxBody - helloMin - 2*rendezvous.MaxTextBytes

var errHello = errors.New("lobby: malformed hello")

// appendHello appends the body of a HELLO:
//
//	len u8, name | len u8, build | len u16, config | hide u8 | sheet 32
func appendHello(b []byte, h *Hello, sheet *[sheetSize]byte) []byte {
	b = append(append(b, byte(len(h.Name))), h.Name...)
	b = append(append(b, byte(len(h.Build))), h.Build...)
	b = binary.LittleEndian.AppendUint16(b, uint16(len(h.Config)))
	b = append(b, h.Config...)
	hide := byte(0)
	if h.Hide {
		hide = 1
	}
	return append(append(b, hide), sheet[:]...)
}

// parseHello reads what appendHello wrote; the texts are as the opponent sent
// them, Config points into b.
func parseHello(b []byte, h *Hello, sheet *[sheetSize]byte) error {
	if len(b) < helloMin {
		return errHello
	}
	name, b, ok := cut(b[1:], int(b[0]))
	if !ok || len(b) < 1 {
		return errHello
	}
	build, b, ok := cut(b[1:], int(b[0]))
	if !ok || len(b) < 2 {
		return errHello
	}
	config, b, ok := cut(b[2:], int(binary.LittleEndian.Uint16(b)))
	if !ok || len(b) != 1+sheetSize || b[0] > 1 {
		return errHello
	}
	*h = Hello{string(name), string(build), config, b[0] == 1}
	copy(sheet[:], b[1:])
	return nil
}

func cut(b []byte, n int) (head, rest []byte, ok bool) {
	if n > len(b) {
		return nil, nil, false
	}
	return b[:n:n], b[n:], true
}
