package main

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// GOLD-02, GOLD-06: the plan has 200 matches with names of their own, each of a kind, and covers every setting; building does not
// depend on anything but the program.
func TestPlans(t *testing.T) {
	all := plans()
	if len(all) != 200 {
		t.Fatalf("%d", len(all))
	}
	names := map[string]bool{}
	stages := map[string]bool{}
	for _, p := range all {
		if names[p.name] || p.config.Valid() != nil {
			t.Fatalf("%+v: %v", p, p.config.Valid())
		}
		names[p.name] = true
		stages[kindNames[p.kind]+p.config.Ruleset.String()+p.config.Format.String()] = true
	}
	if want := 3 * len(playable()); len(stages) != want {
		t.Errorf("%d of %d settings by kind", len(stages), want)
	}
}

// The model changes and repeats as the play it was taken from: 8.06 changes a second, and the word of the frame before is the word
// of this one 86.6 % of the time.
func TestModel(t *testing.T) {
	s, err := openSources()
	if err != nil {
		t.Fatal(err)
	}
	const frames = 400000
	words := s.model.words(3, frames)
	changes := 0
	for i := 1; i < frames; i++ {
		if words[i] != words[i-1] {
			changes++
		}
		if words[i] > 0xfff {
			t.Fatalf("%#x", words[i])
		}
	}
	if perSecond := changes * 6000 / frames; perSecond < 780 || perSecond > 830 {
		t.Errorf("%d changes in 100 seconds, want about 806", perSecond)
	}
	if len(s.traces) < 4 {
		t.Errorf("%d recordings", len(s.traces))
	}
	if _, err := parseModel([]byte(`{"edges":[1],"words":[{"w":"000","len":[0.5],"next":[["000",1]]}]}`)); err == nil {
		t.Error("a word without all its bins is taken")
	}
}

// Writing is all or nothing, needs a reason when something changes and does nothing when nothing does; what is not of the corpus
// goes.
func TestWrite(t *testing.T) {
	files, err := build()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	page := filepath.Join(dir, "README.md")
	if err := os.WriteFile(page, []byte("# page\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, reason := range []string{"", "a|b"} {
		if _, err := write(dir, files, reason); !errors.Is(err, errReason) {
			t.Fatalf("%q: %v", reason, err)
		}
	}
	stale := filepath.Join(dir, "999-stale.json")
	if err := os.WriteFile(stale, []byte("{}"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := write(dir, files, "the first"); err != nil {
		t.Fatal(err)
	}
	if list, _ := filepath.Glob(filepath.Join(dir, "*.json")); len(list) != 200 {
		t.Fatalf("%d files", len(list))
	}
	if _, err := os.Stat(stale); !os.IsNotExist(err) {
		t.Error("a file that is not of the corpus is still there")
	}
	before, err := os.ReadFile(page)
	if err != nil || !bytes.Contains(before, []byte("| the first |")) {
		t.Fatalf("%s %v", before, err)
	}
	if files, err = build(); err != nil { // the same program builds the same
		t.Fatal(err)
	}
	line, err := write(dir, files, "")
	if err != nil || !strings.HasPrefix(line, "unchanged") {
		t.Fatalf("%s %v", line, err)
	}
	if after, _ := os.ReadFile(page); !bytes.Equal(before, after) {
		t.Error("the table has changed")
	}
}
