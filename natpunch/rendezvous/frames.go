package rendezvous

import (
	"encoding/binary"
	"net/netip"
)

// First bytes of the relay frames. 0xF0 to 0xFF belong to the relay, 0 to 3 to
// STUN, 20 to 63 to DTLS.
const (
	FrameReg  byte = 0xF0
	FrameChal byte = 0xF1
	FrameAck  byte = 0xF2
	FrameData byte = 0xF8
)

// Lengths of the relay frames in bytes.
const (
	RegSize      = 80
	ChalSize     = 48
	AckSize      = 64
	DataOverhead = 5
	MaxData      = 1400 // payload of a DATA frame
	MaxFrame     = DataOverhead + MaxData
)

// PeerNever is the peer age of an opponent that has not been heard.
const PeerNever = 0xFFFF

// IsFrame reports whether a datagram is a relay frame by its first byte.
func IsFrame(b []byte) bool { return len(b) > 0 && b[0] >= 0xF0 }

// Reg registers the sender's address for one side of a channel.
//
//	F0 01 side 00 | channel u32 | lobby 16 | expiry u32 | counter u64 |
//	cookie 16 (0 = none) | zero 12 | tag 16                            80 bytes
//
// Counter must rise with every REG of a side, also across restarts of a client
// that keeps its session.
type Reg struct {
	Side    Side
	Channel uint32
	Lobby   LobbyID
	Expiry  uint32
	Counter uint64
	Cookie  CookieValue
}

// AppendReg appends the frame with its tag.
func AppendReg(b []byte, r *Reg, key *RegKey) []byte {
	start := len(b)
	b = appendHead(b, FrameReg, r.Side, 0, r.Channel)
	b = append(b, r.Lobby[:]...)
	b = binary.LittleEndian.AppendUint32(b, r.Expiry)
	b = binary.LittleEndian.AppendUint64(b, r.Counter)
	b = append(b, r.Cookie[:]...)
	b = append(b, zeros[:12]...)
	return appendTag(b, start, key)
}

// ParseReg checks size, version, side and zeros and reads r; the tag is the
// caller's to check (CheckTag), once it has derived the key from what r says. It
// allocates nothing.
func ParseReg(b []byte, r *Reg) error {
	side, channel, err := parseHead(b, FrameReg, RegSize)
	if err != nil {
		return err
	}
	if b[3] != 0 || [12]byte(b[52:64]) != zeros {
		return ErrReserved
	}
	r.Side, r.Channel = side, channel
	r.Lobby = LobbyID(b[8:24])
	r.Expiry = binary.LittleEndian.Uint32(b[24:])
	r.Counter = binary.LittleEndian.Uint64(b[28:])
	r.Cookie = CookieValue(b[36:52])
	return nil
}

// Chal is the relay's answer to a right REG from an address it has not proven.
//
//	F1 01 side 00 | channel u32 | counter u64 | cookie 16 | tag 16     48 bytes
type Chal struct {
	Side    Side
	Channel uint32
	Counter uint64 // of the REG it answers
	Cookie  CookieValue
}

// AppendChal appends the frame with its tag.
func AppendChal(b []byte, c *Chal, key *RegKey) []byte {
	start := len(b)
	b = appendHead(b, FrameChal, c.Side, 0, c.Channel)
	b = binary.LittleEndian.AppendUint64(b, c.Counter)
	b = append(b, c.Cookie[:]...)
	return appendTag(b, start, key)
}

// ParseChal checks size, version, side and zeros and reads c; the tag is the
// caller's to check. It allocates nothing.
func ParseChal(b []byte, c *Chal) error {
	side, channel, err := parseHead(b, FrameChal, ChalSize)
	if err != nil {
		return err
	}
	if b[3] != 0 {
		return ErrReserved
	}
	c.Side, c.Channel = side, channel
	c.Counter = binary.LittleEndian.Uint64(b[8:])
	c.Cookie = CookieValue(b[16:32])
	return nil
}

// Ack says that the registration stands and how the relay sees the sender.
//
//	F2 01 side fam | channel u32 | counter u64 | addr 16 ^ (counter|counter) |
//	port u16 ^ counter | peer_age_s u16 | ttl u32 | zero 8 | tag 16    64 bytes
//
// fam is 4 or 6. Address and port are XORed with the counter because some NATs
// rewrite what looks like an address in a payload.
type Ack struct {
	Side    Side
	Channel uint32
	Counter uint64 // of the REG it answers
	Addr    netip.AddrPort
	PeerAge uint16 // seconds since the other side was heard, or PeerNever
	TTL     uint32 // seconds until the session expires
}

// AppendAck appends the frame with its tag. It panics on an address ParseAck
// would refuse; the source of a datagram never is one.
func AppendAck(b []byte, a *Ack, key *RegKey) []byte {
	if !usableEndpoint(a.Addr) {
		panic("rendezvous: not a usable endpoint")
	}
	start := len(b)
	fam := byte(6)
	if a.Addr.Addr().Unmap().Is4() {
		fam = 4
	}
	b = appendHead(b, FrameAck, a.Side, fam, a.Channel)
	b = binary.LittleEndian.AppendUint64(b, a.Counter)
	ip := xorAddr(a.Addr.Addr().As16(), a.Counter)
	b = append(b, ip[:]...)
	b = binary.LittleEndian.AppendUint16(b, a.Addr.Port()^uint16(a.Counter))
	b = binary.LittleEndian.AppendUint16(b, a.PeerAge)
	b = binary.LittleEndian.AppendUint32(b, a.TTL)
	b = append(b, zeros[:8]...)
	return appendTag(b, start, key)
}

// ParseAck checks size, version, side, family, address and zeros and reads a;
// the tag is the caller's to check. It allocates nothing.
func ParseAck(b []byte, a *Ack) error {
	side, channel, err := parseHead(b, FrameAck, AckSize)
	if err != nil {
		return err
	}
	if [8]byte(b[40:48]) != [8]byte(zeros[:8]) {
		return ErrReserved
	}
	counter := binary.LittleEndian.Uint64(b[8:])
	ip := netip.AddrFrom16(xorAddr([16]byte(b[16:32]), counter)).Unmap()
	port := binary.LittleEndian.Uint16(b[32:]) ^ uint16(counter)
	addr := netip.AddrPortFrom(ip, port)
	if !usableEndpoint(addr) || (ip.Is4() && b[3] != 4) || (!ip.Is4() && b[3] != 6) {
		return ErrAddr
	}
	a.Side, a.Channel = side, channel
	a.Counter = counter
	a.Addr = addr
	a.PeerAge = binary.LittleEndian.Uint16(b[34:])
	a.TTL = binary.LittleEndian.Uint32(b[36:])
	return nil
}

// AppendData appends the frame that carries payload over channel.
//
//	F8 | channel u32 | 1..1400 bytes
//
// The caller keeps payload within 1 and MaxData bytes; the relay drops the rest.
func AppendData(b []byte, channel uint32, payload []byte) []byte {
	b = append(b, FrameData)
	b = binary.LittleEndian.AppendUint32(b, channel)
	return append(b, payload...)
}

// ParseData reads a DATA frame; payload points into b. It allocates nothing.
func ParseData(b []byte) (channel uint32, payload []byte, err error) {
	if len(b) <= DataOverhead || len(b) > MaxFrame {
		return 0, nil, ErrSize
	}
	if b[0] != FrameData {
		return 0, nil, ErrType
	}
	return binary.LittleEndian.Uint32(b[1:]), b[DataOverhead:], nil
}

// zeros is what reserved bytes are compared with and filled from.
var zeros [12]byte

// appendHead appends what the frames with a tag begin with:
//
//	first | 01 | side | x | channel u32                                 8 bytes
func appendHead(b []byte, first byte, side Side, x byte, channel uint32) []byte {
	return binary.LittleEndian.AppendUint32(append(b, first, Version, byte(side), x), channel)
}

// parseHead checks the whole frame's size and reads its head; x is the caller's.
func parseHead(b []byte, first byte, size int) (side Side, channel uint32, err error) {
	switch {
	case len(b) != size:
		err = ErrSize
	case b[0] != first:
		err = ErrType
	case b[1] != Version:
		err = ErrVersion
	case !Side(b[2]).Valid():
		err = ErrSide
	}
	if err != nil {
		return 0, 0, err
	}
	return Side(b[2]), binary.LittleEndian.Uint32(b[4:]), nil
}

func xorAddr(a [16]byte, counter uint64) [16]byte {
	var c [8]byte
	binary.LittleEndian.PutUint64(c[:], counter)
	for i := range a {
		a[i] ^= c[i&7]
	}
	return a
}
