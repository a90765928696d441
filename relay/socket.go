package relay

import (
	"errors"
	"net"
	"net/netip"
	"runtime"
	"sync"
	"time"
)

// udpPort is one UDP port and the sockets bound to it. Each socket has a worker goroutine; the system gives a sender always to
// the same one, so that nothing overtakes. Any of the sockets can send to anybody, from the same address.
type udpPort struct {
	at       netip.AddrPort
	stunSide bool     // PORT+1: answers STUN only
	sibling  *udpPort // the other one of PORT and PORT+1, if it could be bound
	socks    []*socket

	other     *udpPort                  // the same port at the alternate address
	alternate map[netip.Addr]netip.Addr // of a port that listens on all addresses
}

// socket is one UDP socket. Its worker owns the batch slices.
type socket struct {
	port  *udpPort
	io    batchConn
	stats *stats
	in    []datagram
	out   []outgoing
}

// openPort binds a port with one socket. share keeps it open for more.
func openPort(a netip.AddrPort, stunSide, share bool) (*udpPort, error) {
	c, err := openUDP(a, share)
	if err != nil {
		return nil, err
	}
	p := &udpPort{stunSide: stunSide, at: c.local()}
	p.add(c)
	return p, nil
}

func (p *udpPort) add(c batchConn) {
	p.socks = append(p.socks, &socket{
		port: p, io: c, stats: new(stats), in: make([]datagram, c.size()), out: make([]outgoing, 0, c.size()),
	})
}

// grow binds sockets until there are n.
func (p *udpPort) grow(bind netip.AddrPort, n int) error {
	for len(p.socks) < n {
		c, err := openUDP(netip.AddrPortFrom(bind.Addr(), p.at.Port()), true)
		if err != nil {
			return err
		}
		p.add(c)
	}
	return nil
}

func (p *udpPort) close() {
	for _, s := range p.socks {
		s.io.close()
	}
}

// serve runs a worker for each socket until the port is closed.
func (p *udpPort) serve(f *forwarder) {
	var workers sync.WaitGroup
	for _, s := range p.socks {
		workers.Go(func() { s.serve(f) })
	}
	workers.Wait()
}

// send writes one datagram from any goroutine.
func (p *udpPort) send(b []byte, to route, k kind) {
	s := p.socks[0]
	if s.io.send(b, to.addr, to.from) {
		s.stats.out(k, len(b))
	} else {
		s.stats.drop(dropSend)
	}
}

// yieldEvery is how often a worker passes through Go's scheduler. To the runtime (1.26) a goroutine that goes from one system call
// to the next for more than 10 ms looks stuck, and its monitor takes the processor away from it every 20 us, which was measured
// to cost a tenth of the worker's time.
const yieldEvery = int64(2 * time.Millisecond)

// serve reads until the socket is closed. It allocates nothing per datagram of the steady state.
func (s *socket) serve(f *forwarder) {
	failed, yielded := 0, int64(0)
	for {
		n, err := s.io.read(s.in)
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			// Windows reports a peer's closed port here. Anything lasting must not spin.
			s.stats.drop(dropReceive)
			if failed++; failed > 100 {
				time.Sleep(10 * time.Millisecond)
			}
			continue
		}
		failed = 0
		now := f.clock.mono()
		s.handle(f, now, n)
		if now-yielded > yieldEvery {
			yielded = now
			runtime.Gosched()
		}
	}
}

// handle decides about the first n slots and sends what is to be sent. A panic costs the batch, is counted and reported.
func (s *socket) handle(f *forwarder, now int64, n int) {
	defer func() {
		if v := recover(); v != nil {
			s.stats.drop(dropPanic)
			f.onPanic(v)
		}
	}()
	s.out = s.out[:0]
	for i := range s.in[:n] {
		d := &s.in[i]
		v := f.handle(now, s, route{via: s.port, addr: d.addr, from: d.local}, d.buf[:d.n], &d.reply)
		switch {
		case v.drop != keep:
			s.stats.drop(v.drop)
		case v.to.via == outlet(s.port):
			s.out = append(s.out, outgoing{b: v.out, addr: v.to.addr, from: v.to.from, kind: v.kind})
		default:
			v.to.via.send(v.out, v.to, v.kind)
		}
	}
	if len(s.out) > 0 {
		s.flush()
	}
}

func (s *socket) flush() {
	s.io.write(s.out)
	for i := range s.out {
		if o := &s.out[i]; o.lost {
			s.stats.drop(dropSend)
		} else {
			s.stats.out(o.kind, len(o.b))
		}
	}
}
