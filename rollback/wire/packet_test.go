package wire

import (
	"bytes"
	"errors"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestRoundTrip is WIRE-04 and WIRE-12: every packet comes back from both forms as it was, its inputs, parity and message too.
func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, ref := drawPacket(t)
		if err := p.Valid(); err != nil {
			t.Fatalf("%+v drawn: %v", p, err)
		}
		full := AppendFull([]byte("head"), &p)
		compact := AppendCompact([]byte("head"), &p, ref)
		for _, b := range [][]byte{full, compact} {
			if len(b) <= 4 || len(b) > 4+MaxPacket || !bytes.HasPrefix(b, []byte("head")) {
				t.Fatalf("%+v against %+v is %d bytes", p, ref, len(b))
			}
		}
		if IsCompact(full[4:]) || !IsCompact(compact[4:]) {
			t.Fatal("the first byte does not tell the forms apart")
		}
		var q Packet
		if err := ParseFull(full[4:], &q); err != nil || !reflect.DeepEqual(p, q) {
			t.Fatalf("%+v in full form came back as %+v, %v", p, q, err)
		}
		q = Packet{}
		if err := ParseCompact(compact[4:], &q, ref); err != nil || !reflect.DeepEqual(p, q) {
			t.Fatalf("%+v in compact form came back as %+v, %v", p, q, err)
		}
	})
}

// TestCompactRefIsLoose moves the reader's reference as far as it may be from the writer's: every acknowledged frame is at most 64
// before the newest one received, and a packet may be seconds late.
func TestCompactRefIsLoose(t *testing.T) {
	p, _ := steady()
	b := AppendCompact(nil, &p, Ref{Frame: p.First - 1})
	var q Packet
	for ref := p.First - 1; ref <= p.First+254; ref++ {
		if err := ParseCompact(b, &q, Ref{Frame: ref}); err != nil || !reflect.DeepEqual(p, q) {
			t.Fatalf("read against %d: %+v, %v", ref, q, err)
		}
	}
	if err := ParseCompact(b, &q, Ref{Frame: p.First + 255}); err != nil || q.First == p.First {
		t.Fatalf("read against %d: %+v, %v; want another frame", p.First+255, q, err)
	}
	if AppendCompact(nil, &p, Ref{Frame: p.First + 255}) != nil || AppendCompact(nil, &p, Ref{Frame: p.First - 2}) != nil {
		t.Error("a packet was written that its reader would misread")
	}
	if err := ParseCompact(b, &q, Ref{Frame: 10}); !errors.Is(err, ErrFrame) {
		t.Errorf("a first frame before 0: %v, want ErrFrame", err)
	}
}

// TestParseLeavesPacketAlone: a refused packet changes nothing.
func TestParseLeavesPacketAlone(t *testing.T) {
	p, ref := steady()
	full, compact := AppendFull(nil, &p), AppendCompact(nil, &p, ref)
	full[40]++
	compact[1]--
	q := Packet{Seq: 9, Message: []byte("kept")}
	want := q
	if ParseFull(full, &q) == nil || ParseCompact(compact[:6], &q, ref) == nil || ParseCompact(append([]byte{0x80 | prefixExtend, 0}, compact...), &q, ref) == nil {
		t.Fatal("a damaged packet was accepted")
	}
	if !reflect.DeepEqual(q, want) {
		t.Errorf("refused packets left %+v", q)
	}
}

// TestSectionsAreCapped: appending to one section must not write over the next.
func TestSectionsAreCapped(t *testing.T) {
	p, ref := steady()
	p.Message = []byte("message")
	full, compact := AppendFull(nil, &p), AppendCompact(nil, &p, ref)
	for name, parse := range map[string]func(*Packet) error{
		"full":    func(q *Packet) error { return ParseFull(full, q) },
		"compact": func(q *Packet) error { return ParseCompact(compact, q, ref) },
	} {
		var q Packet
		if err := parse(&q); err != nil {
			t.Fatal(err)
		}
		_ = append(q.Inputs, 'X')
		_ = append(q.Message, 'X')
		if string(q.Message) != "message" || !bytes.Equal(q.Inputs, p.Inputs) {
			t.Errorf("%s: appending to a section changed another: %+v", name, q)
		}
	}
}

// TestInvalidPackets: what cannot be encoded is named and appends nothing.
func TestInvalidPackets(t *testing.T) {
	tests := []struct {
		name string
		with func(p *Packet)
		want error
	}{
		{"ack bits without an ack", func(p *Packet) { p.HasAck = false }, ErrField},
		{"lag without its flag", func(p *Packet) { p.HasLag = false }, ErrField},
		{"hash without its flag", func(p *Packet) { p.Hash = 1 }, ErrField},
		{"confirmed frame without its flag", func(p *Packet) { p.Confirmed = 1 }, ErrField},
		{"loss without its flag", func(p *Packet) { p.Burst = 1 }, ErrField},
		{"group without FEC", func(p *Packet) { p.Group = 1 }, ErrFEC},
		{"parity without FEC", func(p *Packet) { p.Parity = []byte{1} }, ErrFEC},
		{"a group of none", func(p *Packet) { p.HasFEC = true }, ErrFEC},
		{"a group of 16", func(p *Packet) { p.HasFEC, p.Size = true, 16 }, ErrFEC},
		{"an index of 16", func(p *Packet) { p.HasFEC, p.Size, p.Index = true, 4, 16 }, ErrFEC},
		{"a parity index without parity", func(p *Packet) { p.HasFEC, p.Size, p.Index = true, 4, 4 }, ErrFEC},
		{"a data index with parity", func(p *Packet) { p.HasFEC, p.Size, p.Parity = true, 4, []byte{1} }, ErrFEC},
		{"parity with inputs", func(p *Packet) { p.HasFEC, p.Size, p.Index, p.Parity = true, 4, 4, []byte{1} }, ErrField},
		{"65 words", func(p *Packet) { p.Count = 65 }, ErrTooLong},
		{"401 bytes of inputs", func(p *Packet) { p.Inputs = make([]byte, 401) }, ErrTooLong},
		{"a message too long", func(p *Packet) { p.Message = make([]byte, MaxSections-1) }, ErrTooLong},
		{"inputs without words", func(p *Packet) { p.Count, p.First, p.Current = 0, 0, false }, ErrField},
		{"a current window without words", func(p *Packet) { p.Count, p.First, p.Inputs = 0, 0, nil }, ErrField},
		{"a first frame without words", func(p *Packet) { p.Count, p.Current, p.Inputs = 0, false, nil }, ErrField},
		{"a current window that ends early", func(p *Packet) { p.Newest = 1235 }, ErrFrame},
		{"a negative first frame", func(p *Packet) { p.First = -1 }, ErrFrame},
		{"a newest frame of -2", func(p *Packet) { p.Newest = -2 }, ErrFrame},
		{"a last frame of 2^31", func(p *Packet) { p.First = 1<<31 - 4 }, ErrFrame},
		{"words 40000 frames ahead", func(p *Packet) { p.First = 41234 }, ErrFrame},
		{"a negative hash frame", func(p *Packet) { p.HasHash, p.HashFrame = true, -1 }, ErrFrame},
		{"a confirmed frame far ahead", func(p *Packet) { p.HasConfirmed, p.Confirmed = true, 1234+65 }, ErrFrame},
		{"a confirmed frame far behind", func(p *Packet) { p.HasConfirmed, p.Confirmed = true, 1234-192 }, ErrFrame},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p, ref := steady()
			tt.with(&p)
			if err := p.Valid(); !errors.Is(err, tt.want) {
				t.Errorf("Valid() = %v, want %v", err, tt.want)
			}
			if b := AppendFull(nil, &p); len(b) != 0 {
				t.Errorf("the full form took it as %x", b)
			}
			if b := AppendCompact(nil, &p, ref); len(b) != 0 {
				t.Errorf("the compact form took it as %x", b)
			}
		})
	}
}

func TestLagOf(t *testing.T) {
	for us, want := range map[int64]int16{
		0: 0, 7: 0, 8: 1, 16: 1, -7: 0, -8: 0, -9: -1, 40_000: 2500, 524_272: 32767, 1 << 40: 32767, 1<<63 - 1: 32767,
		-524_288: -32768, -1 << 40: -32768, -1 << 63: -32768,
	} {
		if got := LagOf(us); got != want {
			t.Errorf("LagOf(%d) = %d, want %d", us, got, want)
		}
	}
	p := Packet{Lag: -3}
	if p.LagMicros() != -48 {
		t.Errorf("LagMicros() = %d, want -48", p.LagMicros())
	}
}

func TestVersionError(t *testing.T) {
	err := error(&VersionError{Seen: 7})
	var v *VersionError
	if !errors.Is(err, ErrVersion) || !errors.As(err, &v) || v.Seen != 7 || !strings.Contains(err.Error(), "version 7") {
		t.Errorf("%v", err)
	}
}
