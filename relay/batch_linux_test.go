//go:build linux && (amd64 || arm64)

package relay

import (
	"bytes"
	"errors"
	"net"
	"net/netip"
	"testing"
	"time"

	"backstep/natpunch/rendezvous"
)

func open(t testing.TB, at string, share bool) *mmsgConn {
	t.Helper()
	c, err := openUDP(netip.MustParseAddrPort(at), share)
	if err != nil {
		t.Skipf("cannot bind %s: %v", at, err)
	}
	t.Cleanup(func() { c.close() })
	return c.(*mmsgConn)
}

// A batch goes out in order; what the system refuses is marked and costs nothing else; what arrives has its bytes and its
// sender; nothing is allocated.
func TestBatchReadWrite(t *testing.T) {
	for _, at := range []string{"127.0.0.1:0", "[::1]:0"} {
		t.Run(at, func(t *testing.T) {
			a, b := open(t, at, false), open(t, at, false)
			foreign := netip.MustParseAddrPort("[::1]:9")
			if a.six {
				foreign = netip.MustParseAddrPort("[2001:db8::1]:0") // port 0
			}
			in := make([]datagram, batchSize)
			var out []outgoing
			for i := range 100 {
				o := outgoing{b: bytes.Repeat([]byte{byte(i + 1)}, i+1), addr: b.local()}
				if i%10 == 3 {
					o.addr = foreign
				}
				out = append(out, o)
			}
			a.write(out)
			want := 1
			for i := range out {
				if out[i].lost != (i%10 == 3) {
					t.Fatalf("datagram %d: lost %v", i, out[i].lost)
				}
			}
			for want <= 100 {
				n, err := b.read(in)
				if err != nil {
					t.Fatal(err)
				}
				for i := range in[:n] {
					if want%10 == 4 {
						want++
					}
					d := &in[i]
					if d.n != want || d.buf[0] != byte(want) || d.addr != a.local() || d.local.IsValid() {
						t.Fatalf("datagram %d: %d bytes of %d from %s at %s", want, d.n, d.buf[0], d.addr, d.local)
					}
					want++
				}
			}
			few := []outgoing{{b: make([]byte, 100), addr: b.local()}, {b: make([]byte, 100), addr: b.local()}}
			if n := testing.AllocsPerRun(200, func() {
				a.write(few)
				for got := 0; got < 2; {
					n, _ := b.read(in)
					got += n
				}
				a.send(few[0].b, b.local(), netip.Addr{})
				b.read(in)
			}); n != 0 {
				t.Errorf("%v allocations", n)
			}
			// Longer than any legal datagram: cut, and still too long.
			a.send(make([]byte, 4000), b.local(), netip.Addr{})
			if n, err := b.read(in); n != 1 || err != nil || in[0].n != datagramSpace {
				t.Fatal(n, err, in[0].n)
			}
		})
	}
}

func TestBatchCloseWakesTheReader(t *testing.T) {
	c := open(t, "127.0.0.1:0", false)
	done := make(chan error, 1)
	go func() {
		_, err := c.read(make([]datagram, 1))
		done <- err
	}()
	time.Sleep(20 * time.Millisecond)
	c.close()
	select {
	case err := <-done:
		if !errors.Is(err, net.ErrClosed) {
			t.Fatal(err)
		}
	case <-time.After(patience):
		t.Fatal("the reader still waits")
	}
	if c.send([]byte{1}, netip.MustParseAddrPort("127.0.0.1:9"), netip.Addr{}) {
		t.Fatal("a closed socket sends")
	}
	if _, err := c.read(make([]datagram, 1)); !errors.Is(err, net.ErrClosed) {
		t.Fatal(err)
	}
}

// Attack of a flood nobody can read in time: the system's drops are counted.
func TestSocketOverflowIsCounted(t *testing.T) {
	c := open(t, "127.0.0.1:0", false)
	from := dialUDP(t, c.local(), "127.0.0.1")
	payload := make([]byte, 1400)
	for i := 0; c.overflows() == 0; i++ {
		if i > 100_000 {
			t.Fatal("140 MB fit into the socket")
		}
		from.WriteToUDPAddrPort(payload, c.local())
	}
	first := c.overflows()
	from.WriteToUDPAddrPort(payload, c.local())
	if n := c.overflows(); n != first+1 {
		t.Fatalf("%d, then %d", first, n)
	}
	var o overflow
	o.total(0xFFFFFFFF, true)
	if n := o.total(5, true); n != 0xFFFFFFFF+6 {
		t.Fatalf("%d after the system's count wrapped", n)
	}
	if n := o.total(9, false); n != 0xFFFFFFFF+6 {
		t.Fatal("a failed question counted", n)
	}
}

// On a machine with several addresses everything a player gets comes from the one it knows: answers, what is forwarded, what
// is sent across listeners and from PORT+1.
func TestAnswersComeFromTheAddressAsked(t *testing.T) {
	for _, listen := range []string{":0", "0.0.0.0:0"} {
		t.Run(listen, func(t *testing.T) {
			r := start(t, Config{Listen: []string{listen, "127.0.0.77:0"}, Workers: 3})
			ask := func(ip string, port uint16) *udpPeer {
				// A connected socket hears its one peer only.
				at := netip.AddrPortFrom(netip.MustParseAddr(ip), port)
				c, err := net.DialUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)}, net.UDPAddrFromAddrPort(at))
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { c.Close() })
				return &udpPeer{t: t, UDPConn: c, relay: at, connected: true}
			}
			port := r.addr.Port()
			host, join, far := ask("127.0.0.5", port), ask("127.0.0.6", port), ask("127.0.0.77", r.Addrs()[1].Port())
			hk, jk := r.token(rendezvous.SideHost, 5, 1), r.token(rendezvous.SideJoin, 5, 1)
			host.bind(hk)
			join.bind(jk)
			for range 3 {
				exchange(t, 5, host, join)
				exchange(t, 5, join, host)
			}
			far.bind(jk)
			exchange(t, 5, host, far)
			exchange(t, 5, far, host)
			id := [12]byte{1}
			host.send(appendStunRequest(nil, id, 128))
			mappedOf(t, host.next(patience), id)
			if r.endpoints[0].next != nil {
				next := ask("127.0.0.9", port+1)
				next.send(appendStunRequest(nil, id, 128))
				mappedOf(t, next.next(patience), id)
			}
		})
	}
}

// BenchmarkBatch compares the platform's batches with one call a datagram, through loopback, 32 in flight.
func BenchmarkBatch(b *testing.B) {
	for name, openConn := range map[string]func(netip.AddrPort) (batchConn, error){
		"mmsg":  func(a netip.AddrPort) (batchConn, error) { return openUDP(a, false) },
		"plain": openPlain,
	} {
		b.Run(name, func(b *testing.B) {
			var c [2]batchConn
			for i := range c {
				var err error
				if c[i], err = openConn(netip.MustParseAddrPort("127.0.0.1:0")); err != nil {
					b.Fatal(err)
				}
				defer c[i].close()
			}
			in := make([]datagram, c[1].size())
			out := make([]outgoing, 32)
			for i := range out {
				out[i] = outgoing{b: make([]byte, 105), addr: c[1].local()}
			}
			b.ReportAllocs()
			for n := 0; n < b.N; n += len(out) {
				c[0].write(out)
				for got := 0; got < len(out); {
					k, err := c[1].read(in)
					if err != nil {
						b.Fatal(err)
					}
					got += k
				}
			}
		})
	}
}
