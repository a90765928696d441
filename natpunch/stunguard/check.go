package stunguard

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
)

const (
	headerSize  = 20
	magicCookie = 0x2112A442
	crcXOR      = 0x5354554E // "STUN", RFC 8489 14.7

	// MaxAttributes is more than ICE ever sends (eight) and keeps the search
	// for duplicates short.
	MaxAttributes = 16
)

// Attribute types with rules of their own.
const (
	attrMappedAddress    = 0x0001
	attrChangeRequest    = 0x0003
	attrUsername         = 0x0006
	attrIntegrity        = 0x0008
	attrErrorCode        = 0x0009
	attrXORMappedAddress = 0x0020
	attrPriority         = 0x0024
	attrUseCandidate     = 0x0025
	attrXORMappedOld     = 0x8020 // pre-RFC number which pion reads as 0020
	attrSoftware         = 0x8022
	attrAlternateServer  = 0x8023
	attrFingerprint      = 0x8028
	attrIceControlled    = 0x8029
	attrIceControlling   = 0x802A
	attrResponseOrigin   = 0x802B
	attrOtherAddress     = 0x802C
)

// Why a datagram was refused. One sentinel per rule, none carries data of the
// datagram, so refusing allocates nothing.
var (
	ErrShort          = errors.New("stunguard: shorter than a STUN header")
	ErrCookie         = errors.New("stunguard: wrong magic cookie")
	ErrType           = errors.New("stunguard: not a Binding message")
	ErrLength         = errors.New("stunguard: length does not match the datagram")
	ErrTooMany        = errors.New("stunguard: too many attributes")
	ErrTruncated      = errors.New("stunguard: attribute reaches past the end")
	ErrDuplicate      = errors.New("stunguard: attribute type appears twice")
	ErrAddress        = errors.New("stunguard: malformed address attribute")
	ErrSize           = errors.New("stunguard: attribute has the wrong size")
	ErrUnknown        = errors.New("stunguard: unknown attribute that must be understood")
	ErrAfterIntegrity = errors.New("stunguard: attribute behind the integrity")
	ErrFingerprint    = errors.New("stunguard: fingerprint missing, wrong or not last")
)

// Check reports whether b may be handed to an ICE agent: a whole, well-formed
// Binding message that ends in a right FINGERPRINT. It never panics and does
// not allocate; b is only read.
func Check(b []byte) error { return check(b, true) }

// CheckAnswer is Check for answers to our own STUN client. The fingerprint may
// be missing, because servers are free to leave it out; one that is there must
// be right and last.
func CheckAnswer(b []byte) error { return check(b, false) }

func check(b []byte, needFingerprint bool) error {
	if len(b) < headerSize {
		return ErrShort
	}
	if binary.BigEndian.Uint32(b[4:]) != magicCookie {
		return ErrCookie
	}
	// The method is spread around the two class bits C1 (0x0100) and C0
	// (0x0010); Binding is method 1, so all other bits are fixed.
	if binary.BigEndian.Uint16(b)&^0x0110 != 0x0001 {
		return ErrType
	}
	if n := int(binary.BigEndian.Uint16(b[2:])); n != len(b)-headerSize || n%4 != 0 {
		return ErrLength
	}
	var seen [MaxAttributes]uint16
	count := 0
	var integrity, fingerprint bool
	for off := headerSize; off < len(b); {
		if count == MaxAttributes {
			return ErrTooMany
		}
		if len(b)-off < 4 {
			return ErrTruncated
		}
		typ := binary.BigEndian.Uint16(b[off:])
		size := int(binary.BigEndian.Uint16(b[off+2:]))
		next := off + 4 + (size+3)&^3
		if next > len(b) {
			return ErrTruncated
		}
		name := typ
		if name == attrXORMappedOld {
			name = attrXORMappedAddress
		}
		for _, t := range seen[:count] {
			if t == name {
				return ErrDuplicate
			}
		}
		seen[count] = name
		count++
		if integrity && typ != attrFingerprint {
			return ErrAfterIntegrity
		}
		value := b[off+4 : off+4+size]
		if err := checkValue(name, value); err != nil {
			return err
		}
		switch typ {
		case attrIntegrity:
			integrity = true
		case attrFingerprint:
			want := crc32.ChecksumIEEE(b[:off]) ^ crcXOR
			if next != len(b) || binary.BigEndian.Uint32(value) != want {
				return ErrFingerprint
			}
			fingerprint = true
		}
		off = next
	}
	if needFingerprint && !fingerprint {
		return ErrFingerprint
	}
	return nil
}

func checkValue(typ uint16, v []byte) error {
	ok := true
	switch typ {
	case attrMappedAddress, attrXORMappedAddress, attrAlternateServer, attrResponseOrigin, attrOtherAddress:
		if !(len(v) == 8 && v[0] == 0 && v[1] == 1) && !(len(v) == 20 && v[0] == 0 && v[1] == 2) {
			return ErrAddress
		}
	case attrErrorCode:
		ok = len(v) >= 4 && len(v) <= 128
	case attrUsername:
		ok = len(v) <= 513
	case attrPriority, attrFingerprint:
		ok = len(v) == 4
	case attrIceControlled, attrIceControlling:
		ok = len(v) == 8
	case attrUseCandidate:
		ok = len(v) == 0
	case attrIntegrity:
		ok = len(v) == 20
	default:
		if typ < 0x8000 {
			return ErrUnknown
		}
	}
	if !ok {
		return ErrSize
	}
	return nil
}
