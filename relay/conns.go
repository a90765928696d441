package relay

import (
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
)

// gate is a TCP listener that bounds how many connections there are, in all and per source. It allows a source twice the
// lobby connections it may have beside its tunnels, so that a client over the limit can still be told so in the lobby's own
// words; beyond that connections are closed unheard.
type gate struct {
	net.Listener
	count   *connCount
	wrap    func(net.Conn) net.Conn
	crowded *atomic.Uint64
}

// connCount is shared by all listeners of a relay.
type connCount struct {
	mu        sync.Mutex
	sources   map[netip.Prefix]int
	total     int
	most      int
	perSource int
}

func (c *connCount) enter(p netip.Prefix) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.total >= c.most || c.sources[p] >= c.perSource {
		return false
	}
	c.total++
	c.sources[p]++
	return true
}

func (c *connCount) leave(p netip.Prefix) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.total--
	if c.sources[p]--; c.sources[p] == 0 {
		delete(c.sources, p)
	}
}

func (c *connCount) now() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.total
}

// Accept returns the next connection that is within the limits.
func (g *gate) Accept() (net.Conn, error) {
	for {
		c, err := g.Listener.Accept()
		if err != nil {
			return nil, err
		}
		p := sourceOf(addrOf(c.RemoteAddr()).Addr())
		if !g.count.enter(p) {
			g.crowded.Add(1)
			if t, ok := c.(*net.TCPConn); ok {
				t.SetLinger(0) // no state is left behind for it
			}
			c.Close()
			continue
		}
		return g.wrap(&countedConn{Conn: c, leave: sync.OnceFunc(func() { g.count.leave(p) })}), nil
	}
}

type countedConn struct {
	net.Conn
	leave func()
}

func (c *countedConn) Close() error {
	c.leave()
	return c.Conn.Close()
}

// addrOf returns the address of a TCP connection's end.
func addrOf(a net.Addr) netip.AddrPort {
	t, ok := a.(*net.TCPAddr)
	if !ok {
		return netip.AddrPort{}
	}
	ap := t.AddrPort()
	return netip.AddrPortFrom(ap.Addr().Unmap(), ap.Port())
}
