package wire

import (
	"encoding/binary"
	"errors"
	"testing"
)

// seal gives b the CRC that belongs to it.
func seal(b []byte) []byte {
	binary.LittleEndian.PutUint32(b[5:], checksum(b))
	return b
}

// TestFullHeader is WIRE-01, WIRE-02 and WIRE-03: where each field stands.
func TestFullHeader(t *testing.T) {
	p := Packet{
		Seq: 0x0102, HasAck: true, Ack: 0x0304, AckBits: 0x05060708, Newest: 0x0d0e0f10, Advanced: true,
		First: 0x0d0e0f0e, Count: 3, Current: true, Inputs: []byte("in"), HasFEC: true, Group: 0x1112, Index: 2, Size: 4,
		Message: []byte("msg"),
	}
	b := AppendFull(nil, &p)
	le := binary.LittleEndian
	if string(b[:4]) != "V2RB" || b[4] != 1 {
		t.Errorf("WIRE-01: starts with %q, version %d", b[:4], b[4])
	}
	if le.Uint16(b[9:]) != 0x0102 || le.Uint16(b[11:]) != 0x0304 || le.Uint32(b[13:]) != 0x05060708 {
		t.Errorf("WIRE-02: sequence, ACK and ACK bits are % x", b[9:17])
	}
	if b[19] != 3 || le.Uint32(b[20:]) != 0x0d0e0f0e {
		t.Errorf("WIRE-02: frame range is % x", b[19:24])
	}
	if le.Uint32(b[5:]) != checksum(b) {
		t.Errorf("WIRE-02: payload CRC is % x", b[5:9])
	}
	if le.Uint16(b[45:]) != 0x1112 || b[47] != 2 || b[48] != 4 {
		t.Errorf("WIRE-02: FEC group, index and size are % x", b[45:49])
	}
	if f := le.Uint16(b[17:]); f != flagsWindow|flagAdvanced|flagAck|flagFEC {
		t.Errorf("WIRE-02: flags are %016b", f)
	}
	if string(b[55:]) != "inmsg" {
		t.Errorf("WIRE-03: sections are %q", b[55:])
	}
	parity := Packet{HasFEC: true, Size: 4, Index: 4, Parity: []byte("parity")}
	if b := AppendFull(nil, &parity); string(b[55:]) != "parity" {
		t.Errorf("WIRE-03: parity is %q", b[55:])
	}
	// RFC 3720, B.4: 32 bytes of zeros.
	if got := checksum(append([]byte("V2RB\x00CRC!"), make([]byte, 31)...)); got != 0x8a9136aa {
		t.Errorf("CRC-32C of 32 zeros is %08x", got)
	}
}

// refusal is bytes that are no packet, and why.
type refusal struct {
	name string
	b    []byte
	want error
}

func fullRefusals() []refusal {
	p, _ := steady()
	good := AppendFull(nil, &p)
	set := func(at int, v ...byte) []byte {
		b := append([]byte(nil), good...)
		copy(b[at:], v)
		return seal(b)
	}
	damaged := append([]byte(nil), good...)
	damaged[56] ^= 4
	fec := p
	fec.HasFEC, fec.Size, fec.Index = true, 4, 3
	grouped := func(at int, v byte) []byte {
		b := AppendFull(nil, &fec)
		b[at] = v
		return seal(b)
	}
	return []refusal{
		{"nothing", nil, ErrTruncated},
		{"half a magic", good[:2], ErrTruncated},
		{"wrong magic", []byte("V2RX and so on, long enough"), ErrMagic},
		{"half a wrong magic", []byte("V3"), ErrMagic},
		{"a compact packet", []byte{0x83, 1, 2, 3}, ErrMagic},
		{"magic alone", good[:4], ErrTruncated},
		{"half a header", good[:40], ErrTruncated},
		{"half the inputs", good[:len(good)-1], ErrTruncated},
		{"wrong CRC", damaged, ErrCRC},
		{"another version", set(4, 2), ErrVersion},
		{"another version, short", seal([]byte("V2RB\x09CRC!rest")), ErrVersion},
		{"a damaged version", append([]byte("V2RB\x03"), good[5:]...), ErrCRC},
		{"bytes behind the end", seal(append(append([]byte(nil), good...), 0)), ErrLength},
		{"lengths that are too short", set(49, 1), ErrLength},
		{"lengths that are too long", set(51, 1), ErrTruncated},
		{"more than 1200 bytes", make([]byte, 1201), ErrTooLong},
		{"an unknown flag", set(17, good[17], 4), ErrField},
		{"half the window flags", set(17, good[17]&^1), ErrField},
		{"the other half", set(17, good[17]&^2), ErrField},
		{"65 words", set(19, 65), ErrTooLong},
		{"no words but inputs", set(19, 0), ErrField},
		{"a negative frame", set(23, 0x80), ErrFrame},
		{"a FEC size without FEC", set(48, 4), ErrFEC},
		{"a FEC group without FEC", set(45, 4), ErrFEC},
		{"a FEC group of none", set(18, good[18]|2), ErrFEC},
		{"a hash without its flag", set(34, 4), ErrField},
		{"FEC index 4 of 4 without parity", grouped(47, 4), ErrFEC},
		{"FEC index 16", grouped(47, 16), ErrFEC},
		{"FEC size 16", grouped(48, 16), ErrFEC},
	}
}

// TestFullRefuses is WIRE-05.
func TestFullRefuses(t *testing.T) {
	for _, tt := range fullRefusals() {
		t.Run(tt.name, func(t *testing.T) {
			var q Packet
			if err := ParseFull(tt.b, &q); !errors.Is(err, tt.want) {
				t.Errorf("error %v, want %v", err, tt.want)
			}
		})
	}
	p, _ := steady()
	b := AppendFull(nil, &p)
	b[4] = 2
	var v *VersionError
	if err := ParseFull(seal(b), new(Packet)); !errors.As(err, &v) || v.Seen != 2 {
		t.Errorf("version 2: %v does not say so", err)
	}
}

// TestFullDetectsEveryFlippedBit: CRC-32C and the magic leave no single bit of a packet unguarded.
func TestFullDetectsEveryFlippedBit(t *testing.T) {
	p, _ := steady()
	p.Message = []byte("a message")
	b := AppendFull(nil, &p)
	for i := range len(b) * 8 {
		b[i/8] ^= 1 << (i % 8)
		if err := ParseFull(b, new(Packet)); err == nil || errors.Is(err, ErrVersion) {
			t.Errorf("bit %d of byte %d flipped: %v", i%8, i/8, err)
		}
		b[i/8] ^= 1 << (i % 8)
	}
	for n := range len(b) {
		if err := ParseFull(b[:n], new(Packet)); err == nil {
			t.Errorf("cut to %d bytes it was accepted", n)
		}
	}
}
