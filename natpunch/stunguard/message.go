package stunguard

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha1" // MESSAGE-INTEGRITY is HMAC-SHA1, RFC 8489 14.5
	"encoding/binary"
	"net/netip"
)

// Class is the class of a STUN message.
type Class uint8

// The four classes of RFC 8489, section 5.
const (
	Request Class = iota
	Indication
	Success
	Failure
)

// TransactionID identifies a request and its answer.
type TransactionID [12]byte

// ClassOf returns the class of a message that passed Check or CheckAnswer.
func ClassOf(b []byte) Class { return Class(b[1]>>4&1 | b[0]&1<<1) }

// TransactionIDOf returns the transaction of a message that passed Check or
// CheckAnswer.
func TransactionIDOf(b []byte) (id TransactionID) {
	copy(id[:], b[8:headerSize])
	return id
}

// find returns where attribute typ of a checked message starts, and its value.
func find(b []byte, typ uint16) (off int, value []byte, ok bool) {
	for off = headerSize; off+4 <= len(b); {
		size := int(binary.BigEndian.Uint16(b[off+2:]))
		if binary.BigEndian.Uint16(b[off:]) == typ {
			return off, b[off+4 : off+4+size], true
		}
		off += 4 + (size+3)&^3
	}
	return 0, nil, false
}

// HasUsername reports whether the USERNAME of a checked message is exactly
// local:remote, which is what an ICE request to us carries.
func HasUsername(b []byte, local, remote string) bool {
	_, v, ok := find(b, attrUsername)
	if !ok {
		return false
	}
	l, r, ok := bytes.Cut(v, []byte{':'})
	return ok && string(l) == local && string(r) == remote
}

// Integrity reports whether the MESSAGE-INTEGRITY of a checked message was
// made with key (an ICE password). A message without one is not authentic.
// The comparison takes constant time.
func Integrity(b []byte, key string) bool {
	off, v, ok := find(b, attrIntegrity)
	if !ok {
		return false
	}
	// The HMAC covers everything before the attribute under a header whose
	// length ends with it, RFC 8489 14.5.
	var head [headerSize]byte
	copy(head[:], b)
	binary.BigEndian.PutUint16(head[2:], uint16(off+24-headerSize))
	mac := hmac.New(sha1.New, []byte(key))
	mac.Write(head[:])
	mac.Write(b[headerSize:off])
	return hmac.Equal(mac.Sum(nil), v)
}

// readAddress decodes an address attribute that passed checkValue. xored says
// whether it is of the XOR kind, RFC 8489 14.2.
func readAddress(b, v []byte, xored bool) netip.AddrPort {
	var key [16]byte
	if xored {
		copy(key[:], b[4:headerSize]) // cookie, then transaction
	}
	port := binary.BigEndian.Uint16(v[2:]) ^ binary.BigEndian.Uint16(key[:])
	var raw [16]byte
	n := copy(raw[:], v[4:])
	for i := range raw[:n] {
		raw[i] ^= key[i]
	}
	if n == 4 {
		return netip.AddrPortFrom(netip.AddrFrom4([4]byte(raw[:4])), port)
	}
	return netip.AddrPortFrom(netip.AddrFrom16(raw).Unmap(), port)
}
