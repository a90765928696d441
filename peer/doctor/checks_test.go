package doctor

import (
	"errors"
	"net/netip"
	"strings"
	"testing"
	"time"

	"backstep/natpunch/gateway"
	"backstep/natpunch/natclass"
	"backstep/natpunch/portmap"
)

func addr(s string) netip.Addr { return netip.MustParseAddr(s) }

var (
	relay4 = netip.MustParseAddrPort("198.51.100.10:3478")
	relay6 = netip.MustParseAddrPort("[2001:db8::10]:3478")
	seen4  = netip.MustParseAddrPort("203.0.113.7:40000")
)

// healthy is a home with a cable, a cone NAT and a near relay.
func healthy() *Facts {
	return &Facts{
		Locals: []netip.Addr{addr("192.168.1.5"), addr("2600::5")},
		Route:  gateway.Route{Router: addr("192.168.1.1"), Local: addr("192.168.1.5"), Interface: "eth0"}, Medium: Wired,
		Relay: "relay.example", RelayAddr: [2]netip.AddrPort{relay4, relay6}, TCP: 21 * time.Millisecond, Tried: 1,
		Class: [2]natclass.Class{
			{Mapping: natclass.IndependentMapping, Filtering: natclass.PortFiltering, Answered: true, Seen: []netip.AddrPort{seen4}, RTT: 20 * time.Millisecond},
			{Mapping: natclass.NoMapping, Filtering: natclass.PortFiltering, Answered: true, Seen: []netip.AddrPort{netip.MustParseAddrPort("[2600::5]:1")}, RTT: 19 * time.Millisecond},
		},
		Dated: true, RouterAsked: true,
		Router: []portmap.Answer{{Protocol: "PCP", Err: portmap.ErrSilent}, {Protocol: "NAT-PMP", Err: portmap.ErrSilent}, {Protocol: "UPnP", Outside: seen4.Addr()}},
	}
}

func noRelayKnown(f *Facts) {
	f.Relay, f.RelayAddr, f.TCP, f.Class, f.Dated, f.Tried = "", [2]netip.AddrPort{}, 0, [2]natclass.Class{}, false, 0
}

func udpBlocked(f *Facts) { f.Class = [2]natclass.Class{} }

func relayGone(f *Facts) {
	f.Class, f.TCP, f.Dated, f.RelayErr = [2]natclass.Class{}, 0, false, errors.New("connection refused")
}

func symmetricNAT(f *Facts) { f.Class[0].Mapping = natclass.PortDependentMapping }

func noPortMapping(f *Facts) { f.Router[2] = portmap.Answer{Protocol: "UPnP", Err: portmap.ErrSilent} }

func both(all ...func(*Facts)) func(*Facts) {
	return func(f *Facts) {
		for _, x := range all {
			x(f)
		}
	}
}

// Every finding, its severity, and what its sentences must say.
func TestFindings(t *testing.T) {
	for _, tt := range []struct {
		name     string
		check    func(*Facts) Finding
		change   func(*Facts)
		severity Severity
		says     string // in summary, meaning or advice
	}{
		{"", network, func(*Facts) {}, OK, "IPv4 and IPv6"},
		{"IPv4 only", network, func(f *Facts) { f.Locals = f.Locals[:1] }, OK, "with IPv4."},
		{"IPv6 only", network, func(f *Facts) { f.Locals = f.Locals[1:] }, OK, "with IPv6."},
		{"no address", network, func(f *Facts) { f.Locals = nil }, Error, "Plug in"},
		{"no way out", network, func(f *Facts) { f.Locals, f.RouteErr = f.Locals[:1], gateway.ErrNone }, Warning, "no route leads out"},

		{"cable", link, func(*Facts) {}, OK, "cable"},
		{"Wi-Fi", link, func(f *Facts) { f.Medium = WiFi }, Note, "Use a cable"},
		{"VPN", link, func(f *Facts) { f.Medium = Tunnel }, Note, "VPN"},
		{"not known", link, func(f *Facts) { f.Medium = UnknownMedium }, Unknown, "not known"},

		{"near", relay, func(*Facts) {}, OK, "answers in 19 ms"},
		{"not known", relay, noRelayKnown, Unknown, "--relay HOST"},
		{"far", relay, func(f *Facts) { f.Class[0].RTT, f.Class[1].RTT = 240*time.Millisecond, 0 }, Warning, "240 ms"},
		{"UDP blocked", relay, udpBlocked, OK, "answers in 21 ms"},
		{"gone", relay, relayGone, Error, "does not answer (connection refused)"},
		{"TCP blocked", relay, func(f *Facts) { f.TCP, f.RelayErr = 0, errors.New("i/o timeout") }, Error, "TCP port does not accept"},
		{"the second of two", relay, func(f *Facts) { f.Tried = 2 }, Note, "named before it did not answer"},

		{"through", udp, func(*Facts) {}, OK, "gets through"},
		{"lossy", udp, func(f *Facts) { f.Class[0].Resent = 3 }, Note, "3 requests"},
		{"blocked", udp, udpBlocked, Warning, "UDP is blocked"},
		{"relay gone", udp, relayGone, Unknown, "neither on UDP nor on TCP"},
		{"no relay", udp, noRelayKnown, Unknown, "No relay is known"},

		{"cone", nat4, func(*Facts) {}, OK, "all but opponents behind a symmetric NAT"},
		{"open cone", nat4, func(f *Facts) { f.Class[0].Filtering = natclass.OpenFiltering }, OK, "everybody"},
		{"full cone", nat4, func(f *Facts) { f.Class[0].Filtering = natclass.NoFiltering }, OK, "lets everybody in"},
		{"address-restricted", nat4, func(f *Facts) { f.Class[0].Filtering = natclass.AddressFiltering }, OK, "paths to everybody"},
		{"one relay address", nat4, func(f *Facts) { f.Class[0].SecondAddress = false }, OK, "as far as one relay address can tell"},
		{"none", nat4, func(f *Facts) { f.Class[0].Mapping, f.Class[0].Filtering = natclass.NoMapping, natclass.OpenFiltering }, OK, "no NAT"},
		{"a firewall", nat4, func(f *Facts) { f.Class[0].Mapping = natclass.NoMapping }, OK, "A firewall"},
		{"symmetric, port mapping", nat4, symmetricNAT, Note, "UPnP"},
		{"symmetric", nat4, both(symmetricNAT, noPortMapping), Warning, "Switch on UPnP"},
		{"address-dependent", nat4, both(func(f *Facts) { f.Class[0].Mapping = natclass.AddressDependentMapping }, noPortMapping), Warning, "symmetric NAT"},
		{"one port answers", nat4, func(f *Facts) { f.Class[0].Mapping, f.Class[0].Filtering = 0, 0 }, Unknown, "one port only"},
		{"UDP blocked", nat4, udpBlocked, Unknown, "See to UDP first"},
		{"relay gone", nat4, relayGone, Unknown, "See to the relay first"},
		{"no relay", nat4, noRelayKnown, Unknown, "No relay is known"},
		{"no IPv4", nat4, func(f *Facts) { f.Locals = f.Locals[1:] }, Note, "no IPv4 address"},
		{"the relay has none", nat4, func(f *Facts) { f.RelayAddr[0] = netip.AddrPort{} }, Unknown, "relay has no IPv4"},
		{"the relay is here", nat4, func(f *Facts) {
			f.RelayAddr[0], f.Class[0].Mapping = netip.MustParseAddrPort("192.168.1.9:3478"), natclass.NoMapping
		}, Unknown, "own network"},
		{"", nat6, func(*Facts) {}, OK, "no NAT"},
		{"no IPv6", nat6, func(f *Facts) { f.Locals = f.Locals[:1] }, Note, "no IPv6"},
		{"the relay has none", nat6, func(f *Facts) { f.RelayAddr[1] = netip.AddrPort{} }, Unknown, "relay has no IPv6"},

		{"seen", external, func(*Facts) {}, OK, "2 addresses"},
		{"one", external, func(f *Facts) { f.Class[1].Seen = nil }, OK, "one address"},
		{"two lines", external, func(f *Facts) {
			f.Class[0].Seen = append(f.Class[0].Seen, netip.MustParseAddrPort("203.0.113.8:40000"))
		}, Warning, "different IPv4 addresses"},
		{"no answer", external, udpBlocked, Unknown, "See to the relay and to UDP first"},
		{"no relay", external, noRelayKnown, Unknown, "--relay HOST"},

		{"UPnP", portMapping, func(*Facts) {}, OK, "by UPnP"},
		{"none", portMapping, noPortMapping, Note, "PCP, NAT-PMP, UPnP"},
		{"refused", portMapping, func(f *Facts) { f.Router[2] = portmap.Answer{Protocol: "UPnP", Err: portmap.ErrRefused} }, Note, "refuses"},
		{"into nowhere", portMapping, func(f *Facts) { f.Router[2].Outside = addr("100.64.3.4") }, Note, "another NAT"},
		{"not needed", portMapping, both(noPortMapping, func(f *Facts) { f.Class[0].Mapping = natclass.NoMapping }), OK, "No port has to be mapped"},
		{"not asked", portMapping, func(f *Facts) { f.Router, f.RouterAsked = nil, false }, Unknown, "--no-portmap"},
		{"no router", portMapping, func(f *Facts) { f.RouteErr, f.Router = gateway.ErrNone, nil }, Unknown, "no router"},
		{"unknown system", portMapping, func(f *Facts) { f.RouteErr, f.Router = gateway.ErrUnsupported, nil }, Unknown, "operating system"},

		{"the router says so", doubleNAT, func(*Facts) {}, OK, "One NAT"},
		{"carrier by the router", doubleNAT, func(f *Facts) { f.Router[2].Outside = addr("100.64.3.4") }, Note, "carrier-grade"},
		{"two routers by the router", doubleNAT, func(f *Facts) { f.Router[2].Outside = addr("192.168.0.3") }, Note, "bridge"},
		{"another address", doubleNAT, func(f *Facts) { f.Router[2].Outside = addr("198.51.100.77") }, Note, "another address than the router says"},
		{"carrier by the way", doubleNAT, both(noPortMapping, func(f *Facts) { f.Hops = []netip.Addr{addr("192.168.1.1"), addr("100.64.0.1")} }), Note, "carrier-grade"},
		{"carrier with a symmetric NAT", doubleNAT, both(noPortMapping, symmetricNAT, func(f *Facts) { f.Hops = []netip.Addr{addr("192.168.1.1"), addr("100.64.0.1")} }), Warning, "carrier-grade"},
		{"two routers by the way", doubleNAT, both(noPortMapping, func(f *Facts) { f.Hops = []netip.Addr{addr("192.168.1.1"), addr("192.168.0.1")} }), Note, "double NAT"},
		{"a silent hop, then the internet", doubleNAT, both(noPortMapping, func(f *Facts) { f.Hops = []netip.Addr{addr("192.168.1.1"), {}, addr("203.0.113.1")} }), OK, "One NAT"},
		{"the relay behind the router", doubleNAT, both(noPortMapping, func(f *Facts) { f.Hops = []netip.Addr{addr("192.168.1.1")} }), OK, "One NAT"},
		{"nobody tells", doubleNAT, noPortMapping, Unknown, "not found out"},
		{"no NAT", doubleNAT, func(f *Facts) { f.Class[0].Mapping = natclass.NoMapping }, OK, "no NAT"},
		{"the relay is near", doubleNAT, both(noPortMapping, func(f *Facts) {
			f.Class[0].Seen[0], f.Hops = netip.MustParseAddrPort("192.168.0.3:9"), []netip.Addr{addr("192.168.1.1"), addr("192.168.0.1")}
		}), Unknown, "not found out"},

		{"right", clock, func(*Facts) {}, OK, "right"},
		{"half a minute", clock, func(f *Facts) { f.Ahead = 45 * time.Second }, Note, "45 seconds ahead"},
		{"an hour slow", clock, func(f *Facts) { f.Ahead = -time.Hour }, Warning, "60 minutes behind"},
		{"a day fast", clock, func(f *Facts) { f.Ahead = 25 * time.Hour }, Warning, "25 hours ahead"},
		{"two days slow", clock, func(f *Facts) { f.Ahead = -48 * time.Hour }, Warning, "2 days behind"},
		{"no date", clock, relayGone, Unknown, "did not tell the time"},
		{"no relay", clock, noRelayKnown, Unknown, "No relay is known"},
	} {
		f := healthy()
		f.Class[0].Seen = append([]netip.AddrPort(nil), f.Class[0].Seen...)
		tt.change(f)
		got := tt.check(f)
		text := got.Summary + "\n" + got.Meaning + "\n" + got.Advice
		if got.Severity != tt.severity || !strings.Contains(text, tt.says) {
			t.Errorf("%s, %s: %s, want %s with %q:\n%s", got.ID, tt.name, got.Severity, tt.severity, tt.says, text)
		}
		if names[got.ID] == "" || got.Summary == "" || got.Meaning == "" || (got.Severity == Warning || got.Severity == Error) && got.Advice == "" {
			t.Errorf("%s, %s: something is not said: %+v", got.ID, tt.name, got)
		}
		for _, private := range []string{"203.0.113", "192.168", "198.51.100", "2600:", "100.64"} {
			if strings.Contains(text, private) {
				t.Errorf("%s, %s: an address in the text:\n%s", got.ID, tt.name, text)
			}
		}
	}
}

// The exit code and the verdict follow the worst finding.
func TestReportCodes(t *testing.T) {
	for _, tt := range []struct {
		findings []Finding
		severity Severity
		code     int
		verdict  string
	}{
		{[]Finding{{ID: "udp", Severity: OK}}, OK, 0, "Nothing here stands"},
		{[]Finding{{ID: "udp", Severity: OK}, {ID: "link", Severity: Note}}, Note, 0, "Nothing here stands"},
		{[]Finding{{ID: "udp", Severity: Unknown}, {ID: "link", Severity: OK}}, Note, 0, "what says unknown was not"},
		{[]Finding{{ID: "udp", Severity: Warning, Summary: "UDP is blocked.", Advice: "Allow it."}, {ID: "link", Severity: Note}}, Warning, 1, "limits"},
		{[]Finding{{ID: "relay", Severity: Error}, {ID: "udp", Severity: Warning}}, Error, 3, "No match"},
		{[]Finding{{ID: "network", Severity: Error}, {ID: "relay", Severity: Error}}, Error, 5, "No match"},
		{[]Finding{{ID: "relay", Severity: Error}, {ID: "network", Severity: Error}}, Error, 5, "No match"},
	} {
		var r Report
		for _, f := range tt.findings {
			r.add(f)
		}
		if r.Severity != tt.severity || r.ExitCode() != tt.code || !strings.Contains(r.Verdict(), tt.verdict) {
			t.Errorf("%v: %s, code %d, %q", tt.findings, r.Severity, r.ExitCode(), r.Verdict())
		}
		if (r.Worst() != "") != (tt.severity == Warning) { // only that one has a summary here
			t.Errorf("%v: worst is %q", tt.findings, r.Worst())
		}
	}
}
