package relay

import (
	"bytes"
	"encoding/hex"
	"math/rand/v2"
	"net/netip"
	"runtime"
	"strings"
	"testing"
	"time"

	"backstep/natpunch/rendezvous"

	"github.com/rs/zerolog"
)

// corpus returns datagrams of every kind a stranger can send, well formed and not.
func (r *running) corpus() (out [][]byte) {
	rng := rand.New(rand.NewPCG(1, 2))
	k := r.token(rendezvous.SideHost, 42, 1)
	out = append(out, nil, stunMessage(), k.frame(), dataFrame(1), dataFrame(1400),
		fingerprinted(stunMessage(attr(stunPadding, make([]byte, 100)...))),
		stunMessage(attr(stunChange, 0, 0, 0, 2), attr(stunPadding, make([]byte, 30)...)),
		[]byte("GET / HTTP/1.1\r\n\r\n"), rendezvous.AppendChal(nil, &rendezvous.Chal{}, &k.key), make([]byte, 2000))
	for size := range 128 {
		out = append(out, appendStunRequest(nil, [12]byte{byte(size)}, 36+4*size))
	}
	for _, b := range out[:len(out):len(out)] {
		for range 8 {
			c := bytes.Clone(b)
			for range 1 + rng.IntN(3) {
				if len(c) > 0 {
					c[rng.IntN(len(c))] ^= byte(1 << rng.IntN(8))
				}
			}
			out = append(out, c, c[:rng.IntN(len(c)+1)])
		}
	}
	for first := range 256 {
		b := make([]byte, 1+rng.IntN(200))
		for i := range b {
			b[i] = byte(rng.Uint32())
		}
		b[0] = byte(first)
		out = append(out, b)
	}
	return out
}

// Attack case 11: for every datagram of a corpus the source gets at most as many bytes as it sent; an unproven one gets
// nothing but CHAL and padded STUN.
func TestCase11AnswersAreNotLonger(t *testing.T) {
	r := start(t, Config{Limits: Limits{UnprovenAnswers: 1e6}})
	p := dialUDP(t, r.addr, "127.0.0.1")
	barrier := func(i int) {
		id := [12]byte{0xBA, byte(i), byte(i >> 8)}
		p.send(appendStunRequest(nil, id, 64))
		for {
			b := p.next(patience)
			if b == nil {
				t.Fatal("the relay stopped answering")
			}
			if len(b) > 20 && [12]byte(b[8:20]) == id {
				return
			}
		}
	}
	answered := 0
	for i, b := range r.corpus() {
		p.send(b)
		id := [12]byte{0xBB, byte(i), byte(i >> 8)}
		p.send(appendStunRequest(nil, id, 64))
		got := 0
		for {
			a := p.next(patience)
			if a == nil {
				t.Fatal("the relay stopped answering")
			}
			if len(a) > 20 && [12]byte(a[8:20]) == id {
				break
			}
			got += len(a)
			answered++
			if a[0] != rendezvous.FrameChal && a[0] != 1 {
				t.Fatalf("%x was answered with %x", b, a)
			}
		}
		if got > len(b) {
			t.Fatalf("%d bytes were answered with %d: %x", len(b), got, b)
		}
	}
	barrier(0)
	n := r.totals()
	if answered < 100 || n.dropped[dropAmplify] != 0 || n.dropped[dropPanic] != 0 {
		t.Fatalf("%d answers, dropped %v", answered, n.dropped)
	}
	if sessions, _ := r.fwd.table.count(r.clock.mono(), r.fwd.silent); sessions != 0 {
		t.Fatalf("%d sessions", sessions)
	}
}

// A flood of garbage, unknown channels and unproven registrations grows neither memory nor goroutines, and forwarding for
// others goes on.
func TestFloodGrowsNothing(t *testing.T) {
	r := start(t, Config{})
	host, join := dialUDP(t, r.addr, "127.0.0.1"), dialUDP(t, r.addr, "127.0.0.1")
	host.bind(r.token(rendezvous.SideHost, 7, 1))
	join.bind(r.token(rendezvous.SideJoin, 7, 1))
	in := r.endpoints[0].udp.socks[0]
	f := r.fwd
	rng := rand.New(rand.NewPCG(3, 4))
	k := r.token(rendezvous.SideHost, 1, 2)
	var reply [replySpace]byte
	flood := func(n int) {
		garbage := make([]byte, 200)
		for i := range n {
			src := from(in, netip.AddrPortFrom(netip.AddrFrom4([4]byte{byte(rng.Uint32()), byte(i >> 16), byte(i >> 8), byte(i)}), uint16(i)|1))
			now := f.clock.mono()
			garbage[0] = byte(i)
			f.handle(now, in, src, garbage, &reply)
			f.handle(now, in, src, dataFrame(50), &reply)
			f.handle(now, in, src, appendStunRequest(nil, [12]byte{}, 64), &reply)
			if i%16 == 0 {
				f.handle(now, in, src, k.frame(), &reply)
			}
		}
	}
	flood(1000)
	heap, routines := heapNow(), runtime.NumGoroutine()
	flood(60_000)
	if grown := int64(heapNow()) - int64(heap); grown > 256<<10 {
		t.Fatalf("the heap grew by %d bytes", grown)
	}
	if n := runtime.NumGoroutine(); n > routines {
		t.Fatalf("%d goroutines, before %d", n, routines)
	}
	exchange(t, 7, host, join)
	exchange(t, 7, join, host)
}

// A panic in a decision costs its datagram, is counted and logged, and the worker goes on.
func TestPanicIsContained(t *testing.T) {
	var log lockedBuffer
	r := start(t, Config{Log: zerolog.New(&log)})
	p := dialUDP(t, r.addr, "127.0.0.1")
	k := r.token(0, 1, 1)
	sh := r.fwd.table.shard(99)
	sh.mu.Lock()
	sh.m[99] = &session{expiry: ^uint32(0), sides: [2]side{
		{route: route{addr: p.addr(), via: nowhere{}}}, {route: route{via: broken{}}, heard: r.clock.mono() + int64(time.Minute)},
	}}
	sh.mu.Unlock()
	p.send(rendezvous.AppendData(nil, 99, []byte("x")))
	wait(t, "the panic to be counted", func() bool { return r.dropped(dropPanic) == 1 })
	p.bind(k)
	wait(t, "a log line", func() bool { return strings.Contains(log.String(), `"event":"panic"`) })
}

type broken struct{}

func (broken) send([]byte, route, kind) { panic("broken outlet") }

// Whatever arrives, the entry point does not panic, answers at most what it got, and stores nothing without a proof.
func FuzzDatagram(f *testing.F) {
	set, err := Config{Limits: Limits{UnprovenAnswers: 1e6}}.check()
	if err != nil {
		f.Fatal(err)
	}
	fwd := newForwarder(&set, newSecret([32]byte{1}), newClock(newFakeTime().now))
	in := unbound()
	next := unbound()
	in.port.sibling, next.port.sibling, next.port.stunSide = next.port, in.port, true
	in.port.other, next.port.other = unbound().port, unbound().port
	now := fwd.clock.mono()
	reg := rendezvous.Reg{Channel: 5, Lobby: rendezvous.LobbyID{1}, Expiry: ^uint32(0), Counter: 1}
	key := rendezvous.DeriveRegKey(&fwd.secret.key, reg.Lobby, reg.Channel, reg.Side, reg.Expiry)
	f.Add(rendezvous.AppendReg(nil, &reg, &key), true)
	f.Add(dataFrame(10), true)
	f.Add(appendStunRequest(nil, [12]byte{}, 128), true)
	f.Add(stunMessage(attr(stunChange, 0, 0, 0, 2), attr(stunPadding, make([]byte, 40)...)), false)
	f.Add(stunMessage(attr(stunChange, 0, 0, 0, 6), attr(stunPadding, make([]byte, 40)...)), true)
	seed, _ := hex.DecodeString("000100002112a442000000000000000000000000")
	f.Add(seed, false)
	f.Add([]byte{}, false)
	f.Fuzz(func(t *testing.T, b []byte, six bool) {
		src := netip.MustParseAddrPort("192.0.2.1:5000")
		if six {
			src = netip.MustParseAddrPort("[2001:db8::1]:5000")
		}
		kept := bytes.Clone(b)
		var reply [replySpace]byte
		for _, s := range []*socket{in, next} {
			v := fwd.handle(now, s, from(s, src), b, &reply)
			if (v.drop == keep) != (v.to.via != nil) || len(v.out) > len(b) || v.drop == keep && v.to.addr != src {
				t.Fatalf("%x: %+v", b, v)
			}
		}
		if !bytes.Equal(b, kept) {
			t.Fatal("the datagram was changed")
		}
		if n, _ := fwd.table.count(now, 0); n != 0 {
			t.Fatalf("%x made a session", b)
		}
	})
}

func BenchmarkForwardDecision(b *testing.B) {
	f, host, _ := pair(b)
	f.packets, f.bytes = rate{}, rate{}
	in := unbound()
	frame := dataFrame(100)
	var reply [replySpace]byte
	now := f.clock.mono()
	b.ReportAllocs()
	for b.Loop() {
		if v := f.handle(now, in, from(in, host), frame, &reply); v.drop != keep {
			b.Fatal(reasonNames[v.drop])
		}
	}
}

func BenchmarkDropUnknownChannel(b *testing.B) {
	f, host, _ := pair(b)
	in := unbound()
	frame := dataFrame(100)
	frame[1]++
	var reply [replySpace]byte
	now := f.clock.mono()
	b.ReportAllocs()
	for b.Loop() {
		f.handle(now, in, from(in, host), frame, &reply)
	}
}

// A registration that fails its tag: what a flood of forged ones costs.
func BenchmarkDropForgedRegistration(b *testing.B) {
	f, host, _ := pair(b)
	in := unbound()
	frame := rendezvous.AppendReg(nil, &rendezvous.Reg{Channel: 1, Expiry: ^uint32(0)}, &rendezvous.RegKey{})
	var reply [replySpace]byte
	now := f.clock.mono()
	b.ReportAllocs()
	for b.Loop() {
		f.handle(now, in, from(in, host), frame, &reply)
	}
}

func BenchmarkStunAnswer(b *testing.B) {
	f, host, _ := pair(b)
	f.stunRate.rate = rate{}
	in := unbound()
	frame := appendStunRequest(nil, [12]byte{}, 128)
	var reply [replySpace]byte
	now := f.clock.mono()
	b.ReportAllocs()
	for b.Loop() {
		f.handle(now, in, from(in, host), frame, &reply)
	}
}

// One datagram through two sockets and the kernel, there and forwarded, with the time the kernel takes.
func BenchmarkForwardLoopback(b *testing.B) {
	r := start(b, Config{Limits: Limits{PacketsPerSec: 1e7, BytesPerSec: 1e9}})
	host, join := dialUDP(b, r.addr, "127.0.0.1"), dialUDP(b, r.addr, "127.0.0.1")
	host.bind(r.token(rendezvous.SideHost, pairChannel, 1))
	join.bind(r.token(rendezvous.SideJoin, pairChannel, 1))
	frame, buf := dataFrame(100), make([]byte, 2048)
	join.SetReadDeadline(time.Time{})
	b.ReportAllocs()
	for b.Loop() {
		host.WriteToUDPAddrPort(frame, r.addr)
		join.ReadFromUDPAddrPort(buf)
	}
}
