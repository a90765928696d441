package wire

import (
	"encoding/binary"

	"backstep/ackbits"
)

// ParseCompact reads b, all of which is a packet in compact form, into p, whose slices then point into b; frame numbers are read
// against ref. On an error p is as it was: ErrTooLong, ErrMagic for a packet that is not in compact form, ErrTruncated, ErrFrame
// for a frame number that ref does not reach, ErrField for anything AppendCompact would have written otherwise, and what
// Packet.Valid returns. It does not allocate.
//
// The inputs are the rest of the packet, so nothing here notices that some of them are missing: the form relies on its channel to
// authenticate what it delivers.
func ParseCompact(b []byte, p *Packet, ref Ref) error {
	if len(b) > MaxPacket {
		return ErrTooLong
	}
	if len(b) == 0 {
		return ErrTruncated
	}
	if !IsCompact(b) {
		return ErrMagic
	}
	prefix, extend := b[0], byte(0)
	r := reader{b: b[1:]}
	if prefix&prefixExtend != 0 {
		if extend = r.byte(); extend == 0 {
			return r.or(ErrField)
		}
	}
	q := Packet{
		Seq:      ackbits.Seq(r.uint16()),
		HasAck:   extend&extendNoAck == 0,
		Advanced: prefix&prefixAdvanced != 0,
		Main:     prefix&prefixMain != 0,
		HasLag:   prefix&prefixLag != 0,
		HasHash:  prefix&prefixHash != 0,
		HasFEC:   prefix&prefixFEC != 0,
	}
	if q.HasAck {
		q.Ack, q.AckBits = ackbits.Seq(r.uint16()), ^uint32(0)
	}
	if prefix&prefixAckBits != 0 {
		if q.AckBits = r.uint32(); !q.HasAck || q.AckBits == ^uint32(0) {
			return r.or(ErrField)
		}
	}
	if q.HasLag {
		q.Lag = int16(r.uint16())
	}
	if q.HasFEC {
		q.Group = r.uint16()
		place := r.byte()
		q.Size, q.Index = place&(1<<groupBits-1), place>>groupBits
	}
	var err error
	if q.IsParity() {
		if extend&^extendNoAck != 0 {
			return r.or(ErrField)
		}
		q.Parity = r.rest()
	} else {
		err = q.parseData(&r, extend, ref)
	}
	switch {
	case r.short:
		return ErrTruncated
	case err != nil:
		return err
	}
	if err := q.Valid(); err != nil {
		return err
	}
	*p = q
	return nil
}

// parseData reads what follows the FEC fields of a data packet. Its error counts only if r was not too short.
func (p *Packet) parseData(r *reader, extend byte, ref Ref) error {
	frame := widen(r.byte(), ref.Frame, refAhead)
	if extend&extendNoInputs != 0 {
		if extend&(extendPartial|extendLead) != 0 {
			return ErrField
		}
		if frame < -1 || frame > 1<<31-1 {
			return ErrFrame
		}
		p.Newest = int32(frame)
	} else {
		n := r.byte()
		p.Count, p.Current = n&63+1, extend&extendPartial == 0
		lead := int64(n >> 6)
		if extend&extendLead != 0 {
			if lead != 0 {
				return ErrField
			}
			if lead = int64(int16(r.uint16())); lead >= 0 && lead <= shortLead {
				return ErrField
			}
		}
		last := frame + int64(p.Count) - 1
		if frame < 0 || last > 1<<31-1 || last-lead < -1 || last-lead > 1<<31-1 {
			return ErrFrame
		}
		p.First, p.Newest = int32(frame), int32(last-lead)
	}
	if p.HasHash {
		if err := p.parseHash(r, extend); err != nil {
			return err
		}
	} else if extend&extendHashFrame != 0 {
		return ErrField
	}
	if extend&extendConfirmed != 0 {
		frame := widen(r.byte(), p.Newest, confirmedAhead)
		if frame < -1 || frame > 1<<31-1 {
			return ErrFrame
		}
		p.HasConfirmed, p.Confirmed = true, int32(frame)
	}
	if extend&extendLoss != 0 {
		p.HasLoss, p.Loss, p.Burst = true, r.uint16(), r.byte()
	}
	if extend&extendMessage != 0 {
		n := int(r.uint16())
		if n == 0 {
			return ErrField
		}
		p.Message = r.bytes(n)
	}
	p.Inputs = r.rest()
	return nil
}

// parseHash reads hash and frame of the hash. Newest is known.
func (p *Packet) parseHash(r *reader, extend byte) error {
	if extend&extendHashFrame != 0 {
		p.HashFrame = int32(r.uint32())
		if widen(byte(p.HashFrame), p.Newest, 0) == int64(p.HashFrame) {
			return ErrField
		}
	} else {
		frame := widen(r.byte(), p.Newest, 0)
		if frame < 0 {
			return ErrFrame
		}
		p.HashFrame = int32(frame)
	}
	p.Hash = r.uint32()
	return nil
}

// reader hands out the bytes of b from its front, and zeros and short once there are not enough.
type reader struct {
	b     []byte
	short bool
}

func (r *reader) byte() byte {
	if len(r.b) < 1 {
		r.short = true
		return 0
	}
	v := r.b[0]
	r.b = r.b[1:]
	return v
}

func (r *reader) uint16() uint16 {
	if len(r.b) < 2 {
		r.b, r.short = nil, true
		return 0
	}
	v := binary.LittleEndian.Uint16(r.b)
	r.b = r.b[2:]
	return v
}

func (r *reader) uint32() uint32 {
	if len(r.b) < 4 {
		r.b, r.short = nil, true
		return 0
	}
	v := binary.LittleEndian.Uint32(r.b)
	r.b = r.b[4:]
	return v
}

// bytes hands out n bytes, n at least one.
func (r *reader) bytes(n int) []byte {
	if len(r.b) < n {
		r.b, r.short = nil, true
		return nil
	}
	v := r.b[:n:n]
	r.b = r.b[n:]
	return v
}

// rest hands out everything left, nil if there is nothing.
func (r *reader) rest() []byte {
	v := section(r.b)
	r.b = nil
	return v
}

// or is err, or ErrTruncated if what err complains of was missing.
func (r *reader) or(err error) error {
	if r.short {
		return ErrTruncated
	}
	return err
}
