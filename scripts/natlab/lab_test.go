//go:build linux

package natlab

import (
	"fmt"
	"net"
	"net/netip"
	"os/exec"
	"strings"
	"testing"
	"time"

	"backstep/scripts/natlab/netns"
)

// socket is a UDP socket on a node of a lab. It notes what it gets and from where.
type socket struct {
	conn *net.UDPConn
	got  chan netip.AddrPort
}

func open(t *testing.T, l *Lab, node, address string) *socket {
	t.Helper()
	s := &socket{got: make(chan netip.AddrPort, 64)}
	err := netns.Do(l.Namespace(node), func() (err error) {
		s.conn, err = net.ListenUDP("udp4", net.UDPAddrFromAddrPort(netip.MustParseAddrPort(address)))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		var b [64]byte
		for {
			_, from, err := s.conn.ReadFromUDPAddrPort(b[:])
			if err == nil {
				s.got <- from
			} else if strings.Contains(err.Error(), "closed") {
				return
			}
		}
	}()
	t.Cleanup(func() { s.conn.Close(); <-done })
	return s
}

func (s *socket) addr() netip.AddrPort { return s.conn.LocalAddr().(*net.UDPAddr).AddrPort() }

// Long enough for a packet through namespaces of a busy machine; what is filtered must be waited for.
const (
	arrives   = 2 * time.Second
	staysAway = 250 * time.Millisecond
)

// send sends one datagram and returns where it seems to come from; the zero address if it does not arrive.
func send(from, to *socket, dst netip.AddrPort, wait time.Duration) netip.AddrPort {
	for len(to.got) > 0 {
		<-to.got
	}
	_, _ = from.conn.WriteToUDPAddrPort([]byte("x"), dst) // a router's refusal is an answer too
	select {
	case a := <-to.got:
		return a
	case <-time.After(wait):
		return netip.AddrPort{}
	}
}

// Every kind of NAT maps and filters as its name says: RFC 4787 sections 4 and 5, asked as in RFC 5780.
func TestNATKinds(t *testing.T) {
	needShellLab(t)
	t.Parallel()
	l := newLab(t, "eim", "eim")
	const none, byAddress, byBoth = "all may answer", "the address may answer", "only address and port may answer"
	for i, kind := range []struct {
		name, mapping, filter string
		port                  bool // the outside port is the inside one
	}{
		{"eim", "independent", byBoth, true},
		{"eim-openinput", "independent", byBoth, true},
		{"sym", "dependent", byBoth, false},
		{"symfull", "dependent", byBoth, false},
		{"symrange", "dependent", byBoth, false},
		{"symseq", "dependent", byBoth, false},
		{"symaddr", "by address", byBoth, false},
		{"fullcone", "independent", none, true},
		{"addrres", "independent", byAddress, true},
		{"none", "independent", none, true},
	} {
		t.Run(kind.name, func(t *testing.T) {
			mustDo(t, l, "nat", "a", kind.name)
			// Routers remember what they did with a packet: sockets of its own for each kind.
			port := func(base int) string { return fmt.Sprint(":", base+i) }
			inside := uint16(5000 + i)
			host := open(t, l, "a", "0.0.0.0"+port(5000))
			first := open(t, l, "pub", "198.51.100.10"+port(1000))
			otherPort, otherAddr := open(t, l, "pub", "198.51.100.10"+port(2000)), open(t, l, "pub", "198.51.100.11"+port(1000))
			unasked, stranger := open(t, l, "pub", "198.51.100.10"+port(3000)), open(t, l, "rb", "198.51.100.2"+port(3000))

			// The mapping first: an open INPUT remembers strangers, and gives out other ports towards them.
			mapped := send(host, first, first.addr(), arrives)
			if !mapped.IsValid() {
				t.Fatal("nothing comes out")
			}
			again := [2]netip.AddrPort{send(host, otherPort, otherPort.addr(), arrives), send(host, otherAddr, otherAddr.addr(), arrives)}
			mapping := "dependent"
			switch {
			case again[0] == mapped && again[1] != mapped:
				mapping = "by address"
			case again[0] == mapped:
				mapping = "independent"
			}
			if mapping != kind.mapping || (mapped.Port() == inside) != kind.port {
				t.Errorf("port %d is seen as %v, %v, %v: %s, want %s", inside, mapped, again[0], again[1], mapping, kind.mapping)
			}
			if !send(first, host, mapped, arrives).IsValid() {
				t.Error("the answer does not come in")
			}
			filter := byBoth
			switch {
			case send(stranger, host, mapped, staysAway).IsValid():
				filter = none
			case send(unasked, host, mapped, staysAway).IsValid():
				filter = byAddress
			}
			if filter != kind.filter {
				t.Errorf("%s, want %s", filter, kind.filter)
			}
			if kind.name == "symseq" && (again[0].Port() != mapped.Port()+1 || again[1].Port() != mapped.Port()+2) {
				t.Errorf("%v, %v, %v: these ports are not counted", mapped, again[0], again[1])
			}
			if kind.name == "symrange" && (mapped.Port() < 40000 || mapped.Port() > 40999) {
				t.Errorf("%v is outside the pool", mapped)
			}
		})
	}
}

// What disturbs a match does what it says, and ends when it is taken back.
func TestDisturbances(t *testing.T) {
	needShellLab(t)
	t.Parallel()
	l := newLab(t, "eim", "fullcone")
	a, a2, b := open(t, l, "a", "0.0.0.0:5000"), open(t, l, "a2", "0.0.0.0:5000"), open(t, l, "b", "0.0.0.0:5000")
	relay := open(t, l, "pub", "198.51.100.10:1000")
	toB := netip.AddrPortFrom(RouterB, 5000)
	reaches := func(what string, from, to *socket, dst netip.AddrPort, want bool) netip.AddrPort {
		t.Helper()
		wait := arrives
		if !want {
			wait = staysAway
		}
		at := send(from, to, dst, wait)
		if at.IsValid() != want {
			t.Errorf("%s: arrives %v, want %v", what, at.IsValid(), want)
		}
		return at
	}

	before := reaches("at first", a, b, toB, true)
	mustDo(t, l, "rebind", "a")
	after := reaches("after a rebinding", a, b, toB, true)
	if before == after {
		t.Errorf("%v before and after a rebinding", before)
	}
	if at := reaches("the relay after a rebinding", a, relay, relay.addr(), true); at != after {
		t.Errorf("the relay sees %v, the opponent %v: the mapping depends on the destination", at, after)
	}
	reaches("an answer to the mapping before", b, a, before, false)
	reaches("an answer", b, a, after, true)

	for _, c := range []struct {
		what          string
		direct, relay bool
	}{{"direct", false, true}, {"relay", true, false}, {"all", false, false}, {"off", true, true}} {
		mustDo(t, l, "cut", "a", c.what)
		reaches("cut "+c.what+": the opponent", a, b, toB, c.direct)
		reaches("cut "+c.what+": the relay", a, relay, relay.addr(), c.relay)
	}

	toA := netip.AddrPortFrom(RouterA, 5000)
	// Routers remember what they did with a packet: a socket of its own for each question.
	reaches("without hairpin", open(t, l, "a2", "0.0.0.0:5001"), a, toA, false)
	mustDo(t, l, "hairpin", "a", "on")
	if at := reaches("with hairpin", a2, a, toA, true); at.Addr() != RouterA {
		t.Errorf("a neighbour is seen as %v", at)
	}
	mustDo(t, l, "hairpin", "a", "off")

	mustDo(t, l, "cgnat", "on", "symfull")
	if at := reaches("through a carrier's NAT", a, relay, relay.addr(), true); at.Addr() != CarrierNAT {
		t.Errorf("a host behind a carrier's NAT is seen as %v", at)
	}
	mustDo(t, l, "cgnat", "off")
	if at := reaches("without the carrier again", a, relay, relay.addr(), true); at.Addr() != RouterA {
		t.Errorf("without the carrier the host is seen as %v", at)
	}

	mustDo(t, l, "nat", "a", "udpblock")
	reaches("with UDP blocked", a, relay, relay.addr(), false)
	mustDo(t, l, "nat", "a", "udp443")
	reaches("with only port 443", a, relay, relay.addr(), false)
	https := open(t, l, "pub", "198.51.100.10:443")
	reaches("port 443", a, https, https.addr(), true)
}

// A delayed line delays, and no longer when it is taken away.
func TestDelay(t *testing.T) {
	needShellLab(t)
	t.Parallel()
	l := newLab(t, "eim", "eim")
	l.env = append(l.env, "WANDELAY="+needPrograms(t).Wandelay)
	a, relay := open(t, l, "a", "0.0.0.0:5000"), open(t, l, "pub", "198.51.100.10:1000")
	const oneWay = 60 * time.Millisecond
	took := func() time.Duration {
		start := time.Now()
		if !send(a, relay, relay.addr(), arrives).IsValid() {
			t.Fatal("lost")
		}
		return time.Since(start)
	}
	took() // resolves neighbours
	mustDo(t, l, "delay", "a", oneWay.String())
	if d := took(); d < oneWay {
		t.Errorf("%v with a delay of %v", d, oneWay)
	}
	mustDo(t, l, "delay", "off")
	if d := took(); d >= oneWay {
		t.Errorf("%v without a delay", d)
	}
	mustDo(t, l, "delay", "a", "1ms", "0", "100")
	if send(a, relay, relay.addr(), staysAway).IsValid() {
		t.Error("a line that loses everything delivers")
	}
}

// Nothing of a lab is left when it is down, whatever ran in it, and a lab of a process that is no more is swept.
func TestDownLeavesNothing(t *testing.T) {
	needShellLab(t)
	t.Parallel()
	l, err := Up(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	sleeper := exec.Command("ip", "netns", "exec", l.Namespace("a"), "sleep", "300")
	if err := sleeper.Start(); err != nil {
		t.Fatal(err)
	}
	time.Sleep(100 * time.Millisecond) // "ip" moves into the namespace before it becomes the program
	if err := l.Down(); err != nil {
		t.Fatal(err)
	}
	if err := sleeper.Wait(); err == nil || !strings.Contains(err.Error(), "killed") {
		t.Errorf("what ran in the lab ended with %v", err)
	}

	gone := exec.Command("true")
	if err := gone.Run(); err != nil {
		t.Fatal(err)
	}
	left := &Lab{prefix: fmt.Sprintf("bs%dz", gone.Process.Pid)}
	mustDo(t, left, "up")
	if err := Sweep(t.Context()); err != nil {
		t.Error(err)
	}
	out, err := exec.Command("ip", "netns", "list").Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, gone := range []*Lab{l, left} {
		if strings.Contains(string(out), gone.prefix+"-") {
			t.Errorf("namespaces of %s are left:\n%s", gone.prefix, out)
		}
	}
}

func TestScriptRefuses(t *testing.T) {
	needShellLab(t)
	t.Parallel()
	l := newLab(t, "eim", "eim")
	for _, args := range [][]string{
		{"nat", "a", "round"}, {"nat", "c", "eim"}, {"nat", "a"}, {"cut", "a", "off", "x"}, {"cut", "a", "half"}, {"hairpin", "cg", "on"},
		{"rebind", "x"}, {"cgnat", "maybe"}, {"delay", "moon", "1ms"}, {"delay", "a"}, {"nat", "cg", "none"}, {"fly"}, {},
		{"readdress", "a", "x"}, {"readdress", "ra", "7"}, {"unplug", "a", "half"}, {"unplug", "net", "on"}, {"ipv6", "a", "maybe"}, {"ipv6", "pub", "also"},
	} {
		if err := l.Do(t.Context(), args...); err == nil || !strings.Contains(err.Error(), "natlab") {
			t.Errorf("%q: %v", args, err)
		}
	}
	mustDo(t, l, "nat", "a", "fullcone")
	if err := l.Do(t.Context(), "rebind", "a"); err == nil || !strings.Contains(err.Error(), "only eim and sym") {
		t.Errorf("rebind of a full cone: %v", err)
	}
}
