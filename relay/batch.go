package relay

import (
	"net"
	"net/netip"
)

// datagramSpace is more than the largest legal datagram, so that a longer one is seen to be too long.
const datagramSpace = 2048

// datagram is one slot of a batch: its bytes, its peer, and room for an answer.
type datagram struct {
	buf   [datagramSpace]byte
	n     int
	addr  netip.AddrPort
	reply [replySpace]byte
}

// outgoing is one datagram to send. b belongs to a slot of the batch being handled.
type outgoing struct {
	b    []byte
	addr netip.AddrPort
	kind kind
	lost bool // set by write: the system refused it
}

// batchConn reads and writes many datagrams with one system call where the platform can. The slices of a batch are allocated
// once by the caller.
type batchConn interface {
	// size is how many datagrams a batch can usefully hold.
	size() int
	// read blocks until at least one datagram is there and fills the first n slots.
	read(in []datagram) (n int, err error)
	// write sends all of out in order and marks those that the system refused.
	write(out []outgoing)
}

// plainConn is the batchConn of every platform: one system call a datagram.
type plainConn struct{ c *net.UDPConn }

func (plainConn) size() int { return 1 }

func (p plainConn) read(in []datagram) (int, error) {
	d := &in[0]
	n, addr, err := p.c.ReadFromUDPAddrPort(d.buf[:])
	if err != nil {
		return 0, err
	}
	d.n, d.addr = n, netip.AddrPortFrom(addr.Addr().Unmap(), addr.Port())
	return 1, nil
}

func (p plainConn) write(out []outgoing) {
	for i := range out {
		_, err := p.c.WriteToUDPAddrPort(out[i].b, out[i].addr)
		out[i].lost = err != nil
	}
}
