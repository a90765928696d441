package golden

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"backstep/sim"
	"pgregory.net/rapid"
)

func inputs(seed uint64, frames int) [][]uint16 {
	r := rand.New(rand.NewPCG(seed, 1))
	words := make([][]uint16, 2)
	for p := range words {
		for len(words[p]) < frames {
			w := uint16(r.UintN(1 << 12))
			for range min(1+r.IntN(12), frames-len(words[p])) {
				words[p] = append(words[p], w)
			}
		}
	}
	return words
}

// GOLD-06: a match that does not come out the same when played again gets no manifest.
func TestUnsteadyIsRefused(t *testing.T) {
	c := sim.DefaultConfig()
	words := inputs(1, 300)
	if _, err := Make("steady", "test", c, words); err != nil {
		t.Fatal(err)
	}
	for name, spoil := range map[string]func(*record){
		"a hash":     func(r *record) { r.hashes[17] ^= 1 },
		"the last":   func(r *record) { r.final++ },
		"one fewer":  func(r *record) { r.hashes = r.hashes[:len(r.hashes)-1] },
		"everything": func(r *record) { clear(r.hashes) },
	} {
		calls := 0
		unsteady := func(c sim.Config, words [][]uint16, visit func(*sim.World)) (record, error) {
			r, err := play(c, words, visit)
			if calls++; calls == 2 {
				spoil(&r)
			}
			return r, err
		}
		if m, err := makeWith(unsteady, "unsteady", "test", c, words); m != nil || !errors.Is(err, ErrUnsteady) || !errors.Is(err, ErrMismatch) {
			t.Errorf("%s: %v, %v", name, m, err)
		}
	}
}

// A changed input, hash or setting is noticed: either the file is refused or the match differs.
func TestChangesAreNoticed(t *testing.T) {
	m, err := Make("m", "test", sim.DefaultConfig(), inputs(2, 400))
	if err != nil {
		t.Fatal(err)
	}
	bad := *m
	bad.Hashes = append([]Hash(nil), m.Hashes...)
	bad.Hashes[31]++
	mismatch := &Mismatch{}
	if err := bad.Verify(nil); !errors.As(err, &mismatch) || mismatch.Frame != 310 || mismatch.OtherData {
		t.Errorf("%v", err)
	}
	bad.DataHash++
	if err := bad.Verify(nil); !errors.As(err, &mismatch) || !mismatch.OtherData || !strings.Contains(err.Error(), "data has changed") {
		t.Errorf("%v", err)
	}
	bad = *m
	bad.FinalHash++
	if err := bad.Verify(nil); !errors.As(err, &mismatch) || mismatch.Frame != 399 {
		t.Errorf("%v", err)
	}
	bad = *m
	bad.Config.Seed++
	if err := bad.Verify(nil); !errors.As(err, &mismatch) || mismatch.Frame != 0 {
		t.Errorf("%v", err)
	}
	bad = *m
	bad.Config.Ruleset = "chess"
	if err := bad.Verify(nil); !errors.Is(err, sim.ErrRuleset) {
		t.Errorf("%v", err)
	}
	file, err := m.Append(nil)
	if err != nil {
		t.Fatal(err)
	}
	for old, changed := range map[string]string{
		Schema: "v3", `"hash_every": 10`: `"hash_every": 20`, `"frames": 400`: `"frames": 401`, `"input_sha256": "`: `"input_sha256": "0`,
		"\n}\n": "\n}", `"rounds": 2`: `"rounds": 02`, `"source"`: `"origin"`, `"sim_version": `: `"sim_version":  `, "*2": "*3",
	} {
		b := bytes.Replace(file, []byte(old), []byte(changed), 1)
		if bytes.Equal(b, file) {
			t.Fatalf("%q is not in the file", old)
		}
		if _, err := Parse(b); !errors.Is(err, ErrMalformed) {
			t.Errorf("%q for %q: %v", changed, old, err)
		}
	}
}

// What is written is read back as it was, whatever the inputs.
func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 300).Draw(t, "frames")
		words := make([][]uint16, 2)
		for p := range words {
			words[p] = rapid.SliceOfN(rapid.Uint16Range(0, 0xfff), n, n).Draw(t, "words")
		}
		c := sim.DefaultConfig()
		c.Seed = rapid.Uint64().Draw(t, "seed")
		m, err := Make("rapid", "test", c, words)
		if err != nil {
			t.Fatal(err)
		}
		b, err := m.Append(nil)
		if err != nil {
			t.Fatal(err)
		}
		back, err := Parse(b)
		if err != nil {
			t.Fatal(err)
		}
		got, err := back.Words()
		if err != nil || !reflect.DeepEqual(got, words) || !reflect.DeepEqual(back, m) {
			t.Fatalf("%v: %v", err, got)
		}
		if s, err := back.Settings(); err != nil || s != c {
			t.Fatalf("%+v %v", s, err)
		}
	})
}

func FuzzParse(f *testing.F) {
	m, err := Make("fuzz", "test", sim.DefaultConfig(), inputs(3, 40))
	if err != nil {
		f.Fatal(err)
	}
	b, err := m.Append(nil)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Add([]byte("{}\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := Parse(b)
		if err != nil {
			if !errors.Is(err, ErrMalformed) {
				t.Fatal(err)
			}
			return
		}
		if again, err := m.Append(nil); err != nil || !bytes.Equal(again, b) {
			t.Fatalf("%v: %s", err, again)
		}
	})
}
