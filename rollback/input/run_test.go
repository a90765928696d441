package input

import (
	"bytes"
	"errors"
	"math/bits"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// TestRunVectors pins the coding bit by bit: WIRE-06, GOLD-01.
func TestRunVectors(t *testing.T) {
	tests := []struct {
		name  string
		prev  uint16
		words []uint16
		want  []byte
	}{
		{"no words", 7, nil, nil},
		{"eight unchanged words cost nothing", 7, []uint16{7, 7, 7, 7, 7, 7, 7, 7}, nil},
		// 1, skip 10 (2, low bit first 01), change 0, bit 0011 (3, low bit first 1100)
		{"one bit at the third of four", 0, []uint16{0, 0, 8, 8}, []byte{0b011_0_10_1}},
		{"bit 0 at once", 0, []uint16{1, 1, 1, 1}, []byte{1}},
		// 0 for a block, 1, skip 00, form 10, byte number 1, 0x0c over the byte's end
		{"two bits of one byte", 0, []uint16{0, 0, 0, 0, 0xc00, 0xc00, 0xc00, 0xc00}, []byte{0b0_1_01_00_1_0, 0b0000110}},
		// 1, skip 0 of 2, form 110, bit 1 over the byte's end, bit 8
		{"two bits of two bytes", 0, []uint16{0x102, 0x102}, []byte{0b001_011_0_1, 0b1000_0}},
		{"a last block of one", 5, []uint16{4}, []byte{1}},
		{"everything changes", 0, []uint16{0xffff}, []byte{0b1111_111_1, 0xff, 0x0f}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := AppendRun(nil, tt.prev, tt.words)
			if !bytes.Equal(got, tt.want) {
				t.Errorf("coded as %08b, want %08b", got, tt.want)
			}
			back := make([]uint16, len(tt.words))
			if err := ParseRun(got, tt.prev, back); err != nil || !slices.Equal(back, tt.words) {
				t.Errorf("parsed as %x, %v", back, err)
			}
		})
	}
}

func TestRunRefuses(t *testing.T) {
	tests := []struct {
		name string
		b    []byte
		n    int
	}{
		{"a zero byte at the end", []byte{0}, 8},
		{"a zero byte behind a change", []byte{1, 0}, 4},
		{"bits behind the last word", []byte{0b100}, 8},
		{"bytes behind the last word", []byte{1, 1, 1}, 4},
		{"anything for no words", []byte{1}, 0},
		{"a byte change of no bit", []byte{0b0_01_00_1 | 1<<7, 1 << 6}, 1},
		{"a byte change of one bit", []byte{0b1_0_01_1}, 1},
		{"a pair in one byte", []byte{0b0001_011_1, 0b0010}, 1},
		{"a pair in falling order", []byte{0b1000_011_1, 0b0001}, 1},
		{"all bits for one byte", []byte{0b0011_111_1}, 1},
		{"all bits for a pair", []byte{0b0001_111_1, 0b0001_0000}, 1},
		{"all bits for nothing", []byte{0b111_1}, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if err := ParseRun(tt.b, 0, make([]uint16, tt.n)); !errors.Is(err, ErrCoding) {
				t.Errorf("%08b as %d words: %v, want ErrCoding", tt.b, tt.n, err)
			}
		})
	}
}

// human draws words the way hands make them: mostly unchanged, mostly one bit at a time, sometimes anything.
func human[W Word](t *rapid.T, n int) []W {
	words := make([]W, n)
	w := W(0)
	for i := range words {
		switch k := rapid.IntRange(0, 9).Draw(t, "kind"); {
		case k < 6:
		case k < 8:
			w ^= 1 << rapid.IntRange(0, bits.Len64(uint64(^W(0)))-1).Draw(t, "bit")
		default:
			w = W(rapid.Uint32().Draw(t, "word"))
		}
		words[i] = w
	}
	return words
}

func roundTrip[W Word](t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		words := human[W](t, rapid.IntRange(0, 80).Draw(t, "n"))
		prev := W(rapid.Uint32().Draw(t, "prev"))
		head := rapid.SliceOfN(rapid.Byte(), 0, 3).Draw(t, "before")
		b := AppendRun(head, prev, words)
		if !bytes.HasPrefix(b, head) {
			t.Fatalf("%x does not begin with %x", b, head)
		}
		run := b[len(head):]
		if len(run) > MaxRun[W](len(words)) {
			t.Fatalf("%d words took %d bytes, MaxRun says %d", len(words), len(run), MaxRun[W](len(words)))
		}
		back := make([]W, len(words))
		if err := ParseRun(run, prev, back); err != nil || !slices.Equal(back, words) {
			t.Fatalf("%x came back as %x, %v", words, back, err)
		}
	})
}

func TestRunRoundTrip(t *testing.T) {
	t.Run("8 bits", roundTrip[uint8])
	t.Run("16 bits", roundTrip[uint16])
	t.Run("32 bits", roundTrip[uint32])
}

// TestMaxRunIsReached keeps MaxRun from being a loose bound.
func TestMaxRunIsReached(t *testing.T) {
	words := make([]uint32, 64)
	for i := range words {
		if i%2 == 0 {
			words[i] = ^uint32(0)
		}
	}
	n := len(AppendRun(nil, 0, words))
	if n > MaxRun[uint32](64) || n < MaxRun[uint32](64)-1 {
		t.Errorf("64 words that change wholly take %d bytes, MaxRun says %d", n, MaxRun[uint32](64))
	}
	if n > 400 {
		t.Errorf("a full packet of inputs takes %d bytes, more than the 400 of X-10", n)
	}
}

// reencodes fails if b parses as n words of W and those words are coded otherwise.
func reencodes[W Word](t *testing.T, b []byte, prev W, n int) {
	dst := make([]W, n)
	if ParseRun(b, prev, dst) != nil {
		return
	}
	if again := AppendRun(nil, prev, dst); !bytes.Equal(again, b) {
		t.Errorf("%x parsed as %x, which is coded as %x", b, dst, again)
	}
}

func FuzzRun(f *testing.F) {
	f.Add([]byte{}, uint32(0), uint8(8))
	f.Add([]byte{0b0011_0_10_1}, uint32(0), uint8(4))
	f.Add([]byte{0xff, 0xff, 0x0f}, uint32(9), uint8(1))
	f.Add(AppendRun[uint32](nil, 3, []uint32{3, 4, 0xff04, 1 << 31, 7, 7, 7, 7, 9}), uint32(3), uint8(9))
	f.Fuzz(func(t *testing.T, b []byte, prev uint32, n uint8) {
		reencodes(t, b, uint8(prev), int(n))
		reencodes(t, b, uint16(prev), int(n))
		reencodes(t, b, prev, int(n))
	})
}

// TestHumanWindows measures what the targets ask of recorded play: at most 3 bytes on average and 9 at the 99th percentile
// for a window of eight frames, whatever frame it starts at, and at most 16, what the bare words would take.
func TestHumanWindows(t *testing.T) {
	const window = 8
	var sizes []int
	total := 0
	dst := make([]uint16, window)
	for _, name := range traces {
		for _, words := range load(t, name) {
			for i := 1; i+window <= len(words); i++ {
				b := AppendRun(nil, words[i-1], words[i:i+window])
				if err := ParseRun(b, words[i-1], dst); err != nil || !slices.Equal(dst, words[i:i+window]) {
					t.Fatalf("%s frame %d: %x came back as %x, %v", name, i, words[i:i+window], dst, err)
				}
				sizes = append(sizes, len(b))
				total += len(b)
			}
		}
	}
	slices.Sort(sizes)
	mean := float64(total) / float64(len(sizes))
	p99, most := sizes[len(sizes)*99/100], sizes[len(sizes)-1]
	t.Logf("%d windows: mean %.2f bytes, p99 %d, most %d", len(sizes), mean, p99, most)
	if mean > 1.8 || p99 > 6 || most > 16 {
		t.Errorf("mean %.2f bytes, p99 %d, most %d; want at most 1.8, 6 and 16", mean, p99, most)
	}
}

// TestV06 is the worked example V-06: frame 97, player 1.
func TestV06(t *testing.T) {
	if k := Key(97, 1); k != 6_356_993 {
		t.Errorf("Key(97, 1) = %d, want 6356993", k)
	}
	if Key(1<<16, 0) == Key(0, 0) || Key(-1, 0)>>48 != 0 {
		t.Error("a frame number overflows the key")
	}
}

func TestRunAllocations(t *testing.T) {
	words := []uint16{0, 0, 8, 8, 0x18, 0x18, 0x108, 8}
	dst := make([]uint16, len(words))
	b := make([]byte, 0, MaxRun[uint16](len(words)))
	n := testing.AllocsPerRun(100, func() {
		b = AppendRun(b[:0], 0, words)
		if err := ParseRun(b, 0, dst); err != nil {
			t.Fatal(err)
		}
		if ParseRun(b[:1], 0, dst[:2]) == nil {
			t.Fatal("a damaged run was accepted")
		}
	})
	if n != 0 {
		t.Errorf("%v allocations a window, want 0", n)
	}
}

// BenchmarkWindow codes and parses one 8-frame window of recorded play an iteration.
func BenchmarkWindow(b *testing.B) {
	words := load(b, "melee_14")[0]
	buf := make([]byte, 0, 64)
	dst := make([]uint16, 8)
	total := 0
	b.Run("encode", func(b *testing.B) {
		b.ReportAllocs()
		for i := 0; b.Loop(); i++ {
			f := 1 + i%10000
			buf = AppendRun(buf[:0], words[f-1], words[f:f+8])
			total += len(buf)
		}
	})
	b.Run("decode", func(b *testing.B) {
		var coded [10000][]byte
		for i := range coded {
			coded[i] = AppendRun(nil, words[i], words[i+1:i+9])
		}
		b.ReportAllocs()
		for i := 0; b.Loop(); i++ {
			f := i % 10000
			if err := ParseRun(coded[f], words[f], dst); err != nil {
				b.Fatal(err)
			}
		}
	})
}
