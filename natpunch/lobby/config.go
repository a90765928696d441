package lobby

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	"github.com/rs/zerolog"

	"backstep/natpunch/cpace"
	"backstep/natpunch/rendezvous"
)

// Config says everything Host and Join need. The fields of the second group have
// useful zero values.
type Config struct {
	// Relays are tried in order; names as rendezvous.ParseRelay reads them.
	// Join prefers the relays of the code, if it names any.
	Relays []string
	// Hello is what the opponent is told about this player, sealed.
	Hello Hello
	// ProtoMin and ProtoMax are the oldest and newest version of the match
	// protocol this program speaks, DataHash that of its game data. They
	// travel in clear and are authenticated. ProtoMax 0 means 1, and then
	// ProtoMin 0 means 1 too.
	ProtoMin, ProtoMax uint8
	DataHash           uint64

	// Fits, if set, is asked about the opponent's HELLO when the data differ:
	// its error, which may know more, takes the place of ErrIncompatible.
	Fits func(opponent Hello) error

	// Token is the bearer token of a private relay.
	Token string
	// Purpose separates codes for playing and for watching; Play if empty.
	Purpose cpace.Purpose
	// SecretLen is the number of symbols of the secret half: 4 (default), 6 or 8.
	SecretLen int
	// CodeRelays is what the printed code names instead of the relay it was
	// hosted at: an embedded relay is dialled at 127.0.0.1 and reached by
	// others at another address.
	CodeRelays []string
	// DefaultRelay is the relay every player has configured anyway. A code
	// hosted there is printed without it.
	DefaultRelay string
	// OnCode is told each new code, the whole pasteable form, by the goroutine
	// that called Host. It is the only place where the secret half leaves.
	OnCode func(code string)
	// OnGuess is told each failed guess, n counting from 1 for each code; at 3
	// a new code follows.
	OnGuess func(n int)
	// Wait bounds Host from its call to a Session (default 15 minutes), Timeout
	// every single exchange (default 10 s).
	Wait, Timeout time.Duration
	Log           zerolog.Logger
	// Dial opens the TCP connection; a net.Dialer if nil.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
	// TLS configures wss, tried first with relays that have a host name; the
	// roots of the system if nil. Nothing rests on it: see docs/security.md.
	TLS *tls.Config

	timing timing
}

// timing holds the constants that tests shorten.
type timing struct {
	connect   time.Duration // one attempt to open a WebSocket
	write     time.Duration // one message
	ping      time.Duration // between keep-alives
	reconnect time.Duration // how long a host tries to take its lobby back
	retry     time.Duration // pause of a joiner whose run was ended
	renew     time.Duration // least time between two codes
}

func (t timing) withDefaults() timing {
	def := func(d *time.Duration, v time.Duration) {
		if *d == 0 {
			*d = v
		}
	}
	def(&t.connect, 5*time.Second)
	def(&t.write, 5*time.Second)
	def(&t.ping, 20*time.Second)
	def(&t.reconnect, time.Minute)
	def(&t.retry, 300*time.Millisecond)
	def(&t.renew, time.Second)
	return t
}

// ErrConfig is wrapped by every error a Config causes.
var ErrConfig = errors.New("lobby: configuration")

func (c Config) withDefaults() (Config, error) {
	bad := func(format string, args ...any) (Config, error) {
		return c, fmt.Errorf("%w: %w", ErrConfig, fmt.Errorf(format, args...))
	}
	var err error
	if c.Relays, err = canonical(c.Relays); err != nil {
		return bad("%w", err)
	}
	if c.CodeRelays, err = canonical(c.CodeRelays); err != nil {
		return bad("%w", err)
	}
	if c.DefaultRelay != "" {
		if c.DefaultRelay, err = rendezvous.ParseRelay(c.DefaultRelay); err != nil {
			return bad("%w", err)
		}
	}
	if c.ProtoMax == 0 {
		c.ProtoMax = 1
	}
	if c.ProtoMin == 0 {
		c.ProtoMin = 1
	}
	if c.ProtoMin > c.ProtoMax {
		return bad("oldest protocol %d is newer than newest %d", c.ProtoMin, c.ProtoMax)
	}
	if c.Purpose == "" {
		c.Purpose = cpace.Play
	}
	switch c.SecretLen {
	case 0:
		c.SecretLen = rendezvous.SecretLen
	case 4, 6, 8:
	default:
		return bad("a secret half has 4, 6 or 8 symbols, not %d", c.SecretLen)
	}
	if c.Wait <= 0 {
		c.Wait = 15 * time.Minute
	}
	if c.Timeout <= 0 {
		c.Timeout = 10 * time.Second
	}
	if c.Dial == nil {
		c.Dial = new(net.Dialer).DialContext
	}
	if strings.ContainsFunc(c.Token, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return bad("a relay token holds printable ASCII without spaces only")
	}
	if len(c.Hello.Config) > MaxConfig {
		return bad("hello carries %d bytes of configuration, at most %d fit", len(c.Hello.Config), MaxConfig)
	}
	c.Hello.Name = rendezvous.CleanText(c.Hello.Name)
	c.Hello.Build = rendezvous.CleanText(c.Hello.Build)
	c.timing = c.timing.withDefaults()
	return c, nil
}

func canonical(names []string) ([]string, error) {
	out := make([]string, 0, len(names))
	for _, n := range names {
		r, err := rendezvous.ParseRelay(n)
		if err != nil {
			return nil, err
		}
		out = append(out, r)
	}
	return out, nil
}

// ad is the associated data of this side's share.
func (c *Config) ad(side rendezvous.Side) cpace.AD {
	return cpace.AD{Side: side, ProtoMin: c.ProtoMin, ProtoMax: c.ProtoMax, Suite: cpace.Suite, DataHash: c.DataHash}
}
