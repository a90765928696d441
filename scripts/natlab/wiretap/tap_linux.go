package wiretap

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"backstep/scripts/natlab/netns"
)

// Config says where to listen.
type Config struct {
	// Namespace is a name of "ip netns"; empty is the caller's own.
	Namespace string
	// Interfaces to listen on.
	Interfaces []string
	// Incoming leaves out what the namespace itself sends or forwards, so that a packet which crosses a bridge from one of
	// Interfaces to another is recorded once, where it came in.
	Incoming bool
}

// Tap records until it is closed. Its methods may be called by any goroutine; it runs one of its own.
type Tap struct {
	fd    int
	names map[int]string // interfaces by index
	stop  atomic.Bool
	done  chan struct{}

	mu      sync.Mutex
	packets []Packet
	failed  error
}

const (
	// readWait is how long a read blocks before it looks whether the tap was closed.
	readWait = 100 * time.Millisecond
	// maxFrame is more than the largest segment that a virtual interface passes on unsplit.
	maxFrame = 1 << 17
)

// Open begins to record. It needs root.
func Open(c Config) (*Tap, error) {
	t := &Tap{names: make(map[int]string), done: make(chan struct{})}
	err := netns.Do(c.Namespace, func() error { return t.open(c) })
	if err != nil {
		return nil, fmt.Errorf("wiretap: %w", err)
	}
	go t.record()
	return t, nil
}

func (t *Tap) open(c Config) (err error) {
	for _, name := range c.Interfaces {
		i, err := net.InterfaceByName(name)
		if err != nil {
			return fmt.Errorf("interface %s: %w", name, err)
		}
		t.names[i.Index] = name
	}
	// A packet socket on all interfaces, closed at first; record keeps what is ours.
	t.fd, err = unix.Socket(unix.AF_PACKET, unix.SOCK_RAW|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("packet socket: %w", err)
	}
	defer func() {
		if err != nil {
			unix.Close(t.fd)
		}
	}()
	wait := unix.NsecToTimeval(readWait.Nanoseconds())
	incoming := 0
	if c.Incoming {
		incoming = 1
	}
	return errors.Join(
		unix.SetsockoptInt(t.fd, unix.SOL_SOCKET, unix.SO_RCVBUFFORCE, 32<<20),
		unix.SetsockoptInt(t.fd, unix.SOL_SOCKET, unix.SO_TIMESTAMPNS, 1),
		unix.SetsockoptTimeval(t.fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &wait),
		unix.SetsockoptInt(t.fd, unix.SOL_PACKET, unix.PACKET_IGNORE_OUTGOING, incoming),
		unix.Bind(t.fd, &unix.SockaddrLinklayer{Protocol: unix.ETH_P_ALL<<8 | unix.ETH_P_ALL>>8}),
	)
}

// record reads until Close.
func (t *Tap) record() {
	defer close(t.done)
	b, control := make([]byte, maxFrame), make([]byte, 256)
	for {
		n, cn, flags, from, err := unix.Recvmsg(t.fd, b, control, 0)
		switch {
		case err == unix.EAGAIN || err == unix.EINTR || err == unix.ENETDOWN:
			if t.stop.Load() {
				return
			}
			continue
		case err != nil:
			t.fail(err)
			return
		}
		link, ok := from.(*unix.SockaddrLinklayer)
		if !ok {
			continue
		}
		name, ours := t.names[link.Ifindex]
		if !ours {
			continue
		}
		if flags&unix.MSG_TRUNC != 0 {
			t.fail(fmt.Errorf("a frame on %s is longer than %d bytes", name, maxFrame))
			continue
		}
		p, err := Parse(b[:n])
		if errors.Is(err, ErrOther) {
			continue
		}
		if err != nil {
			t.fail(fmt.Errorf("frame %x on %s: %w", b[:min(n, 64)], name, err))
			continue
		}
		p.At, p.Interface, p.Payload = stamp(control[:cn]), name, slices.Clone(p.Payload)
		t.mu.Lock()
		t.packets = append(t.packets, p)
		t.mu.Unlock()
	}
}

// stamp is the kernel's time of arrival.
func stamp(control []byte) time.Time {
	messages, err := unix.ParseSocketControlMessage(control)
	if err == nil {
		for _, m := range messages {
			if m.Header.Level == unix.SOL_SOCKET && m.Header.Type == unix.SO_TIMESTAMPNS && len(m.Data) >= int(unsafe.Sizeof(unix.Timespec{})) {
				half := len(m.Data) / 2
				return time.Unix(word(m.Data[:half]), word(m.Data[half:]))
			}
		}
	}
	return time.Now()
}

// word reads one integer of the machine.
func word(b []byte) int64 {
	if len(b) == 4 {
		return int64(int32(binary.NativeEndian.Uint32(b)))
	}
	return int64(binary.NativeEndian.Uint64(b))
}

func (t *Tap) fail(err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.failed = errors.Join(t.failed, err)
}

// Packets is what was recorded so far, in the order of the wire.
func (t *Tap) Packets() []Packet {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.packets[:len(t.packets):len(t.packets)]
}

// Await waits until n packets recorded since the call satisfy match.
func (t *Tap) Await(ctx context.Context, n int, match func(*Packet) bool) error {
	seen := len(t.Packets())
	poll := time.NewTicker(10 * time.Millisecond)
	defer poll.Stop()
	found := 0
	for {
		for all := t.Packets(); seen < len(all); seen++ {
			if match(&all[seen]) {
				found++
			}
		}
		if found >= n {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("wiretap: %d of %d awaited packets: %w", found, n, context.Cause(ctx))
		case <-poll.C:
		}
	}
}

// Close ends the recording and returns it. It is an error if the kernel dropped a packet or one could not be read, because
// then the recording is not the whole of what passed. Close is called once.
func (t *Tap) Close() ([]Packet, error) {
	t.stop.Store(true)
	<-t.done
	if s, err := unix.GetsockoptTpacketStats(t.fd, unix.SOL_PACKET, unix.PACKET_STATISTICS); err != nil {
		t.fail(err)
	} else if s.Drops > 0 {
		t.fail(fmt.Errorf("the kernel dropped %d of %d packets", s.Drops, s.Packets))
	}
	unix.Close(t.fd)
	if t.failed != nil {
		return t.packets, fmt.Errorf("wiretap: %w", t.failed)
	}
	return t.packets, nil
}
