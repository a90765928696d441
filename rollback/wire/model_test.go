package wire

import (
	"testing"

	"backstep/ackbits"
	"backstep/rollback/input"
)

// TestModelSize sends ten minutes of the network model's clean line at RTT 80: 4-byte words of which 15 % change in their low byte,
// six frames until a packet is acknowledged, a lag in every packet, a hash in every eighth. The reference is 11.6 bytes a packet.
func TestModelSize(t *testing.T) {
	const frames, flight = 36_000, 6
	x := uint64(1234567 + 104729)
	next := func() uint64 {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
		return x
	}
	words := make([]uint32, 1, frames+1) // words[f+1] is the word of frame f
	total := 0
	var b, coded []byte
	for f := int32(0); f < frames; f++ {
		word := words[f]
		if float64(next()>>11)/(1<<53) < 0.15 {
			word = uint32(byte(next() >> 16))
		}
		words = append(words, word)
		first := max(0, f-flight+1)
		coded = input.AppendRun(coded[:0], words[first], words[first+1:])
		p := Packet{
			Seq: ackbits.Seq(f), HasAck: true, Ack: ackbits.Seq(f - 3), AckBits: ^uint32(0),
			Newest: f, Advanced: true, Main: true, HasLag: true, Lag: 2500,
			First: first, Count: uint8(f - first + 1), Current: true, Inputs: section(coded),
		}
		if f%8 == 7 && f > 8 {
			p.HasHash, p.HashFrame, p.Hash = true, f-7, uint32(next())
		}
		ref := Ref{Frame: first - 1}
		b = AppendCompact(b[:0], &p, ref)
		var q Packet
		if err := ParseCompact(b, &q, Ref{Frame: max(-1, f-1)}); err != nil || q.First != first || q.Newest != f || q.HashFrame != p.HashFrame {
			t.Fatalf("frame %d: %x read as %+v, %v", f, b, q, err)
		}
		total += len(b)
	}
	mean := float64(total) / frames
	t.Logf("%.2f bytes a packet", mean)
	if mean > 11.6 {
		t.Errorf("%.2f bytes a packet, want at most 11.6", mean)
	}
}
