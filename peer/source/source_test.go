package source

import (
	"bytes"
	"compress/gzip"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const small = "# recorded\nframe,w1,w2\n-2,000,00f\n-1,010,A00\n0,fff,001\n"

func TestTraceRowsAreFrames(t *testing.T) {
	tr, err := readTrace(strings.NewReader(small), "w2")
	if err != nil {
		t.Fatal(err)
	}
	for f, want := range []uint16{0x00f, 0xa00, 0x001, 0x00f, 0xa00} {
		if got := tr.Next(int32(f), nil); got != want {
			t.Errorf("frame %d: %03x, want %03x", f, got, want)
		}
	}
}

func TestOpenTraceSplitsAtLastColon(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "odd:name.csv.gz")
	var z bytes.Buffer
	w := gzip.NewWriter(&z)
	_, _ = w.Write([]byte(small))
	_ = w.Close()
	if err := os.WriteFile(name, z.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := Open("trace:"+name+":w1", 0)
	if err != nil {
		t.Fatal(err)
	}
	if got := s.Next(2, nil); got != 0xfff {
		t.Fatalf("got %03x", got)
	}
}

func TestOpenRefuses(t *testing.T) {
	dir := t.TempDir()
	file := func(name, body string) string {
		p := filepath.Join(dir, name)
		if err := os.WriteFile(p, []byte(body), 0o600); err != nil {
			t.Fatal(err)
		}
		return p
	}
	for _, spec := range []string{
		"", "keyboard", "trace:", "trace:x", "trace:/nonexistent:w1", "bot:", "bot:nobody", "bot:easy:x", "bot:easy:-1",
		"trace:" + file("nocol.csv", small) + ":w3",
		"trace:" + file("hex.csv", "w1\nxyz\n") + ":w1",
		"trace:" + file("bit.csv", "w1\n1000\n") + ":w1",
		"trace:" + file("wide.csv", "w1\n10000\n") + ":w1",
		"trace:" + file("short.csv", "frame,w1\n1\n") + ":w1",
		"trace:" + file("empty.csv", "") + ":w1",
		"trace:" + file("norows.csv", "w1\n") + ":w1",
		"trace:" + file("fakezip.csv", "\x1f\x8bnope") + ":w1",
	} {
		if _, err := Open(spec, 0); !errors.Is(err, ErrSource) {
			t.Errorf("%q: got %v, want ErrSource", spec, err)
		}
	}
}

// TestGzipBomb feeds a small file that unpacks past the limit.
func TestGzipBomb(t *testing.T) {
	var z bytes.Buffer
	w := gzip.NewWriter(&z)
	_, _ = w.Write([]byte("w1\n"))
	line := []byte(strings.Repeat("#", 1<<16) + "\n")
	for range 1100 {
		_, _ = w.Write(line)
	}
	_ = w.Close()
	name := filepath.Join(t.TempDir(), "bomb.csv.gz")
	if err := os.WriteFile(name, z.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadTrace(name, "w1"); !errors.Is(err, ErrSource) || !strings.Contains(err.Error(), "too large") {
		t.Fatalf("got %v", err)
	}
}

func FuzzParseTrace(f *testing.F) {
	f.Add(small, "w1")
	f.Add("w1\n\"0\n", "w1")
	f.Fuzz(func(t *testing.T, body, col string) {
		tr, err := readTrace(strings.NewReader(body), col)
		if err != nil {
			return
		}
		for i := range tr.Len() {
			if tr.Next(int32(i), nil)>>(maxBit+1) != 0 {
				t.Fatal("a word with a reserved bit was taken")
			}
		}
	})
}
