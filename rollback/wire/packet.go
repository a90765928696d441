package wire

import (
	"errors"
	"fmt"

	"backstep/ackbits"
)

const (
	// Magic starts every packet in full form.
	Magic = "V2RB"
	// Version is the one version of the wire this package speaks.
	Version = 1

	// MaxPacket is the greatest length in bytes of a packet in either form.
	MaxPacket = 1200
	// MaxCount is the greatest number of input words in a packet, a second's worth.
	MaxCount = 64
	// MaxInputs is the greatest length in bytes of a packet's coded inputs. MaxCount words of any width fit.
	MaxInputs = 400
	// MaxSections is the greatest length in bytes of a packet's inputs, parity and message together, which is what the full
	// form has room for. The compact form has the same limit, so that what one form can say the other can.
	MaxSections = MaxPacket - fullHeader
	// MaxGroup is the greatest number of packets in a FEC group.
	MaxGroup = 15

	// LagUnit is the unit of Packet.Lag in microseconds.
	LagUnit = 16
)

// Packet is what one datagram says, whichever form it travels in. Fields whose Has flag is not set are zero.
//
// A packet is either data or, with HasFEC and Index >= Size, parity of a FEC group. A parity packet consists of Seq, the acks,
// the FEC fields and Parity; all other fields are zero. Slices without content are nil.
type Packet struct {
	Seq     ackbits.Seq // every packet has its own, parity and second datagrams too
	HasAck  bool        // something has been received, so that Ack and AckBits mean something
	Ack     ackbits.Seq // newest sequence received
	AckBits uint32      // bit i set: Ack-1-i was received

	Newest   int32 // newest frame the sender had simulated when it sent this, -1 before the first
	Advanced bool  // the tick this was sent on simulated a new frame
	Main     bool  // the tick's first datagram, to be timed; clear in its second one and when no frame is left to simulate
	HasLag   bool
	Lag      int16 // how far ahead the sender sees itself, in units of 16 microseconds; see LagOf

	First   int32  // frame of the first input word, 0 if Count is 0
	Count   uint8  // number of input words, 0 to MaxCount
	Current bool   // the words are contiguous and end at the sender's current frame; see Window
	Inputs  []byte // the words as input.AppendRun codes them against the word of frame First-1

	HasHash   bool
	HashFrame int32  // a frame that is confirmed and was simulated with confirmed inputs
	Hash      uint32 // low 32 bits of the hash of the state after it

	HasConfirmed bool
	Confirmed    int32 // newest frame for which the sender has the inputs of all players, -1 for none

	HasLoss bool
	Loss    uint16 // share of packets lost on their way to the sender, before FEC, in 1/65536
	Burst   uint8  // mean number of packets lost in a row there, in eighths

	HasFEC bool
	Group  uint16 // FEC group
	Index  uint8  // below Size: this packet's place in the group; from Size to MaxGroup: parity number Index-Size
	Size   uint8  // packets in the group, 1 to MaxGroup; the parity's figure is final
	Parity []byte

	Message []byte // opaque section for the reliable channels and the set-up
}

// Errors of the parsers. They are returned bare, so that refusing a packet does not allocate; only a packet of another version
// is worth a VersionError.
var (
	ErrTruncated = errors.New("wire: packet ends early")
	ErrTooLong   = errors.New("wire: packet or section is longer than allowed")
	ErrMagic     = errors.New("wire: not a packet: wrong magic")
	ErrVersion   = errors.New("wire: packet of another version")
	ErrCRC       = errors.New("wire: wrong CRC")
	ErrLength    = errors.New("wire: lengths do not add up")
	ErrFEC       = errors.New("wire: impossible FEC group, index, size or parity")
	ErrFrame     = errors.New("wire: frame number out of range")
	ErrField     = errors.New("wire: field is not in its one legal form")
)

// VersionError says which version an intact packet of another version has. errors.Is matches it with ErrVersion.
type VersionError struct{ Seen uint8 }

func (e *VersionError) Error() string {
	return fmt.Sprintf("wire: packet of version %d, this program speaks version %d", e.Seen, Version)
}

// Unwrap returns ErrVersion.
func (e *VersionError) Unwrap() error { return ErrVersion }

// LagOf is a lag of us microseconds in units of Packet.Lag, rounded to the nearest and clamped to what fits, about 0.52 s.
func LagOf(us int64) int16 {
	const most, least = 1<<15 - 1, -1 << 15
	us = min(max(us, (least-1)*LagUnit), (most+1)*LagUnit)
	return int16(min(max((us+LagUnit/2)>>4, least), most))
}

// LagMicros is p.Lag in microseconds.
func (p *Packet) LagMicros() int64 { return int64(p.Lag) * LagUnit }

// Last is the frame of the last input word, First-1 if there is none.
func (p *Packet) Last() int32 { return p.First + int32(p.Count) - 1 }

// IsParity reports whether p carries parity instead of data.
func (p *Packet) IsParity() bool { return p.HasFEC && p.Index >= p.Size }

// Valid reports why p cannot be encoded: ErrFrame, ErrFEC, ErrTooLong or ErrField, or nil if it can. A packet that a parser
// returned is valid. It does not allocate.
func (p *Packet) Valid() error {
	if p.HasFEC {
		if p.Size == 0 || p.Size > MaxGroup || p.Index > MaxGroup || (p.Index >= p.Size) != (len(p.Parity) > 0) {
			return ErrFEC
		}
		if p.Index >= p.Size {
			return p.validParity()
		}
	} else if p.Group != 0 || p.Index|p.Size != 0 || len(p.Parity) > 0 {
		return ErrFEC
	}
	if len(p.Inputs) > MaxInputs || p.Count > MaxCount || len(p.Inputs)+len(p.Message) > MaxSections {
		return ErrTooLong
	}
	if p.Newest < -1 || p.First < 0 || int64(p.First)+int64(p.Count) > 1<<31 {
		return ErrFrame
	}
	if p.Count == 0 {
		if p.First != 0 || p.Current || len(p.Inputs) > 0 {
			return ErrField
		}
	} else {
		lead := int64(p.Last()) - int64(p.Newest)
		if lead != int64(int16(lead)) || p.Current && lead < 0 {
			return ErrFrame
		}
	}
	if !p.HasAck && (p.Ack != 0 || p.AckBits != 0) || !p.HasLag && p.Lag != 0 {
		return ErrField
	}
	return p.validOptions()
}

// validOptions checks the fields that few packets have.
func (p *Packet) validOptions() error {
	if p.HasHash {
		if p.HashFrame < 0 {
			return ErrFrame
		}
	} else if p.HashFrame != 0 || p.Hash != 0 {
		return ErrField
	}
	if p.HasConfirmed {
		if ahead := int64(p.Confirmed) - int64(p.Newest); p.Confirmed < -1 || ahead > confirmedAhead || ahead < confirmedAhead-255 {
			return ErrFrame
		}
	} else if p.Confirmed != 0 {
		return ErrField
	}
	if !p.HasLoss && (p.Loss != 0 || p.Burst != 0) {
		return ErrField
	}
	return nil
}

// validParity checks that a parity packet has no field that only data packets have.
func (p *Packet) validParity() error {
	if len(p.Parity) > MaxSections {
		return ErrTooLong
	}
	if p.Newest != 0 || p.First != 0 || p.Confirmed != 0 || p.HashFrame != 0 || p.Hash != 0 ||
		p.Lag != 0 || p.Loss != 0 || p.Count|p.Burst != 0 ||
		p.Advanced || p.Main || p.Current || p.HasLag || p.HasHash || p.HasConfirmed || p.HasLoss ||
		len(p.Inputs)+len(p.Message) > 0 || !p.HasAck && (p.Ack != 0 || p.AckBits != 0) {
		return ErrField
	}
	return nil
}
