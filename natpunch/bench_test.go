package natpunch

import (
	"net"
	"testing"

	"backstep/natpunch/rendezvous"
)

// BenchmarkPolicy is one packet out and one in.
func BenchmarkPolicy(b *testing.B) {
	p := newPolicy(tick)
	p.setUp(Relay, 0)
	p.setUp(Direct, 0)
	now := int64(0)
	b.ReportAllocs()
	for b.Loop() {
		now += tick
		m := p.plan(now)
		p.raw(Direct, now)
		p.authenticated(Direct, now)
		if m == 0 {
			b.Fatal("no route")
		}
	}
}

// BenchmarkReceive is a relayed record from the socket's hands to the reader's.
func BenchmarkReceive(b *testing.B) {
	r := testRegistration(relayA)
	p := &Paths{cfg: Config{Channel: 77, Clock: monotonic, Allowed: AllowAuto}, policy: newPolicy(tick), reg: r}
	p.queue = newQueue(&p.drops)
	p.relayAddr.Store(&relayA)
	p.sock = newSocket(nil, (*demux)(p), &p.drops)
	record := make([]byte, 100)
	record[0] = recordType
	frame := rendezvous.AppendData(nil, 77, record)
	out := make([]byte, maxDatagram)
	b.ReportAllocs()
	for b.Loop() {
		p.sock.sort(frame, relayA)
		if n, _, err := p.ReadFrom(out); n != 100 || err != nil {
			b.Fatal(n, err)
		}
	}
}

// BenchmarkSend is a record of 100 bytes through a real socket; nearly all of it
// is the system call.
func BenchmarkSend(b *testing.B) {
	conn, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		b.Fatal(err)
	}
	defer conn.Close()
	var drops Drops
	k := newSocket(conn, &sorted{}, &drops)
	to := conn.LocalAddr().(*net.UDPAddr).AddrPort()
	record := make([]byte, 100)
	b.ReportAllocs()
	for b.Loop() {
		if err := k.send(record, to); err != nil {
			b.Fatal(err)
		}
	}
}
