package wire

import (
	"bytes"
	"errors"
	"testing"

	"backstep/rollback/input"
)

// TestCompactSizes: what a packet costs in the states a match is in.
func TestCompactSizes(t *testing.T) {
	tests := []struct {
		name string
		with func(p *Packet)
		want int
	}{
		{"steady", func(*Packet) {}, 9 + 2},
		{"unchanged words", func(p *Packet) { p.Inputs = nil }, 9},
		{"a loss in the last 33", func(p *Packet) { p.AckBits = 5 }, 9 + 2 + 4},
		{"with a hash", func(p *Packet) { p.HasHash, p.HashFrame = true, 1224 }, 9 + 2 + 5},
		{"input delay 3", func(p *Packet) { p.Newest = 1231 }, 9 + 2},
		{"input delay 4", func(p *Packet) { p.Newest = 1230 }, 9 + 2 + 3},
		{"second datagram", func(p *Packet) { p.Main, p.HasLag, p.Lag = false, false, 0 }, 9 + 2 - 2},
		{"stalled", func(p *Packet) { p.Advanced, p.HasLag, p.Lag = false, false, 0 }, 9 + 2 - 2},
		{"in a FEC group", func(p *Packet) { p.HasFEC, p.Size, p.Index = true, 4, 3 }, 9 + 2 + 3},
		{"an old hash", func(p *Packet) { p.HasHash, p.HashFrame = true, 8 }, 9 + 2 + 1 + 8},
		{"nothing received yet", func(p *Packet) { p.HasAck, p.Ack, p.AckBits = false, 0, 0 }, 9 + 2 - 2 + 1},
		{"all options", func(p *Packet) { p.HasLoss, p.HasConfirmed, p.Confirmed, p.Message = true, true, 1230, []byte("hi") }, 9 + 2 + 1 + 3 + 1 + 2 + 2},
		{"no words", func(p *Packet) { p.First, p.Count, p.Current, p.Inputs, p.Newest = 0, 0, false, nil, 1233 }, 9 - 1 + 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p, ref := steady()
			tt.with(&p)
			if got := len(AppendCompact(nil, &p, ref)); got != tt.want {
				t.Errorf("%d bytes, want %d", got, tt.want)
			}
		})
	}
}

// refusalRef is the reference that compactRefusals are read against.
const refusalRef = 100

func compactRefusals() []refusal {
	const c = prefixCompact
	return []refusal{
		{"nothing", nil, ErrTruncated},
		{"a full packet", []byte("V2RB\x01"), ErrMagic},
		{"more than 1200 bytes", bytes.Repeat([]byte{c}, 1201), ErrTooLong},
		{"prefix alone", []byte{c}, ErrTruncated},
		{"no first frame", []byte{c, 1, 2, 3, 4}, ErrTruncated},
		{"no count", []byte{c, 1, 2, 3, 4, 90}, ErrTruncated},
		{"an extension of nothing", []byte{c | prefixExtend, 0, 1, 2, 3, 4, 90, 1}, ErrField},
		{"ack bits that could be elided", []byte{c | prefixAckBits, 1, 2, 3, 4, 255, 255, 255, 255, 90, 1}, ErrField},
		{"ack bits without an ack", []byte{c | prefixAckBits | prefixExtend, extendNoAck, 1, 2, 3, 4, 5, 6, 90, 1}, ErrField},
		{"a lead in the wrong place", []byte{c | prefixExtend, extendLead, 1, 2, 3, 4, 90, 1, 3, 0}, ErrField},
		{"two leads", []byte{c | prefixExtend, extendLead, 1, 2, 3, 4, 90, 0x41, 4, 0}, ErrField},
		{"a partial window of no words", []byte{c | prefixExtend, extendPartial | extendNoInputs, 1, 2, 3, 4, 90}, ErrField},
		{"inputs of no words", []byte{c | prefixExtend, extendNoInputs, 1, 2, 3, 4, 90, 1}, ErrField},
		{"a long hash frame without a hash", []byte{c | prefixExtend, extendHashFrame, 1, 2, 3, 4, 90, 1}, ErrField},
		{"a long hash frame that is near", []byte{c | prefixExtend | prefixHash, extendHashFrame, 1, 2, 3, 4, 90, 1, 88, 0, 0, 0, 1, 2, 3, 4}, ErrField},
		{"half a hash", []byte{c | prefixHash, 1, 2, 3, 4, 90, 1, 88, 1, 2, 3}, ErrTruncated},
		{"a hash frame before 0", []byte{c | prefixHash, 1, 2, 3, 4, 90, 1, 99, 1, 2, 3, 4}, ErrFrame},
		{"a negative long hash frame", []byte{c | prefixExtend | prefixHash, extendHashFrame, 1, 2, 3, 4, 90, 1, 0, 0, 0, 0x80, 1, 2, 3, 4}, ErrFrame},
		{"a first frame before 0", []byte{c, 1, 2, 3, 4, 110, 1}, ErrFrame},
		{"a newest frame of -2", []byte{c, 1, 2, 3, 4, 0, 0x80}, ErrFrame},
		{"a confirmed frame of -2", []byte{c | prefixExtend, extendConfirmed, 1, 2, 3, 4, 90, 0, 254}, ErrFrame},
		{"a message of nothing", []byte{c | prefixExtend, extendMessage, 1, 2, 3, 4, 90, 1, 0, 0}, ErrField},
		{"half a message", []byte{c | prefixExtend, extendMessage, 1, 2, 3, 4, 90, 1, 3, 0, 'a', 'b'}, ErrTruncated},
		{"too many inputs", append([]byte{c, 1, 2, 3, 4, 90, 1}, make([]byte, 401)...), ErrTooLong},
		{"a FEC group of none", []byte{c | prefixFEC, 1, 2, 3, 4, 7, 0, 0, 90, 1}, ErrFEC},
		{"parity of nothing", []byte{c | prefixFEC, 1, 2, 3, 4, 7, 0, 0x44}, ErrFEC},
		{"parity that advanced", []byte{c | prefixFEC | prefixAdvanced, 1, 2, 3, 4, 7, 0, 0x44, 1}, ErrField},
		{"parity with a lag", []byte{c | prefixFEC | prefixLag, 1, 2, 3, 4, 5, 6, 7, 0, 0x44, 1}, ErrField},
		{"parity with a hash", []byte{c | prefixFEC | prefixHash, 1, 2, 3, 4, 7, 0, 0x44, 1}, ErrField},
		{"parity with options", []byte{c | prefixFEC | prefixExtend, extendLoss, 1, 2, 3, 4, 7, 0, 0x44, 1}, ErrField},
	}
}

// TestCompactRefuses is WIRE-05 for the compact form: every second way to say something is refused.
func TestCompactRefuses(t *testing.T) {
	for _, tt := range compactRefusals() {
		t.Run(tt.name, func(t *testing.T) {
			var q Packet
			if err := ParseCompact(tt.b, &q, Ref{Frame: refusalRef}); !errors.Is(err, tt.want) {
				t.Errorf("error %v, want %v; parsed %+v", err, tt.want, q)
			}
		})
	}
}

// TestCompactFrameEnds: frame numbers at the top of their range neither overflow nor wrap.
func TestCompactFrameEnds(t *testing.T) {
	const top = 1<<31 - 1
	p := Packet{First: top, Count: 1, Newest: top, Current: true, HasConfirmed: true, Confirmed: top}
	ref := Ref{Frame: top}
	b := AppendCompact(nil, &p, ref)
	var q Packet
	if err := ParseCompact(b, &q, ref); err != nil || q.First != top || q.Newest != top || q.Confirmed != top {
		t.Errorf("%x read as %+v, %v", b, q, err)
	}
	for name, bad := range map[string][]byte{
		"first":     {b[0], b[1], 0, 0, 0, 0, 0xff},
		"last":      {b[0], b[1], 0, 0, 0xff, 1, 0xff},
		"confirmed": {b[0], b[1], 0, 0, 0xff, 0, 0},
		"newest":    {b[0], b[1] | extendLead | extendPartial, 0, 0, 0xff, 0, 0xff, 0xff, 0xff},
	} {
		if err := ParseCompact(bad, &q, ref); !errors.Is(err, ErrFrame) {
			t.Errorf("%s frame 2^31: %v, want ErrFrame", name, err)
		}
	}
	p.First, p.Count = top-1, 3
	if err := p.Valid(); !errors.Is(err, ErrFrame) {
		t.Errorf("last frame 2^31 is valid: %v", err)
	}
}

// TestLossIsCoveredByNextPacket is WIRE-08 and WIRE-09: packets carry the current frame and the eight before it (ResendInputFrames);
// any one lost, and any eight in a row, all inputs still arrive. WIRE-06: they are coded by the replay's codec.
func TestLossIsCoveredByNextPacket(t *testing.T) {
	const frames, resend = 60, 8
	words := make([]uint16, frames)
	for i := range words {
		words[i] = uint16(i / 3 * 37)
	}
	word := func(f int32) uint16 {
		if f < 0 {
			return 0
		}
		return words[f]
	}
	for lost := int32(0); lost < frames-resend; lost++ {
		for _, run := range []int32{1, resend} {
			var got []uint16
			for current := int32(0); current < frames; current++ {
				var held []int32
				for f := max(0, current-resend); f <= current; f++ {
					held = append(held, f)
				}
				first, count, ok := Window(held, current)
				p := Packet{First: first, Count: uint8(count), Newest: current, Current: ok, Main: true}
				p.Inputs = input.AppendRun(nil, word(first-1), words[first:int(first)+count])
				b := AppendFull(nil, &p)
				if current >= lost && current < lost+run {
					continue
				}
				var q Packet
				if err := ParseFull(b, &q); err != nil {
					t.Fatal(err)
				}
				dst := make([]uint16, q.Count)
				if err := input.ParseRun(q.Inputs, word(q.First-1), dst); err != nil {
					t.Fatal(err)
				}
				if int(q.First) > len(got) {
					t.Fatalf("packets %d to %d lost: frame %d never arrived", lost, lost+run-1, len(got))
				}
				got = append(got[:q.First], dst...)
			}
			for f := range words {
				if got[f] != words[f] {
					t.Fatalf("frame %d arrived as %x, sent as %x", f, got[f], words[f])
				}
			}
		}
	}
}

// TestV13 is the worked example V-13, WIRE-10 and WIRE-11: frame 100 with eight previous frames.
func TestV13(t *testing.T) {
	window := []int32{92, 93, 94, 95, 96, 97, 98, 99, 100}
	tests := []struct {
		name    string
		frames  []int32
		current int32
		first   int32
		count   int
		flags   InputFlags
	}{
		{"V-13: frames 92 to 100", window, 100, 92, 9, EveryFrameInputSend | BatchResendForLossRecovery},
		{"V-13: 95 is missing", []int32{92, 93, 94, 96, 97, 98, 99, 100}, 100, 92, 3, 0},
		{"WIRE-11: not current", window[:8], 100, 92, 8, 0},
		{"WIRE-11: ahead of current", window, 99, 92, 9, 0},
		{"WIRE-10: the current frame alone", window[8:], 100, 100, 1, EveryFrameInputSend | BatchResendForLossRecovery},
		{"WIRE-11: no frames", nil, 100, 0, 0, 0},
		{"WIRE-11: a frame twice", []int32{99, 99, 100}, 100, 99, 1, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			first, count, current := Window(tt.frames, tt.current)
			if first != tt.first || count != tt.count {
				t.Errorf("Window picks %d frames from %d, want %d from %d", count, first, tt.count, tt.first)
			}
			p := Packet{First: first, Count: uint8(count), Current: current, Newest: first + int32(count) - 1}
			if got := p.InputFlags(); got != tt.flags {
				t.Errorf("flags %b, want %b", got, tt.flags)
			}
			var q, r Packet
			if err := ParseFull(AppendFull(nil, &p), &q); err != nil || q.InputFlags() != tt.flags {
				t.Errorf("full form: flags %b, %v, want %b", q.InputFlags(), err, tt.flags)
			}
			ref := Ref{Frame: 100}
			if err := ParseCompact(AppendCompact(nil, &p, ref), &r, ref); err != nil || r.InputFlags() != tt.flags {
				t.Errorf("compact form: flags %b, %v, want %b", r.InputFlags(), err, tt.flags)
			}
		})
	}
}

// TestWindowIsBounded is X-10: at most 64 frames, oldest first, and then the flags are clear.
func TestWindowIsBounded(t *testing.T) {
	frames := make([]int32, 65)
	for i := range frames {
		frames[i] = int32(i)
	}
	if first, count, current := Window(frames, 64); first != 0 || count != 64 || current {
		t.Errorf("65 frames: %d from %d, current %v", count, first, current)
	}
	if first, count, current := Window(frames[1:], 64); first != 1 || count != 64 || !current {
		t.Errorf("64 frames: %d from %d, current %v", count, first, current)
	}
}

// TestAcksRideOnEveryPacket is WIRE-07: data with and without words, stalled, second, parity.
func TestAcksRideOnEveryPacket(t *testing.T) {
	ack := func(p Packet) Packet { p.HasAck, p.Ack, p.AckBits = true, 77, 0xfffffffe; return p }
	for name, p := range map[string]Packet{
		"words":    ack(Packet{Count: 1, Current: true, Main: true, Advanced: true}),
		"no words": ack(Packet{Newest: 0}),
		"parity":   ack(Packet{HasFEC: true, Size: 2, Index: 2, Parity: []byte{1}}),
	} {
		var full, compact Packet
		if err := ParseFull(AppendFull(nil, &p), &full); err != nil || full.Ack != 77 || full.AckBits != 0xfffffffe {
			t.Errorf("%s, full form: %+v, %v", name, full, err)
		}
		if err := ParseCompact(AppendCompact(nil, &p, Ref{}), &compact, Ref{}); err != nil || compact.Ack != 77 || compact.AckBits != 0xfffffffe {
			t.Errorf("%s, compact form: %+v, %v", name, compact, err)
		}
	}
}
