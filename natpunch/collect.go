package natpunch

import (
	"net"
	"net/netip"
	"slices"

	"backstep/natpunch/rendezvous"
)

// maxOwn candidates are offered; four a family and what the relay saw is less.
const maxOwn = 12

// gathered is what one generation has to offer.
type gathered struct {
	list  []rendezvous.Candidate
	bases []net.Addr // one per family, for the agent
}

// collect lists our candidates: host addresses first, then what the relay saw.
// A symmetric NAT shows up as two reflexive candidates with one address and two
// ports, which also tells the opponent what kind of NAT it is.
func collect(local net.Addr, locals []netip.Addr, loopback bool, allowed Allowed, reflexive []netip.AddrPort) gathered {
	var g gathered
	udp, ok := local.(*net.UDPAddr)
	if !ok {
		return g
	}
	bound, _ := netip.AddrFromSlice(udp.IP)
	bound = bound.Unmap()
	only4 := bound.Is4() // 0.0.0.0 included; :: takes both families
	seen := map[netip.AddrPort]bool{}
	add := func(kind rendezvous.CandidateKind, a netip.AddrPort) {
		if !seen[a] && len(g.list) < maxOwn {
			seen[a] = true
			g.list = append(g.list, rendezvous.Candidate{Kind: kind, Addr: a})
		}
	}
	haveBase := map[bool]bool{}
	for _, ip := range filterLocals(locals, loopback) {
		if only4 && !ip.Is4() || bound.IsValid() && !bound.IsUnspecified() && ip != bound {
			continue
		}
		a := netip.AddrPortFrom(ip, uint16(udp.Port))
		if !haveBase[ip.Is4()] {
			haveBase[ip.Is4()] = true
			g.bases = append(g.bases, net.UDPAddrFromAddrPort(a))
		}
		if allowed.permits(ip) {
			add(rendezvous.CandidateHost, a)
		}
	}
	for _, a := range reflexive {
		if offerable(a.Addr(), loopback) && allowed&(AllowLAN|AllowDirect) != 0 &&
			(allowed&AllowDirect != 0 || nearby(a.Addr())) {
			add(rendezvous.CandidateReflexive, a)
		}
	}
	if len(g.bases) == 0 {
		// Every interface was filtered out. The agent still needs a name for
		// the socket it sends through.
		ip := netip.IPv6Unspecified()
		if only4 {
			ip = netip.IPv4Unspecified()
		}
		g.bases = []net.Addr{net.UDPAddrFromAddrPort(netip.AddrPortFrom(ip, uint16(udp.Port)))}
	}
	return g
}

// permits reports whether a path to or from this address is allowed: private
// and loopback addresses are lan, all others direct.
func (a Allowed) permits(ip netip.Addr) bool {
	if nearby(ip) {
		return a&AllowLAN != 0
	}
	return a&AllowDirect != 0
}

// usable picks the candidates of the opponent that we try. The opponent is not
// trusted: it may not send us to loopback, nor to a crowd of addresses.
func usable(list []rendezvous.Candidate, loopback bool, allowed Allowed) []rendezvous.Candidate {
	var out []rendezvous.Candidate
	seen := map[netip.AddrPort]bool{}
	for _, c := range list {
		c.Addr = unmap(c.Addr)
		if len(out) == maxRemotes {
			break
		}
		if seen[c.Addr] || c.Addr.Port() == 0 || !offerable(c.Addr.Addr(), loopback) || !allowed.permits(c.Addr.Addr()) {
			continue
		}
		seen[c.Addr] = true
		out = append(out, c)
	}
	return out
}

// classify names a direct path by its remote address, never by the type ICE
// gave the candidate: lan if it is this machine's own, or one that the opponent
// announced and that lies in a private network or in the IPv6 network (/64) of
// this machine.
func classify(remote netip.AddrPort, announced []rendezvous.Candidate, locals []netip.Addr) Kind {
	ip := remote.Addr()
	if slices.Contains(locals, ip) {
		return KindLAN
	}
	if !nearby(ip) && !slices.ContainsFunc(locals, func(l netip.Addr) bool { return sameNetwork(l, ip) }) {
		return KindDirect
	}
	for _, c := range announced {
		if c.Kind == rendezvous.CandidateHost && c.Addr.Addr() == ip {
			return KindLAN
		}
	}
	return KindDirect
}

// sameNetwork reports two global IPv6 addresses of one network: all hosts of a
// network share the first 64 bits (RFC 4291, section 2.5.4).
func sameNetwork(a, b netip.Addr) bool {
	if !a.Is6() || !b.Is6() {
		return false
	}
	p, err := a.Prefix(64)
	return err == nil && p.Contains(b)
}

// candidateKind names the remote end of a path for the report, by address.
func candidateKind(remote netip.AddrPort, announced []rendezvous.Candidate) string {
	for _, c := range announced {
		if c.Addr == remote {
			switch c.Kind {
			case rendezvous.CandidateHost:
				return "host"
			case rendezvous.CandidateMapped:
				return "mapped"
			}
			return "srflx"
		}
	}
	return "prflx"
}

// symmetricNAT reports whether a list shows one outside address with different
// ports for different destinations.
func symmetricNAT(list []rendezvous.Candidate) bool {
	for i, a := range list {
		for _, b := range list[:i] {
			if a.Kind == rendezvous.CandidateReflexive && b.Kind == a.Kind &&
				a.Addr.Addr() == b.Addr.Addr() && a.Addr.Port() != b.Addr.Port() {
				return true
			}
		}
	}
	return false
}
