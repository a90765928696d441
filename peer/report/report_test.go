package report

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"backstep/fec"
	"backstep/peer/match"
)

func TestHex(t *testing.T) {
	for _, h := range []Hex{0, 1, 0xdeadbeef, 1<<64 - 1} {
		b, err := json.Marshal(h)
		if err != nil || len(b) != 18 {
			t.Fatalf("%s, %v", b, err)
		}
		var back Hex
		if err := json.Unmarshal(b, &back); err != nil || back != h {
			t.Errorf("%s became %x, %v", b, uint64(back), err)
		}
	}
	for _, bad := range []string{`""`, `12`, `"123"`, `"00000000000000000"`, `"zzzzzzzzzzzzzzzz"`} {
		var h Hex
		if err := json.Unmarshal([]byte(bad), &h); err == nil {
			t.Errorf("%s was taken for %x", bad, uint64(h))
		}
	}
}

// An empty report has every field: null where nothing was measured, lists that are empty and not null.
func TestUnmeasuredIsNull(t *testing.T) {
	r := New("b", "host")
	r.FEC.Mode = fec.Auto.String()
	r.FillMatch(match.Outcome{End: match.EndTimeout})
	b, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`"path_changes":[]`, `"hashes_every_600":[]`, `"events":[]`, `"final_hash":null`, `"seed":null`, `"depth":{"mean":null,`,
		`"allocs_per_frame":null`, `"frames":0`, `"desyncs":0`, `"end_reason":"timeout"`, `"bytes":{"sent":null,"received":null}`,
	} {
		if !strings.Contains(string(b), want) {
			t.Errorf("%s is not in %s", want, b)
		}
	}
}

func TestPairsAreArrays(t *testing.T) {
	r := New("b", "join")
	r.FillMatch(match.Outcome{Hashes: [][2]uint64{{0, 1}, {600, 0xabc}}})
	r.PathChanges = append(r.PathChanges, PathChange{7, "lan"})
	b, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"hashes_every_600":[[0,"0000000000000001"],[600,"0000000000000abc"]]`, `"path_changes":[[7,"lan"]]`} {
		if !strings.Contains(string(b), want) {
			t.Errorf("%s is not in %s", want, b)
		}
	}
}

// What cannot be written is found out beforehand, and trying leaves nothing behind.
func TestCheckFile(t *testing.T) {
	dir := t.TempDir()
	if err := CheckFile(filepath.Join(dir, "new.json")); err != nil {
		t.Error(err)
	}
	for _, bad := range []string{dir, filepath.Join(dir, "missing", "x.json")} {
		if CheckFile(bad) == nil || WriteFile(bad, []byte("x")) == nil {
			t.Errorf("%s can be written", bad)
		}
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
	file := filepath.Join(dir, "r.json")
	for _, content := range []string{"one", "two"} {
		if err := WriteFile(file, []byte(content)); err != nil {
			t.Fatal(err)
		}
		if b, err := os.ReadFile(file); err != nil || string(b) != content {
			t.Errorf("%q, %v", b, err)
		}
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 1 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}
