package doctor

import (
	"context"
	"net/netip"
	"sync"
	"time"

	"backstep/natpunch/gateway"
	"backstep/natpunch/natclass"
	"backstep/natpunch/portmap"
)

// Config says what to look at.
type Config struct {
	// Relays are HOST[:PORT], as rendezvous.ParseRelay reads them; the first that
	// accepts a TCP connection is asked. None is fine.
	Relays []string
	// ShowAddresses puts addresses into the findings.
	ShowAddresses bool
	// NoPortMap leaves the router alone.
	NoPortMap bool
	Build     string
	// Probes are what touches the world; System's where a field is nil.
	Probes Probes
}

// Probes are the functions that touch the world, for tests to replace. Each ends
// soon after its context.
type Probes struct {
	Locals  func() []netip.Addr
	Route   func() (gateway.Route, error)
	Medium  func(gateway.Route) Medium
	Resolve func(ctx context.Context, host string) ([]netip.Addr, error)
	// Date asks for the relay's time over HTTP; took is the time to connect. The
	// time is zero if the answer has none.
	Date func(ctx context.Context, at netip.AddrPort, host string) (date time.Time, took time.Duration, err error)
	// Classify asks STUN from a socket of its own.
	Classify func(ctx context.Context, relay, second netip.AddrPort) (natclass.Class, error)
	Router   func(ctx context.Context, r gateway.Route) []portmap.Answer
	Hops     func(ctx context.Context, to netip.AddrPort) ([]netip.Addr, error)
	Now      func() time.Time
}

// check is one finding and what it waits for.
type check struct {
	id    string
	of    func(*Facts) Finding
	needs []part
}

// part is what one probe fills in.
type part uint8

const (
	partHere   part = iota // addresses, route, medium
	partRelay              // name, TCP, date
	partNAT4               // class of IPv4
	partNAT6               // class of IPv6
	partRouter             // port mapping protocols
	partHops
	parts
)

var checks = []check{
	{"network", network, []part{partHere}},
	{"link", link, []part{partHere}},
	{"relay", relay, []part{partRelay, partNAT4, partNAT6}},
	{"udp", udp, []part{partRelay, partNAT4, partNAT6}},
	{"nat_ipv4", nat4, []part{partHere, partRelay, partNAT4, partRouter}},
	{"nat_ipv6", nat6, []part{partHere, partRelay, partNAT6}},
	{"external", external, []part{partNAT4, partNAT6}},
	{"port_mapping", portMapping, []part{partHere, partNAT4, partRouter}},
	{"double_nat", doubleNAT, []part{partNAT4, partRouter, partHops}},
	{"clock", clock, []part{partRelay}},
}

// Limit bounds every probe; a relay that is silent takes about 5 s.
const Limit = 10 * time.Second

// Checks are the IDs of the findings in the order in which Run makes them, so
// that what is still to come can be shown before it is there.
func Checks() []string {
	out := make([]string, 0, len(checks))
	for _, c := range checks {
		out = append(out, c.id)
	}
	return out
}

// Run looks at everything and calls found with each finding, in a fixed order and
// on this goroutine, as soon as what it rests on is known; found may be nil. It
// returns when all are made, within about 10 s, or with the cause of ctx when
// that ends first: then the report holds the findings made so far. It starts a
// goroutine for each probe and waits for all of them.
func Run(ctx context.Context, c Config, found func(Finding)) (*Report, error) {
	p := c.Probes.withDefaults()
	f := &Facts{}
	done := make([]chan struct{}, parts)
	for i := range done {
		done[i] = make(chan struct{})
	}
	pctx, cancel := context.WithTimeout(ctx, Limit)
	var group sync.WaitGroup
	defer group.Wait()
	defer cancel()
	// A probe writes fields that no other writes, and before its part is done.
	probe := func(which part, needs []part, run func()) {
		group.Go(func() {
			defer close(done[which])
			for _, n := range needs {
				<-done[n]
			}
			run()
		})
	}
	probe(partHere, nil, func() {
		f.Locals = p.Locals()
		if f.Route, f.RouteErr = p.Route(); f.RouteErr == nil {
			f.Medium = p.Medium(f.Route)
		}
	})
	probe(partRelay, nil, func() { f.meet(pctx, &p, c.Relays) })
	for i, which := range []part{partNAT4, partNAT6} {
		probe(which, []part{partRelay}, func() {
			if f.RelayAddr[i].IsValid() {
				// What was learnt before an error counts.
				f.Class[i], _ = p.Classify(pctx, f.RelayAddr[i], f.Second[i])
			}
		})
	}
	probe(partRouter, []part{partHere}, func() {
		if f.RouteErr == nil && !c.NoPortMap {
			f.Router, f.RouterAsked = p.Router(pctx, f.Route), true
		}
	})
	probe(partHops, []part{partRelay}, func() {
		if f.RelayAddr[0].IsValid() {
			f.Hops, f.HopsErr = p.Hops(pctx, f.RelayAddr[0])
		}
	})
	report := &Report{Build: c.Build}
	for _, k := range checks {
		for _, n := range k.needs {
			select {
			case <-done[n]:
			case <-ctx.Done():
				return report, context.Cause(ctx)
			}
		}
		x := k.of(f)
		if !c.ShowAddresses {
			x.Addresses = nil
		}
		report.add(x)
		if found != nil {
			found(x)
		}
	}
	report.Relay = f.Relay
	return report, nil
}
