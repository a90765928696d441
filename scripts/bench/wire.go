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

// outbox sends batches on connected sockets.
type outbox struct {
	head [batch]mmsghdr
	vec  [batch]unix.Iovec
	buf  [batch][2048]byte
}

// send sends up to n copies of frame, stamped with the time of sending, and returns how many the system took.
func (o *outbox) send(e *end, frame []byte, n int) int {
	now := uint64(time.Now().UnixNano())
	for i := range n {
		k := copy(o.buf[i][:], frame)
		binary.LittleEndian.PutUint64(o.buf[i][len(e.head):], now)
		o.vec[i].Base = &o.buf[i][0]
		o.vec[i].SetLen(k)
		o.head[i].Iov = &o.vec[i]
		o.head[i].SetIovlen(1)
	}
	got, _, errno := unix.Syscall6(unix.SYS_SENDMMSG, uintptr(e.fd), uintptr(unsafe.Pointer(&o.head)), uintptr(n), unix.MSG_DONTWAIT, 0, 0)
	if errno != 0 {
		return 0
	}
	return int(got)
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
