package natpunch

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"backstep/natpunch/rendezvous"
)

func listenLoopback(t *testing.T) *filterConn {
	t.Helper()
	conn, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	return &filterConn{PacketConn: conn}
}

func listenUDP(address string) (net.PacketConn, error) { return net.ListenPacket("udp", address) }

// player stands for the link: it sends a numbered packet every interval on the
// routes Plan names, each copy saying its route, and reports what arrives.
type player struct {
	paths *Paths
	conn  *filterConn

	mu       sync.Mutex
	foreign  int
	received map[Mask]int
	seen     map[uint64]bool // numbers above base
	base     uint64
	group    sync.WaitGroup
	stop     chan struct{}
	once     sync.Once
}

const recordType = 23 // what DTLS application data starts with

func (p *player) play() {
	p.stop, p.received, p.seen = make(chan struct{}), map[Mask]int{}, map[uint64]bool{}
	p.group.Add(2)
	go func() {
		defer p.group.Done()
		b := make([]byte, 2000)
		for {
			n, from, err := p.paths.ReadFrom(b)
			if err != nil {
				return
			}
			p.mu.Lock()
			if n != 100 || b[0] != recordType || string(b[10:17]) != "genuine" || from != p.paths.Peer() {
				p.foreign++
				p.mu.Unlock()
				continue
			}
			m := Mask(b[1])
			p.received[m]++
			if n := binary.LittleEndian.Uint64(b[2:]); n > p.base {
				p.seen[n] = true
			}
			p.mu.Unlock()
			p.paths.Authenticated(m, p.paths.cfg.Clock())
		}
	}()
	go func() {
		defer p.group.Done()
		t := time.NewTicker(DefaultInterval)
		defer t.Stop()
		b := make([]byte, 100)
		b[0] = recordType
		copy(b[10:], "genuine")
		for n := uint64(1); ; n++ {
			select {
			case <-p.stop:
				return
			case <-t.C:
			}
			plan := p.paths.Plan(p.paths.cfg.Clock())
			for _, m := range [...]Mask{Relay, Direct} {
				if plan&m == 0 {
					continue
				}
				b[1] = byte(m)
				binary.LittleEndian.PutUint64(b[2:], n)
				p.paths.Select(m)
				if _, err := p.paths.WriteTo(b, p.paths.Peer()); err != nil {
					return
				}
			}
		}
	}()
}

// take returns how many of the opponent's packets never came and how many
// copies came on each route, since it was called last.
func (p *player) take() (missing int, received map[Mask]int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	top := p.base
	for n := range p.seen {
		top = max(top, n)
	}
	missing, received = int(top-p.base)-len(p.seen), p.received
	if p.base == 0 { // numbering began before this side listened
		missing = 0
	}
	p.base, p.seen, p.received = top, map[uint64]bool{}, map[Mask]int{}
	return
}

func (p *player) close() {
	p.once.Do(func() { close(p.stop) })
	p.paths.Close()
	p.group.Wait()
}

type match struct {
	relay *testRelay
	lobby [2]*lobby
	p     [2]*player
}

// newMatch opens two Paths on an ether, in a bubble.
func newMatch(t *testing.T, change func(i int, c *Config), with ...func(*testRelay)) *match {
	t.Helper()
	return newMatchOn(t, newEther().listen, change, with...)
}

// newMatchOn opens two Paths at 127.0.0.1.
func newMatchOn(t *testing.T, listen func(address string) (net.PacketConn, error), change func(i int, c *Config), with ...func(*testRelay)) *match {
	t.Helper()
	clock := bubbleClock()
	m := &match{relay: startRelay(t, listen, "127.0.0.1", 0), lobby: newLobby(5 * time.Millisecond)}
	for _, f := range with {
		f(m.relay)
	}
	for i := range m.p {
		pc, err := listen("127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		conn := &filterConn{PacketConn: pc}
		cfg := testConfig(rendezvous.Side(i), conn, m.relay.addr, m.lobby[i])
		cfg.SignalRTT = 10 * time.Millisecond
		cfg.Clock = clock
		if change != nil {
			change(i, &cfg)
		}
		ctx, cancel := context.WithTimeout(context.Background(), 3*time.Second)
		paths, err := Open(ctx, cfg)
		cancel()
		if err != nil {
			t.Fatal(err)
		}
		m.p[i] = &player{paths: paths, conn: conn}
		t.Cleanup(func() { paths.Close() })
	}
	return m
}

func (m *match) play(t *testing.T) {
	for _, p := range m.p {
		p.play()
		t.Cleanup(p.close)
	}
}

func (m *match) direct(t *testing.T) {
	t.Helper()
	for _, p := range m.p {
		if err := p.paths.StartDirect(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

// reach plays until both sides have found each other.
func (m *match) reach(t *testing.T) {
	t.Helper()
	m.play(t)
	m.direct(t)
	m.await(t, 3*time.Second, KindLAN)
}

// until waits for something to become true; what says how it stands otherwise.
func until(t *testing.T, limit time.Duration, ok func() bool, what func() string) {
	t.Helper()
	for start := time.Now(); !ok(); time.Sleep(2 * time.Millisecond) {
		if time.Since(start) > limit {
			t.Fatalf("after %v: %s", limit, what())
		}
	}
}

func (m *match) await(t *testing.T, limit time.Duration, want Kind) time.Duration {
	t.Helper()
	start, a, b := time.Now(), m.p[0].paths, m.p[1].paths
	until(t, limit, func() bool { return a.Path() == want && b.Path() == want }, func() string {
		return fmt.Sprintf("%v and %v, want %v; %q %q\n%+v\n%+v", a.Path(), b.Path(), want, a.Reason(), b.Reason(), a.Stats(), b.Stats())
	})
	return time.Since(start)
}

func (m *match) peerAddr(i int) netip.AddrPort {
	return m.p[i].conn.LocalAddr().(*net.UDPAddr).AddrPort()
}

// cut drops everything between the players that does not go over the relay.
func (m *match) cut(on bool) {
	for i, p := range m.p {
		other := m.peerAddr(1 - i)
		if on {
			p.conn.set(func(_ []byte, to netip.AddrPort) bool { return to == other })
		} else {
			p.conn.set(nil)
		}
	}
}

// TestRelayFirstThenDirect is the whole life of a path: relay at once, direct
// within a second, the direct path cut, the relay takes over, and the return.
// B-01, B-02, S-06.
func TestRelayFirstThenDirect(t *testing.T) {
	bubble(t, func(t *testing.T) {
		m := newMatch(t, nil)
		m.play(t)
		time.Sleep(150 * time.Millisecond)
		m.await(t, time.Second, KindRelay)
		if why := m.p[0].paths.Reason(); why != "relayed: a direct path has not been tried yet" {
			t.Error(why)
		}
		if _, got := m.p[0].take(); got[Relay] == 0 || got[Direct] != 0 {
			t.Errorf("before the direct path: %v", got)
		}
		m.p[1].take()
		m.direct(t)
		took := m.await(t, 3*time.Second, KindLAN)
		t.Logf("direct after %v", took)
		if why := m.p[0].paths.Reason(); why != "lan: both players are on this machine" {
			t.Error(why)
		}
		time.Sleep(1500 * time.Millisecond) // both routes until then
		for i, p := range m.p {
			if missing, _ := p.take(); missing != 0 {
				t.Errorf("side %d: the upgrade cost %d packets", i, missing)
			}
		}
		_, before := m.relay.counts()
		time.Sleep(time.Second)
		if _, after := m.relay.counts(); after-before > 20 {
			t.Errorf("%d packets a second over the relay while direct", after-before)
		}
		for _, p := range m.p {
			p.take()
		}

		m.cut(true)
		m.await(t, time.Second, KindRelay)
		time.Sleep(200 * time.Millisecond)
		for i, p := range m.p {
			missing, got := p.take()
			t.Logf("side %d: %d packets lost at the cut, then %v", i, missing, got)
			if missing == 0 || missing > 18 { // 300 ms
				t.Errorf("side %d: %d packets lost at the cut", i, missing)
			}
			if !strings.HasPrefix(p.paths.Reason(), "relayed: the direct path") {
				t.Error(p.paths.Reason())
			}
		}
		m.cut(false)
		m.await(t, 4*time.Second, KindLAN)
		for i, p := range m.p {
			if missing, _ := p.take(); missing != 0 {
				t.Errorf("side %d: the return cost %d packets", i, missing)
			}
			s := p.paths.Stats()
			if s.Generation != 0 || s.LocalCandidate != "host" || s.RemoteCandidate != "host" || s.Switches != 4 || s.DirectAfter <= 0 {
				t.Errorf("%+v", s)
			}
			if p.foreign != 0 {
				t.Errorf("%d foreign records", p.foreign)
			}
		}
	})
}

// TestRepunch: a direct path that stays dead is sought anew with another
// generation of credentials, while the match goes on over the relay.
func TestRepunch(t *testing.T) {
	bubble(t, func(t *testing.T) {
		m := newMatch(t, nil)
		m.reach(t)
		time.Sleep(1300 * time.Millisecond)
		m.cut(true)
		a, b := m.p[0].paths, m.p[1].paths
		until(t, 8*time.Second, func() bool { return a.Stats().Generation > 0 && b.Stats().Generation > 0 },
			func() string { return "no second generation" })
		if m.p[0].paths.Path() != KindRelay {
			t.Error("not on the relay:", m.p[0].paths.Path())
		}
		m.cut(false)
		m.await(t, 6*time.Second, KindLAN)
		for i, p := range m.p {
			if s := p.paths.Stats(); s.Generation == 0 {
				t.Errorf("side %d: generation %d", i, s.Generation)
			}
			if missing, _ := p.take(); missing > 18 {
				t.Errorf("side %d: %d packets lost", i, missing)
			}
		}
	})
}

// TestRelayRestart: a relay that lost all bindings is registered with again as
// soon as it is missed.
func TestRelayRestart(t *testing.T) {
	bubble(t, func(t *testing.T) {
		m := newMatch(t, nil)
		m.play(t)
		time.Sleep(300 * time.Millisecond)
		for _, p := range m.p {
			p.take()
		}
		m.relay.restart()
		time.Sleep(1500 * time.Millisecond)
		for i, p := range m.p {
			missing, got := p.take()
			t.Logf("side %d: %d packets lost", i, missing)
			if got[Relay] < 60 || missing < 5 || missing > 10 { // 120 ms of silence and two round trips
				t.Errorf("side %d: %v packets, %d lost", i, got, missing)
			}
		}
	})
}

// TestForgottenWhileDirect: a NAT that forgets its mappings takes both routes
// away at once. The relay is registered with as soon as both are missed, not
// when a route that carries a probe a second would be.
func TestForgottenWhileDirect(t *testing.T) {
	bubble(t, func(t *testing.T) {
		m := newMatch(t, nil)
		m.reach(t)
		time.Sleep(1300 * time.Millisecond)
		for _, p := range m.p {
			p.take()
		}
		m.cut(true)
		m.relay.restart()
		m.await(t, 2*time.Second, KindRelay)
		time.Sleep(200 * time.Millisecond)
		for i, p := range m.p {
			missing, got := p.take()
			t.Logf("side %d: %d packets lost", i, missing)
			if got[Relay] == 0 || missing < 4 || missing > 10 {
				t.Errorf("side %d: %v packets, %d lost", i, got, missing)
			}
		}
	})
}

// TestHiddenAddress, attack case 20: with one side hiding, both sides open
// with Hide, and nothing passes between the players' addresses.
func TestHiddenAddress(t *testing.T) {
	bubble(t, func(t *testing.T) {
		other := make(chan byte, 1)
		m := newMatch(t, func(i int, c *Config) {
			if i == 0 {
				c.Allowed = AllowRelay
				c.Other = func(typ byte, _ []byte) { other <- typ }
			}
			c.Hide = true
		})
		m.play(t)
		m.direct(t)
		if err := m.lobby[1].Send(6, nil); err != nil {
			t.Fatal(err)
		}
		if typ := <-other; typ != 6 {
			t.Errorf("message %d passed on", typ)
		}
		time.Sleep(400 * time.Millisecond)
		for i, p := range m.p {
			for to := range p.conn.sentTo() {
				if to != m.relay.addr {
					t.Errorf("side %d sent to %v", i, to)
				}
			}
			if n := m.lobby[i].sent.Load(); n != int32(i) {
				t.Errorf("side %d sent %d sealed messages", i, n)
			}
			if _, got := p.take(); got[Relay] < 10 {
				t.Errorf("side %d: %v", i, got)
			}
		}
		if stuns, _ := m.relay.counts(); stuns != 0 {
			t.Errorf("%d STUN requests", stuns)
		}
		if got := m.p[0].paths.Reason(); got != "relayed: only the relay is allowed, which hides the address" {
			t.Error(got)
		}
		if got := m.p[1].paths.Reason(); got != "relayed: a player hides the address" {
			t.Error(got)
		}
	})
}

// TestForgedNeverReachesTheQueue sends records and frames from third addresses
// to both players while they are on the direct path.
func TestForgedNeverReachesTheQueue(t *testing.T) {
	t.Parallel()
	m := newMatchOn(t, listenUDP, nil)
	m.reach(t)
	stranger := listenLoopback(t)
	defer stranger.Close()
	forged := make([]byte, 100)
	forged[0], forged[1] = recordType, byte(Direct)
	data := rendezvous.AppendData(nil, testChannel, forged)
	for range 50 {
		for i := range m.p {
			for _, b := range [][]byte{forged, data, {22}, {0xF8}, {0xF2, 1}, {0, 1, 0, 0}} {
				_, _ = stranger.WriteTo(b, net.UDPAddrFromAddrPort(m.peerAddr(i)))
			}
		}
		time.Sleep(time.Millisecond)
	}
	// From the relay's own address, but not what a relay may send.
	for i := range m.p {
		for _, b := range [][]byte{
			rendezvous.AppendData(nil, testChannel+1, forged), rendezvous.AppendData(nil, testChannel, []byte{1, 2, 3}),
			{0xF8, 1}, {0xF2, 1, 2}, {0xFF},
		} {
			_, _ = m.relay.conn.WriteTo(b, net.UDPAddrFromAddrPort(m.peerAddr(i)))
		}
	}
	time.Sleep(100 * time.Millisecond)
	for i, p := range m.p {
		p.mu.Lock()
		foreign := p.foreign
		p.mu.Unlock()
		drops := p.paths.Stats().Drops
		if foreign != 0 {
			t.Errorf("side %d: %d forged records reached the reader", i, foreign)
		}
		for _, why := range []Drop{DropDTLSSource, DropRelaySource, DropSTUNMalformed, DropRelayChannel, DropRelayPayload, DropRelayMalformed} {
			if drops[why.String()] == 0 {
				t.Errorf("side %d: nothing counted as %v: %v", i, why, drops)
			}
		}
		if p.paths.Path() != KindLAN {
			t.Errorf("side %d: forgeries moved the path to %v", i, p.paths.Path())
		}
	}
}

// TestLobbyGone: without the lobby the paths that stand go on.
func TestLobbyGone(t *testing.T) {
	bubble(t, func(t *testing.T) {
		m := newMatch(t, nil)
		m.reach(t)
		close(m.lobby[0].gone)
		time.Sleep(200 * time.Millisecond)
		m.await(t, time.Second, KindLAN)
		m.cut(true)
		m.await(t, time.Second*2, KindRelay)
		until(t, 8*time.Second, func() bool { return strings.Contains(m.p[0].paths.Reason(), "without the lobby") }, m.p[0].paths.Reason)
		for i, p := range m.p {
			p.take()
			time.Sleep(200 * time.Millisecond)
			if missing, got := p.take(); missing != 0 || got[Relay] == 0 {
				t.Errorf("side %d: %d lost, %v", i, missing, got)
			}
		}
	})
}

// TestWithoutRelayRoute: lan alone never carries a record over the relay.
func TestWithoutRelayRoute(t *testing.T) {
	bubble(t, func(t *testing.T) {
		m := newMatch(t, func(_ int, c *Config) { c.Allowed = AllowLAN })
		m.play(t)
		time.Sleep(100 * time.Millisecond)
		if k := m.p[0].paths.Path(); k != KindNone {
			t.Error(k)
		}
		if m.p[0].paths.Stats().Drops["no_route"] == 0 {
			t.Error("packets without a route are not counted")
		}
		m.direct(t)
		m.await(t, 3*time.Second, KindLAN)
		if _, data := m.relay.counts(); data != 0 {
			t.Errorf("%d records over the relay", data)
		}
	})
}

func TestOpenFails(t *testing.T) {
	t.Parallel()
	silent := listenLoopback(t) // nobody reads it
	defer silent.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 300*time.Millisecond)
	defer cancel()
	start := time.Now()
	_, err := Open(ctx, testConfig(0, listenLoopback(t), silent.LocalAddr().(*net.UDPAddr).AddrPort(), nil))
	if !errors.Is(err, ErrRelayUnreachable) || !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
	if d := time.Since(start); d > 2*time.Second {
		t.Errorf("took %v", d)
	}
	for name, change := range map[string]func(*Config){
		"no socket":      func(c *Config) { c.Conn.Close(); c.Conn = nil },
		"side":           func(c *Config) { c.Side = 2 },
		"no relay":       func(c *Config) { c.Relay = nil },
		"relay port":     func(c *Config) { c.Relay = []netip.AddrPort{netip.MustParseAddrPort("1.2.3.4:0")} },
		"interval":       func(c *Config) { c.Interval = time.Hour },
		"no credentials": func(c *Config) { c.Credentials = nil },
		"hidden, direct": func(c *Config) { c.Hide, c.Allowed = true, AllowDirect },
	} {
		cfg := testConfig(0, listenLoopback(t), relayA, nil)
		change(&cfg)
		if _, err := Open(context.Background(), cfg); !errors.Is(err, ErrConfig) {
			t.Errorf("%s: %v", name, err)
		}
		if cfg.Conn != nil {
			if _, err := cfg.Conn.WriteTo([]byte{1}, net.UDPAddrFromAddrPort(relayA)); !errors.Is(err, net.ErrClosed) {
				t.Errorf("%s: the socket was left open: %v", name, err)
			}
		}
	}
	cfg := testConfig(0, listenLoopback(t), relayA, nil)
	cfg.Allowed = AllowTunnel
	if _, err := Open(context.Background(), cfg); !errors.Is(err, ErrNoTunnel) {
		t.Error(err)
	}
}

func TestPathsConn(t *testing.T) {
	m := newMatchOn(t, listenUDP, func(i int, c *Config) {
		if i == 1 {
			c.Signal = nil
		}
	})
	p := m.p[0].paths
	var _ net.PacketConn = p
	if err := m.p[1].paths.StartDirect(t.Context()); !errors.Is(err, ErrNoSignal) {
		t.Error(err)
	}
	if err := p.StartDirect(t.Context()); err != nil {
		t.Error(err)
	}
	if err := p.StartDirect(t.Context()); !errors.Is(err, ErrStarted) {
		t.Error(err)
	}
	if _, err := p.WriteTo(make([]byte, 1401), nil); !errors.Is(err, ErrTooLong) {
		t.Error(err)
	}
	done := make(chan error, 1)
	go func() { _, _, err := p.ReadFrom(make([]byte, 10)); done <- err }()
	if err := p.SetDeadline(time.Unix(1, 0)); err != nil {
		t.Error(err)
	}
	if err := <-done; !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Error(err)
	}
	_ = p.SetDeadline(time.Time{})
	if _, err := m.p[1].paths.WriteTo([]byte{22, 1, 2}, nil); err != nil {
		t.Error(err)
	}
	b := make([]byte, 10)
	if n, from, err := p.ReadFrom(b); n != 3 || b[0] != 22 || from != p.Peer() || err != nil {
		t.Error(n, from, err)
	}
	if addr, ok := p.Mapped(); !ok || addr != m.peerAddr(0) {
		t.Error(addr, ok)
	}
	deadline := time.Now().Add(2 * time.Second)
	for p.Stats().Mapping == MappingUnknown && time.Now().Before(deadline) {
		time.Sleep(5 * time.Millisecond)
	}
	if s := p.Stats(); len(m.relay.conns) == 2 && s.Mapping != MappingNone || !s.Registered || s.RelayRTT <= 0 {
		t.Errorf("%+v", s)
	}
	go func() { _, _, err := p.ReadFrom(b); done <- err }()
	time.Sleep(10 * time.Millisecond)
	p.Close()
	if err := <-done; !errors.Is(err, net.ErrClosed) {
		t.Error(err)
	}
	if _, err := p.WriteTo([]byte{22}, nil); !errors.Is(err, net.ErrClosed) {
		t.Error(err)
	}
	if err := p.StartDirect(t.Context()); !errors.Is(err, net.ErrClosed) {
		t.Error(err)
	}
	p.Close()
}

// TestPathsAllocates: nothing in the steady state, on either route.
func TestPathsAllocates(t *testing.T) {
	relay := startRelay(t, listenUDP, "127.0.0.1", 0)
	conn, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	p, err := Open(t.Context(), testConfig(0, conn, relay.addr, nil))
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	for _, c := range relay.conns { // its reads allocate, in this same process
		c.Close()
	}
	relay.group.Wait()
	b := make([]byte, 100)
	b[0] = recordType
	frame := rendezvous.AppendData(nil, testChannel, b)
	self := conn.LocalAddr().(*net.UDPAddr).AddrPort()
	p.directAddr.Store(&self)
	out := make([]byte, 2000)
	now := p.cfg.Clock()
	if n := testing.AllocsPerRun(300, func() {
		now += tick
		_ = p.Plan(now)
		p.Select(Relay)
		_, _ = p.WriteTo(b, nil)
		p.Select(Direct)
		_, _ = p.WriteTo(b, nil)
		(*demux)(p).frame(frame, relay.addr)
		_, _, _ = p.ReadFrom(out)
		p.Authenticated(Relay, now)
	}); n != 0 {
		t.Errorf("%v allocations a packet", n)
	}
}
