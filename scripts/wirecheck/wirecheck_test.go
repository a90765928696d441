// Package wirecheck runs a decoder in another language, written from docs/wire.md alone, over the vectors of the wire standard.
package wirecheck

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

const vectors = "../../docs/vectors"

// decode runs the decoder over the vectors in dir.
func decode(t *testing.T, dir string) (output string, ok bool) {
	t.Helper()
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("needs python3, the language of the second decoder")
	}
	out, err := exec.Command(python, "-B", "wirecheck.py", dir).CombinedOutput()
	if _, exited := err.(*exec.ExitError); err != nil && !exited {
		t.Fatal(err)
	}
	return string(out), err == nil
}

// DET-03: what both ends must agree on is written down, not generated, and a decoder made from the text alone reads it.
func TestSecondDecoderAgrees(t *testing.T) {
	out, ok := decode(t, vectors)
	if !ok || !strings.Contains(out, " 0 differences") {
		t.Errorf("%s", out)
	}
}

// TestSecondDecoderNoticesAChange spoils one byte of each vector file.
func TestSecondDecoderNoticesAChange(t *testing.T) {
	for name, change := range map[string][2]string{
		"packets.json": {`"compact":"8767126212c4`, `"compact":"8767126212c5`},
		"refused.json": {`"error":"crc"`, `"error":"length"`},
		"inputs.json":  {`"words":[5,5,5,5,`, `"words":[5,5,5,4,`},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if err := os.CopyFS(dir, os.DirFS(vectors)); err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(dir, name)
			b, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			spoiled := bytes.Replace(b, []byte(change[0]), []byte(change[1]), 1)
			if bytes.Equal(spoiled, b) {
				t.Fatalf("%s has no %s", name, change[0])
			}
			if err := os.WriteFile(path, spoiled, 0o644); err != nil {
				t.Fatal(err)
			}
			if out, ok := decode(t, dir); ok || !strings.Contains(out, " 1 differences") {
				t.Errorf("the change went unnoticed: %s", out)
			}
		})
	}
}
