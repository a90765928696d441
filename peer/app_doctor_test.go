package peer

import (
	"context"
	"encoding/json"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"backstep/natpunch/gateway"
	"backstep/natpunch/natclass"
	"backstep/natpunch/portmap"
	"backstep/peer/doctor"
	"backstep/peer/page"
)

const outside = "203.0.113.7"

// home is a network for the doctor to look at; the router answers when told to.
func home(router <-chan struct{}) doctor.Probes {
	at := func(s string) netip.Addr { return netip.MustParseAddr(s) }
	return doctor.Probes{
		Locals: func() []netip.Addr { return []netip.Addr{at("192.168.1.5")} },
		Route: func() (gateway.Route, error) {
			return gateway.Route{Router: at("192.168.1.1"), Local: at("192.168.1.5")}, nil
		},
		Medium: func(gateway.Route) doctor.Medium { return doctor.WiFi },
		Resolve: func(context.Context, string) ([]netip.Addr, error) {
			return []netip.Addr{at("198.51.100.10")}, nil
		},
		Date: func(context.Context, netip.AddrPort, string) (time.Time, time.Duration, error) {
			return time.Now(), time.Millisecond, nil
		},
		Classify: func(context.Context, netip.AddrPort, netip.AddrPort) (natclass.Class, error) {
			return natclass.Class{Mapping: natclass.PortDependentMapping, Answered: true, Seen: []netip.AddrPort{netip.MustParseAddrPort(outside + ":40000")}}, nil
		},
		Router: func(ctx context.Context, _ gateway.Route) []portmap.Answer {
			select {
			case <-router:
			case <-ctx.Done():
			}
			return nil
		},
		Hops: func(context.Context, netip.AddrPort) ([]netip.Addr, error) { return nil, nil },
	}
}

func (p *player) doctor(ok func(page.Doctor) bool) (d page.Doctor, all screen) {
	p.t.Helper()
	all = p.until("doctor", func(s screen) bool { d = page.Doctor{}; s.into(p.t, &d); return ok(d) })
	return d, all
}

// The doctor's findings come as they are made, with a reason and a limit while
// one waits, and no address before it is asked for, on the page or in the text
// to copy.
func TestDoctorOnThePage(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	router := make(chan struct{})
	c := testConfig(t)
	c.Relays, c.probes = []string{"relay.example"}, home(router)
	p := startPlayer(t, c, StartTitle)
	p.until("title", nil)
	p.command(`{"cmd":"doctor"}`)

	d, all := p.doctor(func(d page.Doctor) bool { return len(d.Findings) == 4 })
	var w page.Wait
	if err := json.Unmarshal(all["wait"], &w); err != nil || w.Reason == "" || w.Limit != doctor.Limit.Milliseconds() || !w.Cancels {
		t.Errorf("wait %s, %v", all["wait"], err)
	}
	if !d.Running || d.Text != "" || d.Verdict != "" || d.Relay != "relay.example" || !slices.Equal(d.Checks, doctor.Checks()) {
		t.Errorf("while the router is silent: %+v", d)
	}
	close(router)
	d, all = p.doctor(func(d page.Doctor) bool { return !d.Running })
	if len(d.Findings) != len(d.Checks) || d.Severity != string(doctor.Warning) || !strings.Contains(d.Text, d.Verdict) || string(all["wait"]) != "null" {
		t.Errorf("at the end: %+v, wait %s", d, all["wait"])
	}
	for i, f := range d.Findings {
		if f.ID != d.Checks[i] || f.Summary == "" || len(f.Addresses) > 0 {
			t.Errorf("finding %d: %+v", i, f)
		}
	}
	if strings.Contains(string(all["doctor"]), outside) {
		t.Errorf("an address unasked: %s", all["doctor"])
	}

	p.command(`{"cmd":"doctor","addresses":true}`)
	d, _ = p.doctor(func(d page.Doctor) bool { return d.Addresses })
	i := slices.IndexFunc(d.Findings, func(f page.Finding) bool { return f.ID == "external" })
	if !slices.Equal(d.Findings[i].Addresses, []string{outside}) || !strings.Contains(d.Text, outside) || d.Running {
		t.Errorf("asked for addresses: %+v", d)
	}
	p.command(`{"cmd":"doctor","addresses":false}`)
	if _, all = p.doctor(func(d page.Doctor) bool { return !d.Addresses }); strings.Contains(string(all["doctor"]), outside) {
		t.Errorf("hidden again: %s", all["doctor"])
	}
	p.command(`{"cmd":"doctor"}`)
	p.doctor(func(d page.Doctor) bool { return d.Running })
	p.command(`{"cmd":"title"}`)
	p.until("title", nil)
	p.quit()
}

// From a match that did not connect the doctor asks the relay of that match, and
// back is the error with its way on.
func TestDoctorAfterAnError(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	c := testConfig(t)
	c.Timeout, c.probes = 2*time.Second, home(nil)
	p := startPlayer(t, c, StartTitle)
	p.until("title", nil)
	p.command(`{"cmd":"join","code":"K7QM-3XTD@127.0.0.1:1"}`)
	p.until("error", nil)
	p.command(`{"cmd":"doctor"}`)
	if d, _ := p.doctor(func(page.Doctor) bool { return true }); d.Relay != "127.0.0.1:1" {
		t.Errorf("the relay %q is asked", d.Relay)
	}
	p.command(`{"cmd":"cancel"}`) // in the middle
	var e page.ErrorScreen
	p.until("error", nil).into(t, &e)
	if e.Code != 3 || e.Retry != "join" {
		t.Errorf("%+v", e)
	}
	p.command(`{"cmd":"title"}`)
	p.until("title", nil)
	p.command(`{"cmd":"doctor"}`)
	if d, _ := p.doctor(func(page.Doctor) bool { return true }); d.Relay != "" {
		t.Errorf("from the title the relay %q is asked", d.Relay)
	}
	p.quit()
}
