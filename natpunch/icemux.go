package natpunch

import (
	"errors"
	"io"
	"net"
	"net/netip"
	"sync"
	"time"

	"backstep/natpunch/stunguard"
)

const (
	// maxRemotes bounds the addresses of the opponent one generation knows. An
	// opponent who invents more could make us send checks to strangers.
	maxRemotes = 16
	// maxHeld direct datagrams wait for the ICE check of their source.
	maxHeld = 16
	// muxSlots of STUN wait for the agent. It starts after GO, and what the
	// opponent sent until then counts.
	muxSlots = 64
)

// credentials of one agent generation.
type credentials struct{ localUfrag, localPwd, remoteUfrag, remotePwd string }

// iceMux stands between the socket and one ICE agent and is an ice.UDPMux. Only
// STUN passes, and only what is authentic: a request with our user and password,
// or an answer to an open request, from the address the request went to, with
// the opponent's password. Everything else the agent never sees.
//
// It is also the register of addresses from which bare DTLS records may come:
// those that answered a check of this generation. Records from an address that
// has only asked so far are held until it answers.
//
// The agent gets one local address per family, however many this machine has:
// all of them share one socket, and the routing table picks the source anyway.
//
// A mux serves one generation and is thrown away with it. Methods may be called
// by any goroutine.
type iceMux struct {
	cred   credentials
	bases  []net.Addr
	send   func(b []byte, to netip.AddrPort) error
	permit func(netip.Addr) bool               // may this address be a path at all?
	accept func(b []byte, from netip.AddrPort) // held records whose source proved itself
	proven func(from netip.AddrPort)           // an address answered a check
	drop   func(Drop)

	mu       sync.Mutex
	v4, v6   *muxConn
	asked    [128]transaction // requests we sent
	askedN   int
	requests [256]transaction // requests we got
	gotN     int
	remotes  []remote
	held     []heldDatagram
	closed   bool
}

type transaction struct {
	id   stunguard.TransactionID
	addr netip.AddrPort
}

type remote struct {
	addr     netip.AddrPort
	answered bool
}

type heldDatagram struct {
	from netip.AddrPort
	b    []byte
}

// inbound takes a STUN datagram that passed stunguard.Check. b is copied.
func (m *iceMux) inbound(b []byte, from netip.AddrPort) {
	why, ok := m.sift(b, from)
	if !ok {
		m.drop(why)
	}
}

func (m *iceMux) sift(b []byte, from netip.AddrPort) (Drop, bool) {
	if !m.permit(from.Addr()) {
		return DropSTUNForged, false
	}
	id := stunguard.TransactionIDOf(b)
	switch stunguard.ClassOf(b) {
	case stunguard.Request:
		if !stunguard.HasUsername(b, m.cred.localUfrag, m.cred.remoteUfrag) || !stunguard.Integrity(b, m.cred.localPwd) {
			return DropSTUNForged, false
		}
		m.mu.Lock()
		defer m.mu.Unlock()
		for i := range m.requests {
			if m.requests[i].id == id && m.requests[i].addr.IsValid() && m.requests[i].addr != from {
				return DropSTUNReplayed, false
			}
		}
		m.requests[m.gotN%len(m.requests)] = transaction{id, from}
		m.gotN++
		if m.remote(from) == nil {
			return DropSTUNFull, false
		}
	case stunguard.Success:
		m.mu.Lock()
		if !m.wasAsked(id, from) {
			m.mu.Unlock()
			return DropSTUNForged, false
		}
		m.mu.Unlock()
		if !stunguard.Integrity(b, m.cred.remotePwd) {
			return DropSTUNForged, false
		}
		if !m.answer(id, from) {
			return DropSTUNFull, false
		}
		m.proven(from)
		m.mu.Lock()
		defer m.mu.Unlock()
	default:
		// Indications carry no proof, yet the agent would count them as life.
		return DropSTUNForged, false
	}
	conn := m.v6
	if from.Addr().Is4() {
		conn = m.v4
	}
	if conn == nil || !conn.push(b, from) {
		return DropSTUNFull, false
	}
	return 0, true
}

func (m *iceMux) wasAsked(id stunguard.TransactionID, from netip.AddrPort) bool {
	for i := range m.asked {
		if m.asked[i].id == id && m.asked[i].addr == from {
			return true
		}
	}
	return false
}

// answer closes a transaction, marks its address as proven and releases what
// was held for it, in order. The lock is not held while records are delivered,
// but only the socket's reader calls this, so none overtakes another.
func (m *iceMux) answer(id stunguard.TransactionID, from netip.AddrPort) bool {
	m.mu.Lock()
	for i := range m.asked {
		if m.asked[i].id == id {
			m.asked[i] = transaction{}
		}
	}
	r := m.remote(from)
	if r == nil {
		m.mu.Unlock()
		return false
	}
	r.answered = true
	var release [][]byte
	keep := m.held[:0]
	for _, h := range m.held {
		if h.from == from {
			release = append(release, h.b)
		} else {
			keep = append(keep, h)
		}
	}
	m.held = keep
	m.mu.Unlock()
	for _, b := range release {
		m.accept(b, from)
	}
	return true
}

// remote finds or adds an address; nil if the table is full.
func (m *iceMux) remote(addr netip.AddrPort) *remote {
	for i := range m.remotes {
		if m.remotes[i].addr == addr {
			return &m.remotes[i]
		}
	}
	if len(m.remotes) == maxRemotes {
		return nil
	}
	m.remotes = append(m.remotes, remote{addr: addr})
	return &m.remotes[len(m.remotes)-1]
}

// record says what to do with a bare DTLS record: take it now, or not. One from
// an address that asked but has not answered yet is kept for later.
func (m *iceMux) record(b []byte, from netip.AddrPort) (take bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for i := range m.remotes {
		if m.remotes[i].addr != from {
			continue
		}
		if m.remotes[i].answered {
			return true
		}
		if len(m.held) == maxHeld || m.closed {
			m.drop(DropDTLSEarly)
			return false
		}
		m.held = append(m.held, heldDatagram{from, append([]byte(nil), b...)})
		return false
	}
	m.drop(DropDTLSSource)
	return false
}

// write sends for the agent and remembers its requests.
func (m *iceMux) write(b []byte, to netip.AddrPort) error {
	if stunguard.Check(b) == nil && stunguard.ClassOf(b) == stunguard.Request {
		m.mu.Lock()
		m.asked[m.askedN%len(m.asked)] = transaction{stunguard.TransactionIDOf(b), to}
		m.askedN++
		m.mu.Unlock()
	}
	return m.send(b, to)
}

// shut forgets what is held. The agent closes its connections by itself.
func (m *iceMux) shut() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.closed = true
	for range m.held {
		m.drop(DropDTLSEarly)
	}
	m.held, m.remotes = nil, nil
}

var errForeignUfrag = errors.New("natpunch: this mux serves one agent")

// GetConn implements ice.UDPMux.
func (m *iceMux) GetConn(ufrag string, addr net.Addr) (net.PacketConn, error) {
	udp, ok := addr.(*net.UDPAddr)
	if !ok || ufrag != m.cred.localUfrag {
		return nil, errForeignUfrag
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	slot := &m.v6
	if udp.IP.To4() != nil {
		slot = &m.v4
	}
	if *slot == nil {
		c := &muxConn{mux: m, addr: addr}
		c.wake.L = &c.mu
		*slot = c
	}
	return *slot, nil
}

// GetListenAddresses implements ice.UDPMux.
func (m *iceMux) GetListenAddresses() []net.Addr { return m.bases }

// RemoveConnByUfrag implements ice.UDPMux. The agent closes its connections
// itself, and a mux of one generation has nothing else to forget.
func (m *iceMux) RemoveConnByUfrag(string) {}

// Close implements ice.UDPMux.
func (m *iceMux) Close() error { m.shut(); return nil }

// muxConn is the socket of one family as the agent sees it. Closing it ends the
// agent's reader and touches no other agent.
type muxConn struct {
	mux  *iceMux
	addr net.Addr

	mu     sync.Mutex
	wake   sync.Cond
	queue  []heldDatagram
	closed bool
}

func (c *muxConn) push(b []byte, from netip.AddrPort) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed || len(c.queue) == muxSlots {
		return false
	}
	c.queue = append(c.queue, heldDatagram{from, append([]byte(nil), b...)})
	c.wake.Signal()
	return true
}

// ReadFrom waits for STUN or for Close, which makes it return io.EOF.
func (c *muxConn) ReadFrom(b []byte) (int, net.Addr, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for len(c.queue) == 0 && !c.closed {
		c.wake.Wait()
	}
	if c.closed {
		return 0, nil, io.EOF
	}
	d := c.queue[0]
	c.queue = c.queue[1:]
	return copy(b, d.b), net.UDPAddrFromAddrPort(d.from), nil
}

// WriteTo sends one datagram of the agent.
func (c *muxConn) WriteTo(b []byte, to net.Addr) (int, error) {
	udp, ok := to.(*net.UDPAddr)
	c.mu.Lock()
	closed := c.closed
	c.mu.Unlock()
	if !ok || closed {
		return 0, io.ErrClosedPipe
	}
	if err := c.mux.write(b, unmap(udp.AddrPort())); err != nil {
		return 0, io.ErrClosedPipe
	}
	return len(b), nil
}

// Close ends ReadFrom.
func (c *muxConn) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed, c.queue = true, nil
	c.wake.Broadcast()
	return nil
}

// LocalAddr is the address the agent knows this connection by.
func (c *muxConn) LocalAddr() net.Addr { return c.addr }

// Deadlines are not needed: the agent sets one only right before Close.
func (c *muxConn) SetDeadline(time.Time) error      { return nil }
func (c *muxConn) SetReadDeadline(time.Time) error  { return nil }
func (c *muxConn) SetWriteDeadline(time.Time) error { return nil }
