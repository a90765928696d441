//go:build linux && (amd64 || arm64)

package relay

import (
	"encoding/binary"
	"net/netip"
	"strconv"
	"sync"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// addrPortOf reads a socket address as recvmmsg(2) writes it. IPv4 never comes back as a mapped address.
//
//	sockaddr_in    family u16 | port u16 (network order) | address 4
//	sockaddr_in6   family u16 | port u16 (network order) | flow 4 | address 16 | scope u32
func addrPortOf(b *[unix.SizeofSockaddrInet6]byte, n uint32) netip.AddrPort {
	port := binary.BigEndian.Uint16(b[2:])
	switch family := binary.NativeEndian.Uint16(b[:]); {
	case family == unix.AF_INET && n >= 8:
		return netip.AddrPortFrom(netip.AddrFrom4([4]byte(b[4:8])), port)
	case family == unix.AF_INET6 && n == unix.SizeofSockaddrInet6:
		ip := netip.AddrFrom16([16]byte(b[8:24])).Unmap()
		if scope := binary.NativeEndian.Uint32(b[24:]); scope != 0 && ip.Is6() && ip.IsLinkLocalUnicast() {
			ip = ip.WithZone(strconv.Itoa(int(scope)))
		}
		return netip.AddrPortFrom(ip, port)
	}
	return netip.AddrPort{}
}

// putAddrPort writes a socket address for a socket of either family and returns its length, 0 if the socket cannot send
// there. Zones are numbers, as addrPortOf makes them.
func putAddrPort(b *[unix.SizeofSockaddrInet6]byte, a netip.AddrPort, six bool) uint32 {
	ip := a.Addr()
	if !ip.IsValid() {
		return 0
	}
	binary.BigEndian.PutUint16(b[2:], a.Port())
	if !six {
		if ip = ip.Unmap(); !ip.Is4() {
			return 0
		}
		binary.NativeEndian.PutUint16(b[:], unix.AF_INET)
		v := ip.As4()
		copy(b[4:], v[:])
		clear(b[8:16])
		return unix.SizeofSockaddrInet4
	}
	binary.NativeEndian.PutUint16(b[:], unix.AF_INET6)
	v := ip.As16()
	copy(b[8:], v[:])
	clear(b[4:8])
	scope := 0
	if z := ip.Zone(); z != "" {
		scope, _ = strconv.Atoi(z)
	}
	binary.NativeEndian.PutUint32(b[24:], uint32(scope))
	return unix.SizeofSockaddrInet6
}

// control is room for one control message that names an address of this machine (ip(7), ipv6(7)):
//
//	cmsghdr len u64, level i32, type i32 | in_pktinfo   interface i32, local address 4, destination 4
//	                                     | in6_pktinfo  address 16, interface u32
type control [controlSpace]byte

const (
	cmsgHeader   = unix.SizeofCmsghdr
	controlSpace = cmsgHeader + (unix.SizeofInet6Pktinfo+7)&^7
)

// destination returns the address the datagram was sent to, or the zero Addr.
func (c *control) destination(n int) netip.Addr {
	if n < cmsgHeader || n > len(c) {
		return netip.Addr{}
	}
	h := (*unix.Cmsghdr)(unsafe.Pointer(c))
	switch {
	case h.Level == unix.IPPROTO_IP && h.Type == unix.IP_PKTINFO && h.Len >= cmsgHeader+unix.SizeofInet4Pktinfo:
		return netip.AddrFrom4([4]byte(c[cmsgHeader+4:]))
	case h.Level == unix.IPPROTO_IPV6 && h.Type == unix.IPV6_PKTINFO && h.Len >= cmsgHeader+unix.SizeofInet6Pktinfo:
		return netip.AddrFrom16([16]byte(c[cmsgHeader:])).Unmap()
	}
	return netip.Addr{}
}

// source asks for ip as the address to send from and returns the length of the message.
func (c *control) source(ip netip.Addr, six bool) int {
	h := (*unix.Cmsghdr)(unsafe.Pointer(c))
	clear(c[cmsgHeader:])
	if !six {
		if !ip.Is4() {
			return 0
		}
		h.Level, h.Type = unix.IPPROTO_IP, unix.IP_PKTINFO
		h.SetLen(cmsgHeader + unix.SizeofInet4Pktinfo)
		v := ip.As4()
		copy(c[cmsgHeader+4:], v[:])
		return cmsgHeader + (unix.SizeofInet4Pktinfo+7)&^7
	}
	h.Level, h.Type = unix.IPPROTO_IPV6, unix.IPV6_PKTINFO
	h.SetLen(cmsgHeader + unix.SizeofInet6Pktinfo)
	v := ip.As16()
	copy(c[cmsgHeader:], v[:])
	return controlSpace
}

// overflow extends the system's 32-bit count of dropped datagrams.
type overflow struct {
	mu   sync.Mutex
	last uint32
	sum  uint64
}

func (o *overflow) total(now uint32, ok bool) uint64 {
	o.mu.Lock()
	defer o.mu.Unlock()
	if ok {
		o.sum += uint64(now - o.last)
		o.last = now
	}
	return o.sum
}

// socketDrops reads the count of datagrams the socket dropped (SO_MEMINFO, SK_MEMINFO_DROPS; Linux 4.12). Asking when somebody
// wants to know costs nothing on the way of a datagram, unlike SO_RXQ_OVFL.
func socketDrops(fd uintptr) (uint32, bool) {
	var info [9]uint32
	size := uint32(unsafe.Sizeof(info))
	_, _, errno := syscall.Syscall6(unix.SYS_GETSOCKOPT, fd, unix.SOL_SOCKET, unix.SO_MEMINFO,
		uintptr(unsafe.Pointer(&info)), uintptr(unsafe.Pointer(&size)), 0)
	return info[8], errno == 0 && size == uint32(unsafe.Sizeof(info))
}
