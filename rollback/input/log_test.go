package input

import (
	"bytes"
	"compress/flate"
	"errors"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// TestLogRoundTrip is GOLD-01 too: what a replay holds is what a packet of the same words would.
func TestLogRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		words := human[uint16](t, rapid.IntRange(0, 300).Draw(t, "n"))
		behind := rapid.SliceOfN(rapid.Byte(), 0, 4).Draw(t, "behind")
		b := append(AppendLog([]byte("head"), words), behind...)
		if !bytes.HasSuffix(b[:len(b)-len(behind)], AppendRun(nil, 0, words)) {
			t.Fatalf("the log %x does not end in the run of its words", b)
		}
		got, rest, err := ParseLog(b[4:], []uint16{42}, len(words))
		if err != nil || got[0] != 42 || !slices.Equal(got[1:], words) || !bytes.Equal(rest, behind) {
			t.Fatalf("%x came back as %x, rest %x, %v", words, got, rest, err)
		}
	})
}

func TestLogRefuses(t *testing.T) {
	whole := AppendLog(nil, []uint16{0, 1, 1, 5, 0xffff})
	tests := []struct {
		name  string
		b     []byte
		bound int
		want  error
	}{
		{"nothing", nil, 9, ErrTruncated},
		{"a count without a size", whole[:1], 9, ErrTruncated},
		{"half a run", whole[:len(whole)-1], 9, ErrTruncated},
		{"more words than allowed", whole, 4, ErrTooLong},
		{"a negative bound", whole, -1, ErrTooLong},
		{"a count of 2^63", []byte{0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 1, 0}, 1 << 30, ErrTooLong},
		{"a count over 64 bits", []byte{0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 2, 0}, 1 << 30, ErrCoding},
		{"a count not in its shortest form", []byte{0x80, 0, 0}, 9, ErrCoding},
		{"a size not in its shortest form", []byte{4, 0x81, 0, 1}, 9, ErrCoding},
		{"a size no run of so many words has", []byte{1, 9, 1, 1, 1, 1, 1, 1, 1, 1, 1}, 9, ErrCoding},
		{"a run that is not canonical", []byte{4, 1, 0}, 9, ErrCoding},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dst := []uint16{7}
			words, rest, err := ParseLog(tt.b, dst, tt.bound)
			if !errors.Is(err, tt.want) {
				t.Errorf("error %v, want %v", err, tt.want)
			}
			if len(words) != 1 || words[0] != 7 || !bytes.Equal(rest, tt.b) {
				t.Errorf("a refused log left words %x and rest %x", words, rest)
			}
		})
	}
}

func FuzzLog(f *testing.F) {
	f.Add(AppendLog(nil, []uint16{0, 1, 1, 5, 0xffff}))
	f.Add([]byte{0, 0})
	f.Add([]byte{0xff, 0xff, 3, 0})
	f.Fuzz(func(t *testing.T, b []byte) {
		words, rest, err := ParseLog[uint16](b, nil, 1<<16)
		if err != nil {
			return
		}
		if again := append(AppendLog(nil, words), rest...); !bytes.Equal(again, b) {
			t.Errorf("%x parsed as %x, which is coded as %x", b, words, again)
		}
	})
}

// TestHumanLog measures whole matches: at most 0.25 bytes a frame and player, compressed as a replay file is, over both players.
func TestHumanLog(t *testing.T) {
	for _, name := range traces {
		frames, size, packed := 0, 0, bytes.Buffer{}
		z, err := flate.NewWriter(&packed, flate.BestCompression)
		if err != nil {
			t.Fatal(err)
		}
		for _, words := range load(t, name) {
			b := AppendLog(nil, words)
			back, rest, err := ParseLog[uint16](b, nil, len(words))
			if err != nil || len(rest) != 0 || !slices.Equal(back, words) {
				t.Fatalf("%s does not come back: %v", name, err)
			}
			if _, err := z.Write(b); err != nil {
				t.Fatal(err)
			}
			frames += len(words)
			size += len(b)
		}
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
		bare, deflated := float64(size)/float64(frames), float64(packed.Len())/float64(frames)
		t.Logf("%s: %.3f bytes a frame and player, %.3f compressed", name, bare, deflated)
		if deflated > 0.25 {
			t.Errorf("%s: %.3f bytes a frame and player, want at most 0.25", name, deflated)
		}
	}
}
