package doctor

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"net"
	"net/netip"
	"time"

	"golang.org/x/sys/unix"

	"backstep/natpunch/portmap"
	"backstep/natpunch/stunguard"
)

const (
	maxHops = 6 // a second NAT is within the first few
	hopWait = 250 * time.Millisecond
	hopTry  = 2
)

// hops sends STUN requests that live for one hop, two, and so on, and lists the
// routers that report their end, up to the first with an address of the internet
// or the relay itself. It needs no privilege: Linux hands the reports to the
// socket that asked for them (IP_RECVERR, ip(7)).
func hops(ctx context.Context, to netip.AddrPort) ([]netip.Addr, error) {
	c, err := net.DialUDP("udp4", nil, net.UDPAddrFromAddrPort(to))
	if err != nil {
		return nil, fmt.Errorf("doctor: %w", err)
	}
	defer c.Close()
	raw, err := c.SyscallConn()
	if err != nil {
		return nil, fmt.Errorf("doctor: %w", err)
	}
	set := func(option, value int) error {
		var bad error
		if err := raw.Control(func(fd uintptr) { bad = unix.SetsockoptInt(int(fd), unix.IPPROTO_IP, option, value) }); err != nil {
			return err
		}
		return bad
	}
	if err := set(unix.IP_RECVERR, 1); err != nil {
		return nil, fmt.Errorf("doctor: %w", err)
	}
	var out []netip.Addr
	for ttl := 1; ttl <= maxHops; ttl++ {
		if err := set(unix.IP_TTL, ttl); err != nil {
			return out, fmt.Errorf("doctor: %w", err)
		}
		var at netip.Addr
		arrived := false
		for range hopTry {
			if ctx.Err() != nil {
				return out, context.Cause(ctx)
			}
			var id stunguard.TransactionID
			_, _ = rand.Read(id[:])
			// An error here is the report about an earlier request.
			_, _ = c.Write(stunguard.AppendRequest(nil, id))
			_ = c.SetReadDeadline(time.Now().Add(hopWait))
			err := raw.Read(func(fd uintptr) (done bool) {
				at, arrived, done = hopReport(int(fd))
				return done
			})
			if err == nil {
				break
			}
		}
		if arrived {
			return out, nil
		}
		out = append(out, at)
		if at.IsValid() && !portmap.Private(at) {
			return out, nil
		}
	}
	return out, nil
}

// hopReport reads what came back to a socket: who reports the end of a packet, or
// that the relay answered. done is false while there is nothing.
func hopReport(fd int) (at netip.Addr, arrived, done bool) {
	var b [256]byte
	var oob [512]byte
	for {
		_, n, _, _, err := unix.Recvmsg(fd, b[:], oob[:], unix.MSG_ERRQUEUE|unix.MSG_DONTWAIT)
		if err != nil {
			break
		}
		if at, ok := offender(oob[:n]); ok {
			return at, false, true
		}
	}
	if n, _, err := unix.Recvfrom(fd, b[:], unix.MSG_DONTWAIT); err == nil && n > 0 {
		return at, true, true
	}
	return at, false, false
}

// offender reads the sender of an ICMP "time exceeded" from control messages: a
// struct sock_extended_err of 16 bytes, then its address, linux/errqueue.h.
func offender(oob []byte) (netip.Addr, bool) {
	all, err := unix.ParseSocketControlMessage(oob)
	if err != nil {
		return netip.Addr{}, false
	}
	const icmpTimeExceeded = 11
	for _, m := range all {
		if m.Header.Level != unix.IPPROTO_IP || m.Header.Type != unix.IP_RECVERR || len(m.Data) < 24 {
			continue
		}
		origin, kind := m.Data[4], m.Data[5]
		if origin != unix.SO_EE_ORIGIN_ICMP || kind != icmpTimeExceeded || binary.NativeEndian.Uint16(m.Data[16:]) != unix.AF_INET {
			continue
		}
		return netip.AddrFrom4([4]byte(m.Data[20:24])), true
	}
	return netip.Addr{}, false
}
