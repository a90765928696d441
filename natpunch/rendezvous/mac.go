package rendezvous

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"net/netip"
)

// hmacSHA256 is HMAC-SHA256 (RFC 2104) of a message of at most 64 bytes under a
// 32-byte key. crypto/hmac allocates its two hash states per key, and a relay
// derives a key per datagram before it trusts a byte of it; this form works on
// the stack. A test holds it against crypto/hmac.
func hmacSHA256(key *[32]byte, msg []byte) [32]byte {
	const block = sha256.BlockSize
	var inner [block + 64]byte
	var outer [block + sha256.Size]byte
	if len(msg) > len(inner)-block {
		panic("rendezvous: message too long for hmacSHA256")
	}
	for i, k := range key {
		inner[i] = k ^ 0x36
		outer[i] = k ^ 0x5c
	}
	for i := len(key); i < block; i++ {
		inner[i] = 0x36
		outer[i] = 0x5c
	}
	n := block + copy(inner[block:], msg)
	sum := sha256.Sum256(inner[:n])
	copy(outer[block:], sum[:])
	return sha256.Sum256(outer[:])
}

// DeriveRegKey is the key of one side of one session,
//
//	HMAC-SHA256(secret, "backstep reg 1" | lobby | channel u32 | side u8 | expiry u32)
//
// so that a relay needs to store nothing to check a registration. It allocates
// nothing.
func DeriveRegKey(secret *[32]byte, lobby LobbyID, channel uint32, side Side, expiry uint32) RegKey {
	var buf [64]byte
	b := append(buf[:0], "backstep reg 1"...)
	b = append(b, lobby[:]...)
	b = binary.LittleEndian.AppendUint32(b, channel)
	b = append(b, byte(side))
	b = binary.LittleEndian.AppendUint32(b, expiry)
	return hmacSHA256(secret, b)
}

// Cookie proves to the relay that who registers receives what is sent to addr,
//
//	HMAC-SHA256(key, ip 16 | port u16 | channel u32 | side u8 | lobby 16)[:16]
//
// The relay changes key every 60 s and accepts cookies of the key before too. It
// allocates nothing.
func Cookie(key *[32]byte, addr netip.AddrPort, channel uint32, side Side, lobby LobbyID) CookieValue {
	var buf [64]byte
	ip := addr.Addr().As16()
	b := append(buf[:0], ip[:]...)
	b = binary.LittleEndian.AppendUint16(b, addr.Port())
	b = binary.LittleEndian.AppendUint32(b, channel)
	b = append(b, byte(side))
	b = append(b, lobby[:]...)
	sum := hmacSHA256(key, b)
	return CookieValue(sum[:16])
}

// CookieValue is a cookie; all zero means none.
type CookieValue [16]byte

// IsZero reports whether there is no cookie. It is not constant in time and need
// not be: "none" is no secret.
func (c CookieValue) IsZero() bool { return c == CookieValue{} }

// Equal compares two cookies in constant time.
func (c CookieValue) Equal(d CookieValue) bool { return hmac.Equal(c[:], d[:]) }

const tagSize = 16

// appendTag closes the frame that starts at b[start]: HMAC-SHA256 over all of it
// so far, the first 16 bytes.
func appendTag(b []byte, start int, key *RegKey) []byte {
	sum := hmacSHA256((*[32]byte)(key), b[start:])
	return append(b, sum[:tagSize]...)
}

// CheckTag tells in constant time whether the last 16 bytes of frame (a REG,
// CHAL or ACK) are the tag of all bytes before them. It allocates nothing. Any
// other length is false.
func CheckTag(frame []byte, key *RegKey) bool {
	switch len(frame) {
	case RegSize, ChalSize, AckSize:
	default:
		return false
	}
	n := len(frame) - tagSize
	sum := hmacSHA256((*[32]byte)(key), frame[:n])
	return hmac.Equal(sum[:tagSize], frame[n:])
}
