package wire

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"backstep/ackbits"
	"backstep/rollback/input"
)

// freeze writes vector files that do not exist yet. Existing ones are never written: they are the standard, this package is not.
var freeze = flag.Bool("freeze", false, "write the vector files of docs/vectors that are missing")

const vectorDir = "../../docs/vectors"

// vectorPacket is a Packet as the vector files have it. What a packet does not have is null.
type vectorPacket struct {
	Seq       uint16        `json:"seq"`
	Ack       *vectorAck    `json:"ack"`
	Newest    *int32        `json:"newest"`
	Advanced  bool          `json:"advanced"`
	Main      bool          `json:"main"`
	Lag       *int16        `json:"lag"`
	Inputs    *vectorInputs `json:"inputs"`
	Hash      *vectorHash   `json:"hash"`
	Confirmed *int32        `json:"confirmed"`
	Loss      *vectorLoss   `json:"loss"`
	FEC       *vectorFEC    `json:"fec"`
	Message   *string       `json:"message"`
}

type vectorAck struct {
	Seq  uint16 `json:"seq"`
	Bits uint32 `json:"bits"`
}

type vectorInputs struct {
	First   int32  `json:"first"`
	Count   uint8  `json:"count"`
	Current bool   `json:"current"`
	Run     string `json:"run"`
}

type vectorHash struct {
	Frame int32  `json:"frame"`
	Hash  uint32 `json:"hash"`
}

type vectorLoss struct {
	Share uint16 `json:"share"`
	Burst uint8  `json:"burst"`
}

type vectorFEC struct {
	Group  uint16  `json:"group"`
	Index  uint8   `json:"index"`
	Size   uint8   `json:"size"`
	Parity *string `json:"parity"`
}

func vectorOf(p Packet) vectorPacket {
	v := vectorPacket{Seq: uint16(p.Seq), Advanced: p.Advanced, Main: p.Main}
	if p.HasAck {
		v.Ack = &vectorAck{uint16(p.Ack), p.AckBits}
	}
	if !p.IsParity() {
		v.Newest = &p.Newest
	}
	if p.HasLag {
		v.Lag = &p.Lag
	}
	if p.Count > 0 {
		v.Inputs = &vectorInputs{p.First, p.Count, p.Current, hex.EncodeToString(p.Inputs)}
	}
	if p.HasHash {
		v.Hash = &vectorHash{p.HashFrame, p.Hash}
	}
	if p.HasConfirmed {
		v.Confirmed = &p.Confirmed
	}
	if p.HasLoss {
		v.Loss = &vectorLoss{p.Loss, p.Burst}
	}
	if p.HasFEC {
		v.FEC = &vectorFEC{Group: p.Group, Index: p.Index, Size: p.Size}
		if p.IsParity() {
			s := hex.EncodeToString(p.Parity)
			v.FEC.Parity = &s
		}
	}
	if len(p.Message) > 0 {
		s := hex.EncodeToString(p.Message)
		v.Message = &s
	}
	return v
}

// packetVectors are the packets that were frozen, with the reference of their compact form.
func packetVectors() []struct {
	name string
	p    Packet
	ref  int32
} {
	base, ref := steady()
	type vector = struct {
		name string
		p    Packet
		ref  int32
	}
	var vs []vector
	add := func(name string, with func(p *Packet)) {
		p := base
		with(&p)
		vs = append(vs, vector{name, p, ref.Frame})
	}
	vs = append(vs,
		vector{"the zero packet", Packet{}, -1},
		vector{"before the first frame", Packet{Newest: -1}, -1},
		vector{"the first frame", Packet{Main: true, Advanced: true, Count: 1, Current: true, Inputs: []byte{1}}, -1},
		vector{"the first frame under input delay 2", Packet{Seq: 1, Main: true, Advanced: true, Count: 3, Current: true}, -1},
		vector{"the last frame there is", Packet{Seq: 65535, Newest: 1<<31 - 1, First: 1<<31 - 1, Count: 1, Current: true, Main: true}, 1<<31 - 2},
	)
	add("a clean line in mid-match", func(*Packet) {})
	add("words that do not change", func(p *Packet) { p.Inputs = nil })
	add("losses among the last 33", func(p *Packet) { p.AckBits = 0xfffff7fe })
	add("nothing but the newest arrived", func(p *Packet) { p.AckBits = 0 })
	add("nothing arrived yet", func(p *Packet) { p.HasAck, p.Ack, p.AckBits = false, 0, 0 })
	add("a lag below zero", func(p *Packet) { p.Lag = -2 })
	add("a second datagram", func(p *Packet) { p.Main, p.HasLag, p.Lag = false, false, 0 })
	add("a stalled tick", func(p *Packet) { p.Advanced, p.HasLag, p.Lag = false, false, 0 })
	add("input delay 3", func(p *Packet) { p.Newest = 1231 })
	add("input delay 4", func(p *Packet) { p.Newest = 1230 })
	add("words behind the newest frame", func(p *Packet) { p.Newest, p.Current = 1300, false })
	add("a full window that leaves words out", func(p *Packet) {
		p.First, p.Count, p.Current = 1150, 64, false
		p.Newest = 1213
	})
	add("no words to send", func(p *Packet) { p.First, p.Count, p.Current, p.Inputs, p.Newest = 0, 0, false, nil, 1233 })
	add("a hash", func(p *Packet) { p.HasHash, p.HashFrame, p.Hash = true, 1224, 0xdeadbeef })
	add("a hash 255 frames back", func(p *Packet) { p.HasHash, p.HashFrame, p.Hash = true, 979, 1 })
	add("a hash 256 frames back", func(p *Packet) { p.HasHash, p.HashFrame, p.Hash = true, 978, 1 })
	add("a hash ahead of the newest frame", func(p *Packet) { p.HasHash, p.HashFrame, p.Hash = true, 1235, 2 })
	add("a confirmed frame", func(p *Packet) { p.HasConfirmed, p.Confirmed = true, 1229 })
	add("a confirmed frame ahead", func(p *Packet) { p.HasConfirmed, p.Confirmed = true, 1298 })
	add("a confirmed frame far behind", func(p *Packet) { p.HasConfirmed, p.Confirmed = true, 1043 })
	add("raw loss", func(p *Packet) { p.HasLoss, p.Loss, p.Burst = true, 13107, 10 })
	add("a message", func(p *Packet) { p.Message = []byte("hello") })
	add("in a FEC group", func(p *Packet) { p.HasFEC, p.Group, p.Index, p.Size = true, 0x0102, 3, 4 })
	add("everything at once", func(p *Packet) {
		p.AckBits, p.HasFEC, p.Group, p.Index, p.Size = 5, true, 65535, 14, 15
		p.HasHash, p.HashFrame, p.Hash, p.HasConfirmed, p.Confirmed = true, 8, 3, true, 1230
		p.HasLoss, p.Loss, p.Burst, p.Message, p.Newest, p.Current = true, 65535, 255, []byte{0}, 1235, false
	})
	parity := Packet{Seq: 4712, HasAck: true, Ack: 4706, AckBits: ^uint32(0), HasFEC: true, Group: 258, Index: 4, Size: 4, Parity: []byte("parity bytes")}
	vs = append(vs, vector{"parity", parity, ref.Frame})
	parity.AckBits, parity.Index = 1, 7
	vs = append(vs, vector{"a fourth parity, after losses", parity, ref.Frame})
	parity.HasAck, parity.Ack, parity.AckBits = false, 0, 0
	return append(vs, vector{"parity before anything arrived", parity, ref.Frame})
}

type wireVector struct {
	Name    string        `json:"name"`
	Ref     int32         `json:"ref"`
	Full    string        `json:"full"`
	Compact string        `json:"compact"`
	Packet  *vectorPacket `json:"packet"`
}

type refusedVector struct {
	Name  string `json:"name"`
	Form  string `json:"form"`
	Ref   int32  `json:"ref"`
	Bytes string `json:"bytes"`
	Error string `json:"error"`
}

type inputVector struct {
	Name  string   `json:"name"`
	Width int      `json:"width"`
	Prev  uint32   `json:"prev"`
	Words []uint32 `json:"words"`
	Run   string   `json:"run"`
}

// read reads a vector file, after writing it with content if it is missing and may be written.
func read[T any](t *testing.T, name string, content func() []T) []T {
	t.Helper()
	path := filepath.Join(vectorDir, name)
	if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) && *freeze {
		b := []byte("[\n")
		for i, v := range content() {
			line, err := json.Marshal(v)
			if err != nil {
				t.Fatal(err)
			}
			if i > 0 {
				b = append(b, ",\n"...)
			}
			b = append(b, line...)
		}
		if err := os.WriteFile(path, append(b, "\n]\n"...), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var vs []T
	if err := json.Unmarshal(b, &vs); err != nil {
		t.Fatal(err)
	}
	if len(vs) < 10 {
		t.Fatalf("%s has %d vectors", name, len(vs))
	}
	return vs
}

func unhex(t *testing.T, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(s)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestPacketVectors holds both forms against the frozen bytes, in both directions.
func TestPacketVectors(t *testing.T) {
	frozen := read(t, "packets.json", func() (vs []wireVector) {
		for _, v := range packetVectors() {
			p := vectorOf(v.p)
			vs = append(vs, wireVector{
				Name: v.name, Ref: v.ref, Packet: &p,
				Full:    hex.EncodeToString(AppendFull(nil, &v.p)),
				Compact: hex.EncodeToString(AppendCompact(nil, &v.p, Ref{v.ref})),
			})
		}
		return vs
	})
	for _, v := range frozen {
		t.Run(v.Name, func(t *testing.T) {
			ref := Ref{Frame: v.Ref}
			full, compact := unhex(t, v.Full), unhex(t, v.Compact)
			for form, parse := range map[string]func(*Packet) error{
				"full":    func(p *Packet) error { return ParseFull(full, p) },
				"compact": func(p *Packet) error { return ParseCompact(compact, p, ref) },
			} {
				var p Packet
				if err := parse(&p); err != nil {
					t.Fatalf("%s form: %v", form, err)
				}
				if got := vectorOf(p); !reflect.DeepEqual(&got, v.Packet) {
					t.Errorf("%s form parsed as %+v, want %+v", form, got, *v.Packet)
				}
				if got := hex.EncodeToString(AppendFull(nil, &p)); got != v.Full {
					t.Errorf("%s form is in full form\n%s, want\n%s", form, got, v.Full)
				}
				if got := hex.EncodeToString(AppendCompact(nil, &p, ref)); got != v.Compact {
					t.Errorf("%s form is in compact form %s, want %s", form, got, v.Compact)
				}
			}
		})
	}
}

// sentinels are the names the vector files give to errors.
var sentinels = map[string]error{
	"truncated": ErrTruncated, "too long": ErrTooLong, "magic": ErrMagic, "version": ErrVersion, "crc": ErrCRC,
	"length": ErrLength, "fec": ErrFEC, "frame": ErrFrame, "field": ErrField,
}

func nameOf(err error) string {
	for name, sentinel := range sentinels {
		if errors.Is(err, sentinel) {
			return name
		}
	}
	return ""
}

// TestRefusedVectors holds the parsers against bytes that are no packet.
func TestRefusedVectors(t *testing.T) {
	frozen := read(t, "refused.json", func() (vs []refusedVector) {
		for _, tt := range fullRefusals() {
			vs = append(vs, refusedVector{tt.name, "full", 0, hex.EncodeToString(tt.b), nameOf(tt.want)})
		}
		for _, tt := range compactRefusals() {
			vs = append(vs, refusedVector{tt.name, "compact", refusalRef, hex.EncodeToString(tt.b), nameOf(tt.want)})
		}
		return vs
	})
	for _, v := range frozen {
		t.Run(v.Form+"/"+v.Name, func(t *testing.T) {
			var p Packet
			var err error
			if v.Form == "full" {
				err = ParseFull(unhex(t, v.Bytes), &p)
			} else {
				err = ParseCompact(unhex(t, v.Bytes), &p, Ref{Frame: v.Ref})
			}
			if got := nameOf(err); got != v.Error {
				t.Errorf("error %q, want %q", got, v.Error)
			}
		})
	}
}

// run codes words of a given width.
func run(width int, prev uint32, words []uint32) []byte {
	switch width {
	case 8:
		return codeAs[uint8](prev, words)
	case 16:
		return codeAs[uint16](prev, words)
	}
	return codeAs[uint32](prev, words)
}

func codeAs[W input.Word](prev uint32, words []uint32) []byte {
	ws := make([]W, len(words))
	for i, w := range words {
		ws[i] = W(w)
	}
	b := input.AppendRun(nil, W(prev), ws)
	back := make([]W, len(words))
	if input.ParseRun(b, W(prev), back) != nil || !reflect.DeepEqual(ws, back) {
		return nil
	}
	return b
}

// TestInputVectors holds the input codec against the frozen bytes.
func TestInputVectors(t *testing.T) {
	frozen := read(t, "inputs.json", func() (vs []inputVector) {
		add := func(name string, width int, prev uint32, words ...uint32) {
			vs = append(vs, inputVector{name, width, prev, words, hex.EncodeToString(run(width, prev, words))})
		}
		for _, width := range []int{8, 16, 32} {
			top := uint32(1) << (width - 1)
			add("no change", width, 5, 5, 5, 5, 5, 5, 5, 5, 5)
			add("one word", width, 5, 4)
			add("bit by bit", width, 0, 1, 3, 7, 6, 4, 0, top, 0)
			add("after a block", width, 0, 0, 0, 0, 0, 2, 2, 2, 0)
			add("a last block of three, first", width, 0, 0, 0, 0, 0, 1, 1, 1)
			add("a last block of three, second", width, 0, 0, 0, 0, 0, 0, 1, 1)
			add("a last block of three, third", width, 0, 0, 0, 0, 0, 0, 0, 1)
			add("a last block of two", width, 0, 0, 0, 0, 0, 0, top)
			add("two bits of a byte", width, 0x40, 0x40, 0x41, 0x81, 0x42)
			add("all bits", width, 0, 2*top-1, 0, 2*top-1)
			if width > 8 {
				add("the upper byte", width, 0x1ff, 0x1ff, 0x7ff, 0x100)
				add("two bits of two bytes", width, 0, 0x101, 0, top|1, 0)
				add("three bits of two bytes", width, 0, 0x301, 0)
			}
		}
		add("17 words, human", 16, 0, 0, 0, 8, 8, 8, 0x18, 0x18, 8, 8, 0, 0, 4, 4, 0x804, 0x800, 0, 0)
		long := make([]uint32, 64)
		for i := range long {
			long[i] = uint32(i/40) << 9
		}
		add("64 words, one change", 16, 0, long...)
		return vs
	})
	for _, v := range frozen {
		t.Run(v.Name, func(t *testing.T) {
			if got := hex.EncodeToString(run(v.Width, v.Prev, v.Words)); got != v.Run {
				t.Errorf("%d bits: %s, want %s", v.Width, got, v.Run)
			}
		})
	}
}

// TestVectorAckMeaning keeps the packet's ack bits and those of ackbits in step: bit 0 stands for Ack-1, over the wrap too.
func TestVectorAckMeaning(t *testing.T) {
	p := Packet{HasAck: true, Ack: 0, AckBits: 1}
	if bits := ackbits.BuildAckBits(p.Ack, []ackbits.Seq{0, 65535}); bits != p.AckBits {
		t.Errorf("ack 0 with 65535 received has bits %b, want %b", bits, p.AckBits)
	}
}
