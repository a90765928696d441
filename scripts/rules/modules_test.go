package rules

import (
	"encoding/json"
	"go/parser"
	"maps"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// testTools are modules that only tests and scripts use, and what for.
var testTools = map[string]string{
	"github.com/pion/transport/v3": "pion's virtual network, for tests of paths through NATs",
	"go.uber.org/goleak":           "finds goroutines that a test leaves behind",
	"golang.org/x/tools":           "loads packages with types for the determinism guard",
	"pgregory.net/rapid":           "property tests",
}

// A module that is in go.mod and in no program is a promise nobody keeps (G-19).
func TestModulesAreUsed(t *testing.T) {
	cmd := exec.Command("go", "mod", "edit", "-json")
	cmd.Dir = root()
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var mod struct {
		Require []struct {
			Path     string
			Indirect bool
		}
	}
	if err := json.Unmarshal(out, &mod); err != nil {
		t.Fatal(err)
	}

	imported := map[string]bool{}
	for _, f := range parsed(t, parser.ImportsOnly) {
		if f.test || strings.HasPrefix(f.dir, "scripts") {
			continue
		}
		for _, spec := range f.Imports {
			path, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				t.Fatal(err)
			}
			imported[path] = true
		}
	}
	uses := func(module string) bool {
		for path := range imported {
			if path == module || strings.HasPrefix(path, module+"/") {
				return true
			}
		}
		return false
	}

	required := map[string]bool{}
	for _, r := range mod.Require {
		if r.Indirect {
			continue
		}
		required[r.Path] = true
		_, tool := testTools[r.Path]
		switch {
		case uses(r.Path) && tool:
			t.Errorf("%s is used by a program now: take it off the list of test tools", r.Path)
		case !uses(r.Path) && !tool:
			t.Errorf("%s is required but no program imports it: use it, drop it, or name it as a test tool with the reason", r.Path)
		}
	}
	for _, path := range slices.Sorted(maps.Keys(testTools)) {
		if !required[path] {
			t.Errorf("%s is listed as a test tool but go.mod does not require it", path)
		}
	}
}

// places are the only files or directories that may import a library, so that replacing it is one change. Tests may
// import it anywhere.
var places = map[string]string{
	"github.com/pion/ice/":             "natpunch/agent.go",
	"github.com/pion/stun/":            "natpunch/agent.go",
	"github.com/pion/dtls/":            "peer/link/",
	"github.com/gtank/ristretto255":    "natpunch/cpace/",
	"github.com/klauspost/reedsolomon": "fec/",
	"github.com/prometheus/":           "relay/",
	"github.com/peterbourgon/ff/":      "cmd/internal/settings/",
	"golang.org/x/crypto/":             "natpunch/keys/",
	"github.com/jackpal/go-nat-pmp":    "natpunch/portmap/",
	"github.com/huin/goupnp":           "natpunch/portmap/",
}

func TestLibrariesStayInTheirPlace(t *testing.T) {
	own := otherModules()
	for _, f := range parsed(t, parser.ImportsOnly) {
		// A comparison with other people's programs is a module of its own.
		if f.test || slices.ContainsFunc(own, func(dir string) bool { return strings.HasPrefix(f.name, dir) }) {
			continue
		}
		for _, spec := range f.Imports {
			path, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				t.Fatal(err)
			}
			for library, place := range places {
				if strings.HasPrefix(path, library) && f.name != place && !(strings.HasSuffix(place, "/") && strings.HasPrefix(f.name, place)) {
					t.Errorf("%s imports %s, which belongs into %s", f.name, path, place)
				}
			}
		}
	}
}

// otherModules lists the folders, with a slash behind them, that have a go.mod of their own.
func otherModules() []string {
	var dirs []string
	for _, name := range tracked() {
		if dir, ok := strings.CutSuffix(name, "go.mod"); ok && dir != "" {
			dirs = append(dirs, dir)
		}
	}
	return dirs
}
