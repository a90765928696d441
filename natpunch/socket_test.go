package natpunch

import (
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"syscall"
	"testing"
	"time"
)

// script is a net.PacketConn that reads what a test feeds it.
type script struct {
	in     chan read
	out    chan []byte
	closed chan struct{}
	once   sync.Once
	fail   error // of every write
}

type read struct {
	b    []byte
	from net.Addr
	err  error
}

func newScript() *script {
	return &script{in: make(chan read, 1000), out: make(chan []byte, 1000), closed: make(chan struct{})}
}

func (s *script) ReadFrom(b []byte) (int, net.Addr, error) {
	select {
	case r := <-s.in:
		return copy(b, r.b), r.from, r.err
	case <-s.closed:
		return 0, nil, net.ErrClosed
	}
}

func (s *script) WriteTo(b []byte, _ net.Addr) (int, error) {
	if s.fail != nil {
		return 0, s.fail
	}
	s.out <- append([]byte(nil), b...)
	return len(b), nil
}

func (s *script) Close() error                     { s.once.Do(func() { close(s.closed) }); return nil }
func (s *script) LocalAddr() net.Addr              { return &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 9} }
func (s *script) SetDeadline(time.Time) error      { return nil }
func (s *script) SetReadDeadline(time.Time) error  { return nil }
func (s *script) SetWriteDeadline(time.Time) error { return nil }

// sorted counts what the demultiplexer hands on.
type sorted struct {
	n     [3]int
	from  netip.AddrPort
	panic bool
	got   chan struct{}
}

func (s *sorted) take(i int, from netip.AddrPort) {
	s.n[i]++
	s.from = from
	if s.got != nil {
		s.got <- struct{}{}
	}
	if s.panic {
		panic("handler")
	}
}
func (s *sorted) stun(_ []byte, from netip.AddrPort)  { s.take(0, from) }
func (s *sorted) dtls(_ []byte, from netip.AddrPort)  { s.take(1, from) }
func (s *sorted) frame(_ []byte, from netip.AddrPort) { s.take(2, from) }

func TestSocketSortsByFirstByte(t *testing.T) {
	var drops Drops
	s := &sorted{}
	k := newSocket(newScript(), s, &drops)
	from := netip.MustParseAddrPort("192.0.2.1:1")
	for first := range 256 {
		k.sort([]byte{byte(first), 1, 2}, from)
	}
	if s.n != [3]int{4, 44, 16} {
		t.Errorf("STUN, DTLS, relay: %v", s.n)
	}
	if n := drops.Count(DropClass); n != 256-4-44-16 {
		t.Errorf("%d of no class", n)
	}
	k.sort(nil, from)
	k.sort(make([]byte, maxDatagram), from)
	if drops.Count(DropEmpty) != 1 || drops.Count(DropOversize) != 1 {
		t.Error("empty or oversized datagram not counted:", drops.Map())
	}
	s.panic = true
	k.sort([]byte{1}, from)
	if drops.Count(DropPanic) != 1 {
		t.Error("panic not counted")
	}
}

// TestSocketErrorsAreLoss: ICMP answers and full buffers never end the reader
// and never reach the caller.
func TestSocketErrorsAreLoss(t *testing.T) {
	var drops Drops
	conn := newScript()
	s := &sorted{got: make(chan struct{}, 100)}
	k := newSocket(conn, s, &drops)
	k.start()
	defer k.close()
	errs := []error{
		&net.OpError{Op: "read", Err: os.NewSyscallError("recvfrom", syscall.ECONNREFUSED)},
		os.NewSyscallError("recvfrom", syscall.EMSGSIZE), syscall.ENOBUFS, os.ErrDeadlineExceeded,
		io.ErrUnexpectedEOF, // nobody expects this one
	}
	for _, err := range errs {
		conn.in <- read{err: err}
	}
	conn.in <- read{b: []byte{22}, from: &net.UDPAddr{IP: net.ParseIP("::ffff:10.0.0.1"), Port: 7}}
	<-s.got
	if s.from != netip.MustParseAddrPort("10.0.0.1:7") {
		t.Errorf("mapped address handed on as %v", s.from)
	}
	if n := k.readErrors.Load(); n != uint64(len(errs)) {
		t.Errorf("%d read errors counted", n)
	}
	conn.fail = os.NewSyscallError("sendto", syscall.EPERM)
	if err := k.send([]byte{1}, s.from); err != nil || k.sendErrors.Load() != 1 {
		t.Errorf("a lost datagram was reported: %v", err)
	}
	conn.fail = net.ErrClosed
	if err := k.send([]byte{1}, s.from); !errors.Is(err, net.ErrClosed) {
		t.Errorf("a closed socket: %v", err)
	}
}

// unread is a socket whose buffer fills up, because nobody reads at its other end.
type unread struct{ *net.UnixConn }

func (u unread) WriteTo(b []byte, _ net.Addr) (int, error) { return u.Write(b) }

// TestFullBufferIsLoss: a write that finds no room gives up and is counted. Without
// a deadline it would wait for ever.
func TestFullBufferIsLoss(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no datagram sockets in the file system")
	}
	to, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: filepath.Join(t.TempDir(), "s"), Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	defer to.Close()
	from, err := net.DialUnix("unixgram", nil, to.LocalAddr().(*net.UnixAddr))
	if err != nil {
		t.Fatal(err)
	}
	var drops Drops
	k := newSocket(unread{from}, &sorted{}, &drops)
	k.start()
	defer k.close()
	datagram := make([]byte, 1200)
	for range 100_000 {
		if err := k.send(datagram, netip.MustParseAddrPort("10.0.0.1:7")); err != nil {
			t.Fatal(err)
		}
		if k.sendErrors.Load() == 3 {
			return
		}
	}
	t.Fatal("the buffer never filled")
}

// TestSocketGarbage floods a real socket: no datagram may stop it.
func TestSocketGarbage(t *testing.T) {
	var drops Drops
	conn, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	s := &sorted{}
	k := newSocket(conn, s, &drops)
	k.start()
	out, err := net.Dial("udp4", conn.LocalAddr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	r := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		b := make([]byte, r.IntN(3000))
		for i := range b {
			b[i] = byte(r.Uint32())
		}
		_, _ = out.Write(b)
	}
	deadline := time.Now().Add(2 * time.Second)
	for k.received.Load() < 100 && time.Now().Before(deadline) {
		time.Sleep(time.Millisecond)
	}
	k.close()
	sum := uint64(s.n[0] + s.n[1] + s.n[2])
	for _, n := range drops.Map() {
		sum += n
	}
	if got := k.received.Load(); got < 100 || got != sum {
		t.Errorf("%d received, %d accounted for", got, sum)
	}
}

func TestSocketAllocates(t *testing.T) {
	var drops Drops
	conn, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	k := newSocket(conn, &sorted{}, &drops)
	defer conn.Close()
	self := conn.LocalAddr().(*net.UDPAddr).AddrPort()
	b := make([]byte, maxDatagram)
	if n := testing.AllocsPerRun(200, func() {
		_ = k.send(b[:100], self)
		n, from, err := k.receive(b)
		if err != nil || from != self {
			t.Fatal(from, err)
		}
		k.sort(b[:n], from)
	}); n != 0 {
		t.Errorf("%v allocations a datagram", n)
	}
}
