//go:build darwin || freebsd || netbsd || openbsd || dragonfly

package gateway

import (
	"fmt"
	"net"
	"net/netip"
	"syscall"

	"golang.org/x/net/route"
)

func defaultRoute() (Route, error) {
	b, err := route.FetchRIB(syscall.AF_INET, route.RIBTypeRoute, 0)
	if err != nil {
		return Route{}, fmt.Errorf("gateway: %w", err)
	}
	all, err := route.ParseRIB(route.RIBTypeRoute, b)
	if err != nil {
		return Route{}, fmt.Errorf("gateway: %w", err)
	}
	for _, m := range all {
		r, ok := m.(*route.RouteMessage)
		if !ok || len(r.Addrs) <= syscall.RTAX_NETMASK || r.Flags&syscall.RTF_GATEWAY == 0 || r.Flags&syscall.RTF_UP == 0 {
			continue
		}
		dst, ok := r.Addrs[syscall.RTAX_DST].(*route.Inet4Addr)
		if !ok || dst.IP != [4]byte{} {
			continue
		}
		// 0.0.0.0/1 is a VPN's way around the default route, not the router.
		if mask, ok := r.Addrs[syscall.RTAX_NETMASK].(*route.Inet4Addr); ok && mask.IP != [4]byte{} {
			continue
		}
		hop, ok := r.Addrs[syscall.RTAX_GATEWAY].(*route.Inet4Addr)
		if !ok {
			continue
		}
		found := Route{Router: netip.AddrFrom4(hop.IP)}
		if i, err := net.InterfaceByIndex(r.Index); err == nil {
			found.Interface = i.Name
		}
		return found, nil
	}
	return Route{}, fmt.Errorf("%w", ErrNone)
}
