package relay

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"net/netip"
	"testing"
	"time"

	"backstep/natpunch/rendezvous"
)

func (r *running) dropped(why reason) uint64 { return r.totals().dropped[why] }

// silent asserts that b, sent from p, is not answered and is dropped for the given reason.
func (r *running) silent(t *testing.T, p *udpPeer, b []byte, why reason) {
	t.Helper()
	before := r.dropped(why)
	p.send(b)
	wait(t, "a drop with reason "+reasonNames[why], func() bool { return r.dropped(why) == before+1 })
	if answer := p.next(10 * time.Millisecond); answer != nil {
		t.Fatalf("%x was answered with %x", b, answer)
	}
}

// exchange asserts that a datagram of a arrives at b unchanged.
func exchange(t *testing.T, channel uint32, a, b *udpPeer) {
	t.Helper()
	frame := rendezvous.AppendData(nil, channel, []byte(time.Now().String()))
	a.send(frame)
	if got := b.next(patience); !bytes.Equal(got, frame) {
		t.Fatalf("sent %x, arrived %x", frame, got)
	}
}

// B-06: a forwarder that an operator can start and watch.
func TestRegisterAndForward(t *testing.T) {
	r := start(t, Config{})
	host, join := dialUDP(t, r.addr, "127.0.0.1"), dialUDP(t, r.addr, "127.0.0.1")
	hk, jk := r.token(rendezvous.SideHost, 7, 1), r.token(rendezvous.SideJoin, 7, 1)
	ack := host.bind(hk)
	if ack.Addr != host.addr() || ack.PeerAge != rendezvous.PeerNever || ack.TTL < 3590 || ack.TTL > 3600 || ack.Counter != hk.Counter {
		t.Fatalf("%+v", ack)
	}
	r.silent(t, host, rendezvous.AppendData(nil, 7, []byte("early")), dropDataUnbound)
	if ack := join.bind(jk); ack.PeerAge != 0 || ack.Side != rendezvous.SideJoin {
		t.Fatalf("%+v", ack)
	}
	exchange(t, 7, host, join)
	exchange(t, 7, join, host)
	for _, n := range []int{1, rendezvous.MaxData} {
		frame := rendezvous.AppendData(nil, 7, bytes.Repeat([]byte{0xA5}, n))
		host.send(frame)
		if got := join.next(patience); !bytes.Equal(got, frame) {
			t.Fatalf("%d bytes of payload did not arrive", n)
		}
	}
	for _, n := range []int{0, rendezvous.MaxData + 1} {
		r.silent(t, host, rendezvous.AppendData(nil, 7, make([]byte, n)), dropDataSize)
	}
	r.silent(t, host, []byte{frameDataByte, 7, 0}, dropDataSize)
	if got := r.totals().sent[kindData]; got != 4 {
		t.Fatalf("%d datagrams forwarded", got)
	}
}

const frameDataByte = rendezvous.FrameData

// Attack case 8: a captured REG replayed from another address gets one CHAL and binds nothing; from the same address it is
// dropped by its counter.
func TestCase08ReplayedRegistration(t *testing.T) {
	r := start(t, Config{})
	host, join, thief := dialUDP(t, r.addr, "127.0.0.1"), dialUDP(t, r.addr, "127.0.0.1"), dialUDP(t, r.addr, "127.0.0.1")
	hk, jk := r.token(rendezvous.SideHost, 9, 1), r.token(rendezvous.SideJoin, 9, 1)
	host.bind(hk)
	join.bind(jk)
	captured := rendezvous.AppendReg(nil, &hk.Reg, &hk.key) // the bound one, with its right cookie
	thief.send(captured)
	answer := thief.next(patience)
	var chal rendezvous.Chal
	if rendezvous.ParseChal(answer, &chal) != nil || len(answer) > len(captured) {
		t.Fatalf("the thief got %x", answer)
	}
	if more := thief.next(20 * time.Millisecond); more != nil {
		t.Fatalf("and %x", more)
	}
	if chal.Cookie == hk.Cookie {
		t.Fatal("another address got the same cookie")
	}
	r.silent(t, host, captured, dropRegCounter)
	r.silent(t, thief, rendezvous.AppendData(nil, 9, []byte("x")), dropDataSource)
	exchange(t, 9, host, join)
	exchange(t, 9, join, host)
	if n := r.totals(); n.binds != 2 || n.moves != 0 {
		t.Fatalf("%d bound, %d moved", n.binds, n.moves)
	}
}

// Attack case 9: after a rebinding an old REG, cookie and all, does not bring the old address back.
func TestCase09NewerBindingStands(t *testing.T) {
	r := start(t, Config{})
	old, fresh, join := dialUDP(t, r.addr, "127.0.0.1"), dialUDP(t, r.addr, "127.0.0.1"), dialUDP(t, r.addr, "127.0.0.1")
	hk, jk := r.token(rendezvous.SideHost, 9, 1), r.token(rendezvous.SideJoin, 9, 1)
	old.bind(hk)
	captured := rendezvous.AppendReg(nil, &hk.Reg, &hk.key)
	join.bind(jk)

	// The first REG from the new address is challenged; until it is answered the old address keeps working.
	fresh.send(hk.frame())
	fresh.next(patience)
	exchange(t, 9, old, join)
	exchange(t, 9, join, old)
	fresh.bind(hk)
	exchange(t, 9, fresh, join)
	exchange(t, 9, join, fresh)
	r.silent(t, old, captured, dropRegCounter)
	exchange(t, 9, join, fresh)
	r.silent(t, old, rendezvous.AppendData(nil, 9, []byte("x")), dropDataSource)
	if n := r.totals(); n.moves != 1 {
		t.Fatalf("%d moves", n.moves)
	}
}

// Attack case 10: REG for another lobby, side or channel, expired, or with one bit flipped: nothing is answered.
func TestCase10WrongRegistration(t *testing.T) {
	r := start(t, Config{})
	p := dialUDP(t, r.addr, "127.0.0.1")
	good := r.token(rendezvous.SideHost, 77, 1)
	for name, change := range map[string]func(*rendezvous.Reg){
		"lobby":   func(g *rendezvous.Reg) { g.Lobby[3]++ },
		"side":    func(g *rendezvous.Reg) { g.Side = rendezvous.SideJoin },
		"channel": func(g *rendezvous.Reg) { g.Channel++ },
		"expiry":  func(g *rendezvous.Reg) { g.Expiry++ },
	} {
		t.Run(name, func(t *testing.T) {
			k := *good
			change(&k.Reg)
			r.silent(t, p, k.frame(), dropRegTag)
		})
	}
	t.Run("expired", func(t *testing.T) {
		k := *good
		k.Expiry = uint32(time.Now().Unix())
		k.key = rendezvous.DeriveRegKey(&r.fwd.secret.key, k.Lobby, k.Channel, k.Side, k.Expiry)
		r.silent(t, p, k.frame(), dropRegExpired)
	})
	t.Run("size", func(t *testing.T) {
		b := good.frame()
		r.silent(t, p, b[:79], dropRegSize)
		r.silent(t, p, append(b, 0), dropRegSize)
	})
	t.Run("bits", func(t *testing.T) {
		frame := good.frame()
		for bit := 8; bit < len(frame)*8; bit++ { // the first byte is the type
			b := bytes.Clone(frame)
			b[bit/8] ^= 1 << (bit % 8)
			p.send(b)
		}
		want := uint64(len(frame)*8 - 8)
		before := uint64(0)
		wait(t, "all of them to be dropped", func() bool {
			n := r.totals()
			before = n.dropped[dropRegForm] + n.dropped[dropRegTag] + n.dropped[dropRegExpired]
			return before >= want
		})
		if b := p.next(10 * time.Millisecond); b != nil {
			t.Fatalf("a flipped bit was answered with %x", b)
		}
	})
	if sessions, _ := r.fwd.table.count(r.clock.mono(), r.fwd.silent); sessions != 0 {
		t.Fatalf("%d sessions in memory", sessions)
	}
	// A client whose clock is wrong by a day knows its expiry from SESSION only; nothing in REG is its own time.
	p.bind(good)
}

// Nothing is stored for anybody who has not echoed a cookie.
func TestRegisterStoresNothingBeforeCookie(t *testing.T) {
	r := startAt(t, Config{})
	p := dialUDP(t, r.addr, "127.0.0.1")
	k := r.token(rendezvous.SideHost, 3, 1)
	for range 50 {
		p.send(k.frame())
		b := p.next(patience)
		var chal rendezvous.Chal
		if rendezvous.ParseChal(b, &chal) != nil {
			t.Fatalf("got %x", b)
		}
	}
	if sessions, _ := r.fwd.table.count(r.clock.mono(), r.fwd.silent); sessions != 0 {
		t.Fatal("a challenge made state")
	}
}

// A cookie is good for one to two minutes, then not.
func TestCookieAges(t *testing.T) {
	var c cookies
	src := netip.MustParseAddrPort("192.0.2.1:5000")
	other := netip.MustParseAddrPort("192.0.2.1:5001")
	reg := &rendezvous.Reg{Channel: 4, Lobby: rendezvous.LobbyID{1}}
	now := int64(time.Hour)
	reg.Cookie = c.issue(now, src, reg)
	for _, x := range []struct {
		age  time.Duration
		want bool
	}{{0, true}, {59 * time.Second, true}, {61 * time.Second, true}, {119 * time.Second, true}, {120 * time.Second, false}, {time.Hour, false}} {
		if got := c.right(now+int64(x.age), src, reg); got != x.want {
			t.Errorf("after %v: %v", x.age, got)
		}
	}
	now += int64(2 * time.Hour)
	reg.Cookie = c.issue(now, src, reg)
	if c.right(now, other, reg) {
		t.Error("another port may use it")
	}
	for name, change := range map[string]func(*rendezvous.Reg){
		"channel": func(g *rendezvous.Reg) { g.Channel++ }, "side": func(g *rendezvous.Reg) { g.Side = 1 },
		"lobby": func(g *rendezvous.Reg) { g.Lobby[0]++ }, "bit": func(g *rendezvous.Reg) { g.Cookie[15] ^= 1 },
		"none": func(g *rendezvous.Reg) { g.Cookie = rendezvous.CookieValue{} },
	} {
		x := *reg
		change(&x)
		if c.right(now, src, &x) {
			t.Error("accepted with another", name)
		}
	}
	var zero cookies
	if zero.right(int64(time.Hour), src, &rendezvous.Reg{Channel: 4}) {
		t.Error("the zero key was used")
	}
}

// A channel held by one lobby is not given to another, and one address cannot be both sides.
func TestRegisterConflicts(t *testing.T) {
	r := start(t, Config{})
	host, other := dialUDP(t, r.addr, "127.0.0.1"), dialUDP(t, r.addr, "127.0.0.1")
	hk := r.token(rendezvous.SideHost, 5, 1)
	host.bind(hk)
	withCookie := func(p *udpPeer, k *token) []byte {
		p.send(k.frame())
		var chal rendezvous.Chal
		if b := p.next(patience); rendezvous.ParseChal(b, &chal) != nil {
			t.Fatalf("got %x", b)
		}
		k.Cookie = chal.Cookie
		return k.frame()
	}
	foreign := r.token(rendezvous.SideJoin, 5, 2)
	r.silent(t, other, withCookie(other, foreign), dropRegLobby)
	jk := r.token(rendezvous.SideJoin, 5, 1)
	r.silent(t, host, withCookie(host, jk), dropRegAddress)
	other.bind(jk)
	exchange(t, 5, host, other)
}

// Attack case 12: a third address, a side not bound, a side silent for 31 s.
func TestCase12DataRefused(t *testing.T) {
	r := startAt(t, Config{})
	host, join, third := dialUDP(t, r.addr, "127.0.0.1"), dialUDP(t, r.addr, "127.0.0.1"), dialUDP(t, r.addr, "127.0.0.1")
	hk, jk := r.token(rendezvous.SideHost, 12, 1), r.token(rendezvous.SideJoin, 12, 1)
	data := rendezvous.AppendData(nil, 12, []byte("x"))
	r.silent(t, third, data, dropDataChannel)
	host.bind(hk)
	r.silent(t, third, data, dropDataSource)
	r.silent(t, host, data, dropDataUnbound)
	join.bind(jk)
	exchange(t, 12, host, join)
	r.time.advance(30 * time.Second)
	exchange(t, 12, host, join)
	r.time.advance(time.Second)
	r.silent(t, host, data, dropDataSilent)
	join.send(data) // heard again: both ways work
	if host.next(patience) == nil {
		t.Fatal("the silent side cannot speak")
	}
	exchange(t, 12, host, join)
	if b := third.next(10 * time.Millisecond); b != nil {
		t.Fatalf("the third address got %x", b)
	}
	r.time.advance(time.Hour)
	r.silent(t, host, data, dropDataExpired)
}

// An idle session is forgotten, and only after every cookie that could revive it from a replay is dead.
func TestSessionForgotten(t *testing.T) {
	r := startAt(t, Config{})
	p := dialUDP(t, r.addr, "127.0.0.1")
	k := r.token(rendezvous.SideHost, 8, 1)
	p.bind(k)
	captured := rendezvous.AppendReg(nil, &k.Reg, &k.key)
	gone := func() int {
		now := r.clock.mono()
		return r.fwd.table.sweep(now, r.clock.unix(now), int64(r.set.Limits.IdleAfter))
	}
	r.time.advance(5 * time.Minute)
	if gone() != 0 {
		t.Fatal("forgotten too early")
	}
	r.time.advance(time.Second)
	if gone() != 1 {
		t.Fatal("not forgotten")
	}
	p.send(captured)
	var chal rendezvous.Chal
	if b := p.next(patience); rendezvous.ParseChal(b, &chal) != nil {
		t.Fatalf("a replay after the session was forgotten got %x", b)
	}
	k.Counter = 0 // a client that lost its counter too
	p.bind(k)
}

func TestTokenBuckets(t *testing.T) {
	f, host, join := pair(t)
	now := int64(2 * time.Hour)
	small, big := dataFrame(60), dataFrame(1400)
	count := func(src netip.AddrPort, b []byte, n int, why reason) (ok int) {
		for range n {
			switch v := f.data(now, src, b); v.drop {
			case keep:
				ok++
			case why:
			default:
				t.Fatalf("dropped: %s", reasonNames[v.drop])
			}
		}
		return ok
	}
	refresh := func() {
		for i := range 2 {
			f.table.shard(pairChannel).m[pairChannel].sides[i].heard = now
		}
	}
	refresh()
	if got := count(host, small, 1000, dropDataPackets); got != 300 {
		t.Fatalf("%d packets of one instant", got)
	}
	if got := count(join, big, 1000, dropDataBytes); got != 96<<10/1405 {
		t.Fatalf("%d full datagrams of one instant", got)
	}
	now += int64(time.Second)
	refresh()
	if got := count(host, small, 1000, dropDataPackets); got != 300 {
		t.Fatalf("%d packets a second later", got)
	}
	// One side's flood is not charged to the other.
	if got := count(join, small, 300, dropDataPackets); got != 300 {
		t.Fatalf("the other side has %d", got)
	}
	// A datagram refused for its bytes is not charged as a packet.
	now += int64(10 * time.Second)
	refresh()
	sent := count(join, big, 1000, dropDataBytes)
	if w := f.table.shard(pairChannel).m[pairChannel].sides[1].packets.wait(now, f.packets, 300-sent); w != 0 {
		t.Fatal("refused datagrams used the packet bucket up")
	}
}

const pairChannel = 42

// pair returns a forwarder with one session whose sides are bound, and their addresses.
func pair(t testing.TB) (f *forwarder, host, join netip.AddrPort) {
	t.Helper()
	set, err := Config{}.check()
	if err != nil {
		t.Fatal(err)
	}
	f = newForwarder(&set, randomSecret(), newClock(newFakeTime().now))
	host, join = netip.MustParseAddrPort("192.0.2.1:5000"), netip.MustParseAddrPort("198.51.100.2:6000")
	now := f.clock.mono()
	f.table.shard(pairChannel).m[pairChannel] = &session{expiry: ^uint32(0), sides: [2]side{
		{route: route{addr: host, via: nowhere{}}, heard: now}, {route: route{addr: join, via: nowhere{}}, heard: now},
	}}
	return f, host, join
}

// nowhere is an outlet that swallows everything.
type nowhere struct{}

func (nowhere) send([]byte, route, kind) {}

// unbound is a socket that only decides.
func unbound() *socket { return &socket{port: &udpPort{}, stats: new(stats)} }

func from(s *socket, a netip.AddrPort) route { return route{via: s.port, addr: a} }

func dataFrame(n int) []byte {
	b := make([]byte, rendezvous.DataOverhead+n)
	b[0] = rendezvous.FrameData
	binary.LittleEndian.PutUint32(b[1:], pairChannel)
	return b
}

func TestForwardAllocatesNothing(t *testing.T) {
	f, host, _ := pair(t)
	f.packets, f.bytes = rate{}, rate{} // no limit
	in := unbound()
	var reply [replySpace]byte
	good, unknown := dataFrame(100), dataFrame(100)
	unknown[1]++
	stranger := netip.MustParseAddrPort("203.0.113.9:1")
	now := f.clock.mono()
	for name, x := range map[string]struct {
		src netip.AddrPort
		b   []byte
	}{"forwarded": {host, good}, "unknown channel": {host, unknown}, "unknown source": {stranger, good}} {
		if n := testing.AllocsPerRun(1000, func() { f.handle(now, in, from(in, x.src), x.b, &reply) }); n != 0 {
			t.Errorf("%s: %v allocations a datagram", name, n)
		}
	}
}

// The whole path, socket to socket, allocates nothing either.
func TestSocketAllocatesNothing(t *testing.T) {
	r := start(t, Config{Limits: Limits{PacketsPerSec: 1e6, BytesPerSec: 1e9}})
	host, join := dialUDP(t, r.addr, "127.0.0.1"), dialUDP(t, r.addr, "127.0.0.1")
	host.bind(r.token(rendezvous.SideHost, pairChannel, 1))
	join.bind(r.token(rendezvous.SideJoin, pairChannel, 1))
	frame, buf := dataFrame(100), make([]byte, 2048)
	join.SetReadDeadline(time.Time{})
	round := func() {
		host.WriteToUDPAddrPort(frame, r.addr)
		join.ReadFromUDPAddrPort(buf)
	}
	// The sweep's goroutine and the test's own sockets share the count; whole allocations a datagram would show.
	if n := testing.AllocsPerRun(2000, round); n >= 1 {
		t.Fatalf("%v allocations a datagram", n)
	}
}

func TestSessionMemory(t *testing.T) {
	const n = 10_000
	tab := newTable(1 << 20)
	before := heapNow()
	for i := range uint32(n) {
		c := rand.Uint32()
		tab.shard(c).m[c] = &session{expiry: i}
	}
	if per := (heapNow() - before) / n; per > 1024 {
		t.Fatalf("%d bytes a session", per)
	} else {
		t.Logf("%d bytes a session", per)
	}
	if sessions, _ := tab.count(0, 0); sessions < n-10 {
		t.Fatal(sessions)
	}
}
