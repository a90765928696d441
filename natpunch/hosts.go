package natpunch

import (
	"net"
	"net/netip"
	"slices"
	"strings"
)

// maxLocals bounds how many host candidates one family contributes; privacy
// extensions give some machines a dozen IPv6 addresses.
const maxLocals = 4

// virtualNames start the names of interfaces that lead to containers and
// virtual machines on this computer, never to an opponent.
var virtualNames = []string{"docker", "br-", "veth", "virbr", "lxc", "lxd", "vmnet", "vboxnet", "cni", "flannel", "cali", "podman", "vEthernet"}

// LocalAddrs lists the addresses of this machine worth offering to an opponent:
// of interfaces that are up, without those of containers, without link-local
// and multicast ones. With loopback set it lists loopback addresses and nothing
// else: then the relay, and so the opponent, runs on this machine.
func LocalAddrs(loopback bool) []netip.Addr {
	ifaces, err := net.Interfaces()
	if err != nil {
		return nil
	}
	var all []netip.Addr
	for _, i := range ifaces {
		if i.Flags&net.FlagUp == 0 || virtualInterface(i.Name) {
			continue
		}
		addrs, err := i.Addrs()
		if err != nil {
			continue
		}
		for _, a := range addrs {
			if p, ok := a.(*net.IPNet); ok {
				if ip, ok := netip.AddrFromSlice(p.IP); ok {
					all = append(all, ip)
				}
			}
		}
	}
	return filterLocals(all, loopback)
}

func virtualInterface(name string) bool {
	return slices.ContainsFunc(virtualNames, func(p string) bool { return strings.HasPrefix(name, p) })
}

// filterLocals applies the rules of LocalAddrs to addresses from anywhere.
func filterLocals(all []netip.Addr, loopback bool) []netip.Addr {
	var out []netip.Addr
	count := map[bool]int{}
	for _, a := range all {
		a = a.Unmap().WithZone("")
		if !offerable(a, loopback) || a.IsLoopback() != loopback || slices.Contains(out, a) || count[a.Is4()] == maxLocals {
			continue
		}
		count[a.Is4()]++
		out = append(out, a)
	}
	return out
}

// offerable reports whether an address can be a candidate at all, ours or the
// opponent's. Loopback ones count exactly when the relay is on loopback.
func offerable(a netip.Addr, loopback bool) bool {
	return a.IsValid() && !a.IsUnspecified() && !a.IsMulticast() && !a.IsLinkLocalUnicast() &&
		a != netip.AddrFrom4([4]byte{255, 255, 255, 255}) && (loopback || !a.IsLoopback())
}

// nearby reports an address that cannot be reached through the Internet.
func nearby(a netip.Addr) bool { return a.IsPrivate() || a.IsLoopback() }

// localPort is the port of a socket, 0 if it has none.
func localPort(a net.Addr) uint16 {
	if udp, ok := a.(*net.UDPAddr); ok {
		return uint16(udp.Port)
	}
	return 0
}
