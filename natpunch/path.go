package natpunch

import (
	"errors"
	"fmt"
	"strings"
)

// Mask says over which of the two routes a packet goes. A mask handed to
// Select or Authenticated has exactly one bit; one that Plan returns may have
// both, and then one separately encrypted copy is sent on each.
type Mask uint8

// The two routes under a link. A tunnel is a Relay route over TCP.
const (
	Relay  Mask = 1
	Direct Mask = 2
)

func (m Mask) String() string {
	switch m {
	case 0:
		return "none"
	case Relay:
		return "relay"
	case Direct:
		return "direct"
	case Relay | Direct:
		return "relay+direct"
	}
	return fmt.Sprintf("mask(%d)", uint8(m))
}

// Kind is what a route is called towards people and in the match report.
type Kind uint8

// Kinds from the one wished for most to the one wished for least.
const (
	KindNone   Kind = iota
	KindLAN         // both ends on addresses of one private network or machine
	KindDirect      // through the Internet, no relay
	KindRelay       // through the relay, UDP
	KindTunnel      // through the relay, TCP
)

var kindNames = [...]string{"none", "lan", "direct", "relay", "tunnel"}

func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return fmt.Sprintf("kind(%d)", uint8(k))
}

// Allowed is the set of kinds a player permits. The zero value permits
// everything, like AllowAuto.
type Allowed uint8

// One bit for each kind; the sets of both sides are intersected with And.
const (
	AllowLAN Allowed = 1 << iota
	AllowDirect
	AllowRelay
	AllowTunnel
	AllowAuto = AllowLAN | AllowDirect | AllowRelay | AllowTunnel
)

// ErrAllowed is a path list that names an unknown path or none.
var ErrAllowed = errors.New("natpunch: path list must name lan, direct, relay, tunnel or auto")

// ErrNoCommonPath means that the path lists of the two sides have nothing in
// common.
var ErrNoCommonPath = errors.New("natpunch: the two players allow no path in common")

// ParseAllowed reads a comma-separated list such as "lan,direct" or "auto".
func ParseAllowed(list string) (Allowed, error) {
	var a Allowed
	for _, word := range strings.Split(list, ",") {
		switch strings.ToLower(strings.TrimSpace(word)) {
		case "lan":
			a |= AllowLAN
		case "direct":
			a |= AllowDirect
		case "relay":
			a |= AllowRelay
		case "tunnel":
			a |= AllowTunnel
		case "auto":
			a |= AllowAuto
		default:
			return 0, fmt.Errorf("%w: %q", ErrAllowed, word)
		}
	}
	return a, nil
}

func (a Allowed) normal() Allowed {
	if a&AllowAuto == 0 {
		return AllowAuto
	}
	return a & AllowAuto
}

// And returns what both sides allow.
func (a Allowed) And(b Allowed) (Allowed, error) {
	c := a.normal() & b.normal()
	if c == 0 {
		return 0, ErrNoCommonPath
	}
	return c, nil
}

// Hides reports whether this set keeps our addresses from the opponent: no
// candidate is sent and no STUN message goes to the opponent.
func (a Allowed) Hides() bool { return a.normal()&(AllowLAN|AllowDirect) == 0 }

func (a Allowed) String() string {
	a = a.normal()
	if a == AllowAuto {
		return "auto"
	}
	var words []string
	for i, name := range kindNames[1:] {
		if a&(1<<i) != 0 {
			words = append(words, name)
		}
	}
	return strings.Join(words, ",")
}
