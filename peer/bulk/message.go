package bulk

import (
	"crypto/sha256"
	"encoding/binary"

	"backstep/ackbits"
	"backstep/fec"
)

const (
	// KindShard and KindReport are the first bytes of the two messages.
	KindShard  = 6
	KindReport = 7

	// MaxMessage is the longest message, in bytes.
	MaxMessage = shardHead + fec.ShardHeader + fec.DefaultShard
	// MaxBlob is the longest blob, in bytes.
	MaxBlob = fec.MaxBlob - sha256.Size

	shardHead  = 1 + 2
	reportHead = 1 + 1 + 2 + 4 + 2
	delayUnit  = 16 // µs
)

// State is what a report says of the blob.
type State uint8

// The states.
const (
	Open     State = iota // shards are missing
	Complete              // it is here, and its SHA-256 agrees
	Refused               // too long, damaged, or not what was expected
	states
)

// Report is what a receiver says. Needs is empty unless the blob is open, and
// then never.
type Report struct {
	State State
	Blob  uint16
	Ack   ackbits.Seq // newest shard packet that arrived
	Bits  uint32      // the 32 before it
	Delay uint16      // since it arrived, in 16 µs
	Needs []fec.Need
}

// AppendReport appends r, which must be one that [ParseReport] would return.
func AppendReport(b []byte, r *Report) []byte {
	b = append(b, KindReport, byte(r.State))
	b = binary.LittleEndian.AppendUint16(b, uint16(r.Ack))
	b = binary.LittleEndian.AppendUint32(b, r.Bits)
	b = binary.LittleEndian.AppendUint16(b, r.Delay)
	if r.State == Open {
		return fec.AppendNeeds(b, r.Blob, r.Needs)
	}
	return binary.LittleEndian.AppendUint16(b, r.Blob)
}

// ParseReport reads the report that fills b. Needs are appended to r.Needs[:0].
// It accepts exactly what AppendReport makes; everything else is ErrMessage.
func ParseReport(b []byte, r *Report) error {
	if len(b) < reportHead+2 || b[0] != KindReport || State(b[1]) >= states {
		return ErrMessage
	}
	p := Report{
		State: State(b[1]),
		Ack:   ackbits.Seq(binary.LittleEndian.Uint16(b[2:])),
		Bits:  binary.LittleEndian.Uint32(b[4:]),
		Delay: binary.LittleEndian.Uint16(b[8:]),
		Needs: r.Needs[:0],
	}
	rest := b[reportHead:]
	if p.State == Open {
		var err error
		if p.Blob, p.Needs, err = fec.ParseNeeds(rest, p.Needs); err != nil {
			return ErrMessage
		}
	} else {
		if len(rest) != 2 {
			return ErrMessage
		}
		p.Blob = binary.LittleEndian.Uint16(rest)
	}
	*r = p
	return nil
}

// AppendShard appends the message for a shard.
func AppendShard(b []byte, seq ackbits.Seq, s *fec.Shard) []byte {
	b = binary.LittleEndian.AppendUint16(append(b, KindShard), uint16(seq))
	return fec.AppendShard(b, s)
}

// ParseShard reads the shard message that fills b; the payload is a slice of
// it. It accepts exactly what a sender makes; everything else is ErrMessage.
func ParseShard(b []byte, s *fec.Shard) (seq ackbits.Seq, err error) {
	if len(b) < shardHead || len(b) > MaxMessage || b[0] != KindShard {
		return 0, ErrMessage
	}
	if fec.ParseShard(b[shardHead:], s) != nil || s.Length < sha256.Size {
		return 0, ErrMessage
	}
	return ackbits.Seq(binary.LittleEndian.Uint16(b[1:])), nil
}
