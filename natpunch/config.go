package natpunch

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"time"

	"github.com/rs/zerolog"

	"backstep/natpunch/rendezvous"
)

// Sealed lobby messages that finding a direct path needs.
const (
	MessageCandidates byte = 3 // body: rendezvous.Candidates
	MessageGo         byte = 4 // body empty; the host's, for its newest list
)

// Signaler carries sealed messages between the players, reliably and in order.
// lobby.Session is one. Send and Recv may be called by different goroutines.
type Signaler interface {
	Send(typ byte, body []byte) error
	// Recv waits for the next message, the context or the end of the lobby.
	Recv(ctx context.Context) (typ byte, body []byte, err error)
}

// DefaultInterval is the time between two packets of a 60 Hz match.
const DefaultInterval = time.Second / 60

// Config says everything Open needs. The zero values of the fields in the
// second group are useful.
type Config struct {
	// Conn is the one UDP socket, perhaps wrapped. It belongs to the Paths
	// from Open on and is closed with it, also when Open fails.
	Conn net.PacketConn
	Side rendezvous.Side
	// Relay holds the UDP endpoints of the relay, best first; others are
	// tried when one does not answer.
	Relay   []netip.AddrPort
	Channel uint32
	Expiry  uint32
	Lobby   rendezvous.LobbyID
	RegKey  rendezvous.RegKey
	// Credentials gives the ICE user fragment and password of a side for one
	// agent generation. Both sides derive the same from the lobby's keys.
	Credentials func(side rendezvous.Side, generation uint32) (ufrag, pwd string)
	// Signal is needed by StartDirect only.
	Signal Signaler
	// DialTunnel opens a tunnel to the relay, bounded by ctx; it does not
	// register on it. Without it there is no tunnel, whatever Allowed says.
	DialTunnel func(ctx context.Context) (Tunnel, error)

	// SignalRTT is the round trip of the lobby. The host starts half of it
	// after GO, so that both sides punch at the same time.
	SignalRTT time.Duration
	// Other receives sealed messages that are not for this package, in order,
	// on a goroutine of the Paths. Without it they are dropped.
	Other func(typ byte, body []byte)
	// Allowed is what both sides permit. A set without lan and direct hides
	// our addresses.
	Allowed Allowed
	// Hide keeps our addresses from the opponent whatever Allowed says; it is
	// set when the opponent hides its own.
	Hide bool
	// Interval is the time between two packets of the link, 1 ms to 1 s,
	// DefaultInterval if zero.
	Interval time.Duration
	Log      zerolog.Logger
	// Clock is a monotonic clock in microseconds, the one that Plan and
	// Authenticated are called with. The default counts from the start of the
	// process.
	Clock func() int64
	// PortMapper asks the router for an outside port of Conn; nil asks none. It
	// is asked while a direct path is allowed and the address is not hidden.
	PortMapper PortMapper
	// Locals lists the addresses of this machine's interfaces that may be
	// offered; LocalAddrs if nil.
	Locals func(loopback bool) []netip.Addr
}

// ErrConfig is wrapped by every error that a Config can cause.
var ErrConfig = errors.New("natpunch: configuration")

var processStart = time.Now()

func monotonic() int64 { return time.Since(processStart).Microseconds() }

// withDefaults checks c and fills in what was left out.
func (c Config) withDefaults() (Config, error) {
	bad := func(what string) (Config, error) { return c, fmt.Errorf("%w: %s", ErrConfig, what) }
	switch {
	case c.Conn == nil:
		return bad("no socket")
	case !c.Side.Valid():
		return bad("side is neither host nor join")
	case len(c.Relay) == 0:
		return bad("no relay endpoint")
	}
	relays := make([]netip.AddrPort, 0, len(c.Relay))
	for _, r := range c.Relay {
		if !r.IsValid() || r.Port() == 0 {
			return bad("relay endpoint without address or port")
		}
		relays = append(relays, unmap(r))
	}
	c.Relay = relays
	if c.Interval == 0 {
		c.Interval = DefaultInterval
	}
	if c.Interval < time.Millisecond || c.Interval > time.Second {
		return bad("interval outside 1 ms to 1 s")
	}
	c.Allowed = c.Allowed.normal()
	c.Hide = c.Hide || c.Allowed.Hides()
	if c.Hide && c.Allowed&(AllowRelay|AllowTunnel) == 0 {
		return bad("an address can only be hidden behind a relay")
	}
	if !c.Hide && c.Credentials == nil {
		return bad("no ICE credentials")
	}
	if c.Clock == nil {
		c.Clock = monotonic
	}
	if c.Locals == nil {
		c.Locals = LocalAddrs
	}
	return c, nil
}

// unmap gives an endpoint the one form this package compares.
func unmap(a netip.AddrPort) netip.AddrPort {
	return netip.AddrPortFrom(a.Addr().Unmap(), a.Port())
}

// Listen opens a UDP socket for Config.Conn. address is host:port, ":0" for any
// interface of both families.
func Listen(address string) (net.PacketConn, error) {
	addr, err := net.ResolveUDPAddr("udp", address)
	if err != nil {
		return nil, fmt.Errorf("natpunch: %w", err)
	}
	conn, err := net.ListenUDP("udp", addr)
	if err != nil {
		return nil, fmt.Errorf("natpunch: %w", err)
	}
	// A burst after a pause of this process must fit; the kernel may give less.
	_ = conn.SetReadBuffer(1 << 20)
	return conn, nil
}
