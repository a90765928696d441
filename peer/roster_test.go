package peer

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"backstep/sim/data"
)

// A sound file is listed with every move and exit code 0; a refused one gives exit code 2 and the line; one that is not there 1.
func TestCheckRoster(t *testing.T) {
	for _, k := range data.Embedded().Fighters() {
		var out bytes.Buffer
		if err := CheckRoster("../sim/data/roster/"+k.Key+".txt", &out); err != nil {
			t.Fatal(err)
		}
		for id := data.MoveID(1); int(id) <= k.Moves(); id++ {
			if m := k.Move(id); !strings.Contains(out.String(), "\n"+m.Key+" ") || !strings.Contains(out.String(), m.Name) {
				t.Errorf("%s: %s is not listed", k.Key, m.Key)
			}
		}
	}
	sable, err := os.ReadFile("../sim/data/roster/sable.txt")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for _, c := range []struct {
		file, old, new, want string
	}{
		{"sable.txt", "damage = 26", "damage = 2600", "sable.txt:"},
		{"sable.txt", "[move 2l]", "[move 9z]", "sorted by key"},
		{"sable.txt", "guard = low", "guard = knee", `"knee" is not one of`},
		{"sable.txt", "id = 1", "id = 2", "already belongs to tarn"},
		{"mabel.txt", "", "", "must be called sable.txt"},
	} {
		path := filepath.Join(dir, c.file)
		if err := os.WriteFile(path, bytes.Replace(sable, []byte(c.old), []byte(c.new), 1), 0o644); err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		err := CheckRoster(path, &out)
		var f *Failure
		if !errors.As(err, &f) || f.ExitCode() != exitUsage || !errors.Is(err, data.ErrInvalid) || !strings.Contains(err.Error(), c.want) || out.Len() > 0 {
			t.Errorf("%s for %s: %v, want %q", c.new, c.old, err, c.want)
		}
	}
	large := filepath.Join(dir, "large.txt")
	if err := os.WriteFile(large, append(bytes.Repeat([]byte("#\n"), maxRoster), sable...), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{filepath.Join(dir, "none.txt"), dir, large} {
		var f *Failure
		if err := CheckRoster(path, &bytes.Buffer{}); !errors.As(err, &f) || f.ExitCode() != exitUsage {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// docs/roster.md explains every key that the roster uses, and the fighter for tests, which has one of everything.
func TestRosterPage(t *testing.T) {
	page, err := os.ReadFile("../docs/roster.md")
	if err != nil {
		t.Fatal(err)
	}
	files := []string{"../sim/testdata/roster/anvil.txt"}
	for _, k := range data.Embedded().Fighters() {
		files = append(files, "../sim/data/roster/"+k.Key+".txt")
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			key, _, ok := strings.Cut(line, " = ")
			if ok && !strings.HasPrefix(line, "#") && !bytes.Contains(page, []byte("`"+key+"`")) && !bytes.Contains(page, []byte("`"+key+" = ")) {
				t.Errorf("%s: %s is not explained", file, key)
			}
		}
	}
}
