package fec

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"
)

type placed struct {
	g Group
	b []byte
}

// encodeGroup returns the packets of one group and its parity.
func encodeGroup(e *Encoder, pkts ...[]byte) (data, parity []placed) {
	for _, p := range pkts {
		g := e.Next()
		if err := e.Add(p); err != nil {
			panic(err)
		}
		data = append(data, placed{g, p})
	}
	e.Flush()
	for {
		b, g, ok := e.Parity(nil)
		if !ok {
			return data, parity
		}
		parity = append(parity, placed{g, b})
	}
}

func (p placed) to(d *Decoder) []Rebuilt {
	if p.g.Parity() {
		return d.AddParity(p.g, p.b)
	}
	return d.AddData(p.g, p.b)
}

func texts(lengths ...int) (out [][]byte) {
	for i, n := range lengths {
		out = append(out, bytes.Repeat([]byte{byte(i + 1)}, n))
	}
	return out
}

// V-59, FEC-01: parity of 01, 02, 04, 08 is 0F, and 04 comes back from the rest.
func TestXORVector(t *testing.T) {
	var e Encoder
	data, parity := encodeGroup(&e, []byte{1}, []byte{2}, []byte{4}, []byte{8})
	if len(parity) != 1 || !bytes.Equal(parity[0].b, []byte{1, 0, 0, 0x0F}) {
		t.Fatalf("parity %v", parity)
	}
	var d Decoder
	for _, i := range []int{0, 1, 3} {
		if r := data[i].to(&d); r != nil {
			t.Fatal("rebuilt too early")
		}
	}
	r := parity[0].to(&d)
	if len(r) != 1 || r[0].Index != 2 || !bytes.Equal(r[0].Packet, []byte{4}) {
		t.Fatalf("rebuilt %v", r)
	}
}

func TestDefaultsAndPlaces(t *testing.T) {
	var e Encoder
	for i := range 9 {
		// FEC-02: four packets. FEC-03: group id, index and size.
		if g := e.Next(); g != (Group{uint16(i / 4), uint8(i % 4), 4}) || g != e.Next() || g.Parity() {
			t.Fatalf("packet %d: %+v", i, g)
		}
		if err := e.Add([]byte{1, 2, 3}); err != nil {
			t.Fatal(err)
		}
		if i%4 != 3 {
			continue
		}
		if e.Pending() != 1 {
			t.Fatal("parity is not pending")
		}
		b, g, ok := e.Parity([]byte("before"))
		// FEC-07: parity is flagged as such by its place.
		if !ok || g != (Group{uint16(i / 4), 4, 4}) || !g.Parity() || !bytes.HasPrefix(b, []byte("before\x01")) {
			t.Fatalf("parity %+v %q", g, b)
		}
		if b, _, ok := e.Parity([]byte("x")); ok || string(b) != "x" || e.Pending() != 0 {
			t.Fatal("parity twice")
		}
	}
	if s := e.Stats(); s != (EncoderStats{Packets: 9, Groups: 2, Parity: 2}) {
		t.Errorf("%+v", s)
	}
}

// FEC-04, FEC-05: any one of a group comes back with its length, whatever the
// lengths are and wherever the parity arrives between the others.
func TestRebuildsAnyOnePacket(t *testing.T) {
	for _, lengths := range [][]int{{40, 40, 40, 40}, {1, 2, 3, 4}, {4, 3, 2, 1}, {MaxPacket, 1, 70, MaxPacket}, {1, 1136, 1, 1}, {9}, {30, 60}} {
		pkts := texts(lengths...)
		for lost := range pkts {
			for when := range pkts {
				var e Encoder
				e.Set(Params{Size: len(pkts)})
				data, parity := encodeGroup(&e, pkts...)
				order := append([]placed{}, data[:lost]...)
				order = append(order, data[lost+1:]...)
				order = append(order[:when], append([]placed{parity[0]}, order[when:]...)...)
				var d Decoder
				var got []Rebuilt
				for i, p := range order {
					if r := p.to(&d); r != nil {
						if i != len(order)-1 {
							t.Fatalf("rebuilt after %d of %d", i+1, len(order))
						}
						got = r
					}
				}
				if len(got) != 1 || int(got[0].Index) != lost || got[0].Group != data[0].g.ID || !bytes.Equal(got[0].Packet, pkts[lost]) {
					t.Fatalf("lengths %v, lost %d, parity at %d: %v", lengths, lost, when, got)
				}
				if s := d.Stats(); s.Recovered != 1 || s.Wasted != 0 {
					t.Fatalf("%+v", s)
				}
			}
		}
	}
}

// FEC-06: two losses are one too many for XOR; Reed–Solomon rebuilds up to as many
// as parity arrived.
func TestTwoLosses(t *testing.T) {
	pkts := texts(50, 61, 72, 33)
	for parities := 1; parities <= MaxParity; parities++ {
		for lost := 1; lost <= 4; lost++ {
			t.Run(fmt.Sprintf("%d parity %d lost", parities, lost), func(t *testing.T) {
				var e Encoder
				e.Set(Params{Parity: parities})
				var d Decoder
				// The first group teaches the decoder how much parity there is.
				warm, warmParity := encodeGroup(&e, pkts...)
				for _, p := range append(warm, warmParity...) {
					p.to(&d)
				}
				data, parity := encodeGroup(&e, pkts...)
				for _, p := range data[lost:] {
					p.to(&d)
				}
				var got []Rebuilt
				for _, p := range parity {
					if r := p.to(&d); r != nil {
						got = r
						if len(r) != lost {
							t.Fatalf("rebuilt %d", len(r))
						}
						for i, r := range r {
							if int(r.Index) != i || !bytes.Equal(r.Packet, pkts[i]) {
								t.Fatalf("packet %d: %v", i, r)
							}
						}
					}
				}
				d.Flush()
				s := d.Stats()
				want := DecoderStats{Packets: uint64(8 - lost), Parity: uint64(2 * parities), Wasted: uint64(parities)}
				if lost <= parities {
					if got == nil {
						t.Fatal("nothing rebuilt")
					}
					want.Recovered = uint64(lost)
					want.Wasted += uint64(parities - lost)
				} else {
					want.Unrecoverable = uint64(lost)
				}
				if s != want {
					t.Errorf("got  %+v\nwant %+v", s, want)
				}
			})
		}
	}
}

// Every square part of the coefficients is invertible, so any e rows of parity
// rebuild any e packets; and row 0 is XOR.
func TestCoefficientsAreMDS(t *testing.T) {
	var rows, cols []int
	det := func() byte { // by expansion; e is at most 4
		var rec func(r int, used uint) byte
		rec = func(r int, used uint) byte {
			if r == len(rows) {
				return 1
			}
			var sum byte
			for c := range cols {
				if used>>c&1 == 0 {
					sum ^= mul(coefficients[rows[r]][cols[c]], rec(r+1, used|1<<c))
				}
			}
			return sum
		}
		return rec(0, 0)
	}
	checked := 0
	for rm := 1; rm < 1<<MaxParity; rm++ {
		for cm := 1; cm < 1<<MaxGroup; cm++ {
			rows, cols = rows[:0], cols[:0]
			for r := range MaxParity {
				if rm>>r&1 == 1 {
					rows = append(rows, r)
				}
			}
			for c := range MaxGroup {
				if cm>>c&1 == 1 {
					cols = append(cols, c)
				}
			}
			if len(rows) == len(cols) {
				checked++
				if det() == 0 {
					t.Fatalf("rows %v, packets %v", rows, cols)
				}
			}
		}
	}
	if checked != 4*12+6*66+4*220+495 {
		t.Errorf("%d squares checked", checked)
	}
	for _, c := range coefficients[0] {
		if c != 1 {
			t.Error("row 0 is not XOR")
		}
	}
	// The multiplication is the library's.
	for a := range 256 {
		in, out := []byte{byte(a)}, []byte{0}
		field.GalMulSlice(0x8E, in, out)
		if out[0] != mul(byte(a), 0x8E) {
			t.Fatalf("%d", a)
		}
	}
}

// Partial groups close by time, and their parity says how many there really are.
func TestPartialGroupClosesAfterTicks(t *testing.T) {
	var e Encoder
	var data []placed
	for tick := range 4 {
		if tick == 0 || tick == 2 {
			data = append(data, placed{e.Next(), []byte{byte(tick), 7}})
			e.Add(data[len(data)-1].b)
		}
		if e.Pending() != 0 {
			t.Fatalf("closed before tick %d", tick)
		}
		e.Tick()
	}
	b, g, ok := e.Parity(nil)
	if !ok || g != (Group{0, 2, 2}) {
		t.Fatalf("%+v %v", g, ok)
	}
	var d Decoder
	data[1].to(&d)
	if r := d.AddParity(g, b); len(r) != 1 || r[0].Index != 0 || !bytes.Equal(r[0].Packet, data[0].b) {
		t.Fatalf("%v", r)
	}
	for range 10 {
		e.Tick() // an empty group never closes
	}
	if s := e.Stats(); s != (EncoderStats{Packets: 2, Groups: 1, Partial: 1, Parity: 1}) {
		t.Errorf("%+v", s)
	}
	if e.Next() != (Group{1, 0, 4}) {
		t.Errorf("%+v", e.Next())
	}
}

func TestParityNotTakenIsDropped(t *testing.T) {
	var e Encoder
	e.Set(Params{Size: 1, Parity: 3})
	for range 5 {
		e.Add([]byte{1})
	}
	if s := e.Stats(); s.Dropped != 12 || s.Groups != 5 || e.Pending() != 3 {
		t.Errorf("%+v pending %d", s, e.Pending())
	}
}

func TestParametersChangeWithTheNextGroup(t *testing.T) {
	var e Encoder
	e.Add([]byte{1})
	e.Set(Params{Size: 99, Parity: -3})
	if g := e.Next(); g.Size != 4 || g.Index != 1 {
		t.Errorf("%+v", g)
	}
	e.Flush()
	if g := e.Next(); g != (Group{1, 0, MaxGroup}) {
		t.Errorf("%+v", g)
	}
	if err := e.Add(nil); err != ErrPacketEmpty {
		t.Error(err)
	}
	if err := e.Add(make([]byte, MaxPacket+1)); err != ErrPacketTooLong {
		t.Error(err)
	}
	if e.Next().Index != 0 {
		t.Error("a refused packet took a place")
	}
}

// The counts and the rebuilt packets are those of a model that keeps every packet,
// under loss, duplication and reordering.
func TestStreamAgainstModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		var e Encoder
		d := new(Decoder)
		e.Set(Params{rapid.IntRange(1, MaxGroup).Draw(t, "size"), rapid.IntRange(1, MaxParity).Draw(t, "parity")})
		loss := rapid.SampledFrom([]float64{0, 0.05, 0.2, 0.5}).Draw(t, "loss")
		e.nextID = uint16(rapid.SampledFrom([]int{0, 65530}).Draw(t, "start"))
		d.rows = MaxParity

		type groupModel struct {
			sent    map[uint8][]byte
			got     map[uint8]bool
			parity  map[uint8]bool
			size    int
			done    bool
			rebuilt map[uint8]bool
		}
		groups := map[uint16]*groupModel{}
		var want DecoderStats
		deliver := func(p placed) {
			m := groups[p.g.ID]
			out := p.to(d)
			before := len(m.got)
			switch {
			case p.g.Parity() && m.parity[p.g.Index]:
				want.Duplicate++
			case p.g.Parity():
				want.Parity++
				m.parity[p.g.Index] = true
				m.size = int(p.g.Size)
				if m.done {
					want.Wasted++
				}
			case m.rebuilt[p.g.Index]:
				delete(m.rebuilt, p.g.Index)
				want.Late++
			case m.got[p.g.Index]:
				want.Duplicate++
			default:
				want.Packets++
				m.got[p.g.Index] = true
			}
			expect := 0
			if m.size > 0 && !m.done && m.size-len(m.got) <= len(m.parity) {
				expect = m.size - len(m.got)
				m.done = true
				want.Recovered += uint64(expect)
				want.Wasted += uint64(len(m.parity) - expect)
			}
			if len(out) != expect {
				t.Fatalf("%+v: rebuilt %d, want %d (had %d)", p.g, len(out), expect, before)
			}
			for _, r := range out {
				if r.Group != p.g.ID || m.got[r.Index] || !bytes.Equal(r.Packet, m.sent[r.Index]) {
					t.Fatalf("%+v: wrong packet %+v", p.g, r)
				}
				m.got[r.Index], m.rebuilt[r.Index] = true, true
			}
		}
		var queue []placed
		for range 60 {
			for range rng.IntN(3) {
				g := e.Next()
				b := make([]byte, 1+rng.IntN(90))
				for i := range b {
					b[i] = byte(rng.Uint32())
				}
				if err := e.Add(b); err != nil {
					t.Fatal(err)
				}
				if groups[g.ID] == nil {
					groups[g.ID] = &groupModel{sent: map[uint8][]byte{}, got: map[uint8]bool{}, parity: map[uint8]bool{}, rebuilt: map[uint8]bool{}}
				}
				groups[g.ID].sent[g.Index] = b
				queue = append(queue, placed{g, b})
			}
			e.Tick()
			for {
				b, g, ok := e.Parity(nil)
				if !ok {
					break
				}
				queue = append(queue, placed{g, b})
			}
			// Reordering stays within the window of 16 groups.
			for len(queue) > 8 {
				i := rng.IntN(8)
				if e.nextID-queue[0].g.ID >= Window-2 {
					i = 0
				}
				p := queue[i]
				queue = append(queue[:i], queue[i+1:]...)
				if rng.Float64() < loss {
					continue
				}
				deliver(p)
				if rng.IntN(20) == 0 {
					deliver(p)
				}
			}
		}
		d.Flush()
		for _, m := range groups {
			if m.done {
				continue
			}
			known := m.size
			for i := range m.got {
				known = max(known, int(i)+1)
			}
			want.Unrecoverable += uint64(known - len(m.got))
		}
		if got := d.Stats(); got != want {
			t.Fatalf("got  %+v\nwant %+v", got, want)
		}
	})
}

func TestHostileGroups(t *testing.T) {
	var e Encoder
	data, parity := encodeGroup(&e, texts(20, 30, 40, 50)...)
	long := make([]byte, MaxParityPayload+1)
	for _, c := range []struct {
		name string
		p    placed
	}{
		{"size 0", placed{Group{0, 0, 0}, []byte{1}}},
		{"size above the largest", placed{Group{0, 0, MaxGroup + 1}, []byte{1}}},
		{"size 255", placed{Group{0, 254, 255}, []byte{1}}},
		{"empty", placed{Group{0, 0, 4}, nil}},
		{"too long", placed{Group{0, 0, 4}, make([]byte, MaxPacket+1)}},
		{"parity of size 0", placed{Group{0, 3, 0}, []byte{1, 0, 0, 9}}},
		{"parity of size above the largest", placed{Group{0, 200, 100}, []byte{1, 0, 0, 9}}},
		{"parity without rows", placed{Group{0, 4, 4}, []byte{0, 0, 0, 9}}},
		{"parity with too many rows", placed{Group{0, 4, 4}, []byte{MaxParity + 1, 0, 0, 9}}},
		{"parity row beyond the rows", placed{Group{0, 5, 4}, []byte{1, 0, 0, 9}}},
		{"parity too short", placed{Group{0, 4, 4}, []byte{1, 0, 0}}},
		{"parity too long", placed{Group{0, 4, 4}, long}},
		{"parity empty", placed{Group{0, 4, 4}, nil}},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := new(Decoder)
			if r := c.p.to(d); r != nil || d.Stats() != (DecoderStats{Malformed: 1}) {
				t.Fatalf("%v %+v", r, d.Stats())
			}
		})
	}
	// Contradictions refuse the group and nothing else.
	for _, c := range []struct {
		name  string
		first []placed
		bad   placed
	}{
		{"another planned size", data[:1], placed{Group{0, 1, 5}, []byte{1}}},
		{"parity for more than planned", data[:1], placed{Group{0, 6, 6}, make([]byte, 64)}},
		{"data beyond the real size", []placed{{Group{0, 2, 2}, append([]byte{1}, make([]byte, 60)...)}}, data[3]},
		{"data longer than the sums", parity, placed{Group{0, 0, 4}, make([]byte, 51)}},
		{"sums shorter than the data", data[3:], placed{Group{0, 4, 4}, []byte{1, 0, 0, 9}}},
		{"parity for fewer than arrived", data[3:], placed{Group{0, 3, 3}, append([]byte{1}, make([]byte, 60)...)}},
		{"another real size", parity, placed{Group{0, 3, 3}, parity[0].b}},
		{"another number of rows", parity, placed{Group{0, 5, 4}, append([]byte{2}, parity[0].b[1:]...)}},
		{"rebuilt with length 0", data[:3], placed{Group{0, 4, 4}, append([]byte{1, 20 ^ 30 ^ 40, 0}, parity[0].b[3:]...)}},
		{"rebuilt longer than the sums", data[:3], placed{Group{0, 4, 4}, append([]byte{1, 0, 0xFF}, parity[0].b[3:]...)}},
		{"rebuilt with bytes after its end", data[1:], placed{Group{0, 4, 4}, append(append([]byte{}, parity[0].b[:52]...), 1)}},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := new(Decoder)
			for _, p := range c.first {
				if r := p.to(d); r != nil {
					t.Fatal("rebuilt early")
				}
			}
			if c.name == "parity for more than planned" || c.name == "sums shorter than the data" {
				c.bad.b[0] = 1
			}
			if r := c.bad.to(d); r != nil || d.Stats().Malformed != 1 {
				t.Fatalf("%v %+v", r, d.Stats())
			}
			for _, p := range append(data, parity...) {
				if r := p.to(d); r != nil {
					t.Fatal("rebuilt from a refused group")
				}
			}
			if s := d.Stats(); s.Recovered != 0 || s.Malformed != 6 {
				t.Fatalf("%+v", s)
			}
			next, nextParity := encodeGroup(&e, texts(5, 6, 7, 8)...)
			for _, p := range next[1:] {
				p.to(d)
			}
			if r := nextParity[0].to(d); len(r) != 1 || !bytes.Equal(r[0].Packet, next[0].b) {
				t.Fatalf("the next group: %v", r)
			}
		})
	}
}

// A decoder recovers after a gap of any length, and a jump ahead costs only the
// groups it jumps over.
func TestResync(t *testing.T) {
	for _, gap := range []uint16{1, 15, 16, 17, 1000, 32767, 32768, 40000, 65520, 65535} {
		var e Encoder
		d := new(Decoder)
		for range 20 {
			data, _ := encodeGroup(&e, texts(5, 6)...)
			data[0].to(d)
		}
		e.nextID += gap
		recovered := 0
		for range 60 {
			data, parity := encodeGroup(&e, texts(9, 10, 11, 12)...)
			for _, p := range append(data[1:], parity...) {
				recovered += len(p.to(d))
			}
		}
		if recovered < 44 {
			t.Errorf("gap %d: recovered %d of 60: %+v", gap, recovered, d.Stats())
		}
	}
}

func FuzzDecoder(f *testing.F) {
	var e Encoder
	e.Set(Params{Parity: 2})
	data, parity := encodeGroup(&e, texts(3, 4, 5, 6)...)
	var seed []byte
	for _, p := range append(data[:2:2], parity...) {
		seed = binary.LittleEndian.AppendUint16(seed, p.g.ID)
		seed = append(seed, p.g.Index, p.g.Size, uint8(len(p.b)))
		seed = append(seed, p.b...)
	}
	f.Add(seed)
	f.Add([]byte{0, 0, 4, 4, 4, 1, 1, 0, 9, 255, 127, 0, 1, 1, 7})
	f.Fuzz(func(t *testing.T, b []byte) {
		d := new(Decoder)
		calls, out := 0, 0
		for len(b) >= 5 {
			g := Group{binary.LittleEndian.Uint16(b), b[2], b[3]}
			n := min(int(b[4]), len(b)-5)
			pkt := b[5 : 5+n : 5+n]
			b = b[5+n:]
			calls++
			for _, r := range (placed{g, pkt}).to(d) {
				out++
				if r.Group != g.ID || r.Index >= MaxGroup || len(r.Packet) == 0 || len(r.Packet) > MaxPacket {
					t.Fatalf("%+v", r)
				}
			}
		}
		d.Flush()
		s := d.Stats()
		if s.Recovered != uint64(out) || s.Packets+s.Parity+s.Duplicate+s.Late+s.Stale+s.Malformed < uint64(calls) || s.Wasted > s.Parity {
			t.Fatalf("%d calls, %d rebuilt: %+v", calls, out, s)
		}
	})
}
