//go:build linux && (amd64 || arm64)

package relay

import (
	"net"
	"net/netip"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// canShare says that several sockets can be bound to one port, with the system spreading senders over them.
const canShare = true

// canPick says that a socket can answer from any address of this machine.
const canPick = true

// batchSize is how many datagrams one system call moves at most. At 64 the cost of the call itself is a few percent of what
// the network stack costs for the datagrams; more would only make the first one wait longer.
const batchSize = 64

// mmsghdr is struct mmsghdr of recvmmsg(2) on 64-bit systems.
type mmsghdr struct {
	unix.Msghdr
	n uint32
	_ [4]byte
}

// slot is what the system reads and writes around the bytes of one datagram.
type slot struct {
	name [unix.SizeofSockaddrInet6]byte
	vec  unix.Iovec
	ctl  control
}

// mmsgConn moves batches with recvmmsg and sendmmsg. The descriptor blocks: a worker that waits inside recvmmsg is woken by
// the datagram itself, where Go's poller would cost it an empty read, a wait and a read. An os.File keeps the descriptor
// from being closed while a call uses it. Nothing is allocated after openUDP.
type mmsgConn struct {
	file   *os.File
	raw    syscall.RawConn
	addr   netip.AddrPort
	six    bool // an IPv6 socket, which sees IPv4 as mapped addresses if it serves both
	many   bool // bound to all addresses: the one a datagram came to matters
	closed atomic.Bool
	drops  overflow

	// Of the goroutine that reads and writes.
	in, out         [batchSize]mmsghdr
	inSlot, outSlot [batchSize]slot
	used            int // slots of in that the last read filled
	recv, flush     func(fd uintptr)
	space           int // slots of in that are set up
	got             int
	errno           syscall.Errno
	queue           []outgoing

	one single
}

// single is what send uses.
type single struct {
	mu   sync.Mutex
	head mmsghdr
	slot slot
	call func(fd uintptr)
	ok   bool
}

func (*mmsgConn) size() int                 { return batchSize }
func (c *mmsgConn) local() netip.AddrPort   { return c.addr }
func (c *mmsgConn) control(f func(uintptr)) { c.raw.Control(f) }

// close wakes the reader, because closing a descriptor alone would not.
func (c *mmsgConn) close() error {
	if c.closed.Swap(true) {
		return net.ErrClosed
	}
	c.control(func(fd uintptr) { unix.Shutdown(int(fd), unix.SHUT_RDWR) })
	return c.file.Close()
}

func (c *mmsgConn) read(in []datagram) (int, error) {
	if c.space == 0 {
		c.setUp(in)
	}
	for i := range c.in[:c.used] {
		h := &c.in[i]
		h.Namelen = uint32(len(c.inSlot[i].name))
		if c.many {
			h.SetControllen(len(c.inSlot[i].ctl))
		}
	}
	c.used = 0
	if err := c.raw.Control(c.recv); err != nil || c.closed.Load() {
		return 0, net.ErrClosed
	}
	if c.errno != 0 {
		return 0, os.NewSyscallError("recvmmsg", c.errno)
	}
	c.used = c.got
	for i := range c.got {
		h, s, d := &c.in[i], &c.inSlot[i], &in[i]
		d.n, d.addr = int(h.n), addrPortOf(&s.name, h.Namelen)
		if c.many {
			d.local = s.ctl.destination(int(h.Controllen))
		}
	}
	return c.got, nil
}

// setUp points the headers at the caller's slots, which stay the same.
func (c *mmsgConn) setUp(in []datagram) {
	c.space = min(len(in), batchSize)
	c.used = c.space
	for i := range c.space {
		h, s := &c.in[i], &c.inSlot[i]
		s.vec.Base = &in[i].buf[0]
		s.vec.SetLen(datagramSpace)
		h.Name = &s.name[0]
		h.Iov = &s.vec
		h.SetIovlen(1)
		if c.many {
			h.Control = &s.ctl[0]
		}
	}
}

func (c *mmsgConn) recvBatch(fd uintptr) {
	for {
		n, _, errno := syscall.Syscall6(unix.SYS_RECVMMSG, fd, uintptr(unsafe.Pointer(&c.in)), uintptr(c.space), unix.MSG_WAITFORONE, 0, 0)
		if errno == unix.EINTR && !c.closed.Load() {
			continue
		}
		c.got, c.errno = int(n), errno
		return
	}
}

func (c *mmsgConn) write(out []outgoing) {
	for len(out) > 0 {
		c.queue = out[:min(len(out), batchSize)]
		for i := range c.queue {
			c.queue[i].lost = !c.prepare(&c.out[i], &c.outSlot[i], c.queue[i].b, c.queue[i].addr, c.queue[i].from)
		}
		if c.raw.Control(c.flush) != nil {
			for i := range c.queue {
				c.queue[i].lost = true
			}
		}
		out = out[len(c.queue):]
	}
	c.queue = nil
}

// sendBatch sends the queue. sendmmsg stops at the first datagram that fails; that one is lost and the rest goes on.
func (c *mmsgConn) sendBatch(fd uintptr) {
	for at := 0; at < len(c.queue); {
		if c.queue[at].lost {
			at++
			continue
		}
		end := at + 1
		for end < len(c.queue) && !c.queue[end].lost {
			end++
		}
		n, _, errno := syscall.Syscall6(unix.SYS_SENDMMSG, fd, uintptr(unsafe.Pointer(&c.out[at])), uintptr(end-at), unix.MSG_DONTWAIT, 0, 0)
		switch {
		case errno == unix.EINTR:
		case errno != 0 || n == 0:
			c.queue[at].lost = true
			at++
		default:
			at += int(n)
		}
	}
}

func (c *mmsgConn) send(b []byte, addr netip.AddrPort, from netip.Addr) bool {
	o := &c.one
	o.mu.Lock()
	defer o.mu.Unlock()
	o.ok = false
	if c.prepare(&o.head, &o.slot, b, addr, from) {
		c.control(o.call)
		o.slot.vec.Base = nil
	}
	return o.ok
}

func (o *single) sendOne(fd uintptr) {
	_, _, errno := syscall.Syscall(unix.SYS_SENDMSG, fd, uintptr(unsafe.Pointer(&o.head.Msghdr)), unix.MSG_DONTWAIT)
	o.ok = errno == 0
}

// prepare fills a header and its slot for one datagram. It reports false for an address of a family the socket does not speak.
func (c *mmsgConn) prepare(h *mmsghdr, s *slot, b []byte, addr netip.AddrPort, from netip.Addr) bool {
	n := putAddrPort(&s.name, addr, c.six)
	if n == 0 || len(b) == 0 {
		return false
	}
	s.vec.Base = &b[0]
	s.vec.SetLen(len(b))
	h.Name, h.Namelen = &s.name[0], n
	h.Iov = &s.vec
	h.SetIovlen(1)
	h.Control = nil
	h.SetControllen(0)
	if c.many && from.IsValid() {
		if k := s.ctl.source(from, c.six); k > 0 {
			h.Control = &s.ctl[0]
			h.SetControllen(k)
		}
	}
	return true
}

func (c *mmsgConn) overflows() uint64 {
	var now uint32
	ok := false
	c.control(func(fd uintptr) { now, ok = socketDrops(fd) })
	return c.drops.total(now, ok)
}
