package natclass

import (
	"context"
	"encoding/binary"
	"net"
	"net/netip"
	"testing"
	"time"

	"pgregory.net/rapid"

	"backstep/natpunch/stunguard"
)

var (
	home    = netip.MustParseAddrPort("192.168.1.5:5000")
	outside = netip.MustParseAddr("203.0.113.7")
	relay   = netip.MustParseAddrPort("198.51.100.10:3478")
	next    = netip.MustParseAddrPort("198.51.100.10:3479")
	far     = netip.MustParseAddrPort("198.51.100.11:3478")
	farNext = netip.MustParseAddrPort("198.51.100.11:3479")
)

// answer is a server's success answer to a request of ours.
func answer(request []byte, seen netip.AddrPort) []byte {
	b := binary.BigEndian.AppendUint16(nil, 0x0101)
	b = binary.BigEndian.AppendUint16(b, 12)
	b = append(b, request[4:20]...)
	b = append(b, 0, 0x20, 0, 8, 0, 1)
	b = binary.BigEndian.AppendUint16(b, seen.Port()^0x2112)
	ip := seen.Addr().As4()
	return binary.BigEndian.AppendUint32(b, binary.BigEndian.Uint32(ip[:])^0x2112A442)
}

// wants finds CHANGE-REQUEST where our client puts it: first.
func wants(request []byte) uint32 {
	if binary.BigEndian.Uint16(request[20:]) != 3 {
		return 0
	}
	return binary.BigEndian.Uint32(request[24:])
}

// nat is a NAT and a relay behind it, in virtual time.
type nat struct {
	mapping   Mapping
	filtering Filtering
	deaf      map[netip.AddrPort]bool // ports of the relay that do not answer
	noChange  bool                    // the relay does not know CHANGE-REQUEST
	alone     bool                    // the relay has one address; the second one is another relay's
	lose      int                     // of every four requests, lose this many
	sent      []netip.AddrPort        // destinations, in order
	open      map[netip.AddrPort]bool
}

func (n *nat) outside(to netip.AddrPort) netip.AddrPort {
	switch n.mapping {
	case NoMapping:
		return home
	case IndependentMapping:
		return netip.AddrPortFrom(outside, 5000)
	case AddressDependentMapping:
		return netip.AddrPortFrom(outside, 6000+uint16(to.Addr().As4()[3]))
	}
	return netip.AddrPortFrom(outside, 6000+uint16(to.Addr().As4()[3])+to.Port())
}

// lets reports whether the NAT lets a datagram of that address in.
func (n *nat) lets(from netip.AddrPort) bool {
	switch n.filtering {
	case NoFiltering:
		return true
	case PortFiltering:
		return n.open[from]
	}
	for a := range n.open {
		if a.Addr() == from.Addr() {
			return true
		}
	}
	return false
}

// discover runs d against n and returns the virtual time it took.
func (n *nat) discover(t interface{ Fatalf(string, ...any) }, d *Discovery) int64 {
	const rtt = 40_000
	type arrival struct {
		at   int64
		from netip.AddrPort
		b    []byte
	}
	n.open = map[netip.AddrPort]bool{}
	var queue []arrival
	now := int64(0)
	for range 1000 {
		for len(queue) > 0 && queue[0].at <= now {
			d.Receive(queue[0].b, queue[0].from, now)
			queue = queue[1:]
		}
		b, to, wake := d.Poll(nil, now)
		if to.IsValid() {
			n.sent = append(n.sent, to)
			n.open[to] = true
			from, change := to, wants(b)
			if change&2 != 0 {
				from = netip.AddrPortFrom(to.Addr(), to.Port()+1)
			}
			if change&4 != 0 {
				from = netip.AddrPortFrom(far.Addr(), from.Port())
			}
			lost := len(n.sent)%4 < n.lose || n.deaf[to] || n.deaf[from] || n.noChange && from != to || n.alone && change&4 != 0
			if !lost && n.lets(from) {
				queue = append(queue, arrival{now + rtt, from, answer(b, n.outside(to))})
			}
		}
		if wake == 0 {
			if !d.Done(now) {
				t.Fatalf("no wake, but not done")
			}
			return now
		}
		if wake <= now {
			t.Fatalf("wakes at %d, now is %d", wake, now)
		}
		now = wake
		if len(queue) > 0 && queue[0].at < now {
			now = queue[0].at
		}
	}
	t.Fatalf("the discovery does not end")
	return 0
}

func TestClasses(t *testing.T) {
	silent := func(a ...netip.AddrPort) map[netip.AddrPort]bool {
		m := map[netip.AddrPort]bool{}
		for _, x := range a {
			m[x] = true
		}
		return m
	}
	for _, tt := range []struct {
		name      string
		nat       nat
		second    netip.AddrPort
		mapping   Mapping
		filtering Filtering
		sure      bool
		most      time.Duration
	}{
		{"no NAT", nat{mapping: NoMapping, filtering: NoFiltering}, netip.AddrPort{}, NoMapping, OpenFiltering, false, 200 * time.Millisecond},
		{"no NAT, two addresses", nat{mapping: NoMapping, filtering: NoFiltering}, far, NoMapping, NoFiltering, false, 200 * time.Millisecond},
		{"a firewall alone", nat{mapping: NoMapping, filtering: PortFiltering}, netip.AddrPort{}, NoMapping, PortFiltering, false, 1200 * time.Millisecond},
		{"full cone", nat{mapping: IndependentMapping, filtering: NoFiltering}, far, IndependentMapping, NoFiltering, true, 250 * time.Millisecond},
		{"full cone, another relay", nat{mapping: IndependentMapping, filtering: NoFiltering, alone: true}, far, IndependentMapping, OpenFiltering, true, 2300 * time.Millisecond},
		{"address-restricted", nat{mapping: IndependentMapping, filtering: AddressFiltering}, far, IndependentMapping, AddressFiltering, true, 1300 * time.Millisecond},
		{"address-restricted, one address", nat{mapping: IndependentMapping, filtering: AddressFiltering}, netip.AddrPort{}, IndependentMapping, OpenFiltering, false, 200 * time.Millisecond},
		{"address-restricted, another relay", nat{mapping: IndependentMapping, filtering: AddressFiltering, alone: true}, far, IndependentMapping, OpenFiltering, true, 2300 * time.Millisecond},
		{"port-restricted", nat{mapping: IndependentMapping, filtering: PortFiltering}, far, IndependentMapping, PortFiltering, true, 2300 * time.Millisecond},
		{"one relay address", nat{mapping: IndependentMapping, filtering: PortFiltering}, netip.AddrPort{}, IndependentMapping, PortFiltering, false, 1200 * time.Millisecond},
		{"address-dependent", nat{mapping: AddressDependentMapping, filtering: PortFiltering}, far, AddressDependentMapping, PortFiltering, false, 2300 * time.Millisecond},
		{"address-dependent both ways", nat{mapping: AddressDependentMapping, filtering: AddressFiltering}, far, AddressDependentMapping, AddressFiltering, false, 1300 * time.Millisecond},
		{"address-dependent, one address", nat{mapping: AddressDependentMapping, filtering: PortFiltering}, netip.AddrPort{}, IndependentMapping, PortFiltering, false, 1200 * time.Millisecond},
		{"symmetric", nat{mapping: PortDependentMapping, filtering: PortFiltering}, netip.AddrPort{}, PortDependentMapping, PortFiltering, false, 1200 * time.Millisecond},
		{"symmetric, two addresses", nat{mapping: PortDependentMapping, filtering: PortFiltering}, far, PortDependentMapping, PortFiltering, false, 2300 * time.Millisecond},
		{"PORT+1 is silent", nat{mapping: IndependentMapping, filtering: AddressFiltering, deaf: silent(next)}, netip.AddrPort{}, UnknownMapping, UnknownFiltering, false, 3400 * time.Millisecond},
		{"PORT+1 is silent, two addresses", nat{mapping: PortDependentMapping, deaf: silent(next, farNext)}, far, AddressDependentMapping, UnknownFiltering, false, 4500 * time.Millisecond},
		{"the second address is silent", nat{mapping: IndependentMapping, filtering: AddressFiltering, deaf: silent(far, farNext)}, far, IndependentMapping, OpenFiltering, false, 3500 * time.Millisecond},
		{"PORT is silent", nat{mapping: IndependentMapping, deaf: silent(relay)}, far, UnknownMapping, UnknownFiltering, false, 2300 * time.Millisecond},
		{"CHANGE-REQUEST is not known", nat{mapping: IndependentMapping, filtering: NoFiltering, noChange: true}, far, IndependentMapping, PortFiltering, true, 2300 * time.Millisecond},
		{"loses a quarter", nat{mapping: IndependentMapping, filtering: NoFiltering, lose: 1}, far, IndependentMapping, NoFiltering, true, 2 * time.Second},
		{"loses half", nat{mapping: PortDependentMapping, filtering: PortFiltering, lose: 2}, far, PortDependentMapping, PortFiltering, false, 5 * time.Second},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := New(relay, tt.second)
			took := tt.nat.discover(t, d)
			c := d.Class(home.Port(), []netip.Addr{home.Addr()})
			if c.Mapping != tt.mapping || c.Filtering != tt.filtering || c.SecondAddress != tt.sure {
				t.Errorf("%v, %v, second address %v; want %v, %v, %v", c.Mapping, c.Filtering, c.SecondAddress, tt.mapping, tt.filtering, tt.sure)
			}
			if limit := tt.most.Microseconds(); took > limit {
				t.Errorf("took %d us, want %d at most", took, limit)
			}
			if c.Answered != (len(c.Seen) > 0) || c.Answered != (c.RTT > 0) {
				t.Errorf("answered %v, seen %v, round trip %v", c.Answered, c.Seen, c.RTT)
			}
			if c.Answered && tt.nat.lose == 0 && c.RTT != 40*time.Millisecond {
				t.Errorf("round trip %v, want 40 ms", c.RTT)
			}
			if want := c.Answered && tt.nat.mapping <= IndependentMapping; c.KeepsPort != want {
				t.Errorf("keeps its port: %v", c.KeepsPort)
			}
		})
	}
}

// PORT+1 must not be sent to before the question whether it may answer unasked
// has been put, or every NAT would seem open.
func TestOrderOfSteps(t *testing.T) {
	n := nat{mapping: IndependentMapping, filtering: PortFiltering}
	n.discover(t, New(relay, far))
	stage := 0
	for _, to := range n.sent {
		at := map[netip.AddrPort]int{relay: 0, next: 1, far: 2}[to]
		if at < stage {
			t.Fatalf("asked in the order %v", n.sent)
		}
		stage = at
	}
	if stage != 2 {
		t.Fatalf("asked %v only", n.sent)
	}
}

// The last port has no next one: nothing is asked at port 0.
func TestLastPort(t *testing.T) {
	n := nat{mapping: IndependentMapping, filtering: NoFiltering}
	last := netip.AddrPortFrom(relay.Addr(), 65535)
	d := New(last, netip.AddrPort{})
	n.discover(t, d)
	for _, to := range n.sent {
		if to != last {
			t.Errorf("asked %v", to)
		}
	}
	if c := d.Class(home.Port(), nil); !c.Answered || c.Mapping != UnknownMapping || c.Filtering != UnknownFiltering {
		t.Errorf("class %+v", c)
	}
}

// Only the asked address, with the transaction of the request, is believed.
func TestForgedAnswers(t *testing.T) {
	d := New(relay, netip.AddrPort{})
	b, _, _ := d.Poll(nil, 0)
	lie := netip.AddrPortFrom(netip.MustParseAddr("192.0.2.66"), 66)
	if d.Receive(answer(b, lie), next, 1) || d.Receive(answer(b, lie), far, 1) {
		t.Error("an answer from elsewhere was taken")
	}
	other := stunguard.AppendRequest(nil, stunguard.TransactionID{1})
	if d.Receive(answer(other, lie), relay, 1) {
		t.Error("an answer to another request was taken")
	}
	if !d.Receive(answer(b, home), relay, 1) || !d.Receive(answer(b, lie), relay, 2) {
		t.Error("our answers were not recognised")
	}
	if c := d.Class(0, nil); len(c.Seen) != 1 || c.Seen[0] != home {
		t.Errorf("seen %v: the second answer replaced the first", c.Seen)
	}
}

// Whatever is lost, a discovery ends, and never claims more than it saw: a
// mapping that is independent is not called symmetric, and an open filter is not
// called closed unless all three requests for another port or address were lost.
func TestLossyProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := nat{
			mapping:   Mapping(rapid.IntRange(1, 4).Draw(t, "mapping")),
			filtering: Filtering(rapid.IntRange(int(NoFiltering), int(PortFiltering)).Draw(t, "filtering")),
			lose:      rapid.IntRange(0, 4).Draw(t, "lose"),
			alone:     rapid.Bool().Draw(t, "alone"),
			deaf:      map[netip.AddrPort]bool{},
		}
		for _, a := range []netip.AddrPort{relay, next, far, farNext} {
			n.deaf[a] = rapid.Bool().Draw(t, a.String())
		}
		d := New(relay, far)
		if took := n.discover(t, d); took > 6*2_250_000 {
			t.Fatalf("took %d us", took)
		}
		c := d.Class(home.Port(), []netip.Addr{home.Addr()})
		if c.Mapping != UnknownMapping && c.Mapping.Symmetric() != n.mapping.Symmetric() && n.mapping != AddressDependentMapping {
			t.Fatalf("%v was called %v", n.mapping, c.Mapping)
		}
		// Silence is what loss and a filter have in common, so a filter may seem
		// closer than it is, never more open.
		most := map[Filtering]Filtering{UnknownFiltering: PortFiltering, OpenFiltering: AddressFiltering}
		closest, ok := most[c.Filtering]
		if !ok {
			closest = c.Filtering
		}
		if n.filtering > closest {
			t.Fatalf("%v was called %v", n.filtering, c.Filtering)
		}
		if c.Filtering == AddressFiltering && n.alone {
			t.Fatal("a relay with one address told a filter by address from none")
		}
	})
}

// Over real sockets: nobody between, and then nobody there.
func TestRun(t *testing.T) {
	server, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		b := make([]byte, 1500)
		for {
			n, from, err := server.ReadFromUDPAddrPort(b)
			if err != nil {
				return
			}
			if wants(b[:n]) == 0 {
				_, _ = server.WriteToUDPAddrPort(answer(b[:n], from), from)
			}
		}
	}()
	c, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	local := c.LocalAddr().(*net.UDPAddr).AddrPort()
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	d := New(server.LocalAddr().(*net.UDPAddr).AddrPort(), netip.AddrPort{})
	if err := d.Run(ctx, c); err != context.DeadlineExceeded {
		t.Errorf("Run with a silent PORT+1: %v", err)
	}
	if got := d.Class(local.Port(), []netip.Addr{local.Addr()}); got.Mapping != NoMapping || got.RTT <= 0 {
		t.Errorf("class %+v", got)
	}
	server.Close()
	_ = c.Close()
	if err := New(local, netip.AddrPort{}).Run(t.Context(), c); err == nil {
		t.Error("no error from a closed socket")
	}
}
