package main

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"backstep/cmd/internal/exit"
)

// diagnosis is what peer doctor --json prints.
type diagnosis struct {
	Relay    string
	Severity string
	Findings []struct {
		ID, Severity, Summary, Meaning, Advice string
		Data                                   map[string]any
		Addresses                              []string
	}
}

func (d *diagnosis) severity(id string) string {
	for _, f := range d.Findings {
		if f.ID == id {
			return f.Severity
		}
	}
	return "missing"
}

// examined runs peer doctor --json in this process.
func examined(t *testing.T, args ...string) (diagnosis, int) {
	t.Helper()
	var out, log bytes.Buffer
	err := run(t.Context(), append([]string{"doctor", "--json", "--no-portmap"}, args...), streams{strings.NewReader(""), &out, &log, false})
	var d diagnosis
	if jerr := json.Unmarshal(out.Bytes(), &d); jerr != nil {
		t.Fatalf("%v (%v)\n%s", jerr, err, out.String())
	}
	return d, exit.Code(err)
}

// Without a relay it says what could not be checked, and that is no fault.
func TestDoctorWithoutRelay(t *testing.T) {
	d, code := examined(t)
	for _, id := range []string{"relay", "udp", "external", "double_nat", "clock", "port_mapping"} {
		if d.severity(id) != "unknown" {
			t.Errorf("%s is %s", id, d.severity(id))
		}
	}
	if network := d.severity("network"); code != 0 && network == "ok" {
		t.Errorf("code %d, network %s", code, network)
	}
}

// A server that only speaks TCP, with a clock a day ahead: UDP is blocked and
// this machine's clock wrong, each of which is a warning.
func TestDoctorUDPBlockedAndClock(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Date", time.Now().Add(24*time.Hour).UTC().Format(http.TimeFormat))
	}))
	defer s.Close()
	at := strings.TrimPrefix(s.URL, "http://")
	d, code := examined(t, "--relay", at)
	if d.severity("udp") != "warning" || d.severity("clock") != "warning" || d.severity("relay") != "ok" || d.Relay != at {
		t.Errorf("%+v", d)
	}
	if network := d.severity("network"); code != 1 && network == "ok" {
		t.Errorf("code %d, network %s", code, network)
	}
}

// A relay that is not there is exit 3, as when a match is to begin.
func TestDoctorRelayGone(t *testing.T) {
	d, code := examined(t, "--relay", "127.0.0.1:9")
	if d.severity("relay") != "error" {
		t.Errorf("%+v", d)
	}
	if network := d.severity("network"); code != exit.Relay && network == "ok" {
		t.Errorf("code %d, network %s", code, network)
	}
}

// The text is a paragraph for each finding, with no address in it.
func TestDoctorText(t *testing.T) {
	var out, log bytes.Buffer
	err := run(t.Context(), []string{"doctor", "--no-portmap"}, streams{strings.NewReader(""), &out, &log, false})
	if code := exit.Code(err); code == exit.Usage || code == exit.Internal {
		t.Fatal(err)
	}
	for _, want := range []string{"Network ", "Cable or Wi-Fi ", "Relay ", "UDP ", "NAT (IPv4) ", "NAT (IPv6) ", "Outside address ", "Port mapping ", "Double NAT ", "Clock "} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("nothing about %q in\n%s", want, out.String())
		}
	}
}
