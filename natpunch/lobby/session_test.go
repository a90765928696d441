package lobby

import (
	"bytes"
	"context"
	"errors"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"

	"backstep/natpunch/keys"
	"backstep/natpunch/rendezvous"
)

// blackhole is a network that can start to swallow what is written.
type blackhole struct {
	swallow atomic.Bool
	dials   atomic.Int32
}

type holeConn struct {
	net.Conn
	hole *blackhole
}

func (c holeConn) Write(b []byte) (int, error) {
	if c.hole.swallow.Load() {
		return len(b), nil
	}
	return c.Conn.Write(b)
}

func (h *blackhole) dial(inner func(context.Context, string, string) (net.Conn, error)) func(context.Context, string, string) (net.Conn, error) {
	return func(ctx context.Context, n, a string) (net.Conn, error) {
		h.dials.Add(1)
		c, err := inner(ctx, n, a)
		if err != nil {
			return nil, err
		}
		return holeConn{c, h}, nil
	}
}

func send(t *testing.T, s *Session, typ byte, body string) {
	t.Helper()
	if err := s.Send(typ, []byte(body)); err != nil {
		t.Fatal(err)
	}
}

func recv(t *testing.T, s *Session, want byte, body string) {
	t.Helper()
	typ, b, err := s.Recv(context.Background())
	if err != nil || typ != want || string(b) != body {
		t.Fatalf("received %d %q %v, want %d %q", typ, b, err, want, body)
	}
}

// TestSignalling: nobody can send candidates before both have accepted; then
// everything arrives in order.
func TestSignalling(t *testing.T) {
	bubble(t, func(t *testing.T) {
		_, h, j := pair(t, nil, nil)
		for _, s := range []*Session{h, j} {
			if err := s.Send(MsgCandidates, nil); !errors.Is(err, ErrNotAccepted) {
				t.Errorf("before ACCEPT: %v", err)
			}
		}
		send(t, h, MsgAccept, "")
		send(t, h, MsgAccept, "") // pressed twice
		if err := h.Send(MsgCandidates, nil); !errors.Is(err, ErrNotAccepted) {
			t.Errorf("before the other's ACCEPT: %v", err)
		}
		recv(t, j, MsgAccept, "")
		send(t, j, MsgAccept, "")
		recv(t, h, MsgAccept, "")
		list := rendezvous.AppendCandidates(nil, &rendezvous.Candidates{Generation: 1})
		send(t, j, MsgCandidates, string(list))
		send(t, h, MsgCandidates, string(list))
		send(t, h, MsgGo, "")
		recv(t, h, MsgCandidates, string(list))
		recv(t, j, MsgCandidates, string(list))
		recv(t, j, MsgGo, "")
		send(t, h, 99, "of a later version")
		for range maxAgain {
			send(t, h, MsgAgain, "")
			recv(t, j, MsgAgain, "")
		}
		if err := h.Send(MsgAgain, nil); !errors.Is(err, ErrAgain) {
			t.Errorf("third AGAIN: %v", err)
		}
		if err := h.Send(MsgBye, make([]byte, keys.MaxBody+1)); !errors.Is(err, keys.ErrBody) {
			t.Errorf("too long: %v", err)
		}
		send(t, h, MsgBye, "")
		recv(t, j, MsgBye, "")
	})
}

// TestHiddenSendsNothing: with one side hiding, candidates are neither sent nor accepted.
func TestHiddenSendsNothing(t *testing.T) {
	bubble(t, func(t *testing.T) {
		_, h, j := pair(t, func(c *Config) { c.Hello.Hide = true }, nil)
		send(t, h, MsgAccept, "")
		recv(t, j, MsgAccept, "")
		send(t, j, MsgAccept, "")
		recv(t, h, MsgAccept, "")
		for _, s := range []*Session{h, j} {
			if err := s.Send(MsgCandidates, nil); !errors.Is(err, ErrHidden) {
				t.Errorf("hidden: %v", err)
			}
		}
		if err := j.send(keys.Candidates, nil); err != nil {
			t.Fatal(err)
		}
		_, _, err := h.Recv(context.Background())
		sentence(t, err, ErrTampered)
	})
}

// TestRulesBroken: an opponent that does not keep the rules ends the lobby.
func TestRulesBroken(t *testing.T) {
	for _, c := range []struct {
		name string
		from rendezvous.Side
		send []keys.Kind
	}{
		{"candidates before ACCEPT", rendezvous.SideHost, []keys.Kind{keys.Candidates}},
		{"candidates before our ACCEPT", rendezvous.SideHost, []keys.Kind{keys.Accept, keys.Candidates}},
		{"second HELLO", rendezvous.SideHost, []keys.Kind{keys.Hello}},
		{"second ACCEPT", rendezvous.SideHost, []keys.Kind{keys.Accept, keys.Accept}},
		{"GO of the joiner", rendezvous.SideJoin, []keys.Kind{keys.Go}},
		{"third AGAIN", rendezvous.SideJoin, []keys.Kind{keys.Again, keys.Again, keys.Again}},
	} {
		t.Run(c.name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				_, from, to := pair(t, nil, nil)
				if c.from == rendezvous.SideJoin {
					from, to = to, from
				}
				for i, k := range c.send {
					if err := from.send(k, nil); err != nil {
						t.Fatal(err)
					}
					_, _, err := to.Recv(context.Background())
					if i < len(c.send)-1 {
						if err != nil {
							t.Fatal(err)
						}
						continue
					}
					sentence(t, err, ErrTampered)
				}
			})
		})
	}
}

// TestWithheld: a relay that drops or repeats one sealed message is caught by the next.
func TestWithheld(t *testing.T) {
	for _, c := range []struct {
		name string
		out  func(b []byte) [][]byte
	}{
		{"dropped", func([]byte) [][]byte { return nil }},
		{"repeated", func(b []byte) [][]byte { return [][]byte{b, b} }},
	} {
		t.Run(c.name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				tb, h, j := pair(t, nil, nil)
				tb.relay.mu.Lock()
				tb.relay.edit = onceAt(rendezvous.SideJoin, rendezvous.TypeSealed, c.out)
				tb.relay.mu.Unlock()
				send(t, h, MsgAccept, "")
				send(t, h, MsgGo, "")
				var err error
				for err == nil {
					_, _, err = j.Recv(context.Background())
				}
				sentence(t, err, ErrTampered)
				// What comes after is not believed, even if it is in order again.
				send(t, h, MsgBye, "")
				_, _, err = j.Recv(context.Background())
				sentence(t, err, ErrTampered)
				sentence(t, j.Send(MsgBye, nil), ErrTampered)
			})
		})
	}
}

// TestEnds: the opponent leaves, the relay leaves, this side closes, the context ends.
func TestEnds(t *testing.T) {
	bubble(t, func(t *testing.T) {
		_, h, j := pair(t, nil, nil)
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		if _, _, err := h.Recv(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("context: %v", err)
		}
		j.Close()
		j.Close()
		if err := j.Send(MsgBye, nil); !errors.Is(err, ErrClosed) {
			t.Errorf("closed: %v", err)
		}
		_, _, err := h.Recv(context.Background())
		sentence(t, err, ErrGone)
	})
	bubble(t, func(t *testing.T) {
		tb, h, j := pair(t, nil, nil)
		tb.relay.drop()
		for _, s := range []*Session{h, j} {
			_, _, err := s.Recv(context.Background())
			if !errors.Is(err, ErrLost) && !errors.Is(err, ErrGone) {
				t.Errorf("relay left: %v", err)
			}
			if _, err := s.Ping(context.Background()); err == nil {
				t.Error("ping without connection")
			}
		}
	})
	bubble(t, func(t *testing.T) {
		_, h, _ := pair(t, nil, nil)
		got := make(chan error)
		go func() {
			_, _, err := h.Recv(context.Background())
			got <- err
		}()
		time.Sleep(time.Second)
		h.Close()
		if err := <-got; !errors.Is(err, ErrClosed) {
			t.Errorf("blocked Recv: %v", err)
		}
	})
}

// slowConn delays every write, so that a round trip has a length.
type slowConn struct {
	net.Conn
	by time.Duration
}

func (c slowConn) Write(b []byte) (int, error) { time.Sleep(c.by); return c.Conn.Write(b) }

// TestRTT: both sides measure the round trip between them, through the relay.
func TestRTT(t *testing.T) {
	bubble(t, func(t *testing.T) {
		tb := newTable(t, nil)
		inner := tb.cfg.Dial
		slow := func(by time.Duration) func(context.Context, string, string) (net.Conn, error) {
			return func(ctx context.Context, n, a string) (net.Conn, error) {
				c, err := inner(ctx, n, a)
				if err != nil {
					return nil, err
				}
				return slowConn{c, by}, nil
			}
		}
		tb.cfg.Dial = slow(30 * time.Millisecond)
		tb.start()
		j, err := tb.join(tb.code(), func(c *Config) { c.Dial = slow(20 * time.Millisecond) })
		if err != nil {
			t.Fatal(err)
		}
		h := <-tb.host
		for _, s := range []*Session{h.s, j} {
			// 30 ms there and 20 ms back; the relay of the test adds none.
			if s.RTT < 50*time.Millisecond || s.RTT > 60*time.Millisecond {
				t.Errorf("%v measures %v", s.Side, s.RTT)
			}
		}
		if rtt, err := h.s.Ping(context.Background()); err != nil || rtt < 30*time.Millisecond || rtt > 40*time.Millisecond {
			t.Errorf("to the relay %v %v", rtt, err)
		}
		h.s.Close()
		j.Close()
		tb.relay.close()
	})
}

func TestHelloRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := Hello{
			Name: rendezvous.CleanText(rapid.String().Draw(t, "name")), Build: rendezvous.CleanText(rapid.String().Draw(t, "build")),
			Config: rapid.SliceOfN(rapid.Byte(), 0, MaxConfig).Draw(t, "config"), Hide: rapid.Bool().Draw(t, "hide"),
		}
		sheet := [32]byte(rapid.SliceOfN(rapid.Byte(), 32, 32).Draw(t, "sheet"))
		b := appendHello(nil, &h, &sheet)
		if len(b) > keys.MaxBody {
			t.Fatalf("%d bytes do not fit", len(b))
		}
		var got Hello
		var gotSheet [32]byte
		if err := parseHello(b, &got, &gotSheet); err != nil || gotSheet != sheet || got.Name != h.Name || got.Build != h.Build ||
			!bytes.Equal(got.Config, h.Config) || got.Hide != h.Hide {
			t.Fatalf("%+v became %+v %v", h, got, err)
		}
		for n := range len(b) {
			if parseHello(b[:n], &got, &gotSheet) == nil {
				t.Fatalf("cut to %d of %d bytes it parses", n, len(b))
			}
		}
	})
}

func FuzzParseHello(f *testing.F) {
	var sheet [32]byte
	f.Add(appendHello(nil, &Hello{Name: "a", Build: "b", Config: []byte("c"), Hide: true}, &sheet))
	f.Add(make([]byte, helloMin))
	f.Fuzz(func(t *testing.T, b []byte) {
		var h Hello
		var sheet [32]byte
		if parseHello(b, &h, &sheet) != nil {
			return
		}
		if got := appendHello(nil, &h, &sheet); !bytes.Equal(got, b) {
			t.Fatalf("%x encodes as %x", b, got)
		}
	})
}
