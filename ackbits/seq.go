package ackbits

// Width is the number of packets before the newest one that an acknowledgement
// names; with the newest it covers Width+1 packets.
const Width = 32

// Seq is a packet's sequence number on the wire. It wraps from 65535 to 0, so
// order is only defined for numbers less than half the ring apart.
type Seq uint16

// Newer reports whether s comes after t on the shorter way around the ring.
// Equal numbers and numbers exactly 32768 apart are newer neither way.
func (s Seq) Newer(t Seq) bool {
	d := s - t
	return d != 0 && d < 1<<15
}

// Sub returns the signed distance from t to s on the shorter way around the
// ring, from -32768 to 32767.
func (s Seq) Sub(t Seq) int { return int(int16(s - t)) }

// Unwrap returns the number nearest to ref whose low 16 bits are s. The result
// lies in [ref-32768, ref+32767]; it is negative if s lies before the start of
// a stream that began at 0.
func Unwrap(ref int64, s Seq) int64 { return ref + int64(s.Sub(Seq(uint16(ref)))) }

// BuildAckBits packs the sequence numbers received into the bit field that
// rides beside last: bit i stands for last-1-i. Numbers newer than last, last
// itself and numbers older than last-32 have no bit and are ignored. The order
// of received does not matter. [Received] does the same incrementally.
func BuildAckBits(last Seq, received []Seq) uint32 {
	var bits uint32
	for _, r := range received {
		if d := last.Sub(r); d >= 1 && d <= Width {
			bits |= 1 << (d - 1)
		}
	}
	return bits
}

// Acks reports whether the acknowledgement (ack, bits) covers s.
func Acks(ack Seq, bits uint32, s Seq) bool {
	d := ack.Sub(s)
	return d == 0 || d >= 1 && d <= Width && bits>>(d-1)&1 == 1
}
