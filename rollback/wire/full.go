package wire

import (
	"encoding/binary"
	"hash/crc32"

	"backstep/ackbits"
)

// fullHeader is the length of everything before the sections, fullPayload where the payload begins that the CRC covers.
const (
	fullHeader  = 55
	fullPayload = 9
)

// Flags of the full form. The two of the input window are set together or not at all.
const (
	flagEveryFrameInputSend = 1 << iota
	flagBatchResend
	flagAdvanced
	flagMain
	flagAck
	flagLag
	flagHash
	flagConfirmed
	flagLoss
	flagFEC
	flagsEnd

	flagsWindow = flagEveryFrameInputSend | flagBatchResend
)

// castagnoli is the polynomial of iSCSI (RFC 3720, 12.1), for which processors have an instruction.
var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// checksum is the CRC-32C of a packet in full form: of its version and its payload, in this order.
func checksum(b []byte) uint32 {
	return crc32.Update(crc32.Update(0, castagnoli, b[4:5]), castagnoli, b[fullPayload:])
}

// AppendFull appends the full form of p to b, at most MaxPacket bytes, or nothing if p.Valid reports an error. It allocates
// only if b has no room.
func AppendFull(b []byte, p *Packet) []byte {
	if p.Valid() != nil {
		return b
	}
	start := len(b)
	b = append(b, Magic...)
	b = append(b, Version, 0, 0, 0, 0)
	le := binary.LittleEndian
	b = le.AppendUint16(b, uint16(p.Seq))
	b = le.AppendUint16(b, uint16(p.Ack))
	b = le.AppendUint32(b, p.AckBits)
	b = le.AppendUint16(b, p.flags())
	b = append(b, p.Count)
	b = le.AppendUint32(b, uint32(p.First))
	b = le.AppendUint32(b, uint32(p.Newest))
	b = le.AppendUint16(b, uint16(p.Lag))
	b = le.AppendUint32(b, uint32(p.HashFrame))
	b = le.AppendUint32(b, p.Hash)
	b = le.AppendUint32(b, uint32(p.Confirmed))
	b = le.AppendUint16(b, p.Loss)
	b = append(b, p.Burst)
	b = le.AppendUint16(b, p.Group)
	b = append(b, p.Index, p.Size)
	b = le.AppendUint16(b, uint16(len(p.Inputs)))
	b = le.AppendUint16(b, uint16(len(p.Parity)))
	b = le.AppendUint16(b, uint16(len(p.Message)))
	b = append(b, p.Inputs...)
	b = append(b, p.Parity...)
	b = append(b, p.Message...)
	le.PutUint32(b[start+5:], checksum(b[start:]))
	return b
}

// ParseFull reads b, all of which is a packet in full form, into p, whose slices then point into b. On an error p is as it was.
// The checks are made in this order: ErrTooLong, ErrMagic, ErrTruncated if magic, version or CRC are not all there; a
// VersionError or ErrCRC; ErrTruncated or ErrLength; ErrField and what Packet.Valid returns. Only a VersionError allocates.
//
// Every version of the wire keeps magic, version and CRC where they are, so that a damaged packet is told from a foreign one.
func ParseFull(b []byte, p *Packet) error {
	switch {
	case len(b) > MaxPacket:
		return ErrTooLong
	case len(b) < len(Magic) && string(b) == Magic[:len(b)]:
		return ErrTruncated
	case len(b) < len(Magic) || string(b[:len(Magic)]) != Magic:
		return ErrMagic
	case len(b) < fullPayload:
		return ErrTruncated
	}
	le := binary.LittleEndian
	intact := le.Uint32(b[5:]) == checksum(b)
	switch {
	case intact && b[4] != Version:
		return &VersionError{Seen: b[4]}
	case len(b) < fullHeader:
		return ErrTruncated
	}
	inputs, parity, message := int(le.Uint16(b[49:])), int(le.Uint16(b[51:])), int(le.Uint16(b[53:]))
	if need := fullHeader + inputs + parity + message; need > len(b) {
		return ErrTruncated
	} else if !intact {
		return ErrCRC
	} else if need < len(b) {
		return ErrLength
	}
	sections := b[fullHeader:]
	q := Packet{
		Seq:       ackbits.Seq(le.Uint16(b[9:])),
		Ack:       ackbits.Seq(le.Uint16(b[11:])),
		AckBits:   le.Uint32(b[13:]),
		Count:     b[19],
		First:     int32(le.Uint32(b[20:])),
		Newest:    int32(le.Uint32(b[24:])),
		Lag:       int16(le.Uint16(b[28:])),
		HashFrame: int32(le.Uint32(b[30:])),
		Hash:      le.Uint32(b[34:]),
		Confirmed: int32(le.Uint32(b[38:])),
		Loss:      le.Uint16(b[42:]),
		Burst:     b[44],
		Group:     le.Uint16(b[45:]),
		Index:     b[47],
		Size:      b[48],
		Inputs:    section(sections[:inputs]),
		Parity:    section(sections[inputs : inputs+parity]),
		Message:   section(sections[inputs+parity:]),
	}
	if !q.setFlags(le.Uint16(b[17:])) {
		return ErrField
	}
	if err := q.Valid(); err != nil {
		return err
	}
	*p = q
	return nil
}

// section is b, capped so that appending to it cannot write over what follows, or nil if b is empty.
func section(b []byte) []byte {
	if len(b) == 0 {
		return nil
	}
	return b[:len(b):len(b)]
}

// flags is the flag field of the full form.
func (p *Packet) flags() uint16 {
	var f uint16
	for i, set := range [...]bool{
		p.Current, p.Current, p.Advanced, p.Main, p.HasAck, p.HasLag, p.HasHash, p.HasConfirmed, p.HasLoss, p.HasFEC,
	} {
		if set {
			f |= 1 << i
		}
	}
	return f
}

// setFlags sets p's booleans and reports whether f is a legal flag field.
func (p *Packet) setFlags(f uint16) bool {
	p.Current = f&flagsWindow == flagsWindow
	p.Advanced = f&flagAdvanced != 0
	p.Main = f&flagMain != 0
	p.HasAck = f&flagAck != 0
	p.HasLag = f&flagLag != 0
	p.HasHash = f&flagHash != 0
	p.HasConfirmed = f&flagConfirmed != 0
	p.HasLoss = f&flagLoss != 0
	p.HasFEC = f&flagFEC != 0
	return f < flagsEnd && (p.Current || f&flagsWindow == 0)
}
