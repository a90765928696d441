// Package wiretap records what goes over the wire of a network namespace: every UDP datagram and TCP segment with its
// payload, its addresses and the time the kernel saw it.
//
//	Ethernet 14 | IPv4 20.. or IPv6 40 | UDP 8 or TCP 20.. | payload
//	                                                          └─> Packet
//
// Parse takes such a frame apart and works on every system; Open listens, on Linux, as root.
package wiretap

import (
	"encoding/binary"
	"errors"
	"net/netip"
	"time"
)

// Protocol numbers of IP.
const (
	TCP = 6
	UDP = 17
)

// Packet is one UDP datagram or TCP segment.
type Packet struct {
	At        time.Time
	Interface string
	Protocol  uint8 // TCP or UDP
	Src, Dst  netip.AddrPort
	Seq       uint32 // of TCP: number of the first byte of Payload, or of SYN
	SYN, FIN  bool
	Payload   []byte
}

var (
	// ErrOther is a frame that is neither UDP nor TCP.
	ErrOther = errors.New("wiretap: neither UDP nor TCP")
	// ErrMalformed is a frame whose lengths contradict each other.
	ErrMalformed = errors.New("wiretap: malformed frame")
	// ErrFragment is a piece of a fragmented packet. Nothing here sends any, and a piece cannot be judged.
	ErrFragment = errors.New("wiretap: IP fragment")
)

const (
	etherHeader = 14
	etherIPv4   = 0x0800
	etherIPv6   = 0x86DD
)

// Parse reads an Ethernet frame. Payload points into b. Checksums are not looked at: virtual interfaces leave them open.
func Parse(b []byte) (Packet, error) {
	if len(b) < etherHeader {
		return Packet{}, ErrMalformed
	}
	switch ip := b[etherHeader:]; binary.BigEndian.Uint16(b[12:]) {
	case etherIPv4:
		return parse4(ip)
	case etherIPv6:
		return parse6(ip)
	}
	return Packet{}, ErrOther
}

func parse4(b []byte) (Packet, error) {
	if len(b) < 20 || b[0]>>4 != 4 {
		return Packet{}, ErrMalformed
	}
	header, total := int(b[0]&15)*4, int(binary.BigEndian.Uint16(b[2:]))
	if header < 20 || total < header || total > len(b) {
		return Packet{}, ErrMalformed
	}
	if protocol := b[9]; protocol != UDP && protocol != TCP {
		return Packet{}, ErrOther
	}
	if binary.BigEndian.Uint16(b[6:])&0x3fff != 0 { // more fragments, or an offset
		return Packet{}, ErrFragment
	}
	return parseTransport(b[9], netip.AddrFrom4([4]byte(b[12:16])), netip.AddrFrom4([4]byte(b[16:20])), b[header:total])
}

// parse6 knows one extension header, that of fragments, because no sender here uses any.
func parse6(b []byte) (Packet, error) {
	if len(b) < 40 || b[0]>>4 != 6 {
		return Packet{}, ErrMalformed
	}
	total := 40 + int(binary.BigEndian.Uint16(b[4:]))
	if total > len(b) {
		return Packet{}, ErrMalformed
	}
	const fragment = 44
	if b[6] == fragment {
		return Packet{}, ErrFragment
	}
	return parseTransport(b[6], netip.AddrFrom16([16]byte(b[8:24])), netip.AddrFrom16([16]byte(b[24:40])), b[40:total])
}

func parseTransport(protocol uint8, src, dst netip.Addr, b []byte) (Packet, error) {
	p := Packet{Protocol: protocol}
	switch protocol {
	case UDP:
		if len(b) < 8 || int(binary.BigEndian.Uint16(b[4:])) != len(b) {
			return Packet{}, ErrMalformed
		}
		p.Payload = b[8:]
	case TCP:
		if len(b) < 20 {
			return Packet{}, ErrMalformed
		}
		header := int(b[12]>>4) * 4
		if header < 20 || header > len(b) {
			return Packet{}, ErrMalformed
		}
		p.Seq = binary.BigEndian.Uint32(b[4:])
		p.FIN, p.SYN = b[13]&1 != 0, b[13]&2 != 0
		p.Payload = b[header:]
	default:
		return Packet{}, ErrOther
	}
	p.Src = netip.AddrPortFrom(src, binary.BigEndian.Uint16(b))
	p.Dst = netip.AddrPortFrom(dst, binary.BigEndian.Uint16(b[2:]))
	return p, nil
}
