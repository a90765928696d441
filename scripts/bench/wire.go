package main

import (
	"encoding/binary"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The load generator must cost less than what it measures, so it moves batches and asks the kernel for the time of arrival.

const batch = 32

type mmsghdr struct {
	unix.Msghdr
	_ uint32 // bytes received
	_ [4]byte
}

// outbox sends batches on connected sockets: one walk down the network stack for all datagrams of a batch (UDP_SEGMENT of
// udp(7)), which the receiving socket finds in its queue one by one, as if they had been sent so.
type outbox struct {
	head unix.Msghdr
	vec  unix.Iovec
	buf  [batch * 1500]byte
	size struct { // struct cmsghdr and a uint16
		unix.Cmsghdr
		bytes uint16
		_     [6]byte
	}
}

// send sends n copies of frame, stamped with the time of sending, and returns how many the system took: all or none.
func (o *outbox) send(e *end, frame []byte, n int) int {
	now := uint64(time.Now().UnixNano())
	k := len(frame)
	for i := range n {
		copy(o.buf[i*k:], frame)
		binary.LittleEndian.PutUint64(o.buf[i*k+len(e.head):], now)
	}
	o.vec.Base = &o.buf[0]
	o.vec.SetLen(n * k)
	o.head.Iov = &o.vec
	o.head.SetIovlen(1)
	o.head.Control, o.head.Controllen = nil, 0
	if n > 1 {
		o.size.Level, o.size.Type, o.size.bytes = unix.SOL_UDP, unix.UDP_SEGMENT, uint16(k)
		o.size.SetLen(unix.CmsgLen(2))
		o.head.Control = (*byte)(unsafe.Pointer(&o.size))
		o.head.SetControllen(unix.CmsgSpace(2))
	}
	_, _, errno := unix.Syscall(unix.SYS_SENDMSG, uintptr(e.fd), uintptr(unsafe.Pointer(&o.head)), unix.MSG_DONTWAIT)
	if errno != 0 {
		return 0
	}
	return n
}

// inbox receives batches from whichever of its sockets has something.
type inbox struct {
	poll   int
	ends   []*end
	events []unix.EpollEvent
	head   [batch]mmsghdr
	vec    [batch]unix.Iovec
	buf    [batch][2048]byte
	ctl    [batch][64]byte
}

func newInbox(ends []*end) (*inbox, error) {
	p, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return nil, err
	}
	b := &inbox{poll: p, ends: ends, events: make([]unix.EpollEvent, 512)}
	for i, e := range ends {
		if err := unix.EpollCtl(p, unix.EPOLL_CTL_ADD, e.fd, &unix.EpollEvent{Events: unix.EPOLLIN, Fd: int32(i)}); err != nil {
			unix.Close(p)
			return nil, err
		}
	}
	return b, nil
}

func (b *inbox) close() { unix.Close(b.poll) }

// receive waits at most wait milliseconds and calls got with the delay of each datagram, in nanoseconds.
func (b *inbox) receive(wait int, got func(delay int64)) int {
	n, err := unix.EpollWait(b.poll, b.events, wait)
	if err != nil {
		return 0
	}
	all := 0
	for _, ev := range b.events[:n] {
		all += b.drain(b.ends[ev.Fd], got)
	}
	return all
}

func (b *inbox) drain(e *end, got func(int64)) int {
	for i := range batch {
		b.vec[i].Base = &b.buf[i][0]
		b.vec[i].SetLen(len(b.buf[i]))
		b.head[i].Iov = &b.vec[i]
		b.head[i].SetIovlen(1)
		b.head[i].Control = &b.ctl[i][0]
		b.head[i].SetControllen(len(b.ctl[i]))
	}
	n, _, errno := unix.Syscall6(unix.SYS_RECVMMSG, uintptr(e.fd), uintptr(unsafe.Pointer(&b.head)), batch, unix.MSG_DONTWAIT, 0, 0)
	if errno != 0 {
		return 0
	}
	for i := range int(n) {
		if got == nil {
			continue
		}
		sent := int64(binary.LittleEndian.Uint64(b.buf[i][e.skip:]))
		got(arrival(b.ctl[i][:b.head[i].Controllen]) - sent)
	}
	return int(n)
}

// arrival reads SCM_TIMESTAMPNS: cmsghdr 16 | seconds i64 | nanoseconds i64.
func arrival(c []byte) int64 {
	if len(c) < 32 {
		return time.Now().UnixNano()
	}
	return int64(binary.NativeEndian.Uint64(c[16:]))*1e9 + int64(binary.NativeEndian.Uint64(c[24:]))
}
