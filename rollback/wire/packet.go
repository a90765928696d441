// Package wire is the one packet two peers exchange, in its two legal forms.
package wire

import (
	"errors"

	"backstep/ackbits"
)

const (
	Magic   = "V2RB"
	Version = 1

	MaxPacket = 1200 // bytes of an encoded packet, either form
	MaxCount  = 64   // frames of input in one packet
	MaxInputs = 400  // bytes of coded inputs in one packet
	LagUnit   = 16   // microseconds in one unit of Packet.Lag
)

// Packet is what one datagram says, whichever form it travels in.
// The zero value is a packet without acks, inputs or options, sent before the first frame was simulated in frame 0's place.
type Packet struct {
	Seq     ackbits.Seq
	HasAck  bool        // something has been received: Ack and AckBits mean something
	Ack     ackbits.Seq // newest sequence received
	AckBits uint32      // bit i stands for Ack-1-i

	Newest   int32 // newest tick the sender had simulated when it sent this, -1 before the first
	Advanced bool  // the tick this was sent on advanced
	Main     bool  // the tick's main datagram, not its second
	HasLag   bool
	Lag      int16 // in units of 16 microseconds, see Lag()

	First   int32  // frame of the first input word; 0 if Count is 0
	Count   uint8  // input words, 0 to MaxCount
	Current bool   // the words are contiguous and end at the sender's current frame
	Inputs  []byte // the words, run-coded against the one of First-1 (rollback/input)

	HasHash   bool
	HashFrame int32 // a confirmed and resimulated frame
	Hash      uint32

	HasConfirmed bool
	Confirmed    int32 // newest frame for which the sender has every player's input, -1 for none

	HasLoss bool
	Loss    uint16 // raw loss the sender measured on what it receives, before FEC, in 1/65536
	Burst   uint8  // mean length of a loss burst in eighths of a packet

	HasFEC bool
	Group  uint16
	Index  uint8 // below Size: a packet of the group; from Size on: parity Index-Size of it
	Size   uint8 // packets in the group, 1 to 15
	Parity []byte

	Message []byte // opaque section of the reliable channels or the set-up
}

// Ref is what the receiver knows about the sender, against which the compact form's short frame numbers are read.
type Ref struct {
	Frame int32 // at the receiver the newest frame up to which the sender's inputs are all here, -1 for none; at the sender the newest frame known to be there
}

var (
	ErrTruncated = errors.New("wire: packet ends early")
	ErrTooLong   = errors.New("wire: packet, or a section of it, is longer than allowed")
	ErrMagic     = errors.New("wire: not a packet: wrong magic")
	ErrVersion   = errors.New("wire: packet of another version")
	ErrCRC       = errors.New("wire: wrong CRC")
	ErrLength    = errors.New("wire: lengths are inconsistent")
	ErrFEC       = errors.New("wire: impossible FEC index, size or parity")
	ErrFrame     = errors.New("wire: frame number out of range")
	ErrField     = errors.New("wire: field is not in its one legal form")
)

// VersionError says which version a packet of another version carries. It matches ErrVersion.
type VersionError struct{ Seen uint8 }

func (e *VersionError) Error() string        { return "wire: packet of another version" }
func (e *VersionError) Is(target error) bool { return target == ErrVersion }

// LagOf is us microseconds in units of Packet.Lag, rounded and clamped.
func LagOf(us int64) int16 { return 0 }

// LagMicros is p.Lag in microseconds.
func (p *Packet) LagMicros() int64 { return int64(p.Lag) * LagUnit }

// Valid reports why p cannot be encoded, or nil.
func (p *Packet) Valid() error { return nil }

// AppendFull appends the full form of p, or nothing if p.Valid reports an error.
func AppendFull(b []byte, p *Packet) []byte { return b }

// ParseFull reads a packet in full form. Its slices point into b.
func ParseFull(b []byte, p *Packet) error { return ErrTruncated }

// AppendCompact appends the compact form of p, or nothing if p.Valid reports an error or First is out of ref's reach.
func AppendCompact(b []byte, p *Packet, ref Ref) []byte { return b }

// ParseCompact reads a packet in compact form. Its slices point into b.
func ParseCompact(b []byte, p *Packet, ref Ref) error { return ErrTruncated }

// IsCompact reports whether b starts like a packet in compact form.
func IsCompact(b []byte) bool { return len(b) > 0 && b[0]&0x80 != 0 }
