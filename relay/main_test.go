package relay

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"net/netip"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"backstep/natpunch/rendezvous"

	"go.uber.org/goleak"
)

// TestMain lets the test binary stand in for a relay that may not connect.
func TestMain(m *testing.M) {
	if os.Getenv(noConnectEnv) != "" {
		if err := serveWithoutConnect(); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}

// fakeTime is a clock that moves when told to.
type fakeTime struct{ ns atomic.Int64 }

func newFakeTime() *fakeTime {
	f := &fakeTime{}
	f.ns.Store(time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC).UnixNano())
	return f
}

func (f *fakeTime) now() time.Time          { return time.Unix(0, f.ns.Load()) }
func (f *fakeTime) advance(d time.Duration) { f.ns.Add(int64(d)) }

// lockedBuffer is a log that may be read while it is written.
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

// manyPeers are limits for tests with many peers from one address.
var manyPeers = Limits{ConnsPerSource: 1000, LobbiesPerSource: 1000, TunnelsPerSource: 1000, RunsPerSource: 4, UnprovenAnswers: 100000,
	RunStarts: 1e5, SourceRunStarts: 1e5}

// running is a relay that serves on loopback until the test ends.
type running struct {
	*Server
	addr netip.AddrPort
	time *fakeTime // nil: real time
	done chan error
	stop context.CancelFunc
}

func start(t testing.TB, c Config) *running {
	t.Helper()
	if c.Listen == nil {
		c.Listen = []string{"127.0.0.1:0"}
	}
	if c.DrainLimit == 0 {
		c.DrainLimit = -1
	}
	s, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	r := &running{Server: s, addr: s.Addrs()[0], done: make(chan error, 1), stop: cancel}
	go func() { r.done <- s.Run(ctx) }()
	wait(t, "the start", func() bool { return s.state.Load() == stateServing })
	t.Cleanup(func() {
		cancel()
		s.Close()
		if err := <-r.done; err != nil {
			t.Errorf("Run: %v", err)
		}
	})
	return r
}

func startAt(t testing.TB, c Config) *running {
	f := newFakeTime()
	c.Now = f.now
	r := start(t, c)
	r.time = f
	return r
}

// patience is how long a test waits for what must come; a busy machine may be slow.
const patience = 10 * time.Second

// wait polls until f is true or patience is at its end.
func wait(t testing.TB, what string, f func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(2 * time.Millisecond) {
		if f() {
			return
		}
	}
	t.Fatalf("waited in vain for %s", what)
}

// udpPeer is a player's socket.
type udpPeer struct {
	t testing.TB
	*net.UDPConn
	relay     netip.AddrPort
	connected bool
}

func dialUDP(t testing.TB, relay netip.AddrPort, from string) *udpPeer {
	t.Helper()
	c, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.ParseIP(from)})
	if err != nil {
		t.Skipf("no address %s here: %v", from, err)
	}
	t.Cleanup(func() { c.Close() })
	return &udpPeer{t: t, UDPConn: c, relay: relay}
}

func (p *udpPeer) addr() netip.AddrPort { return p.LocalAddr().(*net.UDPAddr).AddrPort() }

func (p *udpPeer) send(b []byte) {
	p.t.Helper()
	var err error
	if p.connected {
		_, err = p.Write(b)
	} else {
		_, err = p.WriteToUDPAddrPort(b, p.relay)
	}
	if err != nil {
		p.t.Fatal(err)
	}
}

func addrOfTest(i uint32) netip.AddrPort {
	return netip.AddrPortFrom(netip.AddrFrom4([4]byte{10, byte(i >> 16), byte(i >> 8), byte(i)}), 5000)
}

// next returns the next datagram, or nil after d.
func (p *udpPeer) next(d time.Duration) []byte {
	p.SetReadDeadline(time.Now().Add(d))
	b := make([]byte, 2048)
	n, _, err := p.ReadFromUDPAddrPort(b)
	if err != nil {
		return nil
	}
	return b[:n]
}

// token is one side's registration right.
type token struct {
	rendezvous.Reg
	key rendezvous.RegKey
}

func (s *Server) token(side rendezvous.Side, channel uint32, lobby byte) *token {
	k := &token{Reg: rendezvous.Reg{
		Side: side, Channel: channel, Lobby: rendezvous.LobbyID{lobby},
		Expiry: s.clock.unix(s.clock.mono()) + 3600,
	}}
	k.key = rendezvous.DeriveRegKey(&s.fwd.secret.key, k.Lobby, channel, side, k.Expiry)
	return k
}

func (k *token) frame() []byte {
	k.Counter++
	return rendezvous.AppendReg(nil, &k.Reg, &k.key)
}

// bind registers p with k through challenge and acknowledgement.
func (p *udpPeer) bind(k *token) rendezvous.Ack {
	p.t.Helper()
	for range 4 {
		p.send(k.frame())
		b := p.next(patience)
		if b == nil {
			p.t.Fatal("a registration was not answered")
		}
		if !rendezvous.CheckTag(b, &k.key) {
			p.t.Fatalf("answer %x has a wrong tag", b)
		}
		var chal rendezvous.Chal
		var ack rendezvous.Ack
		if rendezvous.ParseChal(b, &chal) == nil {
			k.Cookie = chal.Cookie
			continue
		}
		if err := rendezvous.ParseAck(b, &ack); err != nil {
			p.t.Fatal(err)
		}
		return ack
	}
	p.t.Fatal("no acknowledgement after four registrations")
	return rendezvous.Ack{}
}
