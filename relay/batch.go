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
	local netip.Addr // which of this machine's addresses it was sent to; zero if the socket is bound to one
	reply [replySpace]byte
}

// outgoing is one datagram to send. b belongs to a slot of the batch being handled.
type outgoing struct {
	b    []byte
	addr netip.AddrPort
	from netip.Addr // which of this machine's addresses to send from; zero: the system picks
	kind kind
	lost bool // set by write: the system refused it
}

// batchConn is a UDP socket that reads and writes many datagrams with one system call where the platform can. One goroutine
// may read and write; send, overflows and close may be called by any. The slices of a batch are allocated once by the caller.
type batchConn interface {
	// size is how many datagrams a batch can usefully hold.
	size() int
	// read blocks until at least one datagram is there and fills the first n slots. After close it returns net.ErrClosed.
	read(in []datagram) (n int, err error)
	// write sends all of out in order and marks those that the system refused. A full socket buffer refuses, as a network
	// would drop.
	write(out []outgoing)
	// send sends one datagram and reports whether the system took it.
	send(b []byte, addr netip.AddrPort, from netip.Addr) bool
	// overflows returns how many datagrams the system dropped because nobody read them in time, as far as it tells.
	overflows() uint64
	// local returns the address the socket is bound to.
	local() netip.AddrPort
	close() error
}

// plainConn is the batchConn of every platform: one system call a datagram. It leaves the choice of the address to answer from
// to the system.
type plainConn struct{ c *net.UDPConn }

func (plainConn) size() int         { return 1 }
func (plainConn) overflows() uint64 { return 0 }
func (p plainConn) close() error    { return p.c.Close() }

func (p plainConn) local() netip.AddrPort {
	a := p.c.LocalAddr().(*net.UDPAddr).AddrPort()
	return netip.AddrPortFrom(a.Addr().Unmap(), a.Port())
}

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
		out[i].lost = !p.send(out[i].b, out[i].addr, netip.Addr{})
	}
}

func (p plainConn) send(b []byte, addr netip.AddrPort, _ netip.Addr) bool {
	_, err := p.c.WriteToUDPAddrPort(b, addr)
	return err == nil
}

// openPlain binds a plain socket. An address that is not valid means all addresses of both families.
func openPlain(a netip.AddrPort) (batchConn, error) {
	network, bind := "udp", (*net.UDPAddr)(nil)
	if ip := a.Addr(); ip.IsValid() {
		bind = net.UDPAddrFromAddrPort(a)
		switch {
		case ip.Is4():
			network = "udp4"
		case !ip.IsUnspecified():
			network = "udp6"
		}
	} else {
		bind = &net.UDPAddr{Port: int(a.Port())}
	}
	c, err := net.ListenUDP(network, bind)
	if err != nil {
		return nil, err
	}
	// The system may grant less.
	c.SetReadBuffer(socketBuffer)
	c.SetWriteBuffer(socketBuffer)
	return plainConn{c}, nil
}

// socketBuffer is what each direction of a socket may queue: a second of full-rate traffic of some hundred sessions.
const socketBuffer = 4 << 20
