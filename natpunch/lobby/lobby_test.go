package lobby

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"backstep/natpunch/cpace"
	"backstep/natpunch/rendezvous"
)

const relayName = "10.0.0.1:3478"

// table is a host waiting at a scripted relay, and the means to join it.
type table struct {
	t     *testing.T
	relay *scripted
	cfg   Config
	codes chan string
	guess chan int
	host  chan result
	stop  context.CancelFunc
	log   *lockedBuffer
}

// lockedBuffer is written to by both players.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

type result struct {
	s   *Session
	err error
}

// bubble runs f in virtual time; synctest itself fails if a goroutine outlives it.
func bubble(t *testing.T, f func(t *testing.T)) { t.Helper(); synctest.Test(t, f) }

func newTable(t *testing.T, edit func(*Config)) *table {
	r := newScripted(t)
	tb := &table{t: t, relay: r, codes: make(chan string, 16), guess: make(chan int, 16), host: make(chan result, 1), log: new(lockedBuffer)}
	tb.cfg = Config{
		Relays: []string{relayName}, Dial: network{relayName: r.ln}.dial,
		Hello: Hello{Name: "Host", Build: "v1", Config: []byte("rules")}, DataHash: 5,
		OnCode: func(c string) { tb.codes <- c }, OnGuess: func(n int) { tb.guess <- n },
		Log: zerolog.New(tb.log),
	}
	if edit != nil {
		edit(&tb.cfg)
	}
	return tb
}

func (tb *table) start() {
	ctx, cancel := context.WithCancel(context.Background())
	tb.stop = cancel
	tb.t.Cleanup(cancel)
	go func() {
		s, err := Host(ctx, tb.cfg)
		tb.host <- result{s, err}
	}()
}

// code waits for the next code that the host shows.
func (tb *table) code() rendezvous.Code {
	tb.t.Helper()
	c, err := rendezvous.ParseCode(<-tb.codes)
	if err != nil {
		tb.t.Fatal(err)
	}
	return c
}

func (tb *table) join(code rendezvous.Code, edit func(*Config)) (*Session, error) {
	cfg := Config{Relays: []string{relayName}, Dial: tb.cfg.Dial, Hello: Hello{Name: "Joiner", Build: "v2"}, DataHash: 5, Log: zerolog.New(tb.log)}
	if edit != nil {
		edit(&cfg)
	}
	return Join(context.Background(), cfg, code)
}

// meet joins and wants both sides to have met; then both leave.
func (tb *table) meet(code rendezvous.Code, edit func(*Config)) {
	tb.t.Helper()
	j, err := tb.join(code, edit)
	if err != nil {
		tb.t.Fatal(err)
	}
	h := <-tb.host
	if h.err != nil {
		tb.t.Fatal(h.err)
	}
	h.s.Close()
	j.Close()
}

// over ends a host that still waits, and its relay.
func (tb *table) over() {
	tb.stop()
	<-tb.host
	tb.relay.close()
}

func wrong(c rendezvous.Code) rendezvous.Code {
	s := []byte(c.Secret)
	if s[0] == '2' {
		s[0] = '3'
	} else {
		s[0] = '2'
	}
	c.Secret = rendezvous.Secret(s)
	return c
}

// sentence checks that an error is one sentence of the right kind, with the exit
// code of the contract.
func sentence(t *testing.T, err error, want *Failure) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("got %v, want %v", err, want)
		return
	}
	var coded interface{ ExitCode() int }
	if !errors.As(err, &coded) || coded.ExitCode() != want.code {
		t.Errorf("%v has not exit code %d", err, want.code)
	}
	if s := err.Error(); strings.ContainsAny(s, "\n\t") || len(s) > 300 {
		t.Errorf("not a sentence: %q", s)
	}
}

// pair is a finished lobby with both sessions.
func pair(t *testing.T, editHost, editJoin func(*Config)) (*table, *Session, *Session) {
	t.Helper()
	tb := newTable(t, editHost)
	tb.start()
	j, err := tb.join(tb.code(), editJoin)
	if err != nil {
		t.Fatal(err)
	}
	h := <-tb.host
	if h.err != nil {
		t.Fatal(h.err)
	}
	t.Cleanup(func() { h.s.Close(); j.Close(); tb.relay.close() })
	return tb, h.s, j
}

// TestMatch covers B-03 (peer identity checked through the lobby) and S-06 (how a
// session is set up): from a code to one key on both sides, to hellos, protocol
// and session.
func TestMatch(t *testing.T) {
	bubble(t, func(t *testing.T) {
		tb, h, j := pair(t, func(c *Config) { c.ProtoMax = 3 }, func(c *Config) {
			c.ProtoMax = 2
			c.Hello.Name = "Joi\x1b[31mner\u202e\n"
			c.Hello.Hide = true
		})
		if h.Side != rendezvous.SideHost || j.Side != rendezvous.SideJoin || h.Proto != 2 || j.Proto != 2 {
			t.Errorf("sides %v %v, protocols %d %d", h.Side, j.Side, h.Proto, j.Proto)
		}
		if h.Opponent.Name != "Joi[31mner" || h.Opponent.Build != "v2" || j.Opponent.Name != "Host" || string(j.Opponent.Config) != "rules" {
			t.Errorf("hellos %+v %+v", h.Opponent, j.Opponent)
		}
		if !h.Hidden() || !j.Hidden() {
			t.Error("one side hides, so both are hidden")
		}
		if !bytes.Equal(h.Keys.DTLSPSK(), j.Keys.DTLSPSK()) || h.Keys.DTLSIdentity() != j.Keys.DTLSIdentity() {
			t.Error("keys differ")
		}
		if h.SessionMsg.Sheet() != j.SessionMsg.Sheet() || h.SessionMsg.RegKey == j.SessionMsg.RegKey || h.SessionMsg.Channel != 77 {
			t.Error("sessions")
		}
		if h.Relay != relayName || j.Relay != relayName || h.Lookup != j.Lookup {
			t.Errorf("relay %q %q", h.Relay, j.Relay)
		}
		if _, err := h.Ping(context.Background()); err != nil {
			t.Error(err)
		}
		if n := tb.relay.count(rendezvous.TypeShareB); n != 1 {
			t.Errorf("%d SHARE_B", n)
		}
	})
}

// TestNothingLeaks: neither the log nor what the relay sees holds the secret, a
// name or an address; the first half of the code may be in the log.
func TestNothingLeaks(t *testing.T) {
	bubble(t, func(t *testing.T) {
		var wire bytes.Buffer
		tb := newTable(t, nil)
		tb.relay.edit = func(_ rendezvous.Side, b []byte) [][]byte { wire.Write(b); return [][]byte{b} }
		tb.start()
		code := tb.code()
		if _, err := tb.join(wrong(code), nil); !errors.Is(err, ErrWrongCode) {
			t.Fatal(err)
		}
		tb.meet(code, nil)
		tb.relay.close()
		for _, secret := range []string{string(code.Secret), "Joiner", "rules"} {
			if bytes.Contains(wire.Bytes(), []byte(secret)) {
				t.Errorf("the relay saw %q", secret)
			}
		}
		if out := tb.log.String(); strings.Contains(out, string(code.Secret)) || strings.Contains(out, string(wrong(code).Secret)) || !strings.Contains(out, code.Lookup.String()) {
			t.Errorf("log: %s", out)
		}
	})
}

func TestIncompatible(t *testing.T) {
	for _, c := range []struct {
		name       string
		host, join func(*Config)
		hostSays   string
		joinSays   string
	}{
		{"data", nil, func(c *Config) { c.DataHash = 6 }, "game data differ", "game data differ"},
		{"older joiner", func(c *Config) { c.ProtoMin, c.ProtoMax = 3, 4 }, func(c *Config) { c.ProtoMax = 2 },
			"opponent's program is older", "this program is older"},
		{"older host", func(c *Config) { c.ProtoMax = 2 }, func(c *Config) { c.ProtoMin, c.ProtoMax = 3, 4 },
			"this program is older", "opponent's program is older"},
	} {
		t.Run(c.name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				tb := newTable(t, c.host)
				tb.start()
				_, err := tb.join(tb.code(), c.join)
				h := <-tb.host
				sentence(t, err, ErrIncompatible)
				sentence(t, h.err, ErrIncompatible)
				if err != nil && !strings.Contains(err.Error(), c.joinSays) {
					t.Errorf("joiner says %v", err)
				}
				if h.err != nil && !strings.Contains(h.err.Error(), c.hostSays) {
					t.Errorf("host says %v", h.err)
				}
				tb.relay.close()
			})
		})
	}
}

// TestRefusals: what a relay can say to a request or a join, as a joiner hears it.
func TestRefusals(t *testing.T) {
	for _, c := range []struct {
		name  string
		setup func(*scripted)
		want  *Failure
	}{
		{"401", func(r *scripted) { r.token = "T" }, ErrUnauthorized},
		{"403", func(r *scripted) { r.status = http.StatusForbidden }, ErrUnreachable},
		{"404", func(r *scripted) { r.status = http.StatusNotFound }, ErrUnreachable},
		{"redirect", func(r *scripted) { r.status = http.StatusFound }, ErrUnreachable},
		{"429", func(r *scripted) { r.status = http.StatusTooManyRequests }, ErrBusy},
		{"503", func(r *scripted) { r.status = http.StatusServiceUnavailable }, ErrBusy},
		{"unknown", joinCode(rendezvous.CodeUnknown), ErrUnknownCode},
		{"full", joinCode(rendezvous.CodeFull), ErrFull},
		{"expired", joinCode(rendezvous.CodeExpired), ErrExpired},
		{"slow down", joinCode(rendezvous.CodeSlowDown), ErrSlowDown},
		{"draining", joinCode(rendezvous.CodeDraining), ErrBusy},
		{"version", joinCode(rendezvous.CodeVersion), ErrRelayVersion},
		{"STUN only", joinCode(rendezvous.CodeStunOnly), ErrBusy},
		{"gone", joinCode(rendezvous.CodeGone), ErrGone},
		{"unheard of", joinCode(200), ErrProtocol},
		{"busy for good", joinCode(rendezvous.CodeBusy), ErrBusy},
		{"host away for good", joinCode(rendezvous.CodeAway), ErrAway},
		{"silent", func(r *scripted) { r.deafJoin = true }, ErrNoAnswer},
		{"down", func(r *scripted) { r.ln.Close() }, ErrUnreachable},
	} {
		t.Run(c.name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				tb := newTable(t, nil)
				c.setup(tb.relay)
				began := time.Now()
				_, err := tb.join(rendezvous.Code{Lookup: rendezvous.Lookup{'2', '2', '2', '2'}, Secret: "2222"}, nil)
				sentence(t, err, c.want)
				// Only a sentence about a relay names one.
				if err != nil && strings.HasPrefix(err.Error(), "relay ") != ofRelay(c.want) {
					t.Errorf("%q", err)
				}
				if took := time.Since(began); took > 16*time.Second {
					t.Errorf("took %v", took)
				}
				if n := tb.relay.count(rendezvous.TypeShareB); n != 0 {
					t.Errorf("%d SHARE_B", n)
				}
				tb.relay.close()
			})
		})
	}
}

func joinCode(c rendezvous.ErrorCode) func(*scripted) {
	return func(r *scripted) { r.join = func(int) rendezvous.ErrorCode { return c } }
}

// TestJoinAsksAgain: before its guess is out a joiner whose run made room for
// another, or whose host is away for a moment, asks again, with a fresh nonce.
func TestJoinAsksAgain(t *testing.T) {
	for _, code := range []rendezvous.ErrorCode{rendezvous.CodeRunEnded, rendezvous.CodeAway} {
		bubble(t, func(t *testing.T) {
			tb := newTable(t, nil)
			tb.relay.join = func(n int) rendezvous.ErrorCode {
				if n < 5 {
					return code
				}
				return 0
			}
			tb.start()
			tb.meet(tb.code(), nil)
			tb.relay.close()
		})
	}
}

// TestToken: the token travels as a bearer token, and only then is the relay's door open.
func TestToken(t *testing.T) {
	bubble(t, func(t *testing.T) {
		tb := newTable(t, func(c *Config) { c.Token = "s3cret" })
		tb.relay.token = "s3cret"
		tb.start()
		code := tb.code()
		_, err := tb.join(code, func(c *Config) { c.Token = "wrong" })
		sentence(t, err, ErrUnauthorized)
		j, err := tb.join(code, func(c *Config) { c.Token = "s3cret" })
		if err != nil {
			t.Fatal(err)
		}
		h := <-tb.host
		h.s.Close()
		j.Close()
		if tb.relay.auth[0] != "Bearer s3cret" {
			t.Errorf("%q", tb.relay.auth)
		}
		tb.relay.close()
	})
}

// TestSeveralRelays: both sides go through their relays in order.
func TestSeveralRelays(t *testing.T) {
	bubble(t, func(t *testing.T) {
		other := newScripted(t) // up, but does not know the lobby
		tb := newTable(t, nil)
		nw := network{relayName: tb.relay.ln, "10.0.0.2:3478": other.ln}
		tb.cfg.Dial = nw.dial
		tb.cfg.Relays = []string{"10.0.0.3", relayName}
		tb.start()
		code := tb.code()
		if want := "@10.0.0.1"; !strings.HasSuffix(code.String(), want) {
			t.Errorf("code %s should name the relay that took the host", code)
		}
		code.Relays = []string{"10.0.0.3", "10.0.0.2", "10.0.0.1"}
		tb.meet(code, nil)

		code.Relays = []string{"10.0.0.3", "10.0.0.2"}
		_, err := tb.join(code, nil)
		sentence(t, err, ErrUnknownCode)
		code.Relays = []string{"10.0.0.3", "10.0.0.4"}
		_, err = tb.join(code, nil)
		sentence(t, err, ErrUnreachable)
		tb.relay.close()
		other.close()
	})
}

// TestTLSFirst: a relay with a host name that speaks no TLS is used in clear.
func TestTLSFirst(t *testing.T) {
	bubble(t, func(t *testing.T) {
		tb := newTable(t, nil)
		dials := 0
		nw := network{"relay.test:3478": tb.relay.ln}
		tb.cfg.Dial = func(ctx context.Context, n, a string) (net.Conn, error) { dials++; return nw.dial(ctx, n, a) }
		tb.cfg.Relays = []string{"relay.test"}
		tb.cfg.DefaultRelay = "Relay.Test:3478"
		tb.start()
		code := tb.code()
		if len(code.Relays) != 0 {
			t.Errorf("code %s names the relay everybody has configured", code)
		}
		if dials != 2 {
			t.Errorf("%d connections, want one with TLS and one without", dials)
		}
		tb.stop()
		if h := <-tb.host; !errors.Is(h.err, context.Canceled) {
			t.Error(h.err)
		}
		tb.relay.close()
	})
}

func TestConfigErrors(t *testing.T) {
	ctx := context.Background()
	code := rendezvous.Code{Lookup: rendezvous.Lookup{'2', '2', '2', '2'}, Secret: "2222"}
	for name, cfg := range map[string]Config{
		"relay":     {Relays: []string{"a b"}},
		"none":      {},
		"secret":    {Relays: []string{"a"}, SecretLen: 5},
		"protocols": {Relays: []string{"a"}, ProtoMin: 2, ProtoMax: 1},
		"token":     {Relays: []string{"a"}, Token: "a b"},
		"hello":     {Relays: []string{"a"}, Hello: Hello{Config: make([]byte, MaxConfig+1)}},
	} {
		if _, err := Host(ctx, cfg); !errors.Is(err, ErrConfig) {
			t.Errorf("host, %s: %v", name, err)
		}
		if _, err := Join(ctx, cfg, code); !errors.Is(err, ErrConfig) {
			t.Errorf("join, %s: %v", name, err)
		}
	}
	if _, err := Join(ctx, Config{Relays: []string{"a"}}, rendezvous.Code{}); !errors.Is(err, ErrConfig) {
		t.Errorf("no code: %v", err)
	}
}

func TestPurpose(t *testing.T) {
	bubble(t, func(t *testing.T) {
		tb := newTable(t, func(c *Config) { c.Purpose = cpace.View })
		tb.start()
		_, err := tb.join(tb.code(), nil)
		sentence(t, err, ErrWrongCode)
		if n := <-tb.guess; n != 1 {
			t.Errorf("guess %d", n)
		}
		tb.over()
	})
}

func TestFailuresAreSentences(t *testing.T) {
	for _, f := range []*Failure{ErrUnreachable, ErrUnauthorized, ErrBusy, ErrProtocol, ErrTampered, ErrUnknownCode, ErrFull, ErrExpired,
		ErrWrongCode, ErrSlowDown, ErrDisplaced, ErrNobodyCame, ErrGone, ErrNoAnswer, ErrAway, ErrLost, ErrIncompatible, ErrRelayVersion} {
		sentence(t, fmt.Errorf("relay x: %w", f), f)
	}
}
