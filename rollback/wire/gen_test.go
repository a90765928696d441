package wire

import (
	"backstep/ackbits"

	"pgregory.net/rapid"
)

// drawBytes draws a section of up to n bytes, nil if empty.
func drawBytes(t *rapid.T, least, n int, name string) []byte {
	b := rapid.SliceOfN(rapid.Byte(), least, n).Draw(t, name)
	if len(b) == 0 {
		return nil
	}
	return b
}

// drawPacket draws any valid packet and a reference it can be read against.
func drawPacket(t *rapid.T) (Packet, Ref) {
	ref := Ref{Frame: rapid.OneOf(rapid.Int32Range(-1, 300), rapid.Int32Range(-1, 1<<31-200)).Draw(t, "ref")}
	p := Packet{Seq: ackbits.Seq(rapid.Uint16().Draw(t, "seq"))}
	if p.HasAck = rapid.Bool().Draw(t, "hasAck"); p.HasAck {
		p.Ack = ackbits.Seq(rapid.Uint16().Draw(t, "ack"))
		p.AckBits = rapid.OneOf(rapid.Just(^uint32(0)), rapid.Uint32()).Draw(t, "bits")
	}
	if p.HasFEC = rapid.Bool().Draw(t, "hasFEC"); p.HasFEC {
		p.Group = rapid.Uint16().Draw(t, "group")
		p.Size = rapid.Uint8Range(1, MaxGroup).Draw(t, "size")
		p.Index = rapid.Uint8Range(0, MaxGroup).Draw(t, "index")
		if p.IsParity() {
			p.Parity = drawBytes(t, 1, rapid.SampledFrom([]int{20, MaxSections}).Draw(t, "most"), "parity")
			return p, ref
		}
	}
	p.Advanced = rapid.Bool().Draw(t, "advanced")
	p.Main = rapid.Bool().Draw(t, "main")
	if p.HasLag = rapid.Bool().Draw(t, "hasLag"); p.HasLag {
		p.Lag = rapid.Int16().Draw(t, "lag")
	}
	frame := max(0, ref.Frame+rapid.Int32Range(-254, 1).Draw(t, "frame"))
	if rapid.Bool().Draw(t, "hasInputs") {
		p.First = frame
		p.Count = rapid.Uint8Range(1, MaxCount).Draw(t, "count")
		lead := rapid.OneOf(rapid.Int32Range(0, 4), rapid.Int32Range(-1<<15, 1<<15-1)).Draw(t, "lead")
		p.Newest = int32(min(max(-1, int64(p.Last())-int64(lead)), 1<<31-1))
		p.Current = p.Newest <= p.Last() && rapid.Bool().Draw(t, "current")
		p.Inputs = drawBytes(t, 0, rapid.SampledFrom([]int{5, MaxInputs}).Draw(t, "most"), "inputs")
	} else {
		p.Newest = max(-1, ref.Frame-rapid.Int32Range(-1, 254).Draw(t, "newest"))
	}
	if p.HasHash = rapid.Bool().Draw(t, "hasHash"); p.HasHash {
		p.HashFrame = max(0, rapid.OneOf(
			rapid.Map(rapid.Int32Range(-1, 300), func(back int32) int32 { return p.Newest - back }),
			rapid.Int32Range(0, 1<<31-1)).Draw(t, "hashFrame"))
		p.Hash = rapid.Uint32().Draw(t, "hash")
	}
	if p.HasConfirmed = rapid.Bool().Draw(t, "hasConfirmed"); p.HasConfirmed {
		p.Confirmed = int32(min(max(-1, int64(p.Newest)+rapid.Int64Range(confirmedAhead-255, confirmedAhead).Draw(t, "confirmed")), 1<<31-1))
	}
	if p.HasLoss = rapid.Bool().Draw(t, "hasLoss"); p.HasLoss {
		p.Loss = rapid.Uint16().Draw(t, "loss")
		p.Burst = rapid.Uint8().Draw(t, "burst")
	}
	p.Message = drawBytes(t, 0, rapid.SampledFrom([]int{0, 20, MaxSections - len(p.Inputs)}).Draw(t, "most"), "message")
	return p, ref
}

// steady is the packet of a clean line at RTT 80 in the middle of a match, and the receiver's reference.
func steady() (Packet, Ref) {
	return Packet{
		Seq: 4711, HasAck: true, Ack: 4706, AckBits: ^uint32(0),
		Newest: 1234, Advanced: true, Main: true, HasLag: true, Lag: 2500,
		First: 1230, Count: 5, Current: true, Inputs: []byte{0x5b, 2},
	}, Ref{Frame: 1233}
}
