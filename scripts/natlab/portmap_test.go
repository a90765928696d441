//go:build linux

package natlab

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"backstep/natpunch/gateway"
	"backstep/natpunch/portmap"
)

// routerPublic is the address of router a once portmap has given it one of the real internet.
var routerPublic = netip.MustParseAddr("50.0.0.1")

// needMiniupnpd skips a test where Debian's package is not installed.
func needMiniupnpd(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("miniupnpd"); err != nil {
		t.Skip("needs the program miniupnpd (Debian: apt-get install miniupnpd)")
	}
}

// insideHost is set for this test program where it runs inside a host's namespace.
const insideHost = "NATLAB_INSIDE"

// inNamespace runs one of the tests below in a namespace, in a process of its own: its goroutines open sockets on any thread.
func inNamespace(t *testing.T, l *Lab, node, test string, out any) {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := l.Command(ctx, node, exe, "-test.run", "^"+test+"$", "-test.v")
	cmd.Env = append(os.Environ(), insideHost+"=1")
	text, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	for line := range strings.Lines(string(text)) {
		if body, ok := strings.CutPrefix(line, "result "); ok {
			if err := json.Unmarshal([]byte(body), out); err != nil {
				t.Fatal(err)
			}
			return
		}
	}
	t.Fatalf("no result\n%s", text)
}

// asked is what a host found at its router.
type asked struct {
	Outside map[string]string // by protocol
	Errors  map[string]string
	Mapped  string // what a Keeper was given
}

// TestInsidePortMap is the half of TestPortMap that runs on the host.
func TestInsidePortMap(t *testing.T) {
	if os.Getenv(insideHost) == "" {
		t.Skip("runs as a part of TestPortMap")
	}
	c, err := net.ListenUDP("udp4", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	port := c.LocalAddr().(*net.UDPAddr).AddrPort().Port()
	route, err := gateway.Default()
	if err != nil {
		t.Fatal(err)
	}
	out := asked{map[string]string{}, map[string]string{}, ""}
	for _, a := range portmap.Look(t.Context(), route, port) {
		if a.Err != nil {
			out.Errors[a.Protocol] = a.Err.Error()
		} else {
			out.Outside[a.Protocol] = a.Outside.String()
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 4*time.Second)
	defer cancel()
	var k portmap.Keeper
	k.Run(ctx, port, func(a netip.AddrPort) {
		out.Mapped = a.String()
		// A stranger of the internet gets in by it: the relay's host sends until it is heard.
		b := make([]byte, 100)
		_ = c.SetReadDeadline(time.Now().Add(3 * time.Second))
		for {
			n, from, err := c.ReadFromUDPAddrPort(b)
			if err != nil {
				t.Errorf("nothing came in at the mapped port: %v", err)
				break
			}
			if from.Addr().Unmap() == RelayAddr && string(b[:n]) == "stranger" {
				break
			}
		}
		cancel()
	})
	b, err := json.Marshal(out)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Printf("result %s\n", b)
}

// Every protocol of a real miniupnpd gives and takes back a port, a stranger gets in by it, and nothing is left in the router.
func TestPortMap(t *testing.T) {
	needShellLab(t)
	needMiniupnpd(t)
	t.Parallel()
	l := newLab(t, "symfull", "eim")
	var all asked
	mustDo(t, l, "portmap", "a", "on")
	// Whoever is outside cannot know the port, so all of them are tried.
	stop := strangers(t, l)
	inNamespace(t, l, "a", "TestInsidePortMap", &all)
	stop()
	for _, p := range []string{"PCP", "NAT-PMP", "UPnP"} {
		if all.Outside[p] != routerPublic.String() {
			t.Errorf("%s says %q (%s), want %v", p, all.Outside[p], all.Errors[p], routerPublic)
		}
	}
	if a, err := netip.ParseAddrPort(all.Mapped); err != nil || a.Addr() != routerPublic {
		t.Errorf("mapped %q", all.Mapped)
	}
	if left := redirections(t, l); left != "" {
		t.Errorf("the router still has\n%s", left)
	}
}

// strangers sends a packet from the relay's host to every port of the router that a socket may have, again and again.
func strangers(t *testing.T, l *Lab) (stop func()) {
	t.Helper()
	c := open(t, l, "pub", "198.51.100.10:7000")
	done, end := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for {
			for port := uint16(32768); port >= 32768; port++ {
				_, _ = c.conn.WriteToUDPAddrPort([]byte("stranger"), netip.AddrPortFrom(routerPublic, port))
				select {
				case <-end:
					return
				default:
				}
			}
		}
	}()
	return func() {
		close(end)
		<-done
	}
}

// redirections are the rules that miniupnpd has made.
func redirections(t *testing.T, l *Lab) string {
	t.Helper()
	out, err := l.Command(t.Context(), "ra", "nft", "list", "chain", "inet", "nlmap", "m_pre").CombinedOutput()
	if err != nil {
		t.Fatal(errors.New(string(out)))
	}
	var rules []string
	for line := range strings.Lines(string(out)) {
		if strings.Contains(line, "dnat") {
			rules = append(rules, line)
		}
	}
	return strings.Join(rules, "")
}

// Two players whom no direct path connects without it: both symmetric, one with a router that maps ports. And with --no-portmap
// the router is left alone.
func TestMatchByPortMap(t *testing.T) {
	needLab(t)
	needMiniupnpd(t)
	p := needPrograms(t)
	for _, tt := range []struct {
		name, path string
		args       []string
	}{
		{"mapped", "direct", nil},
		{"not asked", "relay", []string{"--no-portmap"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t, "symfull", "symfull")
			mustDo(t, l, "portmap", "a", "on")
			r, err := l.Play(t.Context(), p, Match{Frames: 400, Seed: 7, Trace: trace, HostArgs: tt.args, JoinArgs: tt.args}, t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			if err := r.Fault(); err != nil {
				t.Fatal(err)
			}
			for _, s := range []*Report{&r.Host.Report, &r.Join.Report} {
				if s.Path == nil || *s.Path != tt.path {
					t.Errorf("path %v (%s), want %s: %s", s.Path, s.Changes(), tt.path, s.Reason())
				}
			}
			if kind := r.Join.Report.RemoteCandidate; tt.path == "direct" && (kind == nil || *kind != "mapped") {
				t.Errorf("the joiner's candidate is %v", kind)
			}
			if left := redirections(t, l); left != "" {
				t.Errorf("the router still has\n%s", left)
			}
		})
	}
}

// A symmetric NAT that counts gives out ports that can be named beforehand: direct against a port-restricted one, which a
// symmetric NAT that does not count never reaches.
func TestMatchByPrediction(t *testing.T) {
	needLab(t)
	p := needPrograms(t)
	for _, tt := range []struct{ name, a, b, path string }{
		{"the host's counts", "symseq", "eim", "direct"},
		{"the joiner's counts", "eim", "symseq", "direct"},
		{"by chance", "symfull", "eim", "relay"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t, tt.a, tt.b)
			r, err := l.Play(t.Context(), p, Match{Frames: 300, Seed: 7, Trace: trace}, t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			if err := r.Fault(); err != nil {
				t.Fatal(err)
			}
			for _, s := range []*Report{&r.Host.Report, &r.Join.Report} {
				if s.Path == nil || *s.Path != tt.path {
					t.Errorf("path %v (%s), want %s: %s", s.Path, s.Changes(), tt.path, s.Reason())
				}
			}
		})
	}
}
