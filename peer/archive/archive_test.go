package archive

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"backstep/peer/infile"
	"backstep/sim"
	"backstep/sim/replay"
)

func record(t *testing.T, frames int) []byte {
	t.Helper()
	r, err := replay.NewRecorder("test", sim.DefaultConfig(), 2)
	if err != nil {
		t.Fatal(err)
	}
	for f := range frames {
		if err := r.Add([]uint16{uint16(f), 0}); err != nil {
			t.Fatal(err)
		}
	}
	b, err := r.Append(nil)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestReplays(t *testing.T) {
	dir := t.TempDir()
	a, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	when := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	first, err := a.SaveReplay(record(t, 10), when, 0xfeedbeef00000000)
	if err != nil || first != "20260102-030405-feedbeef" {
		t.Fatalf("%q, %v", first, err)
	}
	second, err := a.SaveReplay(record(t, 20), when.Add(time.Hour), 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"notes.txt", "20260102-030405-zzzzzzzz.bsr", "x.bsr"} {
		if err := os.WriteFile(filepath.Join(dir, replayDir, name), []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	damaged := "20250101-000000-00000000"
	if err := os.WriteFile(a.path(damaged), []byte("BSRP but nothing else"), 0o600); err != nil {
		t.Fatal(err)
	}
	list, err := a.List()
	if err != nil || len(list) != 3 {
		t.Fatalf("%+v, %v", list, err)
	}
	if list[0].ID != second || list[0].Frames != 20 || list[0].Err != nil || list[1].ID != first || !list[1].When.Equal(when) {
		t.Errorf("%+v", list)
	}
	if list[2].ID != damaged || !errors.Is(list[2].Err, replay.ErrMalformed) {
		t.Errorf("%+v", list[2])
	}
	if err := a.Delete(first); err != nil {
		t.Fatal(err)
	}
	if _, err := a.Load(first); !errors.Is(err, ErrID) {
		t.Errorf("a deleted replay: %v", err)
	}
}

// No name from outside becomes a path.
func TestNamesFromOutside(t *testing.T) {
	dir := t.TempDir()
	a, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	secret := filepath.Join(dir, "settings.json")
	if err := a.SaveSettings([]byte("{}")); err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"", "..", "../settings.json", "../settings", "/etc/passwd", "20260102-030405-feedbeef/../../x", "20260102-030405-feedbeef\x00", strings.Repeat("a", 300)} {
		if _, err := a.Load(id); !errors.Is(err, ErrID) {
			t.Errorf("Load(%q): %v", id, err)
		}
		if err := a.Delete(id); !errors.Is(err, ErrID) {
			t.Errorf("Delete(%q): %v", id, err)
		}
	}
	if _, err := os.Stat(secret); err != nil {
		t.Error(err)
	}
}

func TestOversizedFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "big")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Truncate(replay.MaxFile + 10); err != nil {
		t.Fatal(err)
	}
	f.Close()
	if _, err := ReadFile(path); !errors.Is(err, infile.ErrTooLarge) {
		t.Error(err)
	}
}
