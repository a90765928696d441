package fec

import (
	"encoding/binary"
	"errors"
)

const (
	// DefaultGroup is the number of packets in a group unless set otherwise.
	DefaultGroup = 4
	// MaxGroup is the largest group; with MaxParity an index fits in 4 bits.
	MaxGroup = 12
	// MaxParity is the largest number of parity packets for one group.
	MaxParity = 4
	// MaxPacket is the longest packet a group protects, in bytes. It leaves 61
	// bytes of a 1200-byte datagram for the header of the parity packet.
	MaxPacket = 1136
	// MaxParityPayload is the longest payload of a parity packet, in bytes.
	MaxParityPayload = 1 + sumLen

	lengthLen = 2
	sumLen    = lengthLen + MaxPacket
)

// Errors of [Encoder.Add].
var (
	ErrPacketEmpty   = errors.New("fec: an empty packet cannot be protected")
	ErrPacketTooLong = errors.New("fec: the packet is longer than a group protects")
)

// Group places a packet in a group. It travels in the packet's header.
type Group struct {
	ID    uint16 // wraps
	Index uint8  // below Size: data packet; otherwise parity row Index-Size
	Size  uint8  // data: packets planned; parity: packets there are, 1 to MaxGroup
}

// Parity reports whether the place is that of a parity packet.
func (g Group) Parity() bool { return g.Index >= g.Size }

// sums are the running parity rows of one group.
type sums struct {
	row     [MaxParity][sumLen]byte
	longest int // bytes of the rows in use
}

func (s *sums) reset(rows int) {
	for r := range rows {
		clear(s.row[r][:s.longest])
	}
	s.longest = 0
}

// add adds packet pkt with the given index to the first rows rows.
// staging is overwritten; it lets length and packet be summed in one pass.
func (s *sums) add(index, rows int, pkt []byte, staging *[sumLen]byte) {
	binary.LittleEndian.PutUint16(staging[:], uint16(len(pkt)))
	n := lengthLen + copy(staging[lengthLen:], pkt)
	s.longest = max(s.longest, n)
	in := staging[:n]
	xor(s.row[0][:n], in)
	for r := 1; r < rows; r++ {
		field.GalMulSliceXor(coefficients[r][index], in, s.row[r][:n])
	}
}
