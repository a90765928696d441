package main

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// fullDisk mounts a small file system, lets prepare write to it, and fills the rest.
func fullDisk(t *testing.T, prepare func(dir string)) string {
	t.Helper()
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=256k"); err != nil {
		if os.Getenv("BACKSTEP_NETNS") == "1" {
			t.Fatal(err) // who may make networks may mount
		}
		t.Skip("no file system can be mounted here:", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	if prepare != nil {
		prepare(dir)
	}
	f, err := os.Create(filepath.Join(dir, "ballast"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for {
		if _, err := f.Write(make([]byte, 4096)); errors.Is(err, syscall.ENOSPC) {
			return dir
		} else if err != nil {
			t.Fatal(err)
		}
	}
}

// A disk that is full, or a device that takes nothing, costs the file and not the match: both play to the end, the side that
// could not write says so in one sentence with exit code 1, what was there before stays, and nothing half-written is left.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	addr := startRelay(t, nil).String()
	play := func(t *testing.T, dir string, args ...string) (host, join *process) {
		t.Helper()
		host = start(t, "peer", append([]string{"host", "--headless", "--input", "bot:easy", "--relay", addr, "--frames", "90"}, args...)...)
		join = start(t, "peer", "join", host.line("lobby"), "--headless", "--input", "bot:hard", "--frames", "90", "--report", filepath.Join(dir, "join.json"))
		join.ends(0, "")
		if r := readReport(t, filepath.Join(dir, "join.json")); r["end_reason"] != "frames" || r["confirmed_frames"] != 90.0 {
			t.Errorf("the opponent's match: %v, %v frames", r["end_reason"], r["confirmed_frames"])
		}
		return host, join
	}
	left := func(t *testing.T, dir string, want ...string) {
		t.Helper()
		files, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, f := range files {
			names = append(names, f.Name())
		}
		if strings.Join(names, " ") != strings.Join(want, " ") {
			t.Errorf("%v is left, want %v", names, want)
		}
	}
	t.Run("record", func(t *testing.T) {
		t.Parallel()
		old := []byte("an older record")
		full := fullDisk(t, func(dir string) {
			if err := os.WriteFile(filepath.Join(dir, "m.bsr"), old, 0o600); err != nil {
				t.Fatal(err)
			}
		})
		dir := t.TempDir()
		host, _ := play(t, dir, "--record", filepath.Join(full, "m.bsr"), "--report", filepath.Join(dir, "host.json"))
		host.ends(1, "the record could not be written")
		left(t, full, "ballast", "m.bsr")
		if b, err := os.ReadFile(filepath.Join(full, "m.bsr")); err != nil || !bytes.Equal(b, old) {
			t.Errorf("the older record became %q, %v", b, err)
		}
		if r := readReport(t, filepath.Join(dir, "host.json")); r["end_reason"] != "frames" || r["final_hash"] == nil {
			t.Errorf("the report: %v", r["end_reason"])
		}
	})
	t.Run("report", func(t *testing.T) {
		t.Parallel()
		full, dir := fullDisk(t, nil), t.TempDir()
		host, _ := play(t, dir, "--report", filepath.Join(full, "r.json"), "--record", filepath.Join(dir, "m.bsr"))
		host.ends(1, "the report could not be written")
		left(t, full, "ballast")
		start(t, "peer", "replay", "verify", filepath.Join(dir, "m.bsr")).ends(0, "")
	})
	t.Run("device", func(t *testing.T) {
		t.Parallel()
		host, _ := play(t, t.TempDir(), "--report", "/dev/full", "--record", "/dev/full")
		host.ends(1, "no space left on device")
		if said := host.said(); !strings.Contains(said, "the record could not be written") || !strings.Contains(said, "the report could not be written") {
			t.Errorf("%q", said)
		}
	})
	t.Run("data", func(t *testing.T) {
		t.Parallel()
		full := fullDisk(t, func(dir string) {
			if err := os.Mkdir(filepath.Join(dir, "replays"), 0o700); err != nil {
				t.Fatal(err)
			}
		})
		p := start(t, "peer", "play", "--browser", "none", "--input", "bot:easy", "--frames", "90", "--data-dir", full)
		b := openTab(t, p.line("page"))
		if said := b.notice(); !strings.Contains(said, "The replay could not be saved") || !strings.Contains(said, "no space left on device") {
			t.Errorf("%q", said)
		}
		if r := b.screen("result"); r["replay"] != "" || r["hash"] == "" {
			t.Errorf("the result is %v", r)
		}
		b.command(`{"cmd":"leave"}`)
		b.screen("title")
		b.command(`{"cmd":"quit"}`)
		p.ends(0, "")
		left(t, full, "ballast", "replays")
		left(t, filepath.Join(full, "replays"))
	})
}
