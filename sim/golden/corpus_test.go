package golden

import (
	"crypto/sha256"
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"backstep/sim"
)

const folder = "../testdata/golden"

// corpus reads every manifest. GOLD-02, GOLD-03: 200 of them, in one folder, in the one form.
func corpus(t *testing.T) []*Manifest {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(folder, "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	if len(names) != 200 {
		t.Fatalf("%d manifests in %s, want 200", len(names), folder)
	}
	var all []*Manifest
	for _, name := range names {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		m, err := Parse(b)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if m.Name+".json" != filepath.Base(name) {
			t.Fatalf("%s holds the manifest of %s", name, m.Name)
		}
		all = append(all, m)
	}
	return all
}

// GOLD-01, GOLD-04, GOLD-05, GOLD-07, GOLD-08, DET-11, TEST-02, HASH-05, SIM-31: every match of the corpus, played in a fresh world, comes to every recorded
// hash, bit by bit. make crossarch runs this test on every architecture and compares the digest of what was computed.
func TestCorpus(t *testing.T) {
	frames := 0
	digest := sha256.New()
	for _, m := range corpus(t) {
		err := m.Verify(func(w *sim.World) {
			if (int(w.Frame())+1)%HashEvery == 0 {
				digest.Write(binary.BigEndian.AppendUint64(nil, w.Hash()))
			}
		})
		if err != nil {
			t.Errorf("%v (if the game was meant to change: make golden REASON='…')", err)
		}
		frames += m.Frames
	}
	t.Logf("%d frames, corpus digest %x", frames, digest.Sum(nil)[:8])
}

// The corpus has inputs of people, of the model of people and of bots, every ruleset and format this version can play, every
// fighter, and matches that reach their end.
func TestCorpusCovers(t *testing.T) {
	has := map[string]int{}
	fighters := map[string]bool{}
	ended := 0
	for _, m := range corpus(t) {
		kind, _, _ := strings.Cut(m.Source, ":")
		has[kind]++
		has[m.Config.Ruleset+" "+m.Config.Format]++
		for _, team := range m.Config.Teams {
			for _, f := range team {
				fighters[f] = true
			}
		}
		if kind == "bots" {
			var last sim.Phase
			if err := m.Verify(func(w *sim.World) { last = w.Phase() }); err != nil {
				t.Error(err)
			}
			if last == sim.PostMatch {
				ended++
			}
		}
	}
	for _, kind := range []string{"recorded", "model", "bots"} {
		if has[kind] < 40 {
			t.Errorf("%d manifests with inputs of kind %q", has[kind], kind)
		}
	}
	for _, c := range playable() {
		if has[c.Ruleset.String()+" "+c.Format.String()] == 0 {
			t.Errorf("none of %s in %s", c.Ruleset, c.Format)
		}
	}
	for _, name := range sim.FighterNames() {
		if !fighters[name] {
			t.Errorf("none with %s", name)
		}
	}
	if ended < 8 {
		t.Errorf("only %d matches are over at their end", ended)
	}
}

// playable gives settings for every ruleset and format this version accepts.
func playable() []sim.Config {
	var out []sim.Config
	for r := range sim.Ruleset(8) {
		for f := sim.Format1v1; f <= sim.FormatTrinity; f++ {
			c := sim.DefaultConfig()
			c.Ruleset, c.Format = r, f
			for side := range c.Teams {
				for k := range f.Roster() {
					c.Teams[side][k] = sim.DefaultConfig().Teams[k&1][0]
				}
			}
			if c.Valid() == nil {
				out = append(out, c)
			}
		}
	}
	return out
}

// SIM-25, SNAP-04: on real play too, going back to any frame by its encoding and playing on gives the straight play.
func TestRestoreFromEveryFrame(t *testing.T) {
	const tail = 9
	for i, m := range corpus(t) {
		if i%5 != 0 {
			continue
		}
		words, err := m.Words()
		if err != nil {
			t.Fatal(err)
		}
		var worlds []sim.World
		if err := m.Verify(func(w *sim.World) { worlds = append(worlds, *w) }); err != nil {
			t.Fatal(err)
		}
		in := make([]sim.Input, len(words))
		for f := range worlds {
			var w sim.World
			if err := w.ParseState(worlds[f].AppendState(nil)); err != nil {
				t.Fatalf("%s, frame %d: %v", m.Name, f, err)
			}
			for g := f + 1; g < min(len(worlds), f+1+tail); g++ {
				for p := range words {
					in[p] = sim.Input{Now: words[p][g], Prev: words[p][g-1]}
				}
				w.Step(in, sim.SuppressCosmetics)
				if !w.Equal(&worlds[g]) {
					t.Fatalf("%s: from frame %d, frame %d differs", m.Name, f, g)
				}
			}
		}
	}
}
