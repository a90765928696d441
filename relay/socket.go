package relay

import (
	"errors"
	"net"
	"net/netip"
	"time"
)

// socket is one UDP socket and its worker. The worker goroutine owns the batch slices; send may be called by any goroutine.
type socket struct {
	conn     *net.UDPConn
	io       batchConn
	local    netip.AddrPort
	stunSide bool    // PORT+1: answers STUN only
	sibling  *socket // the other one of PORT and PORT+1, if it could be bound
	stats    *stats
	in       []datagram
	out      []outgoing
}

func newSocket(c *net.UDPConn, stunSide bool) *socket {
	// A second of full-rate traffic of some hundred sessions fits; the system may grant less.
	c.SetReadBuffer(4 << 20)
	c.SetWriteBuffer(4 << 20)
	s := &socket{conn: c, io: newBatchConn(c), stunSide: stunSide, stats: new(stats)}
	local := c.LocalAddr().(*net.UDPAddr).AddrPort()
	s.local = netip.AddrPortFrom(local.Addr().Unmap(), local.Port())
	s.in = make([]datagram, s.io.size())
	s.out = make([]outgoing, 0, s.io.size())
	return s
}

// send writes one datagram. A full socket buffer drops it, as a network would.
func (s *socket) send(b []byte, dst netip.AddrPort) bool {
	_, err := s.conn.WriteToUDPAddrPort(b, dst)
	return err == nil
}

// serve reads until the socket is closed. It allocates nothing per datagram of the steady state.
func (s *socket) serve(f *forwarder) {
	failed := 0
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
		s.handle(f, f.clock.mono(), n)
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
		v := f.handle(now, s, d.addr, d.buf[:d.n], &d.reply)
		switch {
		case v.drop != keep:
			s.stats.drop(v.drop)
		case v.via == outlet(s):
			s.out = append(s.out, outgoing{b: v.out, addr: v.dst, kind: v.kind})
		case v.via.send(v.out, v.dst):
			s.stats.out(v.kind, len(v.out))
		default:
			s.stats.drop(dropSend)
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
