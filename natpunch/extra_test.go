package natpunch

import (
	"context"
	"net/netip"
	"slices"
	"testing"
	"time"

	"backstep/natpunch/rendezvous"
)

func TestPredict(t *testing.T) {
	at := func(a string) netip.AddrPort {
		if a == "" {
			return netip.AddrPort{}
		}
		return netip.MustParseAddrPort(a)
	}
	for _, tt := range []struct {
		name, first, second string
		g                   uint32
		want                []uint16
	}{
		{"counts up", "203.0.113.1:40000", "203.0.113.1:40001", 0, []uint16{40002, 40003, 40004, 40005, 40006, 40007, 40008, 40009}},
		{"counts down", "203.0.113.1:40001", "203.0.113.1:40000", 0, []uint16{39999, 39998, 39997, 39996, 39995, 39994, 39993, 39992}},
		{"by twos", "203.0.113.1:40000", "203.0.113.1:40002", 0, []uint16{40004, 40006, 40008, 40010, 40012, 40014, 40016, 40018}},
		{"looks further on", "203.0.113.1:40000", "203.0.113.1:40001", 1, []uint16{40010, 40011, 40012, 40013, 40014, 40015, 40016, 40017}},
		{"and begins again", "203.0.113.1:40000", "203.0.113.1:40001", 4, []uint16{40002, 40003, 40004, 40005, 40006, 40007, 40008, 40009}},
		{"the largest step", "203.0.113.1:40000", "203.0.113.1:40008", 0, []uint16{40016, 40024, 40032, 40040, 40048, 40056, 40064, 40072}},
		{"chance", "203.0.113.1:40000", "203.0.113.1:40009", 0, nil},
		{"chance downwards", "203.0.113.1:40009", "203.0.113.1:40000", 0, nil},
		{"one port for all", "203.0.113.1:40000", "203.0.113.1:40000", 0, nil},
		{"two addresses", "203.0.113.1:40000", "203.0.113.2:40001", 0, nil},
		{"one answer only", "203.0.113.1:40000", "", 0, nil},
		{"no answer", "", "", 0, nil},
		{"the last ports", "203.0.113.1:65533", "203.0.113.1:65534", 0, []uint16{65535}},
		{"the first ports", "203.0.113.1:1026", "203.0.113.1:1025", 0, []uint16{1024}},
	} {
		var got []uint16
		for _, a := range predict(at(tt.first), at(tt.second), tt.g) {
			if a.Addr() != at(tt.second).Addr() {
				t.Errorf("%s: %v", tt.name, a)
			}
			got = append(got, a.Port())
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
}

// mapper is a PortMapper that grants an address.
type mapper struct {
	grant   netip.AddrPort
	port    chan uint16
	release chan struct{}
}

func (m *mapper) Run(ctx context.Context, port uint16, found func(netip.AddrPort)) {
	found(m.grant)
	m.port <- port
	<-ctx.Done()
	close(m.release)
}

// A mapping is asked for the socket's port, offered, and given back by Close;
// nobody is asked while the address is hidden or only the relay may be used.
func TestPortMapper(t *testing.T) {
	grant := netip.MustParseAddrPort("50.0.0.1:4242")
	for _, tt := range []struct {
		name   string
		change func(*Paths)
		asked  bool
	}{
		{"behind a NAT", func(*Paths) {}, true},
		{"hidden", func(p *Paths) { p.cfg.Hide = true }, false},
		{"relay only", func(p *Paths) { p.cfg.Allowed = AllowRelay }, false},
		{"on this machine", func(p *Paths) { p.loopback = true }, false},
		{"a public address", func(p *Paths) { p.locals = addrs("50.0.0.9") }, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := &mapper{grant, make(chan uint16, 1), make(chan struct{})}
			conn, err := Listen("127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			p := &Paths{cfg: Config{Conn: conn, PortMapper: m, Allowed: AllowAuto}, locals: addrs("192.168.1.2")}
			p.ctx, p.cancel = context.WithCancel(t.Context())
			tt.change(p)
			p.mapPort()
			if tt.asked {
				if port := <-m.port; port != localPort(conn.LocalAddr()) {
					t.Errorf("port %d was asked for, the socket's is %v", port, conn.LocalAddr())
				}
				p.mu.Lock()
				got := p.extras(0)
				p.mu.Unlock()
				if want := []rendezvous.Candidate{{Kind: rendezvous.CandidateMapped, Addr: grant}}; !slices.Equal(got, want) {
					t.Errorf("offered %v", got)
				}
			}
			p.cancel()
			p.group.Wait()
			select {
			case <-m.release:
				if !tt.asked {
					t.Error("the router was asked")
				}
			default:
				if tt.asked {
					t.Error("the mapping was not given back")
				}
			}
		})
	}
}

// Predictions are offered behind a NAT that counts, and only there.
func TestExtrasPredict(t *testing.T) {
	now := int64(0)
	relay := netip.MustParseAddrPort("198.51.100.10:3478")
	for second, want := range map[uint16]int{40001: predictions, 40000: 0, 52000: 0} {
		p := &Paths{cfg: Config{Allowed: AllowAuto}, reg: &registration{mapped: netip.MustParseAddrPort("203.0.113.1:40000")}, refl: newReflexive(relay, now)}
		p.refl.ask[1].answered, p.refl.ask[1].mapped = true, netip.AddrPortFrom(netip.MustParseAddr("203.0.113.1"), second)
		conn, err := Listen("127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		p.cfg.Conn = conn
		if got := p.extras(0); len(got) != want {
			t.Errorf("second port %d: %d predictions, want %d", second, len(got), want)
		}
		conn.Close()
	}
}

// A mapping that comes too late for the first search begins another one, but
// only where a symmetric NAT makes it likely to help.
func TestMappedLate(t *testing.T) {
	base := func() *puncher {
		p := &Paths{mapped: netip.MustParseAddrPort("50.0.0.1:4242")}
		p.direct.theirSymmetric = true
		return &puncher{p: p, haveTheirs: true, agent: &agent{}, began: time.Unix(100, 0)}
	}
	for _, tt := range []struct {
		name   string
		change func(*puncher)
	}{
		{"it helps", func(*puncher) {}},
		{"too early", func(q *puncher) { q.began = time.Unix(101, 0) }},
		{"nothing mapped", func(q *puncher) { q.p.mapped = netip.AddrPort{} }},
		{"no symmetric NAT", func(q *puncher) { q.p.direct.theirSymmetric = false }},
		{"offered already", func(q *puncher) {
			q.own = []rendezvous.Candidate{{Kind: rendezvous.CandidateMapped, Addr: q.p.mapped}}
		}},
		{"the lobby is gone", func(q *puncher) { q.deaf = true }},
		{"the opponent has not answered", func(q *puncher) { q.haveTheirs = false }},
	} {
		q := base()
		tt.change(q)
		if got, want := q.mappedLate(time.Unix(101, 500)), tt.name == "it helps"; got != want {
			t.Errorf("%s: a new search %v, want %v", tt.name, got, want)
		}
	}
}
