//go:build linux && (amd64 || arm64)

package relay

import (
	"net"
	"net/netip"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// openUDP binds a socket. An address that is not valid, or the unspecified IPv6 address, means all addresses of both families.
// With share, more sockets may be bound to the same address, and the system gives every sender to one of them.
func openUDP(a netip.AddrPort, share bool) (batchConn, error) {
	ip := a.Addr()
	both := !ip.IsValid() || ip.Is6() && ip.IsUnspecified()
	family := unix.AF_INET6
	if ip.Is4() {
		family = unix.AF_INET
	}
	fd, err := unix.Socket(family, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, unix.IPPROTO_UDP)
	if err == unix.EAFNOSUPPORT && both {
		ip, both, family = netip.IPv4Unspecified(), false, unix.AF_INET
		fd, err = unix.Socket(family, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, unix.IPPROTO_UDP)
	}
	if err != nil {
		return nil, os.NewSyscallError("socket", err)
	}
	c, err := bindUDP(fd, family == unix.AF_INET6, both, netip.AddrPortFrom(ip, a.Port()), share)
	if err != nil {
		unix.Close(fd)
		return nil, err
	}
	return c, nil
}

func bindUDP(fd int, six, both bool, a netip.AddrPort, share bool) (*mmsgConn, error) {
	if six {
		only := 1
		if both {
			only = 0
		}
		if err := unix.SetsockoptInt(fd, unix.IPPROTO_IPV6, unix.IPV6_V6ONLY, only); err != nil {
			return nil, os.NewSyscallError("IPV6_V6ONLY", err)
		}
	}
	if share {
		if err := unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_REUSEPORT, 1); err != nil {
			return nil, os.NewSyscallError("SO_REUSEPORT", err)
		}
	}
	setBuffers(fd)
	ip := a.Addr()
	many := both || ip.IsUnspecified()
	if many {
		// Without it answers leave by the address the routing table likes, and clients believe only the one they asked.
		level, opt := unix.IPPROTO_IP, unix.IP_PKTINFO
		if six {
			level, opt = unix.IPPROTO_IPV6, unix.IPV6_RECVPKTINFO
		}
		if err := unix.SetsockoptInt(fd, level, opt, 1); err != nil {
			return nil, os.NewSyscallError("IP_PKTINFO", err)
		}
	}
	var sa unix.Sockaddr
	if six {
		s := &unix.SockaddrInet6{Port: int(a.Port())}
		if ip.IsValid() {
			s.Addr = ip.As16()
			s.ZoneId = zoneID(ip.Zone())
		}
		sa = s
	} else {
		sa = &unix.SockaddrInet4{Port: int(a.Port()), Addr: ip.As4()}
	}
	if err := unix.Bind(fd, sa); err != nil {
		return nil, os.NewSyscallError("bind", err)
	}
	at, err := unix.Getsockname(fd)
	if err != nil {
		return nil, os.NewSyscallError("getsockname", err)
	}
	port := a.Port()
	switch at := at.(type) {
	case *unix.SockaddrInet4:
		port = uint16(at.Port)
	case *unix.SockaddrInet6:
		port = uint16(at.Port)
	}
	if !ip.IsValid() {
		ip = netip.IPv6Unspecified()
	}
	c := &mmsgConn{six: six, many: many, addr: netip.AddrPortFrom(ip, port)}
	c.recv, c.flush, c.one.call = c.recvBatch, c.sendBatch, c.one.sendOne
	c.file = os.NewFile(uintptr(fd), "udp")
	if c.raw, err = c.file.SyscallConn(); err != nil {
		return nil, err
	}
	return c, nil
}

// setBuffers asks for large buffers: first as an administrator may, then as anybody may.
func setBuffers(fd int) {
	for _, opt := range [][2]int{{unix.SO_RCVBUFFORCE, unix.SO_RCVBUF}, {unix.SO_SNDBUFFORCE, unix.SO_SNDBUF}} {
		if unix.SetsockoptInt(fd, unix.SOL_SOCKET, opt[0], socketBuffer) != nil {
			unix.SetsockoptInt(fd, unix.SOL_SOCKET, opt[1], socketBuffer)
		}
	}
}

func zoneID(zone string) uint32 {
	if zone == "" {
		return 0
	}
	if i, err := net.InterfaceByName(zone); err == nil {
		return uint32(i.Index)
	}
	n, _ := strconv.ParseUint(zone, 10, 32)
	return uint32(n)
}
