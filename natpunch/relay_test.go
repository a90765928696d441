package natpunch

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pion/stun/v2"

	"backstep/natpunch/rendezvous"
)

// testRelay is a relay by the rules of security.md 5 as far as one lobby needs
// them: cookies, counters, forwarding, and STUN on PORT and PORT+1.
type testRelay struct {
	addr netip.AddrPort
	dead atomic.Bool // answers nothing

	mu      sync.Mutex
	conn    net.PacketConn
	bound   [2]netip.AddrPort
	counter [2]uint64
	tunnels [2]*testTunnel
	stuns   int
	data    int
	cookie  [32]byte
	conns   []net.PacketConn
	group   sync.WaitGroup
}

const testChannel, testExpiry = 4711, 9999

func sideKey(side rendezvous.Side) rendezvous.RegKey {
	secret := [32]byte{42}
	return rendezvous.DeriveRegKey(&secret, testLobby, testChannel, side, testExpiry)
}

// startRelay listens on host:port, and on port+1 if it can. port 0 picks one.
func startRelay(t *testing.T, listen func(address string) (net.PacketConn, error), host string, port int) *testRelay {
	t.Helper()
	r := &testRelay{}
	conn, err := listen(net.JoinHostPort(host, fmt.Sprint(port)))
	if err != nil {
		t.Fatal(err)
	}
	r.conn = conn
	r.conns = []net.PacketConn{conn}
	r.addr = conn.LocalAddr().(*net.UDPAddr).AddrPort()
	if second, err := listen(net.JoinHostPort(host, fmt.Sprint(r.addr.Port()+1))); err == nil {
		r.conns = append(r.conns, second)
	}
	for i, c := range r.conns {
		r.group.Add(1)
		go func() {
			defer r.group.Done()
			b := make([]byte, 2000)
			for {
				n, from, err := c.ReadFrom(b)
				if err != nil {
					return
				}
				r.handle(c, i == 0, b[:n], unmap(from.(*net.UDPAddr).AddrPort()))
			}
		}()
	}
	t.Cleanup(func() {
		for _, c := range r.conns {
			c.Close()
		}
		r.group.Wait()
	})
	return r
}

func (r *testRelay) handle(c net.PacketConn, main bool, b []byte, from netip.AddrPort) {
	if r.dead.Load() {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	reply := func(b []byte, to netip.AddrPort) { _, _ = c.WriteTo(b, net.UDPAddrFromAddrPort(to)) }
	switch {
	case b[0] <= 3:
		m := &stun.Message{Raw: b}
		if m.Decode() != nil || m.Contains(stun.AttrUsername) {
			return
		}
		r.stuns++
		out := stun.MustBuild(m, stun.BindingSuccess, &stun.XORMappedAddress{IP: from.Addr().AsSlice(), Port: int(from.Port())}, stun.Fingerprint).Raw
		if len(out) <= len(b) {
			reply(out, from)
		}
	case !main:
	case b[0] == rendezvous.FrameReg:
		var reg rendezvous.Reg
		if rendezvous.ParseReg(b, &reg) != nil || reg.Channel != testChannel {
			return
		}
		key := sideKey(reg.Side)
		if !rendezvous.CheckTag(b, &key) {
			return
		}
		want := rendezvous.Cookie(&r.cookie, from, reg.Channel, reg.Side, reg.Lobby)
		if r.bound[reg.Side] != from && !reg.Cookie.Equal(want) {
			reply(rendezvous.AppendChal(nil, &rendezvous.Chal{Side: reg.Side, Channel: reg.Channel, Counter: reg.Counter, Cookie: want}, &key), from)
			return
		}
		if reg.Counter <= r.counter[reg.Side] {
			return
		}
		r.counter[reg.Side], r.bound[reg.Side] = reg.Counter, from
		reply(rendezvous.AppendAck(nil, &rendezvous.Ack{Side: reg.Side, Channel: reg.Channel, Counter: reg.Counter, Addr: from, PeerAge: 1, TTL: 600}, &key), from)
	case b[0] == rendezvous.FrameData:
		channel, _, err := rendezvous.ParseData(b)
		if err != nil || channel != testChannel {
			return
		}
		for i := range r.bound {
			if r.bound[i] == from && r.bound[1-i].IsValid() {
				r.forward(1-i, b)
			}
		}
	}
}

// forward sends to where a side is bound; the lock is held.
func (r *testRelay) forward(side int, b []byte) {
	r.data++
	if t := r.tunnels[side]; t != nil && t.name == r.bound[side] {
		t.deliver(b)
	} else {
		_, _ = r.conn.WriteTo(b, net.UDPAddrFromAddrPort(r.bound[side]))
	}
}

// restart forgets all bindings, as a relay that was killed would.
func (r *testRelay) restart() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, t := range r.tunnels {
		if t != nil {
			t.Close()
		}
	}
	r.tunnels = [2]*testTunnel{}
	r.bound, r.counter = [2]netip.AddrPort{}, [2]uint64{}
	r.cookie[0]++
}

func (r *testRelay) counts() (stuns, data int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.stuns, r.data
}

// lobby carries sealed messages between two Paths with a delay.
type lobby struct {
	out, in chan lobbyMessage
	delay   time.Duration
	sent    atomic.Int32
	gone    chan struct{}
}

type lobbyMessage struct {
	typ  byte
	body []byte
	at   time.Time
}

func newLobby(delay time.Duration) [2]*lobby {
	a, b, gone := make(chan lobbyMessage, 100), make(chan lobbyMessage, 100), make(chan struct{})
	return [2]*lobby{{out: a, in: b, delay: delay, gone: gone}, {out: b, in: a, delay: delay, gone: gone}}
}

var errLobbyGone = errors.New("lobby gone")

func (l *lobby) Send(typ byte, body []byte) error {
	select {
	case <-l.gone:
		return errLobbyGone
	default:
	}
	l.sent.Add(1)
	l.out <- lobbyMessage{typ, append([]byte(nil), body...), time.Now().Add(l.delay)}
	return nil
}

func (l *lobby) Recv(ctx context.Context) (byte, []byte, error) {
	select {
	case m := <-l.in:
		time.Sleep(time.Until(m.at))
		return m.typ, m.body, nil
	case <-l.gone:
		return 0, nil, errLobbyGone
	case <-ctx.Done():
		return 0, nil, ctx.Err()
	}
}

func testCredentials(side rendezvous.Side, g uint32) (string, string) {
	return fmt.Sprintf("u%v%03d", side, g), fmt.Sprintf("password of %v, no. %08d", side, g)
}

func testConfig(side rendezvous.Side, conn net.PacketConn, relay netip.AddrPort, signal Signaler) Config {
	return Config{
		Conn: conn, Side: side, Relay: []netip.AddrPort{relay}, Channel: testChannel, Expiry: testExpiry,
		Lobby: testLobby, RegKey: sideKey(side), Credentials: testCredentials, Signal: signal,
	}
}

// filterConn drops outgoing datagrams a test forbids.
type filterConn struct {
	net.PacketConn
	mu     sync.Mutex
	forbid func(b []byte, to netip.AddrPort) bool
	log    []netip.AddrPort
	deaf   atomic.Bool // nothing comes in either
}

func (c *filterConn) ReadFrom(b []byte) (int, net.Addr, error) {
	for {
		n, from, err := c.PacketConn.ReadFrom(b)
		if err != nil || !c.deaf.Load() {
			return n, from, err
		}
	}
}

func (c *filterConn) WriteTo(b []byte, to net.Addr) (int, error) {
	addr := unmap(to.(*net.UDPAddr).AddrPort())
	c.mu.Lock()
	forbidden := c.forbid != nil && c.forbid(b, addr)
	c.log = append(c.log, addr)
	c.mu.Unlock()
	if forbidden {
		return len(b), nil
	}
	return c.PacketConn.WriteTo(b, to)
}

func (c *filterConn) set(f func([]byte, netip.AddrPort) bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.forbid = f
}

func (c *filterConn) sentTo() map[netip.AddrPort]int {
	c.mu.Lock()
	defer c.mu.Unlock()
	m := map[netip.AddrPort]int{}
	for _, a := range c.log {
		m[a]++
	}
	return m
}
