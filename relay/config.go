package relay

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"runtime"
	"strconv"
	"time"

	"github.com/rs/zerolog"
)

// DefaultPort is the port of relay addresses that name none.
const DefaultPort = 3478

// ErrConfig is wrapped by every error of New that is the fault of the configuration and not of the machine.
var ErrConfig = errors.New("relay: bad configuration")

// Config says how a relay runs. The zero value is a relay on :3478 without an admin listener, with its secret in memory and
// every limit at its default.
type Config struct {
	// Listen holds HOST:PORT addresses; each is bound for UDP and TCP with the same port number. Port 0 picks a number that
	// is free for both. Empty means ":3478".
	Listen []string
	// PublicAddr is IP or IP:PORT as clients see this relay, for a relay behind a NAT. Empty: the address a client reached.
	PublicAddr string
	// Admin is HOST:PORT of the listener for /healthz, /readyz and /metrics. Empty means none. If it cannot be bound the
	// relay warns and goes on.
	Admin string
	// Pprof serves /debug/pprof on the admin listener.
	Pprof bool
	// StateDir holds the relay's secret. Empty means that the secret lives in memory, so that a restart makes the tokens of
	// running matches worthless. See DefaultStateDir.
	StateDir string
	// Token, if set, must come as "Authorization: Bearer TOKEN" with every lobby request.
	Token string
	// Workers is how many sockets and goroutines serve each UDP port, where the system can spread senders over them (Linux); one
	// elsewhere. 0 means one for each processor the program may use.
	Workers int
	// StunOnly turns the lobby and forwarding off.
	StunOnly bool
	// EgressBudget is how many bytes the relay may send in a calendar month (UTC), IP and UDP headers included. At 95 % it refuses
	// new lobbies, at 100 % it answers STUN only. What was sent is remembered in StateDir. 0 means no budget.
	EgressBudget uint64
	// TLSCert and TLSKey are PEM files. With them the TCP port speaks both TLS and clear text, told apart by the first byte.
	// A renewed certificate is picked up within a minute.
	TLSCert, TLSKey string
	// DrainLimit is how long a cancelled relay lets running matches go on. 0 means 15 minutes, negative not at all.
	DrainLimit time.Duration
	// Limits are the limits on what strangers and players may ask for.
	Limits Limits
	// Log receives the events of events.go. The zero Logger writes nothing.
	Log zerolog.Logger
	// LogAddresses writes whole addresses instead of the /24 or /48 they are in.
	LogAddresses bool
	// Version is what the metrics and the start event call this build.
	Version string
	// Now replaces time.Now in tests. It must not run backwards.
	Now func() time.Time
}

// Limits holds every limit of the relay. A zero field means the default named beside it. A source is a /24 of IPv4 or a /56
// of IPv6.
type Limits struct {
	ConnsPerSource   int // 8: lobby connections of a source
	TunnelsPerSource int // 8: tunnels of a source
	LobbiesPerSource int // 4: open lobbies of a source
	RunsPerSource    int // 1: open runs of a source in one lobby; a further one ends its oldest
	RunsPerLobby     int // 4: open runs of a lobby; a further one ends the oldest
	RunStarts        int // 5: runs started in a lobby in a second, so that answering them stays within a host's messages
	SourceRunStarts  int // 2: runs started by a source in a second, five seconds of burst
	MaxConns         int // 4096: TCP connections in all
	MaxLobbies       int // 10000: lobbies in all
	MaxSessions      int // 20000: forwarding sessions in all

	GuessBurst      int           // 10: failed lookups and guesses of a source at once
	GuessRefill     time.Duration // 1 min: time after which a source gets one of them back
	GuessesPerSec   int           // 50: failed lookups and guesses of everybody in a second
	MessagesPerSec  int           // 16: messages of a connection in a second
	MessageBytes    int           // 4096: largest message
	QueueMessages   int           // 16: messages waiting for one connection before it is closed
	HeaderTimeout   time.Duration // 5 s: request header, first message, and every message from its first byte to its last
	WriteTimeout    time.Duration // 5 s
	PingInterval    time.Duration // 20 s
	RunTime         time.Duration // 10 s: from JOIN to TAKEN
	CodeTime        time.Duration // 15 min: life of a code
	HostAway        time.Duration // 2 min: how long a lobby outlives the connection of its host
	SessionTime     time.Duration // 12 h: expiry of a registration key
	PacketsPerSec   int           // 300: data datagrams of a side in a second, one second of burst
	BytesPerSec     int           // 98304: payload bytes of a side in a second, one second of burst
	SilentAfter     time.Duration // 30 s: a side not heard for this long is not sent to
	TunnelIdle      time.Duration // 1 min: a tunnel over which nothing comes for this long is closed
	IdleAfter       time.Duration // 5 min: a session neither side of which was heard is forgotten; above 2 min
	UnprovenAnswers int           // 100: STUN answers, and as many challenges, to one source in a second; two seconds of burst
}

// DefaultLimits returns the limits a relay has when nothing is configured.
func DefaultLimits() Limits {
	return Limits{
		ConnsPerSource: 8, TunnelsPerSource: 8, LobbiesPerSource: 4, RunsPerSource: 1, RunsPerLobby: 4,
		RunStarts: 5, SourceRunStarts: 2,
		MaxConns: 4096, MaxLobbies: 10000, MaxSessions: 20000,
		GuessBurst: 10, GuessRefill: time.Minute, GuessesPerSec: 50,
		MessagesPerSec: 16, MessageBytes: 4096, QueueMessages: 16,
		HeaderTimeout: 5 * time.Second, WriteTimeout: 5 * time.Second, PingInterval: 20 * time.Second,
		RunTime: 10 * time.Second, CodeTime: 15 * time.Minute, HostAway: 2 * time.Minute, SessionTime: 12 * time.Hour,
		PacketsPerSec: 300, BytesPerSec: 96 << 10, SilentAfter: 30 * time.Second, TunnelIdle: time.Minute, IdleAfter: 5 * time.Minute,
		UnprovenAnswers: 100,
	}
}

func (l Limits) withDefaults() Limits {
	d := DefaultLimits()
	for _, f := range []struct{ v, d *int }{
		{&l.ConnsPerSource, &d.ConnsPerSource}, {&l.TunnelsPerSource, &d.TunnelsPerSource}, {&l.LobbiesPerSource, &d.LobbiesPerSource},
		{&l.RunsPerSource, &d.RunsPerSource}, {&l.RunsPerLobby, &d.RunsPerLobby},
		{&l.RunStarts, &d.RunStarts}, {&l.SourceRunStarts, &d.SourceRunStarts}, {&l.MaxConns, &d.MaxConns},
		{&l.MaxLobbies, &d.MaxLobbies}, {&l.MaxSessions, &d.MaxSessions}, {&l.GuessBurst, &d.GuessBurst},
		{&l.GuessesPerSec, &d.GuessesPerSec}, {&l.MessagesPerSec, &d.MessagesPerSec},
		{&l.MessageBytes, &d.MessageBytes}, {&l.QueueMessages, &d.QueueMessages},
		{&l.PacketsPerSec, &d.PacketsPerSec}, {&l.BytesPerSec, &d.BytesPerSec}, {&l.UnprovenAnswers, &d.UnprovenAnswers},
	} {
		if *f.v == 0 {
			*f.v = *f.d
		}
	}
	for _, f := range []struct{ v, d *time.Duration }{
		{&l.GuessRefill, &d.GuessRefill}, {&l.HeaderTimeout, &d.HeaderTimeout}, {&l.WriteTimeout, &d.WriteTimeout},
		{&l.PingInterval, &d.PingInterval}, {&l.RunTime, &d.RunTime}, {&l.CodeTime, &d.CodeTime},
		{&l.HostAway, &d.HostAway}, {&l.SessionTime, &d.SessionTime}, {&l.SilentAfter, &d.SilentAfter},
		{&l.TunnelIdle, &d.TunnelIdle}, {&l.IdleAfter, &d.IdleAfter},
	} {
		if *f.v == 0 {
			*f.v = *f.d
		}
	}
	return l
}

func (l Limits) valid() error {
	for _, f := range []struct {
		name string
		v    int
		most int
	}{
		{"ConnsPerSource", l.ConnsPerSource, 1 << 20}, {"TunnelsPerSource", l.TunnelsPerSource, 1 << 20}, {"LobbiesPerSource", l.LobbiesPerSource, 1 << 20},
		{"RunsPerSource", l.RunsPerSource, 1 << 10}, {"RunsPerLobby", l.RunsPerLobby, 1 << 10},
		{"RunStarts", l.RunStarts, 1e6}, {"SourceRunStarts", l.SourceRunStarts, 1e6},
		{"MaxConns", l.MaxConns, 1 << 20}, {"MaxLobbies", l.MaxLobbies, maxLobbies}, {"MaxSessions", l.MaxSessions, 1 << 24},
		{"GuessBurst", l.GuessBurst, 1 << 20}, {"GuessesPerSec", l.GuessesPerSec, 1e6},
		{"MessagesPerSec", l.MessagesPerSec, 1e6}, {"MessageBytes", l.MessageBytes, 1 << 16},
		{"QueueMessages", l.QueueMessages, 1 << 12}, {"PacketsPerSec", l.PacketsPerSec, 1e7},
		{"BytesPerSec", l.BytesPerSec, 1e9}, {"UnprovenAnswers", l.UnprovenAnswers, 1e7},
	} {
		if f.v < 1 || f.v > f.most {
			return fmt.Errorf("%w: limit %s is %d, must be 1 to %d", ErrConfig, f.name, f.v, f.most)
		}
	}
	for _, f := range []struct {
		name string
		v    time.Duration
	}{
		{"GuessRefill", l.GuessRefill}, {"HeaderTimeout", l.HeaderTimeout}, {"WriteTimeout", l.WriteTimeout},
		{"PingInterval", l.PingInterval}, {"RunTime", l.RunTime}, {"CodeTime", l.CodeTime}, {"HostAway", l.HostAway},
		{"SessionTime", l.SessionTime}, {"SilentAfter", l.SilentAfter}, {"TunnelIdle", l.TunnelIdle}, {"IdleAfter", l.IdleAfter},
	} {
		if f.v <= 0 || f.v > 30*24*time.Hour {
			return fmt.Errorf("%w: limit %s is %v, must be above 0 and at most 30 days", ErrConfig, f.name, f.v)
		}
	}
	if l.CodeTime > 65535*time.Second {
		return fmt.Errorf("%w: limit CodeTime is %v, at most 65535 s fit into the message", ErrConfig, l.CodeTime)
	}
	// A forgotten session forgets its counters; only a dead cookie then stops a replayed registration.
	if l.IdleAfter < 2*cookiePeriod {
		return fmt.Errorf("%w: limit IdleAfter is %v, must be at least %v", ErrConfig, l.IdleAfter, 2*cookiePeriod)
	}
	return nil
}

// maxWorkers bounds the memory of batches, 140 KB a worker.
const maxWorkers = 64

// settings is a Config after its defaults and checks.
type settings struct {
	Config
	public netip.AddrPort // zero Addr: none configured; port 0: that of the listener
}

func (c Config) check() (settings, error) {
	s := settings{Config: c}
	if len(s.Listen) == 0 {
		s.Listen = []string{":" + strconv.Itoa(DefaultPort)}
	}
	for _, a := range s.Listen {
		if _, _, err := splitListen(a); err != nil {
			return s, err
		}
	}
	if c.PublicAddr != "" {
		ap, err := parsePublic(c.PublicAddr)
		if err != nil {
			return s, err
		}
		s.public = ap
	}
	if (c.TLSCert == "") != (c.TLSKey == "") {
		return s, fmt.Errorf("%w: a TLS certificate needs its key and the key its certificate; only one was given", ErrConfig)
	}
	for i := range len(c.Token) {
		if c.Token[i] <= ' ' || c.Token[i] > '~' {
			return s, fmt.Errorf("%w: the relay token may hold printable ASCII without spaces only", ErrConfig)
		}
	}
	switch {
	case s.DrainLimit == 0:
		s.DrainLimit = 15 * time.Minute
	case s.DrainLimit < 0:
		s.DrainLimit = 0
	}
	if c.Workers < 0 || c.Workers > maxWorkers {
		return s, fmt.Errorf("%w: %d workers, must be 1 to %d, or 0 for one per processor", ErrConfig, c.Workers, maxWorkers)
	}
	if s.Workers == 0 {
		s.Workers = min(runtime.GOMAXPROCS(0), maxWorkers)
	}
	if !canShare {
		s.Workers = 1
	}
	if s.Now == nil {
		s.Now = time.Now
	}
	s.Limits = s.Limits.withDefaults()
	return s, s.Limits.valid()
}

func splitListen(a string) (host string, port int, err error) {
	host, p, err := net.SplitHostPort(a)
	if err != nil {
		return "", 0, fmt.Errorf("%w: listen address %q is not HOST:PORT", ErrConfig, a)
	}
	n, err := strconv.ParseUint(p, 10, 16)
	if err != nil {
		return "", 0, fmt.Errorf("%w: listen address %q needs a port number from 0 to 65535", ErrConfig, a)
	}
	return host, int(n), nil
}

func parsePublic(a string) (netip.AddrPort, error) {
	ap, err := netip.ParseAddrPort(a)
	if err != nil {
		ip, err := netip.ParseAddr(a)
		if err != nil {
			return ap, fmt.Errorf("%w: public address %q is not IP or IP:PORT", ErrConfig, a)
		}
		ap = netip.AddrPortFrom(ip, 0)
	}
	ip := ap.Addr().Unmap()
	if ip.IsUnspecified() || ip.IsMulticast() || ip.Zone() != "" {
		return ap, fmt.Errorf("%w: public address %q is not one that clients can send to", ErrConfig, a)
	}
	return netip.AddrPortFrom(ip, ap.Port()), nil
}
