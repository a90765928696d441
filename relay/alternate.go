package relay

import (
	"net"
	"net/netip"
	"slices"
)

// An alternate address is where a relay answers from when a STUN request asks for another address (RFC 5780, section 6.1): a
// client learns that way whether its NAT filters by address. There is one where the relay listens on two addresses of a family
// with the same port, or on all addresses of a machine that has two.

// linkAlternates makes endpoints of the same family and port each other's alternates: each has the next one, the last one the first.
func linkAlternates(all []*endpoint) {
	type kind struct {
		is4  bool
		port uint16
	}
	groups := map[kind][]*endpoint{}
	for _, e := range all {
		if a := e.udp.at; !a.Addr().IsUnspecified() {
			k := kind{a.Addr().Is4(), a.Port()}
			groups[k] = append(groups[k], e)
		}
	}
	for _, g := range groups {
		for i, e := range g {
			if o := g[(i+1)%len(g)]; o != e {
				e.udp.other = o.udp
				if e.next != nil {
					e.next.other = o.next
				}
			}
		}
	}
}

// spread gives the ports that listen on all addresses an alternate for each of the machine's addresses: the next one of its
// family that is as public as it is.
func spread(all []*endpoint, own []netip.Addr) {
	if !canPick {
		return
	}
	next := map[netip.Addr]netip.Addr{}
	for _, a := range own {
		var alike []netip.Addr
		for _, b := range own {
			if b.Is4() == a.Is4() && b.IsPrivate() == a.IsPrivate() {
				alike = append(alike, b)
			}
		}
		slices.SortFunc(alike, netip.Addr.Compare)
		if b := alike[(slices.Index(alike, a)+1)%len(alike)]; b != a {
			next[a] = b
		}
	}
	for _, e := range all {
		if e.udp.at.Addr().IsUnspecified() {
			e.udp.alternate = next
			if e.next != nil {
				e.next.alternate = next
			}
		}
	}
}

// ownAddrs are the addresses of this machine at which others may reach it.
func ownAddrs() (out []netip.Addr) {
	all, err := net.InterfaceAddrs()
	if err != nil {
		return nil
	}
	for _, x := range all {
		if n, ok := x.(*net.IPNet); ok {
			if a, ok := netip.AddrFromSlice(n.IP); ok && a.Unmap().IsGlobalUnicast() {
				out = append(out, a.Unmap())
			}
		}
	}
	return out
}

// changed is the way by which a request for another port or address that came by src wants its answer, if there is one.
func (p *udpPort) changed(src route, change uint32) (route, bool) {
	if change&^(changeIP|changePort) != 0 {
		return src, false
	}
	if change&changePort != 0 {
		if p = p.sibling; p == nil {
			return src, false
		}
		src.via = p
	}
	if change&changeIP == 0 {
		return src, true
	}
	if p.other != nil {
		src.via, src.from = p.other, netip.Addr{}
		return src, true
	}
	from, ok := p.alternate[src.from]
	if src.from = from; !ok {
		return src, false
	}
	src.via = p
	return src, true
}
