package relay

import (
	"encoding/binary"
	"hash/crc32"
	"net/netip"
)

// The part of STUN (RFC 8489) a relay needs: a binding request in, a success response with XOR-MAPPED-ADDRESS and
// FINGERPRINT out.
//
//	type u16 | length u16 | cookie 2112A442 | transaction 12 | attributes: type u16, length u16, value, padding to 4
const (
	stunHeader      = 20
	stunCookie      = 0x2112A442
	stunBinding     = 0x0001
	stunSuccess     = 0x0101
	stunXorMapped   = 0x0020
	stunFingerprint = 0x8028
	stunChange      = 0x0003 // RFC 5780: answer from another address or port
	stunPadding     = 0x0026 // RFC 5780: what a request is lengthened with
	stunMostAttrs   = 16
	stunCRC         = 0x5354554e

	changeIP   = 4
	changePort = 2
)

// stunRequest is what parseStun finds in a binding request.
type stunRequest struct {
	transaction [12]byte
	change      uint32
}

// parseStun reads a binding request and refuses everything else: another cookie, class or method, a length that is not the
// datagram's, attributes that do not fit exactly, repeat or are required and unknown, a wrong fingerprint, anything behind a
// fingerprint.
func parseStun(b []byte) (r stunRequest, ok bool) {
	if len(b) < stunHeader || len(b)%4 != 0 || binary.BigEndian.Uint16(b) != stunBinding ||
		int(binary.BigEndian.Uint16(b[2:])) != len(b)-stunHeader || binary.BigEndian.Uint32(b[4:]) != stunCookie {
		return r, false
	}
	copy(r.transaction[:], b[8:])
	var seen [stunMostAttrs]uint16
	n := 0
	for at := stunHeader; at < len(b); {
		if n == stunMostAttrs {
			return r, false
		}
		kind, size := binary.BigEndian.Uint16(b[at:]), int(binary.BigEndian.Uint16(b[at+2:]))
		for _, k := range seen[:n] {
			if k == kind {
				return r, false
			}
		}
		seen[n] = kind
		n++
		value := at + 4
		next := value + (size+3)&^3
		if next > len(b) {
			return r, false
		}
		switch {
		case kind == stunChange:
			if size != 4 {
				return r, false
			}
			r.change = binary.BigEndian.Uint32(b[value:])
		case kind == stunPadding:
		case kind == stunFingerprint:
			if size != 4 || next != len(b) || binary.BigEndian.Uint32(b[value:]) != crc32.ChecksumIEEE(b[:at])^stunCRC {
				return r, false
			}
		case kind < 0x8000:
			return r, false
		}
		at = next
	}
	return r, true
}

// stunAnswerSize is the length of the answer to a request from addr.
func stunAnswerSize(addr netip.Addr) int {
	if addr.Is4() {
		return stunHeader + 4 + 8 + 8
	}
	return stunHeader + 4 + 20 + 8
}

// appendStunAnswer appends the answer to r for the address src.
func appendStunAnswer(b []byte, r *stunRequest, src netip.AddrPort) []byte {
	start := len(b)
	b = binary.BigEndian.AppendUint16(b, stunSuccess)
	b = binary.BigEndian.AppendUint16(b, uint16(stunAnswerSize(src.Addr())-stunHeader))
	b = binary.BigEndian.AppendUint32(b, stunCookie)
	b = append(b, r.transaction[:]...)
	b = binary.BigEndian.AppendUint16(b, stunXorMapped)
	mask := b[start+4 : start+20]
	if src.Addr().Is4() {
		b = append(b, 0, 8, 0, 1)
	} else {
		b = append(b, 0, 20, 0, 2)
	}
	b = binary.BigEndian.AppendUint16(b, src.Port()^stunCookie>>16)
	if src.Addr().Is4() {
		ip := src.Addr().As4()
		for i := range ip {
			b = append(b, ip[i]^mask[i])
		}
	} else {
		ip := src.Addr().As16()
		for i := range ip {
			b = append(b, ip[i]^mask[i])
		}
	}
	crc := crc32.ChecksumIEEE(b[start:]) ^ stunCRC
	b = append(b, stunFingerprint>>8, stunFingerprint&0xff, 0, 4)
	return binary.BigEndian.AppendUint32(b, crc)
}

// appendStunRequest appends a binding request of size bytes, padded so that it may be answered. size is a multiple of 4 and at
// least 36.
func appendStunRequest(b []byte, transaction [12]byte, size int) []byte {
	start := len(b)
	b = binary.BigEndian.AppendUint16(b, stunBinding)
	b = binary.BigEndian.AppendUint16(b, uint16(size-stunHeader))
	b = binary.BigEndian.AppendUint32(b, stunCookie)
	b = append(b, transaction[:]...)
	pad := size - stunHeader - 4 - 8
	b = binary.BigEndian.AppendUint16(b, stunPadding)
	b = binary.BigEndian.AppendUint16(b, uint16(pad))
	b = append(b, make([]byte, pad)...)
	crc := crc32.ChecksumIEEE(b[start:]) ^ stunCRC
	b = append(b, stunFingerprint>>8, stunFingerprint&0xff, 0, 4)
	return binary.BigEndian.AppendUint32(b, crc)
}

// stun decides about a STUN datagram. A request for another port is answered from the sibling port, one for another address
// from the alternate address; where there is none it is dropped.
func (f *forwarder) stun(now int64, in *udpPort, src route, b []byte, reply *[replySpace]byte) verdict {
	if len(b) < stunAnswerSize(src.addr.Addr()) {
		return verdict{drop: dropStunShort}
	}
	r, ok := parseStun(b)
	if !ok {
		return verdict{drop: dropStunMalformed}
	}
	to, ok := in.changed(src, r.change)
	if !ok {
		return verdict{drop: dropStunChange}
	}
	if !f.stunRate.take(now, src.addr.Addr()) {
		return verdict{drop: dropStunRate}
	}
	return verdict{out: appendStunAnswer(reply[:0], &r, src.addr), to: to, kind: kindStun}
}
