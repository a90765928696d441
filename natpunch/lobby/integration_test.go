package lobby_test

import (
	"context"
	"errors"
	"net"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"backstep/natpunch/lobby"
	"backstep/natpunch/rendezvous"
	"backstep/relay"
)

// startRelay runs the real relay on loopback until the test ends.
func startRelay(t *testing.T, cfg relay.Config) string {
	t.Helper()
	cfg.Listen = []string{"127.0.0.1:0"}
	cfg.DrainLimit = -1
	s, err := relay.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil && !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	})
	return s.Addrs()[0].String()
}

// cutter dials and can cut every connection it made.
type cutter struct {
	mu    sync.Mutex
	conns []*net.TCPConn
}

func (c *cutter) dial(ctx context.Context, network, address string) (net.Conn, error) {
	conn, err := new(net.Dialer).DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.conns = append(c.conns, conn.(*net.TCPConn))
	return conn, nil
}

func (c *cutter) cut() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, x := range c.conns {
		x.SetLinger(0)
		x.Close()
	}
	c.conns = nil
}

type hosted struct {
	s   *lobby.Session
	err error
}

func next(t *testing.T, codes chan string) rendezvous.Code {
	t.Helper()
	select {
	case s := <-codes:
		c, err := rendezvous.ParseCode(s)
		if err != nil {
			t.Fatal(err)
		}
		return c
	case <-time.After(10 * time.Second):
		t.Fatal("no code")
	}
	return rendezvous.Code{}
}

// TestRealRelay (WIRE-18) is attack case 1 and a match, with the relay of this repository
// on loopback: wrong codes, dropped connections, a new code, a session whose
// endpoints and keys fit, sealed messages, and a goodbye the other side hears.
func TestRealRelay(t *testing.T) {
	defer goleak.VerifyNone(t)
	t.Run("relay", func(t *testing.T) {
		addr := startRelay(t, relay.Config{Token: "T"})
		codes, guesses := make(chan string, 8), make(chan int, 8)
		var net cutter
		host := make(chan hosted, 1)
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		go func() {
			s, err := lobby.Host(ctx, lobby.Config{
				Relays: []string{addr}, Token: "T", Dial: net.dial, Hello: lobby.Hello{Name: "Host"},
				OnCode: func(c string) { codes <- c }, OnGuess: func(n int) { guesses <- n },
			})
			host <- hosted{s, err}
		}()
		code := next(t, codes)
		join := func(c rendezvous.Code, token string) (*lobby.Session, error) {
			return lobby.Join(ctx, lobby.Config{Token: token, Hello: lobby.Hello{Name: "Joiner"}}, c)
		}
		if _, err := join(code, ""); !errors.Is(err, lobby.ErrUnauthorized) {
			t.Fatalf("without the token: %v", err)
		}
		unknown := code
		unknown.Lookup[0] = rendezvous.Alphabet[(index(code.Lookup[0])+1)%27]
		if _, err := join(unknown, "T"); !errors.Is(err, lobby.ErrUnknownCode) {
			t.Fatalf("unknown: %v", err)
		}
		bad := code
		bad.Secret = rendezvous.Secret(string(rendezvous.Alphabet[(index(code.Secret[0])+1)%27]) + string(code.Secret[1:]))
		for n := 1; n <= 3; n++ {
			if _, err := join(bad, "T"); !errors.Is(err, lobby.ErrWrongCode) {
				t.Fatalf("wrong code %d: %v", n, err)
			}
			if got := <-guesses; got != n {
				t.Fatalf("guess %d shown as %d", n, got)
			}
			if n == 1 {
				net.cut()
			}
		}
		second := next(t, codes)
		if second.Lookup == code.Lookup || second.Secret[:4] == code.Secret {
			t.Fatal("the third guess did not replace both halves")
		}
		j, err := join(second, "T")
		if err != nil {
			t.Fatal(err)
		}
		h := <-host
		if h.err != nil {
			t.Fatal(h.err)
		}
		if h.s.Opponent.Name != "Joiner" || j.Opponent.Name != "Host" || h.s.Keys.DTLSIdentity() != j.Keys.DTLSIdentity() {
			t.Errorf("%+v %+v", h.s.Opponent, j.Opponent)
		}
		if got := j.SessionMsg.Endpoints[0].String(); got != addr || j.RelayAddr.String() != addr {
			t.Errorf("endpoint %s, connected to %s, want %s", got, j.RelayAddr, addr)
		}
		if _, err := join(second, "T"); !errors.Is(err, lobby.ErrFull) {
			t.Errorf("a third player: %v", err)
		}
		if err := h.s.Send(lobby.MsgAccept, nil); err != nil {
			t.Fatal(err)
		}
		if typ, _, err := j.Recv(ctx); err != nil || typ != lobby.MsgAccept {
			t.Fatal(typ, err)
		}
		if rtt, err := j.Ping(ctx); err != nil || rtt <= 0 || j.RTT <= 0 || h.s.RTT <= 0 {
			t.Errorf("%v %v %v %v", rtt, err, j.RTT, h.s.RTT)
		}
		h.s.Close()
		if _, _, err := j.Recv(ctx); !errors.Is(err, lobby.ErrGone) {
			t.Errorf("after the host left: %v", err)
		}
		j.Close()
	})
}

// TestManyLobbies: hosts and joiners of one machine find their own opponents, all at once.
func TestManyLobbies(t *testing.T) {
	defer goleak.VerifyNone(t)
	t.Run("relay", func(t *testing.T) {
		addr := startRelay(t, relay.Config{Limits: relay.Limits{ConnsPerSource: 100, LobbiesPerSource: 100, SourceRunStarts: 1000}})
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		var wg sync.WaitGroup
		for i := range 20 {
			wg.Go(func() {
				codes, host := make(chan string, 4), make(chan hosted, 1)
				go func() {
					s, err := lobby.Host(ctx, lobby.Config{Relays: []string{addr}, DataHash: uint64(i), OnCode: func(c string) { codes <- c }})
					host <- hosted{s, err}
				}()
				code, err := rendezvous.ParseCode(<-codes)
				if err != nil {
					t.Error(err)
					return
				}
				j, err := lobby.Join(ctx, lobby.Config{DataHash: uint64(i)}, code)
				if err != nil {
					t.Error(err)
					return
				}
				h := <-host
				if h.err != nil || h.s.SessionMsg.Sheet() != j.SessionMsg.Sheet() {
					t.Error(h.err)
				}
				j.Close()
				h.s.Close()
			})
		}
		wg.Wait()
	})
}

func index(symbol byte) int {
	for i := range len(rendezvous.Alphabet) {
		if rendezvous.Alphabet[i] == symbol {
			return i
		}
	}
	return 0
}
