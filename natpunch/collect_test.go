package natpunch

import (
	"errors"
	"net"
	"net/netip"
	"slices"
	"testing"

	"github.com/pion/stun/v2"

	"backstep/natpunch/rendezvous"
	"backstep/natpunch/stunguard"
)

func addrs(list ...string) (out []netip.Addr) {
	for _, s := range list {
		out = append(out, netip.MustParseAddr(s))
	}
	return
}

func TestFilterLocals(t *testing.T) {
	all := addrs("127.0.0.1", "::1", "10.1.0.2", "169.254.3.4", "fe80::1%eth0", "2001:db8::1", "::ffff:10.1.0.2", "224.0.0.1", "0.0.0.0",
		"10.0.0.1", "10.0.0.2", "10.0.0.3", "10.0.0.4")
	if got := filterLocals(all, false); !slices.Equal(got, addrs("10.1.0.2", "2001:db8::1", "10.0.0.1", "10.0.0.2", "10.0.0.3")) {
		t.Errorf("offered %v", got)
	}
	if got := filterLocals(all, true); !slices.Equal(got, addrs("127.0.0.1", "::1")) {
		t.Errorf("with a relay on loopback %v", got)
	}
	for _, name := range []string{"docker0", "br-12ab", "veth9", "virbr0", "vEthernet (WSL)"} {
		if !virtualInterface(name) {
			t.Errorf("%s is offered", name)
		}
	}
	for _, name := range []string{"eth0", "wlan0", "en0", "Ethernet", "bridge100"} {
		if virtualInterface(name) {
			t.Errorf("%s is not offered", name)
		}
	}
	for _, a := range LocalAddrs(true) {
		if !a.IsLoopback() {
			t.Errorf("%v is not loopback", a)
		}
	}
	for _, a := range LocalAddrs(false) {
		if a.IsLoopback() || a.IsLinkLocalUnicast() {
			t.Errorf("%v offered", a)
		}
	}
}

func kinds(g gathered) (out []string) {
	for _, c := range g.list {
		out = append(out, map[rendezvous.CandidateKind]string{1: "host ", 2: "srflx "}[c.Kind]+c.Addr.String())
	}
	return
}

func TestCollect(t *testing.T) {
	any4 := &net.UDPAddr{IP: net.IPv4zero, Port: 5000}
	any6 := &net.UDPAddr{IP: net.IPv6unspecified, Port: 5000}
	one := &net.UDPAddr{IP: net.IPv4(10, 1, 0, 2), Port: 5000}
	locals := addrs("10.1.0.2", "192.168.7.7", "2001:db8::1")
	seen := []netip.AddrPort{netip.MustParseAddrPort("203.0.113.9:41000"), netip.MustParseAddrPort("203.0.113.9:41001")}
	cases := []struct {
		name     string
		local    net.Addr
		loopback bool
		allowed  Allowed
		seen     []netip.AddrPort
		want     []string
		bases    int
	}{
		{"both families", any6, false, AllowAuto, seen[:1], []string{"host 10.1.0.2:5000", "host 192.168.7.7:5000", "host [2001:db8::1]:5000", "srflx 203.0.113.9:41000"}, 2},
		{"IPv4 socket", any4, false, AllowAuto, seen[:1], []string{"host 10.1.0.2:5000", "host 192.168.7.7:5000", "srflx 203.0.113.9:41000"}, 1},
		{"bound to one address", one, false, AllowAuto, nil, []string{"host 10.1.0.2:5000"}, 1},
		{"lan only", any6, false, AllowLAN, seen[:1], []string{"host 10.1.0.2:5000", "host 192.168.7.7:5000"}, 2},
		{"direct only", any6, false, AllowDirect, seen[:1], []string{"host [2001:db8::1]:5000", "srflx 203.0.113.9:41000"}, 2},
		{"symmetric NAT", one, false, AllowAuto, seen, []string{"host 10.1.0.2:5000", "srflx 203.0.113.9:41000", "srflx 203.0.113.9:41001"}, 1},
		{"no NAT", one, false, AllowAuto, []netip.AddrPort{netip.MustParseAddrPort("10.1.0.2:5000")}, []string{"host 10.1.0.2:5000"}, 1},
		{"loopback relay without loopback addresses", any6, true, AllowAuto, nil, nil, 1},
		{"relay only", any6, false, AllowRelay, seen, nil, 2},
	}
	for _, c := range cases {
		g := collect(c.local, locals, c.loopback, c.allowed, c.seen)
		if got := kinds(g); !slices.Equal(got, c.want) || len(g.bases) != c.bases {
			t.Errorf("%s: %v, %d bases", c.name, got, len(g.bases))
		}
	}
	if !symmetricNAT(collect(one, locals, false, AllowAuto, seen).list) || symmetricNAT(collect(any6, locals, false, AllowAuto, seen[:1]).list) {
		t.Error("symmetric NAT misjudged")
	}
}

func cand(kind rendezvous.CandidateKind, a string) rendezvous.Candidate {
	return rendezvous.Candidate{Kind: kind, Addr: netip.MustParseAddrPort(a)}
}

// TestUsable: an opponent cannot send us to loopback, to link-local addresses,
// to a path we do not allow or to a crowd.
func TestUsable(t *testing.T) {
	list := []rendezvous.Candidate{cand(1, "127.0.0.1:1"), cand(1, "10.0.0.1:2"), cand(2, "203.0.113.1:3"), cand(1, "10.0.0.1:2"), cand(1, "[fe80::1]:4"), cand(1, "169.254.0.1:5")}
	count := func(loopback bool, a Allowed) int { return len(usable(list, loopback, a)) }
	if count(false, AllowAuto) != 2 || count(true, AllowAuto) != 3 || count(false, AllowLAN) != 1 || count(false, AllowDirect) != 1 || count(false, AllowRelay) != 0 {
		t.Error(count(false, AllowAuto), count(true, AllowAuto), count(false, AllowLAN), count(false, AllowDirect))
	}
	var crowd []rendezvous.Candidate
	for i := range rendezvous.MaxCandidates {
		crowd = append(crowd, rendezvous.Candidate{Kind: 2, Addr: netip.AddrPortFrom(netip.AddrFrom4([4]byte{203, 0, 113, byte(i)}), 9)})
	}
	if n := len(usable(crowd, false, AllowAuto)); n != maxRemotes {
		t.Errorf("%d of a crowd", n)
	}
}

func TestClassify(t *testing.T) {
	list := []rendezvous.Candidate{cand(1, "10.0.0.1:2"), cand(2, "203.0.113.1:3"), cand(1, "[fd00::1]:2"), cand(1, "127.0.0.1:2"), cand(2, "100.64.0.9:4"),
		cand(1, "192.0.2.7:2"), cand(1, "[2001:db8:1::9]:2"), cand(1, "[2001:db8:2::9]:2"), cand(2, "[2001:db8:1::8]:2")}
	locals := addrs("192.0.2.7", "2001:db8:1::7")
	for a, want := range map[string]string{
		"10.0.0.1:2": "lan host", "10.0.0.1:9": "lan prflx", "[fd00::1]:2": "lan host", "127.0.0.1:2": "lan host", "203.0.113.1:3": "direct srflx",
		"203.0.113.1:4": "direct prflx", "10.9.9.9:1": "direct prflx", "100.64.0.9:4": "direct srflx",
		"192.0.2.7:2": "lan host", "192.0.2.7:5": "lan prflx", "[2001:db8:1::9]:2": "lan host", "[2001:db8:2::9]:2": "direct host",
		"[2001:db8:1::8]:2": "direct srflx",
	} {
		r := netip.MustParseAddrPort(a)
		if got := classify(r, list, locals).String() + " " + candidateKind(r, list); got != want {
			t.Errorf("%s: %s, want %s", a, got, want)
		}
	}
}

func TestAllowed(t *testing.T) {
	for in, want := range map[string]string{"auto": "auto", "LAN, relay": "lan,relay", "tunnel": "tunnel", "relay,auto": "auto"} {
		a, err := ParseAllowed(in)
		if err != nil || a.String() != want {
			t.Errorf("%q: %v %v", in, a, err)
		}
	}
	for _, in := range []string{"", "udp", "lan,,relay", "lan;relay"} {
		if _, err := ParseAllowed(in); !errors.Is(err, ErrAllowed) {
			t.Errorf("%q: %v", in, err)
		}
	}
	if a, err := AllowAuto.And(AllowRelay | AllowTunnel); err != nil || !a.Hides() {
		t.Error(a, err)
	}
	if a, err := Allowed(0).And(AllowLAN); err != nil || a != AllowLAN || a.Hides() {
		t.Error(a, err)
	}
	if _, err := AllowLAN.And(AllowRelay); !errors.Is(err, ErrNoCommonPath) {
		t.Error(err)
	}
}

func TestReflexive(t *testing.T) {
	answer := func(req []byte, mapped string) []byte {
		m := &stun.Message{Raw: append([]byte(nil), req...)}
		if err := m.Decode(); err != nil {
			t.Fatal(err)
		}
		a := netip.MustParseAddrPort(mapped)
		return stun.MustBuild(m, stun.BindingSuccess, &stun.XORMappedAddress{IP: a.Addr().AsSlice(), Port: int(a.Port())}, stun.Fingerprint).Raw
	}
	own := addrs("192.0.2.7")
	for _, c := range []struct {
		a, b string
		want Mapping
	}{
		{"203.0.113.9:1000", "203.0.113.9:1000", MappingIndependent},
		{"203.0.113.9:1000", "203.0.113.9:1001", MappingDependent},
		{"192.0.2.7:5000", "192.0.2.7:5000", MappingNone},
		{"203.0.113.9:1000", "", MappingUnknown},
		{"", "", MappingUnknown},
	} {
		r := newReflexive(relayA, 0)
		sent := 0
		for now := int64(0); now < 3000*ms; now += ms {
			b, to, _ := r.poll(nil, now)
			if len(b) == 0 {
				continue
			}
			sent++
			if len(b) != stunguard.RequestSize || to.Addr() != relayA.Addr() {
				t.Fatal(len(b), to)
			}
			mapped := c.a
			if to.Port() != relayA.Port() {
				mapped = c.b
			}
			if mapped == "" {
				continue
			}
			reply := answer(b, mapped)
			if r.receive(reply, netip.MustParseAddrPort("198.51.100.10:9")) || r.receive(reply[:len(reply)-1], to) {
				t.Error("a foreign or cut answer was taken")
			}
			if !r.receive(reply, to) {
				t.Error("answer refused")
			}
		}
		if got := r.mapping(netip.AddrPort{}, 5000, own); got != c.want {
			t.Errorf("%v: %v", c, got)
		}
		if c.a == "" && sent != 2*stunRetries {
			t.Errorf("%d requests without answers", sent)
		}
	}
	last := newReflexive(netip.MustParseAddrPort("192.0.2.1:65535"), 0)
	for now := int64(0); now < 3000*ms; now += ms {
		if b, to, _ := last.poll(nil, now); len(b) > 0 && to.Port() != 65535 {
			t.Errorf("asked %v", to)
		}
	}
}
