package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"
)

func sample(t *testing.T) []entry {
	t.Helper()
	dir := t.TempDir()
	var entries []entry
	for _, e := range []entry{{"LICENSE", "licence text", 0o644}, {"peer", "binary", 0o755}} {
		path := filepath.Join(dir, e.name)
		if err := os.WriteFile(path, []byte(e.from), 0o600); err != nil {
			t.Fatal(err)
		}
		entries = append(entries, entry{e.name, path, e.mode})
	}
	return entries
}

func TestArchives(t *testing.T) {
	stamp := time.Date(2024, 5, 6, 7, 8, 10, 0, time.UTC)
	entries := sample(t)
	type file struct {
		name, text string
		mode       int64
	}
	want := []file{{"top/LICENSE", "licence text", 0o644}, {"top/peer", "binary", 0o755}}

	t.Run("tar", func(t *testing.T) {
		var a, b bytes.Buffer
		if err := errors.Join(tarGz(&a, "top", entries, stamp), tarGz(&b, "top", entries, stamp)); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(a.Bytes(), b.Bytes()) {
			t.Error("two archives of the same files differ")
		}
		zr, err := gzip.NewReader(&a)
		if err != nil {
			t.Fatal(err)
		}
		tr := tar.NewReader(zr)
		for _, w := range want {
			h, err := tr.Next()
			if err != nil {
				t.Fatal(err)
			}
			text, err := io.ReadAll(tr)
			if err != nil || (file{h.Name, string(text), h.Mode}) != w || !h.ModTime.Equal(stamp) {
				t.Errorf("%+v %q, want %+v, %v", h, text, w, err)
			}
		}
		if _, err := tr.Next(); err != io.EOF {
			t.Errorf("more than was put in: %v", err)
		}
	})

	t.Run("zip", func(t *testing.T) {
		var a, b bytes.Buffer
		if err := errors.Join(zipped(&a, "top", entries, stamp), zipped(&b, "top", entries, stamp)); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(a.Bytes(), b.Bytes()) {
			t.Error("two archives of the same files differ")
		}
		zr, err := zip.NewReader(bytes.NewReader(a.Bytes()), int64(a.Len()))
		if err != nil {
			t.Fatal(err)
		}
		if len(zr.File) != len(want) {
			t.Fatalf("%d files, want %d", len(zr.File), len(want))
		}
		for i, w := range want {
			r, err := zr.File[i].Open()
			if err != nil {
				t.Fatal(err)
			}
			text, err := io.ReadAll(r)
			if err != nil || (file{zr.File[i].Name, string(text), int64(zr.File[i].Mode())}) != w || !zr.File[i].Modified.Equal(stamp) {
				t.Errorf("%+v %q, want %+v, %v", zr.File[i].FileHeader, text, w, err)
			}
		}
	})
}

func TestFileSafe(t *testing.T) {
	for in, want := range map[string]string{"": "unknown", "v1.2-3-gabc": "v1.2-3-gabc", "a/b c": "a_b_c"} {
		if got := fileSafe(in); got != want {
			t.Errorf("fileSafe(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestTimestamp(t *testing.T) {
	t.Setenv("SOURCE_DATE_EPOCH", "86400")
	if got := timestamp(); !got.Equal(time.Unix(86400, 0)) {
		t.Errorf("timestamp %v", got)
	}
}
