package natpunch

import (
	"errors"
	"net"
	"net/netip"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// maxDatagram is longer than anything the design sends (1405 bytes), so that a
// datagram which fills the buffer is known to be cut off.
const maxDatagram = 2048

// writeTime is how long a write may wait for room in the socket's buffer: about a
// tick. What has not left by then is late anyway. The deadline is moved once it
// has come as close as half of that.
const writeTime = 20 * time.Millisecond

// sink receives what a socket read, on the socket's one reader goroutine. The
// slice is only valid during the call.
type sink interface {
	stun(b []byte, from netip.AddrPort)
	dtls(b []byte, from netip.AddrPort)
	frame(b []byte, from netip.AddrPort)
}

// addrPortConn is what *net.UDPConn offers beside net.PacketConn: addresses
// that need no allocation.
type addrPortConn interface {
	ReadFromUDPAddrPort(b []byte) (int, netip.AddrPort, error)
	WriteToUDPAddrPort(b []byte, addr netip.AddrPort) (int, error)
}

// socket owns one net.PacketConn and sorts what arrives by its first byte
// (RFC 7983 extended by the relay's frames). ICMP errors, full buffers and
// datagrams that are too long are losses, counted and never returned. A write
// waits for a full buffer 20 ms at most.
//
// One goroutine reads; send may be called by any. Neither allocates if the
// PacketConn is a *net.UDPConn.
type socket struct {
	conn  net.PacketConn
	fast  addrPortConn // nil if conn cannot
	sink  sink
	drops *Drops

	received, receivedBytes atomic.Uint64
	sent, sentBytes         atomic.Uint64
	sendErrors, readErrors  atomic.Uint64

	deadline atomic.Int64 // of writes, ns since start
	began    time.Time

	closed atomic.Bool
	done   chan struct{}

	mu    sync.Mutex
	addrs map[netip.AddrPort]*net.UDPAddr // for conns without fast
}

func newSocket(conn net.PacketConn, s sink, drops *Drops) *socket {
	k := &socket{conn: conn, sink: s, drops: drops, done: make(chan struct{}), began: time.Now()}
	k.fast, _ = conn.(addrPortConn)
	return k
}

// start begins to read. It is called once.
func (k *socket) start() { go k.read() }

// close ends the reader and waits for it.
func (k *socket) close() {
	if k.closed.CompareAndSwap(false, true) {
		_ = k.conn.Close()
	}
	<-k.done
}

func (k *socket) read() {
	defer close(k.done)
	b := make([]byte, maxDatagram)
	failures := 0
	for {
		n, from, err := k.receive(b)
		if err != nil {
			if k.closed.Load() || errors.Is(err, net.ErrClosed) {
				return
			}
			k.readErrors.Add(1)
			if isLoss(err) || errors.Is(err, os.ErrDeadlineExceeded) {
				continue
			}
			// An error nobody expects must not spin a core; the socket may
			// come back, for example after the machine slept.
			failures++
			time.Sleep(time.Duration(min(failures, 100)) * time.Millisecond)
			continue
		}
		failures = 0
		k.received.Add(1)
		k.receivedBytes.Add(uint64(n))
		k.sort(b[:n], from)
	}
}

func (k *socket) receive(b []byte) (int, netip.AddrPort, error) {
	if k.fast != nil {
		n, from, err := k.fast.ReadFromUDPAddrPort(b)
		return n, unmap(from), err
	}
	n, addr, err := k.conn.ReadFrom(b)
	if err != nil {
		return 0, netip.AddrPort{}, err
	}
	udp, ok := addr.(*net.UDPAddr)
	if !ok {
		return n, netip.AddrPort{}, nil
	}
	return n, unmap(udp.AddrPort()), nil
}

// sort hands one datagram on. A handler that panics costs that datagram only.
func (k *socket) sort(b []byte, from netip.AddrPort) {
	defer func() {
		if recover() != nil {
			k.drops.add(DropPanic)
		}
	}()
	switch {
	case len(b) == 0:
		k.drops.add(DropEmpty)
	case len(b) >= maxDatagram:
		k.drops.add(DropOversize)
	case b[0] <= 3:
		k.sink.stun(b, from)
	case isDTLS(b[0]):
		k.sink.dtls(b, from)
	case b[0] >= 0xF0:
		k.sink.frame(b, from)
	default:
		k.drops.add(DropClass)
	}
}

// isDTLS is the range of content types that RFC 7983 gives to DTLS.
func isDTLS(first byte) bool { return first >= 20 && first <= 63 }

// send writes one datagram. Only a closed socket is an error.
func (k *socket) send(b []byte, to netip.AddrPort) error {
	if k.closed.Load() {
		return net.ErrClosed
	}
	if now := time.Since(k.began); k.deadline.Load() < int64(now+writeTime/2) {
		k.deadline.Store(int64(now + writeTime))
		_ = k.conn.SetWriteDeadline(k.began.Add(now + writeTime)) // a conn without one has no buffer to wait for
	}
	var err error
	if k.fast != nil {
		_, err = k.fast.WriteToUDPAddrPort(b, to)
	} else {
		_, err = k.conn.WriteTo(b, k.udpAddr(to))
	}
	if err != nil {
		if errors.Is(err, net.ErrClosed) {
			return net.ErrClosed
		}
		k.sendErrors.Add(1)
		return nil
	}
	k.sent.Add(1)
	k.sentBytes.Add(uint64(len(b)))
	return nil
}

// udpAddr remembers the pointer form of the few addresses a match has. A flood
// of new ones starts the memory over.
func (k *socket) udpAddr(to netip.AddrPort) *net.UDPAddr {
	k.mu.Lock()
	defer k.mu.Unlock()
	if a := k.addrs[to]; a != nil {
		return a
	}
	if k.addrs == nil || len(k.addrs) >= 64 {
		k.addrs = make(map[netip.AddrPort]*net.UDPAddr)
	}
	a := net.UDPAddrFromAddrPort(to)
	k.addrs[to] = a
	return a
}
