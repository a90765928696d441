//go:build linux

package natlab

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// examination is what peer doctor --json prints.
type examination struct {
	Severity string
	Findings []struct {
		ID, Severity, Summary string
		Data                  map[string]any
		Addresses             []string
	}
}

// find returns the finding of that name.
func (e *examination) find(t *testing.T, id string) (data map[string]any, summary string) {
	t.Helper()
	for _, f := range e.Findings {
		if f.ID == id {
			return f.Data, f.Summary
		}
	}
	t.Fatalf("nothing is found about %s", id)
	return nil, ""
}

// examine runs peer doctor on host a, with the relay up, and returns what it prints and its exit code. The relay listens where
// listen says, or as in every match.
func examine(t *testing.T, l *Lab, p Programs, listen []string, args ...string) (e examination, text string, code int) {
	t.Helper()
	dir := t.TempDir()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	v := &Live{lab: l, program: p.Relay, dir: dir, listen: listen, players: map[string]*process{}}
	if err := v.startRelay(ctx); err != nil {
		t.Fatal(err)
	}
	defer v.stopRelay()
	cmd := l.Command(ctx, "a", p.Peer, append([]string{"doctor", "--json", "--relay", RelayAddr.String()}, args...)...)
	var out, log bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &log
	err := cmd.Run()
	var failed *exec.ExitError
	if err != nil && !errors.As(err, &failed) {
		t.Fatal(err)
	}
	if err := json.Unmarshal(out.Bytes(), &e); err != nil {
		t.Fatalf("%v\n%s\n%s", err, out.String(), log.String())
	}
	return e, out.String(), cmd.ProcessState.ExitCode()
}

// TestDoctor: the real program names the class of every NAT of the lab, with real rules behind it.
func TestDoctor(t *testing.T) {
	needLab(t)
	p := needPrograms(t)
	for _, tt := range []struct {
		name, nat, carrier string
		portmap            bool
		mapping, filtering string            // IPv4
		severities         map[string]string // of findings
		double             string
		code               int
	}{
		{name: "no NAT", nat: "none", mapping: "none", filtering: "address-dependent-or-none", double: "none",
			severities: map[string]string{"nat_ipv4": "ok", "udp": "ok", "relay": "ok", "port_mapping": "ok", "clock": "ok"}},
		{name: "full cone", nat: "fullcone", mapping: "endpoint-independent", filtering: "address-dependent-or-none", double: "one",
			severities: map[string]string{"nat_ipv4": "ok", "double_nat": "ok", "port_mapping": "note"}},
		{name: "address-restricted", nat: "addrres", mapping: "endpoint-independent", filtering: "address-dependent-or-none", double: "one",
			severities: map[string]string{"nat_ipv4": "ok"}},
		{name: "port-restricted", nat: "eim", mapping: "endpoint-independent", filtering: "address-and-port-dependent", double: "one",
			severities: map[string]string{"nat_ipv4": "ok", "double_nat": "ok"}},
		{name: "symmetric", nat: "symfull", mapping: "address-and-port-dependent", filtering: "address-and-port-dependent", double: "one",
			severities: map[string]string{"nat_ipv4": "warning", "port_mapping": "note"}, code: 1},
		{name: "symmetric that counts", nat: "symseq", mapping: "address-and-port-dependent", filtering: "address-and-port-dependent", double: "one",
			severities: map[string]string{"nat_ipv4": "warning"}, code: 1},
		{name: "UDP blocked", nat: "udpblock", mapping: "unknown", filtering: "unknown",
			severities: map[string]string{"udp": "warning", "nat_ipv4": "unknown", "relay": "ok", "external": "unknown", "double_nat": "unknown", "clock": "ok"}, code: 1},
		{name: "carrier NAT", nat: "eim", carrier: "eim", mapping: "endpoint-independent", filtering: "address-and-port-dependent", double: "carrier",
			severities: map[string]string{"nat_ipv4": "ok", "double_nat": "note"}},
		{name: "carrier symmetric", nat: "eim", carrier: "symfull", mapping: "address-and-port-dependent", filtering: "address-and-port-dependent", double: "carrier",
			severities: map[string]string{"nat_ipv4": "warning", "double_nat": "warning"}, code: 1},
		{name: "symmetric, port mapping", nat: "symfull", portmap: true, mapping: "address-and-port-dependent", filtering: "address-and-port-dependent", double: "one",
			severities: map[string]string{"nat_ipv4": "note", "port_mapping": "ok", "double_nat": "ok"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.portmap {
				needMiniupnpd(t)
			}
			t.Parallel()
			l := newLab(t, tt.nat, "eim")
			if tt.carrier != "" {
				mustDo(t, l, "cgnat", "on", tt.carrier)
			}
			if tt.portmap {
				mustDo(t, l, "portmap", "a", "on")
			}
			e, text, code := examine(t, l, p, nil)
			if code != tt.code {
				t.Errorf("exit code %d, want %d", code, tt.code)
			}
			got := map[string]string{}
			for _, f := range e.Findings {
				got[f.ID] = f.Severity
				switch f.ID {
				case "nat_ipv4":
					if f.Data["mapping"] != tt.mapping || f.Data["filtering"] != tt.filtering {
						t.Errorf("class %v, %v; want %s, %s", f.Data["mapping"], f.Data["filtering"], tt.mapping, tt.filtering)
					}
				case "double_nat":
					if kind, _ := f.Data["kind"].(string); kind != tt.double {
						t.Errorf("double NAT is %q, want %q: %s", kind, tt.double, f.Summary)
					}
				}
			}
			for id, want := range tt.severities {
				if got[id] != want {
					t.Errorf("%s is %s, want %s", id, got[id], want)
				}
			}
			for _, a := range []string{RouterA.String(), HostA.String(), CarrierNAT.String(), routerPublic.String(), "203.0.113.2"} {
				if strings.Contains(strings.ReplaceAll(text, RelayAddr.String(), "relay"), a) {
					t.Errorf("%s is shown unasked:\n%s", a, text)
				}
			}
			if t.Failed() {
				t.Log(text)
			}
		})
	}
}

// TestDoctorSecondAddress: a relay that listens on two addresses, named or as all of its machine, makes every class certain.
func TestDoctorSecondAddress(t *testing.T) {
	needLab(t)
	p := needPrograms(t)
	two := []string{RelayAddr.String() + ":3478", RelayAddr2.String() + ":3478"}
	both := RelayAddr.String() + "," + RelayAddr2.String()
	for _, tt := range []struct {
		nat                string
		listen             []string
		mapping, filtering string
		sure               bool
	}{
		{"none", two, "none", "endpoint-independent", false},
		{"fullcone", two, "endpoint-independent", "endpoint-independent", true},
		{"fullcone", []string{":3478"}, "endpoint-independent", "endpoint-independent", true},
		{"addrres", two, "endpoint-independent", "address-dependent", true},
		{"addrres", []string{":3478"}, "endpoint-independent", "address-dependent", true},
		{"eim", two, "endpoint-independent", "address-and-port-dependent", true},
		{"symaddr", two, "address-dependent", "address-and-port-dependent", false},
		{"symfull", two, "address-and-port-dependent", "address-and-port-dependent", false},
	} {
		t.Run(tt.nat+" "+tt.listen[0], func(t *testing.T) {
			t.Parallel()
			e, text, _ := examine(t, newLab(t, tt.nat, "eim"), p, tt.listen, "--relay", both)
			data, summary := e.find(t, "nat_ipv4")
			if data["mapping"] != tt.mapping || data["filtering"] != tt.filtering || data["second_address"] != tt.sure ||
				strings.Contains(summary, "as far as") {
				t.Errorf("%v, %v, second address %v, %q; want %s, %s, %v\n%s", data["mapping"], data["filtering"], data["second_address"],
					summary, tt.mapping, tt.filtering, tt.sure, text)
			}
		})
	}
	// With one address the same NATs are called what can be known of them.
	for kind, want := range map[string]string{"symaddr": "endpoint-independent", "addrres": "endpoint-independent"} {
		t.Run(kind+" one address", func(t *testing.T) {
			t.Parallel()
			e, text, _ := examine(t, newLab(t, kind, "eim"), p, nil)
			data, summary := e.find(t, "nat_ipv4")
			if data["mapping"] != want || data["second_address"] != false || !strings.Contains(summary, "as far as one relay address can tell") {
				t.Errorf("%v, %q\n%s", data, summary, text)
			}
		})
	}
}

// With --show-addresses the outside address is the router's.
func TestDoctorAddresses(t *testing.T) {
	needLab(t)
	p := needPrograms(t)
	t.Parallel()
	e, text, _ := examine(t, newLab(t, "eim", "eim"), p, nil, "--show-addresses")
	for _, f := range e.Findings {
		if f.ID == "external" && (len(f.Addresses) != 1 || f.Addresses[0] != RouterA.String()) {
			t.Errorf("addresses %v\n%s", f.Addresses, text)
		}
	}
}
