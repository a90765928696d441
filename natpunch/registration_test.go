package natpunch

import (
	"net/netip"
	"slices"
	"testing"

	"backstep/natpunch/rendezvous"
)

var (
	testKey    = rendezvous.RegKey{1, 2, 3}
	testLobby  = rendezvous.LobbyID{4, 5, 6}
	relayA     = netip.MustParseAddrPort("198.51.100.10:3478")
	relayB     = netip.MustParseAddrPort("[2001:db8::10]:3478")
	testMapped = netip.MustParseAddrPort("203.0.113.9:41000")
)

func testRegistration(relays ...netip.AddrPort) *registration {
	return newRegistration(&Config{Side: rendezvous.SideJoin, Channel: 77, Expiry: 99, Lobby: testLobby, RegKey: testKey, Relay: relays}, 1000, 0)
}

// frames collects what is sent until the given time, answering nothing.
func sentUntil(t *testing.T, r *registration, from, until int64) (regs []rendezvous.Reg, at []int64, to []netip.AddrPort) {
	t.Helper()
	for now := from; now <= until; now += ms {
		b, dst, _ := r.poll(nil, now)
		if len(b) == 0 {
			continue
		}
		var reg rendezvous.Reg
		if err := rendezvous.ParseReg(b, &reg); err != nil || !rendezvous.CheckTag(b, &testKey) {
			t.Fatalf("bad REG: %v", err)
		}
		regs, at, to = append(regs, reg), append(at, now), append(to, dst)
	}
	return
}

func chal(counter uint64, cookie byte) []byte {
	return rendezvous.AppendChal(nil, &rendezvous.Chal{Side: rendezvous.SideJoin, Channel: 77, Counter: counter, Cookie: rendezvous.CookieValue{cookie}}, &testKey)
}

func ackFrame(counter uint64) []byte {
	return rendezvous.AppendAck(nil, &rendezvous.Ack{Side: rendezvous.SideJoin, Channel: 77, Counter: counter, Addr: testMapped, PeerAge: 3, TTL: 60}, &testKey)
}

func TestRegistrationSequence(t *testing.T) {
	r := testRegistration(relayA)
	regs, _, to := sentUntil(t, r, 0, 0)
	if len(regs) != 1 || !regs[0].Cookie.IsZero() || regs[0].Counter != 1001 || to[0] != relayA ||
		regs[0].Side != rendezvous.SideJoin || regs[0].Channel != 77 || regs[0].Lobby != testLobby || regs[0].Expiry != 99 {
		t.Fatalf("first REG: %+v", regs)
	}
	if acked, _, ok := r.receive(chal(1001, 9), relayA, 40*ms); acked || !ok {
		t.Fatal("challenge refused")
	}
	regs, _, _ = sentUntil(t, r, 40*ms, 40*ms)
	if len(regs) != 1 || regs[0].Cookie != (rendezvous.CookieValue{9}) || regs[0].Counter != 1002 {
		t.Fatalf("answer to the challenge: %+v", regs)
	}
	if acked, _, ok := r.receive(ackFrame(1002), relayA, 80*ms); !acked || !ok {
		t.Fatal("ACK refused")
	}
	if !r.registered || r.mapped != testMapped || r.srtt != 40*ms {
		t.Errorf("registered %v as %v, rtt %d", r.registered, r.mapped, r.srtt)
	}
	if regs, at, _ := sentUntil(t, r, 81*ms, 16_000*ms); len(regs) == 0 || at[0] < 15_000*ms || at[0] > 15_200*ms || regs[0].Cookie.IsZero() {
		t.Errorf("next registration at %v", at)
	}
	if _, _, ok := r.receive(ackFrame(1002), relayA, 16_001*ms); ok {
		t.Error("an ACK of the round before was believed")
	}
}

func TestRegistrationResends(t *testing.T) {
	r := testRegistration(relayA)
	_, at, _ := sentUntil(t, r, 0, 5000*ms)
	want := []int64{0, 100, 200, 300, 500, 900, 1700, 2500, 3300, 4100, 4900}
	if len(at) != len(want) {
		t.Fatalf("sent at %v", at)
	}
	for i := range want {
		if at[i] != want[i]*ms {
			t.Fatalf("sent at %v", at)
		}
	}
}

// TestRegistrationRests: beside a tunnel UDP is asked after 1 s, 2 s and so on, every
// 15 s in the end, and from the start again once it worked.
func TestRegistrationRests(t *testing.T) {
	r := testRegistration(relayA)
	r.rest(0)
	gaps := func(from int64) (out []int64) {
		last := from
		for range 6 {
			for !r.open {
				from += 10 * ms
				r.poll(nil, from)
			}
			out = append(out, (from-last)/ms)
			for r.open {
				from += 10 * ms
				r.poll(nil, from)
			}
			last = from
		}
		return out
	}
	want := []int64{1000, 2000, 4000, 8000, 15000, 15000}
	if got := gaps(0); !slices.Equal(got, want) {
		t.Errorf("asked after %v ms", got)
	}
	r.begin(100_000 * ms)
	r.poll(nil, 100_000*ms)
	if acked, _, _ := r.receive(ackFrame(r.counter), relayA, 100_001*ms); !acked {
		t.Fatal("ACK refused")
	}
	r.rest(200_000 * ms)
	if got := gaps(200_000 * ms); got[0] != want[0] {
		t.Errorf("asked after %v ms once it had worked", got)
	}
}

// TestRegistrationLongRoundTrip: answers that arrive after the next resend still
// count, and the resend time follows.
func TestRegistrationLongRoundTrip(t *testing.T) {
	r := testRegistration(relayA)
	type reply struct {
		at int64
		b  []byte
	}
	var pending []reply
	for now := int64(0); now < 3000*ms && !r.registered; now += ms {
		if b, _, _ := r.poll(nil, now); len(b) > 0 {
			var reg rendezvous.Reg
			_ = rendezvous.ParseReg(b, &reg)
			answer := chal(reg.Counter, 5)
			if !reg.Cookie.IsZero() {
				answer = ackFrame(reg.Counter)
			}
			pending = append(pending, reply{now + 600*ms, answer})
		}
		for len(pending) > 0 && pending[0].at <= now {
			if _, _, ok := r.receive(pending[0].b, relayA, now); !ok {
				t.Fatal("a late answer was refused")
			}
			pending = pending[1:]
		}
	}
	if !r.registered || r.srtt != 600*ms {
		t.Errorf("registered %v, rtt %d ms", r.registered, r.srtt/ms)
	}
}

func TestRegistrationBelieves(t *testing.T) {
	other := rendezvous.RegKey{9}
	cases := []struct {
		name string
		b    []byte
		from netip.AddrPort
		want Drop
	}{
		{"foreign source", ackFrame(1001), netip.MustParseAddrPort("198.51.100.10:3479"), DropRelaySource},
		{"wrong tag", rendezvous.AppendAck(nil, &rendezvous.Ack{Side: rendezvous.SideJoin, Channel: 77, Counter: 1001, Addr: testMapped}, &other), relayA, DropRelayForged},
		{"other channel", rendezvous.AppendAck(nil, &rendezvous.Ack{Side: rendezvous.SideJoin, Channel: 78, Counter: 1001, Addr: testMapped}, &testKey), relayA, DropRelayForged},
		{"other side", rendezvous.AppendAck(nil, &rendezvous.Ack{Side: rendezvous.SideHost, Channel: 77, Counter: 1001, Addr: testMapped}, &testKey), relayA, DropRelayForged},
		{"old counter", ackFrame(1000), relayA, DropRelayForged},
		{"counter never sent", ackFrame(1002), relayA, DropRelayForged},
		{"challenge with a counter never sent", chal(1002, 1), relayA, DropRelayForged},
		{"short", ackFrame(1001)[:60], relayA, DropRelayMalformed},
		{"reserved type", append([]byte{0xF5}, ackFrame(1001)[1:]...), relayA, DropRelayMalformed},
		{"one byte", []byte{0xF2}, relayA, DropRelayMalformed},
	}
	for _, c := range cases {
		r := testRegistration(relayA)
		sentUntil(t, r, 0, 0)
		if acked, why, ok := r.receive(c.b, c.from, 1); ok || acked || why != c.want || r.registered {
			t.Errorf("%s: ok %v, %v", c.name, ok, why)
		}
	}
	r := testRegistration(relayA)
	sentUntil(t, r, 0, 0)
	for i := range ackFrame(1001) {
		b := ackFrame(1001)
		b[i] ^= 4
		if _, _, ok := r.receive(b, relayA, 1); ok {
			t.Errorf("flipped bit in byte %d believed", i)
		}
	}
}

// TestRegistrationPingPong: a relay that challenges every frame with another
// cookie cannot make us answer at the speed of the network.
func TestRegistrationPingPong(t *testing.T) {
	r := testRegistration(relayA)
	sent := 0
	for now := int64(0); now < 1000*ms; now += ms {
		if b, _, _ := r.poll(nil, now); len(b) > 0 {
			sent++
			r.receive(chal(r.counter, byte(sent)), relayA, now)
		}
	}
	if sent > 16 {
		t.Errorf("%d frames in a second", sent)
	}
}

func TestRegistrationTriesNextEndpoint(t *testing.T) {
	r := testRegistration(relayA, relayB)
	_, _, to := sentUntil(t, r, 0, 2000*ms)
	if to[0] != relayA || to[2] != relayA || to[3] != relayB {
		t.Errorf("went to %v", to)
	}
	if acked, _, ok := r.receive(ackFrame(r.counter), relayB, 2001*ms); !acked || !ok || r.relay() != relayB {
		t.Error("second endpoint not adopted")
	}
}

func TestRegistrationAllocates(t *testing.T) {
	r := testRegistration(relayA)
	now, buf := int64(0), make([]byte, 0, 200)
	reply := ackFrame(0)
	if n := testing.AllocsPerRun(200, func() {
		now += 20_000 * ms
		buf, _, _ = r.poll(buf[:0], now)
		r.receive(reply, relayA, now) // a counter of an earlier round: refused
		r.open = false
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func FuzzRegistrationReceive(f *testing.F) {
	f.Add(ackFrame(1001))
	f.Add(chal(1001, 1))
	f.Add([]byte{0xF2})
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) == 0 {
			return
		}
		r := testRegistration(relayA)
		r.poll(nil, 0)
		acked, why, ok := r.receive(b, relayA, 5)
		if !ok && why.String() == "unknown" || acked && !ok {
			t.Fatal("dropped without a reason")
		}
	})
}
