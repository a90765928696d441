package infile

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"
)

func TestRead(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	if err := os.WriteFile(path, []byte("12345"), 0o600); err != nil {
		t.Fatal(err)
	}
	if b, err := Read(path, 5); err != nil || string(b) != "12345" {
		t.Errorf("%q, %v", b, err)
	}
	if b, err := Read(path, 4); !errors.Is(err, ErrTooLarge) || b != nil || !strings.Contains(err.Error(), path) {
		t.Errorf("%q, %v", b, err)
	}
	for _, bad := range []string{dir, filepath.Join(dir, "none")} {
		if b, err := Read(bad, 5); err == nil {
			t.Errorf("%s gives %q", bad, b)
		}
	}
}

// However a reader cuts what it delivers, a table passes whole lines up to the longest and stops at a longer one.
func TestTableLines(t *testing.T) {
	long := strings.Repeat("x", maxLine)
	for _, tt := range []struct {
		text string
		most int64
		want error
	}{
		{"", 10, nil}, {"a\nb", 3, nil}, {"a\nb", 2, ErrTooLarge}, {long + "\n" + long, 3 * maxLine, nil},
		{"a\n" + long + "x", 2 * maxLine, ErrLine}, {long + "x\n", 2 * maxLine, ErrLine}, {"\n\n" + long + "x\nb\n", 2 * maxLine, ErrLine},
		{`"` + strings.Repeat("x\n", maxLine), 3 * maxLine, ErrLine}, {`"a` + "\n" + `b"` + strings.Repeat("\nx", maxLine), 3 * maxLine, nil},
		{`# 5" wide` + strings.Repeat("\nx", maxLine), 3 * maxLine, nil},
	} {
		for _, cut := range []func(io.Reader) io.Reader{func(r io.Reader) io.Reader { return r }, iotest.HalfReader, iotest.DataErrReader} {
			r, err := Table(cut(strings.NewReader(tt.text)), tt.most)
			if err != nil {
				t.Fatal(err)
			}
			got, err := io.ReadAll(r)
			if !errors.Is(err, tt.want) || tt.want == nil && string(got) != tt.text {
				t.Errorf("%d bytes beginning %.5q: %d bytes, %v, want %v", len(tt.text), tt.text, len(got), err, tt.want)
			}
		}
	}
}
