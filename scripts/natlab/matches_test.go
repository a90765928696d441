//go:build linux

package natlab

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"backstep/scripts/natlab/audit"
	"backstep/scripts/natlab/wiretap"
)

const (
	frames = 600
	seed   = 20260423

	hostName, joinName = "Alkestis-Hosting", "Bertrand-Joining"
)

// cell is one match between two kinds of NAT.
type cell struct {
	name     string
	a, b     string // kinds
	hostArgs []string
	joinArgs []string
	path     string // of both reports at the end; empty if either will do
	reason   string // of both reports; empty if any will do
	rebound  bool   // a NAT forgets its mappings, those of TCP too
	during   func(ctx context.Context, p *played) error
	check    func(t *testing.T, p *played)
	race     bool // worth playing under the race detector too
}

// played is a match that was played, and what went over the wires.
type played struct {
	cell *cell
	lab  *Lab
	Result
	internet *wiretap.Tap
	insideA  *wiretap.Tap

	net, hostA, hostB []wiretap.Packet
	disturbed         time.Time
	late              time.Duration // of timers while it was played
	err               error
}

// cells are played side by side. Seed and traces are the same in all of them, so the final hash must be too.
var cells = []cell{
	{name: "cone x cone", a: "eim", b: "eim", path: "direct", check: cleanDirect, race: true},
	{name: "symmetric x symmetric", a: "symfull", b: "symfull", path: "relay", check: cleanRelayed, race: true,
		reason: "relayed: symmetric NAT on both sides, and no direct check was answered"},
	{name: "full cone x symmetric", a: "fullcone", b: "symfull", path: "direct"},
	{name: "one side hides its address", a: "eim", b: "eim", joinArgs: []string{"--path", "relay"}, path: "relay", check: hidden,
		reason: "relayed: only the relay is allowed, which hides the address"},
	{name: "direct path cut", a: "eim", b: "eim", path: "relay", during: cutDirect, check: wasCut, race: true},
	{name: "NAT forgets a direct path", a: "eim", b: "eim", rebound: true, during: rebindDirect, check: wasRebound},
	{name: "NAT forgets a relayed path", a: "symfull", b: "symfull", path: "relay", rebound: true, during: rebindRelayed, check: wasRebound},
}

// Two networks with NATs: the path that theory allows, and the same match whatever the path (issue of the first match; attack
// case 20). Every packet of every match is accounted for.
func TestMatches(t *testing.T) {
	needLab(t)
	bin := needPrograms(t)
	var all []*played
	for i := range cells {
		if !raceDetector || cells[i].race {
			all = append(all, &played{cell: &cells[i]})
		}
	}
	// All labs before the first match: making one keeps the machine busy enough to be seen in the others.
	kinds := make([][2]string, len(all))
	for i, p := range all {
		kinds[i] = [2]string{p.cell.a, p.cell.b}
	}
	ctx, over := context.WithCancel(t.Context())
	defer over()
	var group sync.WaitGroup
	for i, l := range newLabs(t, kinds...) {
		p, dir := all[i], t.TempDir()
		p.lab = l
		group.Go(func() { p.err = p.play(t.Context(), bin, dir) })
	}
	late := Lateness(ctx)
	group.Wait()
	over()
	worst := late()
	t.Logf("timers were up to %v late", worst.Round(time.Millisecond))

	hashes := make(map[string][]string)
	for _, p := range all {
		p.late = worst
		t.Run(p.cell.name, func(t *testing.T) { p.judge(t) })
		if h := p.Host.Report.FinalHash; h != nil {
			hashes[*h] = append(hashes[*h], p.cell.name)
		}
	}
	if len(hashes) != 1 {
		t.Errorf("one seed and one pair of traces end differently: %v", hashes)
	}
}

func (p *played) play(ctx context.Context, bin Programs, dir string) (err error) {
	taps := []struct {
		node       string
		interfaces []string
		incoming   bool
		out        *[]wiretap.Packet
		tap        **wiretap.Tap
	}{
		{"net", Internet, true, &p.net, &p.internet},
		{"a", []string{"eth0"}, false, &p.hostA, &p.insideA},
		{"b", []string{"eth0"}, false, &p.hostB, new(*wiretap.Tap)},
	}
	for _, c := range taps {
		tap, err := wiretap.Open(wiretap.Config{Namespace: p.lab.Namespace(c.node), Interfaces: c.interfaces, Incoming: c.incoming})
		if err != nil {
			return err
		}
		*c.tap = tap
		defer func() {
			packets, terr := tap.Close()
			*c.out, err = packets, errors.Join(err, terr)
		}()
	}
	m := Match{Frames: frames, Seed: seed, Trace: trace,
		HostArgs: append([]string{"--name", hostName}, p.cell.hostArgs...),
		JoinArgs: append([]string{"--name", joinName}, p.cell.joinArgs...)}
	if p.cell.during != nil {
		m.During = func(ctx context.Context, _ *Live) error { return p.cell.during(ctx, p) }
	}
	p.Result, err = p.lab.Play(ctx, bin, m, dir)
	return err
}

func (p *played) judge(t *testing.T) {
	host, join := &p.Host.Report, &p.Join.Report
	defer func() {
		if t.Failed() {
			t.Logf("host:\n%s\njoin:\n%s\nhost's report: %s\njoiner's report: %s", p.Host.Log, p.Join.Log, p.Host.JSON, p.Join.JSON)
		}
	}()
	if p.err != nil {
		t.Fatal(p.err)
	}
	if err := p.Fault(); err != nil {
		t.Fatal(err)
	}
	if host.Frames != frames {
		t.Errorf("%d frames, want %d", host.Frames, frames)
	}
	for _, r := range []*Report{host, join} {
		if p.cell.path == "direct" && !r.Was("direct") {
			t.Errorf("the match was never direct (%s): %s", r.Changes(), r.Reason())
		}
		if r.Path == nil || p.cell.path != "" && *r.Path != p.cell.path {
			p.timely(t, "path %s, want %s: %s", text(r.Path), p.cell.path, text(r.PathReason))
		}
		if p.cell.reason != "" && text(r.PathReason) != p.cell.reason {
			p.timely(t, "the reason is %q, want %q", text(r.PathReason), p.cell.reason)
		}
		t.Logf("%s (%s; %s); connect %.0f ms, direct %s ms, stalls %d, longest %d", text(r.Path), r.Changes(), text(r.PathReason),
			*r.ConnectMs, number(r.DirectMs), *r.Stalls, *r.LongestStall)
	}
	p.wires(t)
	p.tellsNothing(t)
	if p.cell.check != nil {
		p.cell.check(t, p)
	}
}

func text(s *string) string {
	if s == nil {
		return "null"
	}
	return *s
}

func number(f *float64) string {
	if f == nil {
		return "null"
	}
	return fmt.Sprintf("%.0f", *f)
}

// secrets are what nobody on the way may read.
func (p *played) secrets() []audit.Secret {
	symbols, _, _ := strings.Cut(p.Code, "@")
	_, secret, _ := strings.Cut(symbols, "-")
	all := []audit.Secret{
		{What: "the secret half of the code", Text: secret},
		{What: "the host's name", Text: hostName}, {What: "the joiner's name", Text: joinName},
		{What: "a packet's magic", Text: "V2RB"},
	}
	for what, a := range map[string]netip.Addr{"the host's address": HostA, "the joiner's address": HostB,
		"the host's outside address": RouterA, "the joiner's outside address": RouterB} {
		all = append(all, audit.Address(what, a)...)
	}
	return all
}

// wires: a capture of the whole match holds STUN, relay frames, DTLS and a sealed lobby, and nothing else (WIRE-14).
func (p *played) wires(t *testing.T) {
	rules := audit.Rules{Relay: []netip.Addr{RelayAddr, RelayAddr2}, Secrets: p.secrets(), Moved: p.cell.rebound}
	udp := audit.UDP(p.net, rules)
	tcp := audit.TCP(p.net, rules, udp.ICEUsers)
	for _, f := range append(udp.Findings, tcp.Findings...) {
		t.Error(f)
	}
	if !slices.Equal(udp.Ciphers, []uint16{audit.CipherSuite}) {
		t.Errorf("cipher suites %04x, want %04x", udp.Ciphers, audit.CipherSuite)
	}
	// A capture that misses the match would find nothing either.
	if tcp.Lobbies != 2 || udp.Count[audit.Registration] < 4 || len(udp.Data) < 2*frames || udp.Spread == 0 {
		t.Errorf("the capture is not that of a whole match: %d lobbies, %d registration frames, %d records of data, spread %.0f",
			tcp.Lobbies, udp.Count[audit.Registration], len(udp.Data), udp.Spread)
	}
	var kinds []string
	for k, n := range udp.Count {
		if n > 0 {
			kinds = append(kinds, fmt.Sprintf("%d %v", n, audit.Kind(k)))
		}
	}
	t.Logf("UDP: %s; ciphertext chi-square %.0f; TCP: %d bytes, %v", strings.Join(kinds, ", "), udp.Spread, tcp.Bytes, tcp.Messages)
}

// tellsNothing: reports and logs hold neither a player's address nor the secret half of the code.
func (p *played) tellsNothing(t *testing.T) {
	rules := audit.Rules{Secrets: slices.DeleteFunc(p.secrets(), func(s audit.Secret) bool { return strings.Contains(s.What, "name") })}
	for what, b := range map[string][]byte{"host's report": p.Host.JSON, "joiner's report": p.Join.JSON,
		"host's log": []byte(p.Host.Log), "joiner's log": []byte(p.Join.Log)} {
		for _, leak := range rules.Leaks(b) {
			t.Errorf("%s is in the %s", leak, what)
		}
	}
}
