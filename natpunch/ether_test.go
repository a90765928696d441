package natpunch

import (
	"net"
	"net/netip"
	"os"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// bubble runs f in virtual time, beside other tests: no machine is too busy for
// what f says about times, and synctest fails if a goroutine outlives it.
func bubble(t *testing.T, f func(t *testing.T)) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, f)
}

// bubbleClock begins now. The default of Config began before any bubble.
func bubbleClock() func() int64 {
	began := time.Now()
	return func() int64 { return 1 + time.Since(began).Microseconds() }
}

// etherDelay is how long a datagram is under way.
const etherDelay = 2 * time.Millisecond

// ether is a network in memory whose datagrams arrive in order. Its addresses
// look like loopback ones.
type ether struct {
	mu    sync.Mutex
	conns map[netip.AddrPort]*etherConn
	last  uint16
}

type etherConn struct {
	ether *ether
	at    netip.AddrPort
	in    chan etherDatagram
	gone  chan struct{}
	once  sync.Once
}

type etherDatagram struct {
	b    []byte
	from netip.AddrPort
	due  time.Time
}

func newEther() *ether { return &ether{conns: map[netip.AddrPort]*etherConn{}, last: 4000} }

// listen binds an address; port 0 is the next free one that has a free one behind it.
func (e *ether) listen(address string) (net.PacketConn, error) {
	at, err := netip.ParseAddrPort(address)
	if err != nil {
		return nil, err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if at.Port() == 0 {
		e.last += 2
		at = netip.AddrPortFrom(at.Addr(), e.last)
	}
	if e.conns[at] != nil {
		return nil, os.ErrExist
	}
	c := &etherConn{ether: e, at: at, in: make(chan etherDatagram, 1024), gone: make(chan struct{})}
	e.conns[at] = c
	return c, nil
}

func (c *etherConn) WriteTo(b []byte, to net.Addr) (int, error) {
	select {
	case <-c.gone:
		return 0, net.ErrClosed
	default:
	}
	c.ether.mu.Lock()
	defer c.ether.mu.Unlock()
	if there := c.ether.conns[unmap(to.(*net.UDPAddr).AddrPort())]; there != nil {
		select {
		case there.in <- etherDatagram{append([]byte(nil), b...), c.at, time.Now().Add(etherDelay)}:
		default: // as a full buffer
		}
	}
	return len(b), nil
}

func (c *etherConn) ReadFrom(b []byte) (int, net.Addr, error) {
	select {
	case d := <-c.in:
		select {
		case <-time.After(time.Until(d.due)):
			return copy(b, d.b), net.UDPAddrFromAddrPort(d.from), nil
		case <-c.gone:
		}
	case <-c.gone:
	}
	return 0, nil, net.ErrClosed
}

func (c *etherConn) Close() error {
	c.once.Do(func() {
		close(c.gone)
		c.ether.mu.Lock()
		defer c.ether.mu.Unlock()
		delete(c.ether.conns, c.at)
	})
	return nil
}

func (c *etherConn) LocalAddr() net.Addr              { return net.UDPAddrFromAddrPort(c.at) }
func (c *etherConn) SetDeadline(time.Time) error      { return nil }
func (c *etherConn) SetReadDeadline(time.Time) error  { return nil }
func (c *etherConn) SetWriteDeadline(time.Time) error { return nil }
