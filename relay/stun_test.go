package relay

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"net"
	"net/netip"
	"runtime"
	"strconv"
	"testing"
	"time"

	"backstep/natpunch/stunguard"
)

func heapNow() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// mappedOf reads the answer with a parser of this test's own.
func mappedOf(t *testing.T, b []byte, id [12]byte) netip.AddrPort {
	t.Helper()
	if len(b) < 20 || binary.BigEndian.Uint16(b) != 0x0101 || int(binary.BigEndian.Uint16(b[2:])) != len(b)-20 ||
		binary.BigEndian.Uint32(b[4:]) != 0x2112A442 || [12]byte(b[8:20]) != id {
		t.Fatalf("answer %x", b)
	}
	if tail := b[len(b)-8:]; binary.BigEndian.Uint32(tail) != 0x80280004 ||
		binary.BigEndian.Uint32(tail[4:]) != crc32.ChecksumIEEE(b[:len(b)-8])^0x5354554e {
		t.Fatalf("fingerprint of %x", b)
	}
	v := b[24:]
	port := binary.BigEndian.Uint16(v[2:]) ^ 0x2112
	n := 4
	if v[1] == 2 {
		n = 16
	}
	ip := bytes.Clone(v[4 : 4+n])
	for i := range ip {
		ip[i] ^= b[4+i]
	}
	a, _ := netip.AddrFromSlice(ip)
	return netip.AddrPortFrom(a, port)
}

func TestStunAnswer(t *testing.T) {
	id := [12]byte{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}
	for _, a := range []string{"192.0.2.1:32853", "[2001:db8:1234:5678:11:2233:4455:6677]:32853"} {
		src := netip.MustParseAddrPort(a)
		b := appendStunAnswer(nil, &stunRequest{transaction: id}, src)
		if got := mappedOf(t, b, id); got != src {
			t.Errorf("%s came back as %s", src, got)
		}
		if len(b) != stunAnswerSize(src.Addr()) || len(b) > replySpace {
			t.Errorf("%d bytes", len(b))
		}
		if err := stunguard.Check(b); err != nil {
			t.Errorf("the players' own check refuses the answer: %v", err)
		}
	}
}

// RFC 5769 2.2 and 2.3: the mapped addresses of the sample responses, as XOR-MAPPED-ADDRESS writes them.
func TestStunVectors(t *testing.T) {
	id := [12]byte{0xb7, 0xe7, 0xa7, 0x01, 0xbc, 0x34, 0xd6, 0x86, 0xfa, 0x87, 0xdf, 0xae}
	for a, want := range map[string][]byte{
		"192.0.2.1:32853": {0x00, 0x20, 0x00, 0x08, 0x00, 0x01, 0xa1, 0x47, 0xe1, 0x12, 0xa6, 0x43},
		"[2001:db8:1234:5678:11:2233:4455:6677]:32853": {0x00, 0x20, 0x00, 0x14, 0x00, 0x02, 0xa1, 0x47,
			0x01, 0x13, 0xa9, 0xfa, 0xa5, 0xd3, 0xf1, 0x79, 0xbc, 0x25, 0xf4, 0xb5, 0xbe, 0xd2, 0xb9, 0xd9},
	} {
		b := appendStunAnswer(nil, &stunRequest{transaction: id}, netip.MustParseAddrPort(a))
		if got := b[20 : len(b)-8]; !bytes.Equal(got, want) {
			t.Errorf("%s:\n%x\n%x", a, got, want)
		}
	}
}

func stunMessage(attrs ...[]byte) []byte {
	body := bytes.Join(attrs, nil)
	b := binary.BigEndian.AppendUint16(nil, 1)
	b = binary.BigEndian.AppendUint16(b, uint16(len(body)))
	b = binary.BigEndian.AppendUint32(b, stunCookie)
	b = append(b, "transaction!"...)
	return append(b, body...)
}

func attr(kind uint16, value ...byte) []byte {
	b := binary.BigEndian.AppendUint16(nil, kind)
	b = binary.BigEndian.AppendUint16(b, uint16(len(value)))
	b = append(b, value...)
	return append(b, make([]byte, (4-len(value)%4)%4)...)
}

func fingerprinted(b []byte) []byte {
	b = bytes.Clone(b)
	binary.BigEndian.PutUint16(b[2:], uint16(len(b)-20+8))
	return append(b, attr(stunFingerprint, binary.BigEndian.AppendUint32(nil, crc32.ChecksumIEEE(b)^stunCRC)...)...)
}

func TestStunParse(t *testing.T) {
	pad := attr(stunPadding, make([]byte, 100)...)
	good := fingerprinted(stunMessage(pad))
	flip := func(i int) []byte { b := bytes.Clone(good); b[i] ^= 0x10; return b }
	many := make([][]byte, 17)
	for i := range many {
		many[i] = attr(0x9000 + uint16(i))
	}
	behind := append(bytes.Clone(good), attr(0x8022, 1, 2, 3, 4)...)
	binary.BigEndian.PutUint16(behind[2:], uint16(len(behind)-20))
	outside := stunMessage(pad)
	binary.BigEndian.PutUint16(outside[22:], 101)
	for name, x := range map[string]struct {
		b  []byte
		ok bool
	}{
		"padded":                  {stunMessage(pad), true},
		"padded, fingerprint":     {good, true},
		"bare":                    {stunMessage(), true},
		"unknown optional":        {stunMessage(attr(0x8022, 'x')), true},
		"16 attributes":           {stunMessage(many[:16]...), true},
		"17 attributes":           {stunMessage(many...), false},
		"unknown required":        {stunMessage(attr(0x0024, 0, 0, 0, 1)), false},
		"response port":           {stunMessage(attr(0x0027, 0, 80, 0, 0)), false},
		"twice":                   {stunMessage(pad, pad), false},
		"attribute outside":       {outside, false},
		"wrong fingerprint":       {flip(len(good) - 1), false},
		"behind fingerprint":      {behind, false},
		"cookie":                  {flip(4), false},
		"indication":              {flip(1), false},
		"length":                  {flip(3), false},
		"short change":            {stunMessage(attr(stunChange, 0, 0)), false},
		"not a multiple of four":  {append(stunMessage(), 0), false},
		"header cut":              {stunMessage()[:16], false},
		"attribute header at end": {append(stunMessage(), 0, 0)[:22], false},
	} {
		if _, ok := parseStun(x.b); ok != x.ok {
			t.Errorf("%s: %v", name, ok)
		}
	}
	if r, ok := parseStun(stunMessage(attr(stunChange, 0, 0, 0, 2), pad)); !ok || r.change != changePort {
		t.Error("CHANGE-REQUEST", r, ok)
	}
}

// The request the natpunch package's client sends is one this relay answers.
func TestStunSocket(t *testing.T) {
	r := start(t, Config{})
	p := dialUDP(t, r.addr, "127.0.0.1")
	id := [12]byte{9, 9}
	p.send(appendStunRequest(nil, id, 128))
	if got := mappedOf(t, p.next(patience), id); got != p.addr() {
		t.Fatalf("mapped %s, is %s", got, p.addr())
	}
	r.silent(t, p, stunMessage(), dropStunShort)
	r.silent(t, p, appendStunRequest(nil, id, 36), dropStunShort)
	r.silent(t, p, stunMessage(attr(0x0024, 0, 0, 0, 1), attr(stunPadding, make([]byte, 40)...)), dropStunMalformed)
	r.silent(t, p, stunMessage(attr(stunChange, 0, 0, 0, 6), attr(stunPadding, make([]byte, 40)...)), dropStunChange)
	if b := appendStunRequest(nil, id, 40); len(b) != stunAnswerSize(p.addr().Addr()) {
		t.Fatal("sizes")
	} else if p.send(b); len(p.next(patience)) != len(b) {
		t.Fatal("a request exactly as long as its answer")
	}
}

// PORT+1 answers STUN and nothing else; a request for another port is answered from there.
func TestStunNextPort(t *testing.T) {
	r := start(t, Config{})
	if r.endpoints[0].next == nil {
		t.Skip("the next port was taken")
	}
	p := dialUDP(t, r.addr, "127.0.0.1")
	id := [12]byte{7}
	p.relay = netip.AddrPortFrom(r.addr.Addr(), r.addr.Port()+1)
	p.send(appendStunRequest(nil, id, 128))
	mappedOf(t, p.next(patience), id)
	r.silent(t, p, r.token(0, 1, 1).frame(), dropUnknownType)
	r.silent(t, p, dataFrame(10), dropUnknownType)

	p.relay = r.addr
	p.send(stunMessage(attr(stunChange, 0, 0, 0, 2), attr(stunPadding, make([]byte, 60)...)))
	b := make([]byte, 2048)
	p.SetReadDeadline(time.Now().Add(patience))
	_, from, err := p.ReadFromUDPAddrPort(b)
	if err != nil || from.Port() != r.addr.Port()+1 {
		t.Fatalf("answered from %v: %v", from, err)
	}
}

// samePort starts a relay on one port of all these addresses, with the next port free too.
func samePort(t *testing.T, ips ...string) *running {
	t.Helper()
	for range 20 {
		free, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		port := free.Addr().(*net.TCPAddr).Port
		free.Close()
		c := Config{DrainLimit: -1}
		for _, ip := range ips {
			c.Listen = append(c.Listen, net.JoinHostPort(ip, strconv.Itoa(port)))
		}
		s, err := New(c)
		if err != nil {
			continue
		}
		all := true
		for _, e := range s.endpoints {
			all = all && e.next != nil
		}
		s.Close()
		if all {
			return start(t, c)
		}
	}
	if canPick {
		t.Fatal("no port is free at all of ", ips)
	}
	t.Skip("this system's loopback has one address")
	return nil
}

// RFC 5780, 6.1: where there are two addresses, a request for another one is answered from there; the answer is as long as any.
func TestStunOtherAddress(t *testing.T) {
	r := samePort(t, "127.0.0.1", "127.0.0.77")
	port := r.addr.Port()
	p := dialUDP(t, r.addr, "127.0.0.1")
	for at, other := range map[string]string{"127.0.0.1": "127.0.0.77", "127.0.0.77": "127.0.0.1"} {
		for _, up := range []uint16{0, 1} {
			p.relay = netip.AddrPortFrom(netip.MustParseAddr(at), port+up)
			for change, want := range map[byte]string{
				0: at + ":" + strconv.Itoa(int(port+up)), 2: at + ":" + strconv.Itoa(int(port+1-up)),
				4: other + ":" + strconv.Itoa(int(port+up)), 6: other + ":" + strconv.Itoa(int(port+1-up)),
			} {
				ask := stunMessage(attr(stunChange, 0, 0, 0, change), attr(stunPadding, make([]byte, 8)...))
				p.send(ask)
				b := make([]byte, 2048)
				p.SetReadDeadline(time.Now().Add(patience))
				n, from, err := p.ReadFromUDPAddrPort(b)
				if err != nil || from.String() != want || n > len(ask) {
					t.Fatalf("change %d at %s: %d bytes from %v, %v; want %s", change, p.relay, n, from, err, want)
				}
				mappedOf(t, b[:n], [12]byte([]byte("transaction!")))
			}
		}
	}
	r.silent(t, p, stunMessage(attr(stunChange, 0, 0, 0, 4)), dropStunShort)
	r.silent(t, p, stunMessage(attr(stunChange, 0, 0, 0, 12), attr(stunPadding, make([]byte, 8)...)), dropStunChange)
}

// Where the relay listens on all addresses, each of the machine's has the next one of its kind for an alternate.
func TestAlternates(t *testing.T) {
	if !canPick {
		t.Skip("sockets do not choose their address here")
	}
	all, err := listenAll([]string{":0", "127.0.0.1:0", "127.0.0.2:0"}, 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range all {
		defer e.close()
	}
	var own []netip.Addr
	for _, a := range []string{"198.51.100.11", "198.51.100.10", "192.168.0.4", "2600::1", "2600::2", "2600::3", "fd00::1"} {
		own = append(own, netip.MustParseAddr(a))
	}
	spread(all, own)
	for _, from := range append(own, netip.Addr{}) {
		want := map[string]string{"198.51.100.10": "198.51.100.11", "198.51.100.11": "198.51.100.10", "2600::1": "2600::2", "2600::2": "2600::3", "2600::3": "2600::1"}[from.String()]
		to, ok := all[0].udp.changed(route{via: all[0].udp, from: from}, changeIP)
		if ok != (want != "") || ok && (to.from.String() != want || to.via != outlet(all[0].udp)) {
			t.Errorf("%v: from %v, %v; want %q", from, to.from, ok, want)
		}
	}
	// Other ports than its own are nobody's alternate.
	if _, ok := all[1].udp.changed(route{via: all[1].udp}, changeIP); ok {
		t.Error("127.0.0.1 and 127.0.0.2 have different ports, and yet one answers for the other")
	}
}

func TestStunRate(t *testing.T) {
	r := startAt(t, Config{Limits: Limits{UnprovenAnswers: 5}})
	p := dialUDP(t, r.addr, "127.0.0.1")
	for i := range 11 {
		p.send(appendStunRequest(nil, [12]byte{byte(i)}, 64))
	}
	answers := 0
	for p.next(100*time.Millisecond) != nil {
		answers++
	}
	if answers != 10 || r.dropped(dropStunRate) != 1 {
		t.Fatalf("%d answers, %d dropped", answers, r.dropped(dropStunRate))
	}
	// The challenges of token holders are not spent by strangers' STUN.
	p.bind(r.token(0, 1, 1))
	// Another network is not affected.
	other := dialUDP(t, r.addr, "127.0.1.1")
	other.send(appendStunRequest(nil, [12]byte{1}, 64))
	if other.next(patience) == nil {
		t.Fatal("another /24 was refused too")
	}
}
