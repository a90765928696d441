package doctor

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"backstep/natpunch/gateway"
	"backstep/natpunch/natclass"
	"backstep/natpunch/portmap"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var start = time.Date(2030, 1, 2, 3, 4, 5, 500e6, time.UTC)

// world is a healthy home for the probes; tests change a part of it.
func world() Probes {
	f := healthy()
	return Probes{
		Locals: func() []netip.Addr { return f.Locals },
		Route:  func() (gateway.Route, error) { return f.Route, nil },
		Medium: func(gateway.Route) Medium { return Wired },
		Resolve: func(context.Context, string) ([]netip.Addr, error) {
			return []netip.Addr{relay4.Addr(), relay6.Addr()}, nil
		},
		Date: func(context.Context, netip.AddrPort, string) (time.Time, time.Duration, error) {
			return start.Truncate(time.Second), time.Millisecond, nil
		},
		Classify: func(_ context.Context, at, _ netip.AddrPort) (natclass.Class, error) {
			if at == relay4 {
				return f.Class[0], nil
			}
			return f.Class[1], nil
		},
		Router: func(context.Context, gateway.Route) []portmap.Answer { return f.Router },
		Hops:   func(context.Context, netip.AddrPort) ([]netip.Addr, error) { return nil, errHops },
		Now:    func() time.Time { return start },
	}
}

var order = []string{"network", "link", "relay", "udp", "nat_ipv4", "nat_ipv6", "external", "port_mapping", "double_nat", "clock"}

func TestRun(t *testing.T) {
	for _, tt := range []struct {
		name     string
		relays   []string
		change   func(*Probes)
		severity Severity
		code     int
		bad      []string // findings worse than a note
	}{
		{"all is well", []string{"relay.example"}, func(*Probes) {}, OK, 0, nil},
		{"no relay", nil, func(*Probes) {}, Note, 0, nil},
		{"a day slow", []string{"relay.example"}, func(p *Probes) { p.Now = func() time.Time { return start.Add(-24 * time.Hour) } }, Warning, 1, []string{"clock"}},
		{"UDP blocked", []string{"relay.example"}, func(p *Probes) {
			p.Classify = func(context.Context, netip.AddrPort, netip.AddrPort) (natclass.Class, error) {
				return natclass.Class{}, context.DeadlineExceeded
			}
		}, Warning, 1, []string{"udp"}},
		{"no such name", []string{"relay.example"}, func(p *Probes) {
			p.Resolve = func(context.Context, string) ([]netip.Addr, error) {
				return nil, &net.DNSError{Err: "no such host", Name: "relay.example"}
			}
		}, Error, 3, []string{"relay"}},
		{"the relay is gone", []string{"relay.example"}, func(p *Probes) {
			p.Date = func(context.Context, netip.AddrPort, string) (time.Time, time.Duration, error) {
				return time.Time{}, 0, errors.New("connection refused")
			}
			p.Classify = func(context.Context, netip.AddrPort, netip.AddrPort) (natclass.Class, error) {
				return natclass.Class{}, nil
			}
		}, Error, 3, []string{"relay"}},
		{"the first of two is gone", []string{"198.51.100.99", "relay.example"}, func(p *Probes) {
			resolve, date := p.Resolve, p.Date
			p.Resolve = func(ctx context.Context, host string) ([]netip.Addr, error) {
				if host == "198.51.100.99" {
					return []netip.Addr{addr(host)}, nil
				}
				return resolve(ctx, host)
			}
			p.Date = func(ctx context.Context, at netip.AddrPort, host string) (time.Time, time.Duration, error) {
				if at.Addr() == addr("198.51.100.99") {
					return time.Time{}, 0, errors.New("timeout")
				}
				return date(ctx, at, host)
			}
		}, Note, 0, nil},
		{"no network", []string{"relay.example"}, func(p *Probes) {
			p.Locals = func() []netip.Addr { return nil }
			p.Route = func() (gateway.Route, error) { return gateway.Route{}, gateway.ErrNone }
			p.Date = func(context.Context, netip.AddrPort, string) (time.Time, time.Duration, error) {
				return time.Time{}, 0, errors.New("network is unreachable")
			}
			p.Classify = func(context.Context, netip.AddrPort, netip.AddrPort) (natclass.Class, error) {
				return natclass.Class{}, nil
			}
		}, Error, 5, []string{"network", "relay"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := world()
			tt.change(&p)
			var got []string
			r, err := Run(t.Context(), Config{Relays: tt.relays, Build: "b", Probes: p}, func(f Finding) { got = append(got, f.ID) })
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(got, order) || len(r.Findings) != len(order) {
				t.Errorf("findings %v", got)
			}
			var bad []string
			for _, f := range r.Findings {
				if f.Severity == Warning || f.Severity == Error {
					bad = append(bad, f.ID)
				}
				if len(f.Addresses) > 0 {
					t.Errorf("%s shows %v unasked", f.ID, f.Addresses)
				}
			}
			if r.Severity != tt.severity || r.ExitCode() != tt.code || !slices.Equal(bad, tt.bad) {
				t.Errorf("%s, code %d, %v; want %s, %d, %v", r.Severity, r.ExitCode(), bad, tt.severity, tt.code, tt.bad)
			}
		})
	}
}

// The second address of the name, or else another relay, is asked too.
func TestSecondAddress(t *testing.T) {
	second4, second6, other4 := addr("198.51.100.11"), addr("2600::11"), addr("198.51.100.99")
	for _, tt := range []struct {
		name   string
		relays []string
		of     map[string][]netip.Addr
		want   [2]netip.Addr
	}{
		{"one", []string{"a"}, map[string][]netip.Addr{"a": {relay4.Addr(), relay6.Addr()}}, [2]netip.Addr{}},
		{"two of one name", []string{"a"}, map[string][]netip.Addr{"a": {relay4.Addr(), second4, relay6.Addr(), second6}}, [2]netip.Addr{second4, second6}},
		{"another relay", []string{"a", "b"}, map[string][]netip.Addr{"a": {relay4.Addr(), relay6.Addr()}, "b": {other4}}, [2]netip.Addr{other4}},
		{"its own comes first", []string{"a", "b"}, map[string][]netip.Addr{"a": {relay4.Addr(), second4}, "b": {other4}}, [2]netip.Addr{second4}},
		{"the same under two names", []string{"a", "b"}, map[string][]netip.Addr{"a": {relay4.Addr()}, "b": {relay4.Addr()}}, [2]netip.Addr{}},
		{"a family the relay has not", []string{"a", "b"}, map[string][]netip.Addr{"a": {relay4.Addr()}, "b": {second6}}, [2]netip.Addr{}},
		{"no such name", []string{"a", "b"}, map[string][]netip.Addr{"a": {relay4.Addr()}}, [2]netip.Addr{}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := world()
			p.Resolve = func(_ context.Context, host string) ([]netip.Addr, error) {
				if a := tt.of[host]; a != nil {
					return a, nil
				}
				return nil, errors.New("no such host")
			}
			var f Facts
			f.meet(t.Context(), &p, tt.relays)
			if got := [2]netip.Addr{f.Second[0].Addr(), f.Second[1].Addr()}; got != tt.want || f.Relay != "a" {
				t.Errorf("%v of %s, want %v", got, f.Relay, tt.want)
			}
		})
	}
}

// Addresses come out when they are asked for, and only then, in the JSON as well.
func TestShowAddresses(t *testing.T) {
	for _, show := range []bool{false, true} {
		r, err := Run(t.Context(), Config{Relays: []string{"relay.example"}, ShowAddresses: show, Probes: world()}, nil)
		if err != nil {
			t.Fatal(err)
		}
		b, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range []string{seen4.Addr().String(), "2600::5"} {
			if strings.Contains(string(b), a) != show {
				t.Errorf("show %v: %s in %s", show, a, b)
			}
		}
		if strings.Contains(string(b), "192.168.1") {
			t.Errorf("an inside address in %s", b)
		}
	}
}

// A finding is told when its facts are there: the router, which takes longest,
// holds up neither what comes before it nor what the page shows of that.
func TestFindingsStream(t *testing.T) {
	p := world()
	release := make(chan struct{})
	p.Router = func(ctx context.Context, _ gateway.Route) []portmap.Answer {
		<-release
		return nil
	}
	early := 0
	_, err := Run(t.Context(), Config{Relays: []string{"relay.example"}, Probes: p}, func(f Finding) {
		if early++; f.ID == "udp" {
			close(release)
		}
		if f.ID == "nat_ipv4" && early != 5 {
			t.Errorf("%d findings before the router", early)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
}

// The end of the context ends everything; what was found is kept.
func TestRunCancelled(t *testing.T) {
	p := world()
	p.Router = func(ctx context.Context, _ gateway.Route) []portmap.Answer {
		<-ctx.Done()
		return nil
	}
	ctx, cancel := context.WithCancel(t.Context())
	r, err := Run(ctx, Config{Relays: []string{"relay.example"}, Probes: p}, func(f Finding) {
		if f.ID == "udp" {
			cancel()
		}
	})
	if !errors.Is(err, context.Canceled) || len(r.Findings) < 4 {
		t.Errorf("%v with %d findings", err, len(r.Findings))
	}
}

// The date comes out of any HTTP answer, and a server that says nothing costs no
// more than the context.
func TestAskDate(t *testing.T) {
	when := time.Date(2031, 5, 6, 7, 8, 9, 0, time.UTC)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Date", when.Format(http.TimeFormat))
		w.WriteHeader(http.StatusNotFound)
	}))
	defer s.Close()
	at := netip.MustParseAddrPort(strings.TrimPrefix(s.URL, "http://"))
	if date, took, err := askDate(t.Context(), at, "relay.example"); err != nil || !date.Equal(when) || took <= 0 {
		t.Errorf("%v, %v, %v", date, took, err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if date, took, err := askDate(ctx, l.Addr().(*net.TCPAddr).AddrPort(), "x"); err == nil || !date.IsZero() || took <= 0 {
		t.Errorf("a silent server: %v, %v, %v", date, took, err)
	}
}

func TestParsePorts(t *testing.T) {
	const text = "\nHardware Port: Ethernet\nDevice: en0\nEthernet Address: aa\n\nHardware Port: Wi-Fi\nDevice: en1\nEthernet Address: bb\n\n" +
		"Hardware Port: USB 10/100/1000 LAN\nDevice: en5\n\nHardware Port: iPhone USB\nDevice: en8\n"
	for device, want := range map[string]Medium{"en0": Wired, "en1": WiFi, "en5": Wired, "en8": UnknownMedium, "en9": UnknownMedium, "": UnknownMedium} {
		if got := parsePorts(text, device); got != want {
			t.Errorf("%s: %v, want %v", device, got, want)
		}
	}
}

func TestTunnelNames(t *testing.T) {
	for name, want := range map[string]Medium{"wg0": Tunnel, "tun3": Tunnel, "utun4": Tunnel, "ppp0": Tunnel} {
		if got := medium(gateway.Route{Interface: name}); got != want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
