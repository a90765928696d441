package natpunch

import (
	"context"
	"net/netip"
	"slices"
	"time"

	"backstep/natpunch/rendezvous"
)

// Candidates beside what interfaces and relay show: an outside port that the
// router gave us, and ports that a symmetric NAT is going to give out.
const (
	// A NAT that counts gives the next destination the next port or one a few
	// further on; a larger difference is chance.
	maxStep = 8
	// predictions are offered in one generation, and windowsAhead generations
	// look at ever later ones: how many other destinations come in between
	// cannot be known, but the port towards an opponent stays what it is.
	predictions  = 8
	windowsAhead = 4
	// mappedAfter is how long a search runs before a port mapping that came too
	// late for it is a reason to begin anew.
	mappedAfter = time.Second
)

// PortMapper gets a UDP port of this machine mapped by the router.
type PortMapper interface {
	// Run maps port and keeps the mapping until ctx ends, then gives it back
	// within half a second. It tells found every outside address, and the zero
	// value when there is none any more.
	Run(ctx context.Context, port uint16, found func(netip.AddrPort))
}

// mapPort starts the port mapper where a mapping can help: towards a direct
// path, behind a router that translates.
func (p *Paths) mapPort() {
	port := localPort(p.LocalAddr())
	if p.cfg.PortMapper == nil || p.cfg.Hide || p.cfg.Allowed&AllowDirect == 0 || p.loopback || port == 0 ||
		!slices.ContainsFunc(p.locals, func(a netip.Addr) bool { return a.Is4() && nearby(a) }) {
		return
	}
	p.group.Go(func() {
		p.cfg.PortMapper.Run(p.ctx, port, func(a netip.AddrPort) {
			p.mu.Lock()
			p.mapped = a
			p.mu.Unlock()
		})
	})
}

// extras are the candidates of generation g beside those of collect. Runs with
// the lock held.
func (p *Paths) extras(g uint32) []rendezvous.Candidate {
	if p.cfg.Hide || p.cfg.Allowed&AllowDirect == 0 {
		return nil
	}
	var out []rendezvous.Candidate
	if a := p.mapped; a.IsValid() && offerable(a.Addr(), p.loopback) {
		out = append(out, rendezvous.Candidate{Kind: rendezvous.CandidateMapped, Addr: a})
	}
	if p.refl == nil || p.mapping() != MappingDependent {
		return out
	}
	first := p.reg.mapped
	if !first.IsValid() {
		first = p.refl.ask[0].mapped
	}
	for _, a := range predict(first, p.refl.ask[1].mapped, g) {
		if offerable(a.Addr(), p.loopback) {
			out = append(out, rendezvous.Candidate{Kind: rendezvous.CandidateReflexive, Addr: a})
		}
	}
	return out
}

// predict names the ports a symmetric NAT gives out next if it counts: first and
// second are what it gave out for two destinations, one after the other. Without
// a small step between them the result is empty.
func predict(first, second netip.AddrPort, g uint32) []netip.AddrPort {
	step := int(second.Port()) - int(first.Port())
	if !first.IsValid() || first.Addr() != second.Addr() || step == 0 || max(step, -step) > maxStep {
		return nil
	}
	var out []netip.AddrPort
	skip := int(g%windowsAhead) * predictions
	for k := skip + 1; k <= skip+predictions; k++ {
		if port := int(second.Port()) + k*step; port >= 1024 && port <= 65535 {
			out = append(out, netip.AddrPortFrom(second.Addr(), uint16(port)))
		}
	}
	return out
}

// mappedLate asks for a new generation when a port mapping came after this one's
// candidates had gone and nothing else is likely to help: there is no path yet,
// and a symmetric NAT on one side.
func (q *puncher) mappedLate(now time.Time) bool {
	p := q.p
	p.mu.Lock()
	mapped := p.mapped
	hard := p.direct.ownSymmetric || p.direct.theirSymmetric
	p.mu.Unlock()
	return mapped.IsValid() && hard && !q.deaf && q.haveTheirs && q.agent != nil && now.Sub(q.began) >= mappedAfter &&
		!slices.ContainsFunc(q.own, func(c rendezvous.Candidate) bool { return c.Addr == mapped })
}
