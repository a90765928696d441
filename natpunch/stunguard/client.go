package stunguard

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"net/netip"
)

// RequestSize is the length of every request of our client, in bytes. It is
// longer than any answer of a relay, so that a relay never sends more to an
// address than came from there, which is what reflection attacks live on.
const RequestSize = 128

var (
	// ErrAnswer is an answer that is well formed but none to this request.
	ErrAnswer = errors.New("stunguard: not the success answer to this request")
	// ErrNoAddress is an answer without a usable mapped address.
	ErrNoAddress = errors.New("stunguard: answer without a mapped address")
)

// AppendRequest appends a Binding request of RequestSize bytes to b and
// returns the extended slice. The padding is a SOFTWARE attribute, which any
// server may ignore.
func AppendRequest(b []byte, id TransactionID) []byte { return appendRequest(b, id, 0) }

// AppendChangePort is AppendRequest with the CHANGE-REQUEST of RFC 5780,
// section 7.2, that asks for the answer from the server's other port. A server
// that has none, or does not know the attribute, sends no success answer.
func AppendChangePort(b []byte, id TransactionID) []byte { return appendRequest(b, id, changePort) }

// AppendChangeBoth is AppendChangePort for the server's other address and port.
func AppendChangeBoth(b []byte, id TransactionID) []byte {
	return appendRequest(b, id, changeAddress|changePort)
}

const (
	changeAddress = 4
	changePort    = 2
)

func appendRequest(b []byte, id TransactionID, change uint32) []byte {
	start := len(b)
	b = binary.BigEndian.AppendUint16(b, 0x0001)
	b = binary.BigEndian.AppendUint16(b, RequestSize-headerSize)
	b = binary.BigEndian.AppendUint32(b, magicCookie)
	b = append(b, id[:]...)
	padding := RequestSize - headerSize - 4 - 8 // all but this attribute's header and the fingerprint
	if change != 0 {
		b = binary.BigEndian.AppendUint16(b, attrChangeRequest)
		b = binary.BigEndian.AppendUint16(b, 4)
		b = binary.BigEndian.AppendUint32(b, change)
		padding -= 8
	}
	b = binary.BigEndian.AppendUint16(b, attrSoftware)
	b = binary.BigEndian.AppendUint16(b, uint16(padding))
	const name = "backstep"
	b = append(b, name...)
	for range padding - len(name) {
		b = append(b, ' ')
	}
	sum := crc32.ChecksumIEEE(b[start:]) ^ crcXOR
	b = binary.BigEndian.AppendUint16(b, attrFingerprint)
	b = binary.BigEndian.AppendUint16(b, 4)
	return binary.BigEndian.AppendUint32(b, sum)
}

// ParseAnswer checks b and returns the address the server saw us at, without
// IPv4-in-IPv6 form. It refuses everything but a success answer to id. Who
// sent b is the caller's to check.
func ParseAnswer(b []byte, id TransactionID) (netip.AddrPort, error) {
	if err := CheckAnswer(b); err != nil {
		return netip.AddrPort{}, err
	}
	if ClassOf(b) != Success || TransactionIDOf(b) != id {
		return netip.AddrPort{}, ErrAnswer
	}
	addr := netip.AddrPort{}
	if _, v, ok := find(b, attrXORMappedAddress); ok {
		addr = readAddress(b, v, true)
	} else if _, v, ok := find(b, attrXORMappedOld); ok {
		addr = readAddress(b, v, true)
	} else if _, v, ok := find(b, attrMappedAddress); ok {
		addr = readAddress(b, v, false)
	}
	ip := addr.Addr()
	if !ip.IsValid() || ip.IsUnspecified() || ip.IsMulticast() || addr.Port() == 0 {
		return netip.AddrPort{}, ErrNoAddress
	}
	return addr, nil
}
