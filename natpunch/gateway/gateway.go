// Package gateway finds the router of this machine: where packets go that no
// other route takes, and which interface leads there. The operating system knows
// both and every one tells them in another way:
//
//	Linux            /proc/net/route, a line a route, addresses in host order
//	macOS, the BSDs  the routing socket's dump
//	Windows          the table of adapters, each with its gateways
//	others           not known
//
// Only IPv4 is asked for: it is IPv4 that home routers translate, and they take
// orders for port mappings at their inner address.
package gateway

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
)

var (
	// ErrNone means that no route leads out of this machine's networks.
	ErrNone = errors.New("gateway: no default route")
	// ErrUnsupported means that this operating system is not asked.
	ErrUnsupported = errors.New("gateway: not known on this operating system")
)

// Route is the default route of this machine.
type Route struct {
	Router    netip.Addr // the next hop
	Local     netip.Addr // the address this machine has towards it
	Interface string     // the system's name of the interface
	Type      uint32     // Windows: its IfType, such as 6 for Ethernet; 0 elsewhere
}

// Default asks the system for the IPv4 default route with the best metric. It
// may read files and allocates; it sends nothing.
func Default() (Route, error) {
	r, err := defaultRoute()
	if err != nil {
		return Route{}, err
	}
	// Connecting a datagram socket sends nothing and makes the system choose.
	c, err := net.DialUDP("udp4", nil, net.UDPAddrFromAddrPort(netip.AddrPortFrom(r.Router, 9)))
	if err != nil {
		return Route{}, fmt.Errorf("gateway: %w", err)
	}
	defer c.Close()
	r.Local = c.LocalAddr().(*net.UDPAddr).AddrPort().Addr().Unmap()
	if r.Interface == "" {
		r.Interface = interfaceOf(r.Local)
	}
	return r, nil
}

// interfaceOf is the name of the interface that has an address, "" if none has.
func interfaceOf(a netip.Addr) string {
	all, err := net.Interfaces()
	if err != nil {
		return ""
	}
	for _, i := range all {
		addrs, err := i.Addrs()
		if err != nil {
			continue
		}
		for _, x := range addrs {
			if n, ok := x.(*net.IPNet); ok {
				if ip, ok := netip.AddrFromSlice(n.IP); ok && ip.Unmap() == a {
					return i.Name
				}
			}
		}
	}
	return ""
}
