package replay

import (
	"bufio"
	"bytes"
	"compress/flate"
	"compress/gzip"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"backstep/sim"
	"pgregory.net/rapid"
)

// human gives the words of both players of a recorded game, which stands with its notice beside the input codec.
func human(t testing.TB) [2][]uint16 {
	t.Helper()
	f, err := os.Open("../../rollback/input/testdata/melee_14.csv.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	var out [2][]uint16
	header := true
	for s := bufio.NewScanner(z); s.Scan(); {
		if strings.HasPrefix(s.Text(), "#") {
			continue
		}
		if header {
			header = false
			continue
		}
		for i, field := range strings.Split(s.Text(), ",")[1:3] {
			w, err := strconv.ParseUint(field, 16, 16)
			if err != nil {
				t.Fatal(err)
			}
			out[i] = append(out[i], uint16(w))
		}
	}
	return out
}

// record plays words and records them with the hashes of the match.
func record(t testing.TB, c sim.Config, a, b []uint16) *Recorder {
	t.Helper()
	rec, err := NewRecorder("test-1", c, 2)
	if err != nil {
		t.Fatal(err)
	}
	var w sim.World
	if err := w.Reset(c); err != nil {
		t.Fatal(err)
	}
	var in [2]sim.Input
	for f := range a {
		in[0], in[1] = sim.Input{Now: a[f], Prev: in[0].Now}, sim.Input{Now: b[f], Prev: in[1].Now}
		w.Step(in[:], sim.Emit)
		if err := rec.Add([]uint16{a[f], b[f]}); err != nil {
			t.Fatal(err)
		}
		if f%HashEvery == 0 || f == len(a)-1 {
			rec.Hash(w.Frame(), w.Hash())
		}
	}
	return rec
}

func file(t testing.TB, rec *Recorder) []byte {
	t.Helper()
	b, err := rec.Append(nil)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// GOLD-01, GOLD-09, GOLD-10: a file gives back header, seed and inputs, reproduces every hash, and stays within 0.25 bytes a frame
// and player on human play.
func TestHumanMatch(t *testing.T) {
	words := human(t)
	for p, w := range words { // three minutes: a trace repeats from its start
		words[p] = append(w, w[:3*60*60-len(w)]...)
	}
	c := sim.DefaultConfig()
	c.Seed = 0x1122334455667788
	b := file(t, record(t, c, words[0], words[1]))
	frames := len(words[0])
	perFrame := float64(len(b)) / float64(2*frames)
	t.Logf("%d frames, %d bytes, %.3f a frame and player", frames, len(b), perFrame)
	if perFrame > 0.25 {
		t.Fatalf("%.3f bytes a frame and player over %d frames", perFrame, frames)
	}
	r, err := Decode(b)
	if err != nil {
		t.Fatal(err)
	}
	if r.Build != "test-1" || r.Config != c || r.Sim != sim.Version || r.DataHash != sim.DataHash() || len(r.Words) != 2 ||
		!slices.Equal(r.Words[0], words[0]) || !slices.Equal(r.Words[1], words[1]) {
		t.Fatal("not what was recorded")
	}
	if len(r.Hashes) != (frames-1)/600+2 || r.Hashes[1].Frame != 600 || r.Hashes[len(r.Hashes)-1].Frame != int32(frames-1) {
		t.Fatalf("hashes for %v", r.Hashes)
	}
	if err := r.Verify(); err != nil {
		t.Fatal(err)
	}
}

// A stored hash that does not come out is found at its own label, and is no damage to the file.
func TestMismatchNamesTheFirstFrame(t *testing.T) {
	words := human(t)
	rec := record(t, sim.DefaultConfig(), words[0][:2500], words[1][:2500])
	rec.Hash(1200, 1)
	rec.Hash(1800, 2)
	r, err := Decode(file(t, rec))
	if err != nil {
		t.Fatal(err)
	}
	var m *Mismatch
	if err := r.Verify(); !errors.As(err, &m) || !errors.Is(err, ErrMismatch) || m.Frame != 1200 || m.Stored != 1 {
		t.Fatalf("%v", err)
	}
	r.Words[0][601] ^= sim.RightBit
	if err := r.Verify(); !errors.As(err, &m) || m.Frame != 1200 {
		t.Fatalf("changed input: %v", err)
	}
}

// What the match did not say is simulated; a recording may stop anywhere, also before its first frame.
func TestMissingHashesAreFilledIn(t *testing.T) {
	words := human(t)
	for _, n := range []int{0, 1, 2, 600, 601, 1199, 1200, 1201} {
		rec, err := NewRecorder("", sim.DefaultConfig(), 2)
		if err != nil {
			t.Fatal(err)
		}
		for f := range n {
			if err := rec.Add([]uint16{words[0][f], words[1][f]}); err != nil {
				t.Fatal(err)
			}
		}
		r, err := Decode(file(t, rec))
		if err != nil {
			t.Fatalf("%d frames: %v", n, err)
		}
		if r.Frames() != n {
			t.Fatalf("%d frames, recorded %d", r.Frames(), n)
		}
		if err := r.Verify(); err != nil {
			t.Fatalf("%d frames: %v", n, err)
		}
	}
}

func TestRecorderLimits(t *testing.T) {
	if _, err := NewRecorder("x", sim.DefaultConfig(), 0); !errors.Is(err, ErrPlayers) {
		t.Fatal(err)
	}
	if _, err := NewRecorder("a\nb", sim.DefaultConfig(), 2); !errors.Is(err, ErrMalformed) {
		t.Fatal(err)
	}
	if _, err := NewRecorder("x", sim.Config{}, 2); err == nil {
		t.Fatal("settings nobody can play")
	}
	rec, err := NewRecorder("x", sim.DefaultConfig(), 2)
	if err != nil {
		t.Fatal(err)
	}
	if err := rec.Add([]uint16{1}); !errors.Is(err, ErrPlayers) || rec.Frames() != 0 {
		t.Fatal(err)
	}
	words := []uint16{1, 2}
	if n := testing.AllocsPerRun(1000, func() {
		if rec.Add(words) != nil {
			t.Error("Add")
		}
		rec.Hash(int32(rec.Frames()-1), 5)
	}); n != 0 {
		t.Errorf("recording allocates %.1f times", n)
	}
	for rec.Frames() < MaxFrames {
		words[0]++
		words[1] *= 3
		if err := rec.Add(words); err != nil {
			t.Fatal(err)
		}
	}
	if rec.Full() {
		t.Fatal("full before anything was left out")
	}
	if err := rec.Add(words); !errors.Is(err, ErrFull) || rec.Frames() != MaxFrames || !rec.Full() {
		t.Fatal(err)
	}
	rec.Hash(-1, 1)
	rec.Hash(MaxFrames, 1)
	// The longest recording, with words that change every frame, is still a file that decodes.
	if _, err := Decode(file(t, rec)); err != nil {
		t.Fatal(err)
	}
}

// Any words come back as they were.
func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 700).Draw(t, "frames")
		players := rapid.IntRange(1, MaxPlayers).Draw(t, "players")
		r := &Replay{Build: rapid.StringMatching(`[a-z0-9.]{0,20}`).Draw(t, "build"), Sim: rapid.Uint16().Draw(t, "sim"),
			DataHash: rapid.Uint64().Draw(t, "data"), Config: sim.DefaultConfig(), Words: make([][]uint16, players)}
		r.Config.Seed = rapid.Uint64().Draw(t, "seed")
		for p := range r.Words {
			r.Words[p] = rapid.SliceOfN(rapid.Uint16(), n, n).Draw(t, "words")
		}
		for _, f := range labels(n) {
			r.Hashes = append(r.Hashes, FrameHash{f, rapid.Uint64().Draw(t, "hash")})
		}
		b, err := r.Append(nil)
		if err != nil {
			t.Fatal(err)
		}
		back, err := Decode(b)
		if err != nil {
			t.Fatal(err)
		}
		again, err := back.Append([]byte{9})
		if err != nil || !bytes.Equal(again[1:], b) {
			t.Fatalf("not the same file again: %v", err)
		}
	})
}

// reseal puts the right digest on changed bytes, as somebody who forges a file would.
func reseal(b []byte) []byte {
	body := b[:len(b)-sha256.Size]
	d := sha256.Sum256(body)
	return append(bytes.Clone(body), d[:]...)
}

func TestMalformedFiles(t *testing.T) {
	words := human(t)
	good := file(t, record(t, sim.DefaultConfig(), words[0][:700], words[1][:700]))
	for n := range len(good) {
		if _, err := Decode(good[:n]); !errors.Is(err, ErrMalformed) {
			t.Fatalf("cut to %d bytes: %v", n, err)
		}
	}
	for i := range good {
		bad := bytes.Clone(good)
		bad[i] ^= 0x10
		if _, err := Decode(bad); !errors.Is(err, ErrMalformed) {
			t.Fatalf("byte %d changed: %v", i, err)
		}
	}
	header := 4 + 1 + 2 + 8 + sim.ConfigSize + 1 + len("test-1")
	for name, change := range map[string]func(b []byte){
		"magic":        func(b []byte) { b[0] = 'X' },
		"format":       func(b []byte) { b[4] = 2 },
		"no players":   func(b []byte) { b[header] = 0 },
		"players":      func(b []byte) { b[header] = 7 },
		"more players": func(b []byte) { b[header] = 3 },
		"frames":       func(b []byte) { b[header+1]++ },
		"huge frames":  func(b []byte) { b[header+4] = 0xff },
		"raw":          func(b []byte) { b[header+5]++ },
		"huge raw":     func(b []byte) { b[header+8] = 0xff },
		"packed":       func(b []byte) { b[header+9]++ },
		"huge packed":  func(b []byte) { b[header+12] = 0xff },
		"build":        func(b []byte) { b[header-1] = 7 },
	} {
		bad := bytes.Clone(good)
		change(bad)
		if _, err := Decode(reseal(bad)); !errors.Is(err, ErrMalformed) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := Decode(make([]byte, MaxFile+1)); !errors.Is(err, ErrMalformed) {
		t.Error(err)
	}
	long := append(good[:len(good)-32:len(good)-32], make([]byte, 33)...)
	if _, err := Decode(reseal(long)); !errors.Is(err, ErrMalformed) {
		t.Errorf("a byte too many: %v", err)
	}
}

// A small file that would unpack to a large one is stopped at what its frames can have.
func TestBomb(t *testing.T) {
	var z bytes.Buffer
	w, err := flate.NewWriter(&z, 9)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(make([]byte, 8<<20)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	for _, claim := range []uint32{600, 8 << 20, 1<<32 - 1} {
		b := append([]byte(magic), Format)
		b = binary.LittleEndian.AppendUint16(b, sim.Version)
		b = binary.LittleEndian.AppendUint64(b, sim.DataHash())
		b = sim.AppendConfig(b, sim.DefaultConfig())
		b = append(b, 0, 2)
		b = binary.LittleEndian.AppendUint32(b, 600)
		b = binary.LittleEndian.AppendUint32(b, claim)
		b = binary.LittleEndian.AppendUint32(b, uint32(z.Len()))
		b = append(b, z.Bytes()...)
		b = reseal(append(b, make([]byte, 32)...))
		var err error
		n := testing.AllocsPerRun(1, func() { _, err = Decode(b) })
		if !errors.Is(err, ErrMalformed) || n > 200 {
			t.Errorf("claiming %d: %v after %.0f allocations", claim, err, n)
		}
	}
}

// Exit codes hang on the kinds: another version or data is no damage and no mismatch, settings that nobody could have played are damage.
func TestIncompatible(t *testing.T) {
	words := human(t)
	for name, change := range map[string]func(r *Replay){
		"older rules": func(r *Replay) { r.Sim = 0 }, "newer rules": func(r *Replay) { r.Sim = sim.Version + 1 },
		"data": func(r *Replay) { r.DataHash++ }, "newer rules with a ruleset of theirs": func(r *Replay) { r.Sim, r.Config.Ruleset = sim.Version+1, 99 },
		"ruleset": func(r *Replay) { r.Config.Ruleset = 99 }, "format": func(r *Replay) { r.Config.Format = 99 },
	} {
		r, err := record(t, sim.DefaultConfig(), words[0][:50], words[1][:50]).Replay()
		if err != nil {
			t.Fatal(err)
		}
		change(r)
		b, err := r.Append(nil)
		if err != nil {
			t.Fatal(err)
		}
		back, err := Decode(b)
		if err != nil {
			t.Fatal(err)
		}
		// With the rules and data of this version there are no rulesets but those it knows.
		want, not := ErrIncompatible, ErrMalformed
		if name == "ruleset" || name == "format" {
			want, not = ErrMalformed, ErrIncompatible
		}
		if err := back.Verify(); !errors.Is(err, want) || errors.Is(err, ErrMismatch) || errors.Is(err, not) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestAppendRefuses(t *testing.T) {
	good := Replay{Words: [][]uint16{{1}, {2}}, Hashes: []FrameHash{{0, 1}}, Config: sim.DefaultConfig()}
	for name, change := range map[string]func(r *Replay){
		"nobody": func(r *Replay) { r.Words = nil }, "uneven": func(r *Replay) { r.Words = [][]uint16{{1}, {}} },
		"hashes": func(r *Replay) { r.Hashes = nil }, "labels": func(r *Replay) { r.Hashes = []FrameHash{{3, 1}} },
		"build": func(r *Replay) { r.Build = strings.Repeat("x", 65) }, "long": func(r *Replay) { r.Words = [][]uint16{make([]uint16, MaxFrames+1)} },
	} {
		r := good
		change(&r)
		if b, err := r.Append([]byte{1}); err == nil || len(b) != 1 {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func FuzzDecode(f *testing.F) {
	f.Add(file(f, record(f, sim.DefaultConfig(), []uint16{0, 8, 8, 0}, []uint16{4, 4, 0x10, 0})), false)
	f.Add([]byte("BSRP\x01"), true)
	f.Fuzz(func(t *testing.T, b []byte, seal bool) {
		if seal && len(b) >= 32 {
			b = reseal(b)
		}
		r, err := Decode(b)
		if err != nil {
			if !errors.Is(err, ErrMalformed) {
				t.Fatal(err)
			}
			return
		}
		again, err := r.Append(nil)
		if err != nil {
			t.Fatal(err)
		}
		back, err := Decode(again)
		if err != nil || !slices.Equal(back.Hashes, r.Hashes) || back.Config != r.Config {
			t.Fatalf("not the same replay again: %v", err)
		}
		if r.Frames() < 2000 {
			_ = r.Verify()
		}
	})
}

func BenchmarkVerifyMinute(b *testing.B) {
	words := human(b)
	r, err := record(b, sim.DefaultConfig(), words[0][:3600], words[1][:3600]).Replay()
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if err := r.Verify(); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkDecode(b *testing.B) {
	words := human(b)
	data := file(b, record(b, sim.DefaultConfig(), words[0][:3600], words[1][:3600]))
	for b.Loop() {
		if _, err := Decode(data); err != nil {
			b.Fatal(err)
		}
	}
}
