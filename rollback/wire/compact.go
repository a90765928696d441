package wire

import "encoding/binary"

// Bits of the compact form's prefix byte. In the steady state of a clean line it is prefixAdvanced | prefixMain | prefixLag |
// prefixCompact; what that state never has costs a second byte.
const (
	prefixAdvanced = 1 << iota
	prefixMain
	prefixLag     // lag follows
	prefixAckBits // ack bits follow; without it they are all set
	prefixHash    // hash follows
	prefixFEC     // FEC group, index and size follow
	prefixExtend  // a byte of extension follows
	prefixCompact
)

// Bits of the extension byte, which is never zero.
const (
	extendNoAck     = 1 << iota // nothing received yet: ack and ack bits are left out
	extendPartial               // the words do not reach the sender's current frame
	extendLead                  // two bytes say how far the words lead the newest simulated frame, instead of two bits
	extendNoInputs              // count and inputs are left out, the newest simulated frame stands where the first frame does
	extendHashFrame             // the hash's frame is four bytes
	extendConfirmed             // confirmed frame follows
	extendLoss                  // raw loss and burst follow
	extendMessage               // message follows
)

const (
	// compactHeader is the most a compact packet has before its sections.
	compactHeader = 2 + 2 + 2 + 4 + 2 + 3 + 2 + 2 + 8 + 1 + 3 + 2
	// refAhead is how far a short frame number may be ahead of Ref.Frame; it may be 255-refAhead behind. An honest sender's
	// first unacknowledged frame is never more than one ahead, so a packet four seconds late is still read right.
	refAhead = 1
	// confirmedAhead likewise for the confirmed frame and the sender's newest: 64 is the hard bound of any window.
	confirmedAhead = 64
	// shortLead is how far the words may lead the newest simulated frame before it costs two bytes: the usual input delays.
	shortLead = 3
	// groupBits is the width of the FEC size, and of the index above it, in their byte.
	groupBits = 4
)

// Ref is what the two sides know of each other's inputs. The compact form has only the low byte of a frame number, and is read
// as the one frame in [Frame-254, Frame+1] that has it.
type Ref struct {
	// Frame is, where packets are read, the newest frame up to which all of the sender's words are here, and where they
	// are written, the newest frame known to have arrived there. Before the first it is -1.
	Frame int32
}

// widen is the frame in [ref+ahead-255, ref+ahead] whose low byte is low.
func widen(low byte, ref, ahead int32) int64 {
	top := int64(ref) + int64(ahead)
	return top - int64(byte(top)-low)
}

// reaches reports whether frame can be read from its low byte against r.
func (r Ref) reaches(frame int32) bool { return widen(byte(frame), r.Frame, refAhead) == int64(frame) }

// IsCompact reports whether b begins like a packet in compact form and not like one in full form.
func IsCompact(b []byte) bool { return len(b) > 0 && b[0]&prefixCompact != 0 }

// AppendCompact appends the compact form of p to b, at most MaxPacket bytes, or nothing if p.Valid reports an error or ref does
// not reach p.First (p.Newest, if there are no words). It allocates only if b has no room.
func AppendCompact(b []byte, p *Packet, ref Ref) []byte {
	if p.Valid() != nil {
		return b
	}
	var h [compactHeader]byte
	var extend byte
	le := binary.LittleEndian
	n := 1
	lead := int64(p.Last()) - int64(p.Newest)
	if !p.IsParity() {
		extend = p.extension(lead)
		frame := p.First
		if p.Count == 0 {
			frame = p.Newest
		}
		if !ref.reaches(frame) {
			return b
		}
	} else if !p.HasAck {
		extend = extendNoAck
	}
	h[0] = p.prefix()
	if extend != 0 {
		h[0] |= prefixExtend
		h[1] = extend
		n = 2
	}
	le.PutUint16(h[n:], uint16(p.Seq))
	n += 2
	if p.HasAck {
		le.PutUint16(h[n:], uint16(p.Ack))
		n += 2
		if p.AckBits != ^uint32(0) {
			le.PutUint32(h[n:], p.AckBits)
			n += 4
		}
	}
	if p.HasLag {
		le.PutUint16(h[n:], uint16(p.Lag))
		n += 2
	}
	if p.HasFEC {
		le.PutUint16(h[n:], p.Group)
		h[n+2] = p.Size | p.Index<<groupBits
		n += 3
		if p.IsParity() {
			return append(append(b, h[:n]...), p.Parity...)
		}
	}
	switch {
	case p.Count == 0:
		h[n] = byte(p.Newest)
		n++
	case extend&extendLead != 0:
		h[n], h[n+1] = byte(p.First), p.Count-1
		le.PutUint16(h[n+2:], uint16(lead))
		n += 4
	default:
		h[n], h[n+1] = byte(p.First), p.Count-1|byte(lead)<<6
		n += 2
	}
	if p.HasHash {
		if extend&extendHashFrame != 0 {
			le.PutUint32(h[n:], uint32(p.HashFrame))
			n += 4
		} else {
			h[n] = byte(p.HashFrame)
			n++
		}
		le.PutUint32(h[n:], p.Hash)
		n += 4
	}
	if p.HasConfirmed {
		h[n] = byte(p.Confirmed)
		n++
	}
	if p.HasLoss {
		le.PutUint16(h[n:], p.Loss)
		h[n+2] = p.Burst
		n += 3
	}
	if len(p.Message) > 0 {
		le.PutUint16(h[n:], uint16(len(p.Message)))
		n += 2
		b = append(append(b, h[:n]...), p.Message...)
	} else {
		b = append(b, h[:n]...)
	}
	return append(b, p.Inputs...)
}

// prefix is the prefix byte without prefixExtend.
func (p *Packet) prefix() byte {
	f := byte(prefixCompact)
	if p.Advanced {
		f |= prefixAdvanced
	}
	if p.Main {
		f |= prefixMain
	}
	if p.HasLag {
		f |= prefixLag
	}
	if p.HasAck && p.AckBits != ^uint32(0) {
		f |= prefixAckBits
	}
	if p.HasHash {
		f |= prefixHash
	}
	if p.HasFEC {
		f |= prefixFEC
	}
	return f
}

// extension is the extension byte of a data packet whose words lead the newest simulated frame by lead, zero if it needs none.
func (p *Packet) extension(lead int64) byte {
	var f byte
	if !p.HasAck {
		f = extendNoAck
	}
	if p.Count == 0 {
		f |= extendNoInputs
	} else {
		if !p.Current {
			f |= extendPartial
		}
		if lead < 0 || lead > shortLead {
			f |= extendLead
		}
	}
	if p.HasHash && widen(byte(p.HashFrame), p.Newest, 0) != int64(p.HashFrame) {
		f |= extendHashFrame
	}
	if p.HasConfirmed {
		f |= extendConfirmed
	}
	if p.HasLoss {
		f |= extendLoss
	}
	if len(p.Message) > 0 {
		f |= extendMessage
	}
	return f
}
