package natpunch

import (
	"context"
	"net"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/pion/logging"
	"github.com/pion/transport/v3/vnet"

	"backstep/natpunch/rendezvous"
)

// natType builds the NAT behaviours of RFC 4787 that players sit behind.
func natType(kind string) *vnet.NATType {
	t := &vnet.NATType{MappingLifeTime: 30 * time.Second}
	switch kind {
	case "fullcone":
	case "addrres":
		t.FilteringBehavior = vnet.EndpointAddrDependent
	case "cone":
		t.FilteringBehavior = vnet.EndpointAddrPortDependent
	case "sym":
		t.MappingBehavior, t.FilteringBehavior = vnet.EndpointAddrPortDependent, vnet.EndpointAddrPortDependent
	}
	return t
}

// newNATMatch puts two players behind NATs of pion's virtual network, 20 ms
// from each other and from the relay.
func newNATMatch(t *testing.T, kindA, kindB string) *match {
	t.Helper()
	logs := logging.NewDefaultLoggerFactory()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	wan, err := vnet.NewRouter(&vnet.RouterConfig{CIDR: "1.2.3.0/24", LoggerFactory: logs, MinDelay: 20 * time.Millisecond})
	must(err)
	public, err := vnet.NewNet(&vnet.NetConfig{StaticIPs: []string{"1.2.3.10"}})
	must(err)
	must(wan.AddNet(public))
	home := func(kind, outside, cidr, inside string) *vnet.Net {
		lan, err := vnet.NewRouter(&vnet.RouterConfig{CIDR: cidr, StaticIPs: []string{outside}, NATType: natType(kind), LoggerFactory: logs})
		must(err)
		n, err := vnet.NewNet(&vnet.NetConfig{StaticIPs: []string{inside}})
		must(err)
		must(lan.AddNet(n))
		must(wan.AddRouter(lan))
		return n
	}
	nets := [2]*vnet.Net{home(kindA, "1.2.3.1", "10.1.0.0/24", "10.1.0.2"), home(kindB, "1.2.3.2", "10.2.0.0/24", "10.2.0.2")}
	must(wan.Start())
	t.Cleanup(func() { _ = wan.Stop() })

	clock := bubbleClock()
	m := &match{lobby: newLobby(20 * time.Millisecond)}
	m.relay = startRelay(t, func(a string) (net.PacketConn, error) { return public.ListenPacket("udp4", a) }, "1.2.3.10", 3478)
	for i, inside := range []string{"10.1.0.2", "10.2.0.2"} {
		pc, err := nets[i].ListenPacket("udp4", inside+":5000")
		must(err)
		conn := &filterConn{PacketConn: pc}
		cfg := testConfig(rendezvous.Side(i), conn, m.relay.addr, m.lobby[i])
		cfg.SignalRTT = 40 * time.Millisecond
		cfg.Locals = func(bool) []netip.Addr { return addrs(inside) }
		cfg.Clock = clock
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		paths, err := Open(ctx, cfg)
		cancel()
		must(err)
		m.p[i] = &player{paths: paths, conn: conn}
		t.Cleanup(func() { paths.Close() })
	}
	for _, p := range m.p { // PORT+1 must have been asked before candidates go out
		deadline := time.Now().Add(3 * time.Second)
		for p.paths.Stats().Mapping == MappingUnknown && time.Now().Before(deadline) {
			time.Sleep(5 * time.Millisecond)
		}
	}
	return m
}

// TestNATMatrix: every pair of NAT kinds reaches the path that theory allows,
// direct first and the relay where there is a symmetric NAT in the way. The
// symmetric NAT of this network counts its ports, so one side of that kind is
// reached by the ports predicted for it; natlab has one that does not. B-02.
func TestNATMatrix(t *testing.T) {
	t.Parallel()
	kinds := []string{"fullcone", "addrres", "cone", "sym"}
	for i, a := range kinds {
		for _, b := range kinds[i:] {
			want := KindDirect
			if b == "sym" && a == "sym" {
				want = KindRelay
			}
			t.Run(a+" x "+b, func(t *testing.T) {
				bubble(t, func(t *testing.T) {
					m := newNATMatch(t, a, b)
					for k, kind := range []string{a, b} {
						mapping := MappingIndependent
						if kind == "sym" {
							mapping = MappingDependent
						}
						if got := m.p[k].paths.Stats().Mapping; got != mapping {
							t.Errorf("%s NAT seen as %v", kind, got)
						}
					}
					m.play(t)
					m.direct(t)
					if want == KindDirect {
						m.await(t, 5*time.Second, KindDirect)
						if why := m.p[0].paths.Reason(); why != "direct: the players reach each other without the relay" {
							t.Error(why)
						}
						s := m.p[0].paths.Stats()
						t.Logf("direct after %d ms, %s to %s", s.DirectAfter/ms, s.LocalCandidate, s.RemoteCandidate)
						return
					}
					// All 60 checks of the first attempt, without an answer.
					until(t, 10*time.Second, func() bool { return strings.Contains(m.p[0].paths.Reason(), "no direct check was answered") }, m.p[0].paths.Reason)
					if got := m.p[0].paths.Reason(); got != "relayed: symmetric NAT on both sides, and no direct check was answered" {
						t.Error(got)
					}
					for k, p := range m.p {
						if missing, got := p.take(); p.paths.Path() != KindRelay || got[Relay] < 60 || got[Direct] != 0 {
							t.Errorf("side %d: %v, %d lost, %v", k, p.paths.Path(), missing, got)
						}
					}
				})
			})
		}
	}
}
