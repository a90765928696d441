package rules

import (
	"go/parser"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
)

func TestPackageComments(t *testing.T) {
	comments := map[string]int{}
	names := map[string]string{}
	for _, f := range parsed(t, parser.ParseComments|parser.PackageClauseOnly) {
		if f.test {
			continue
		}
		names[f.dir] = f.Name.Name
		comments[f.dir] += 0
		if f.Doc == nil {
			continue
		}
		comments[f.dir]++
		text := f.Doc.Text()
		want := "Package " + f.Name.Name + " "
		if f.Name.Name == "main" {
			want = "Command "
		}
		if !strings.HasPrefix(text, want) {
			t.Errorf("%s: the package comment does not begin with %q", f.name, want)
		}
		if len(text) < 80 {
			t.Errorf("%s: the package comment does not say what the package is for: %q", f.name, text)
		}
	}
	for _, dir := range slices.Sorted(maps.Keys(comments)) {
		if comments[dir] == 0 {
			t.Errorf("%s: package %s has no package comment", dir, names[dir])
		}
		if comments[dir] > 1 {
			t.Errorf("%s: package %s has %d package comments; keep one", dir, names[dir], comments[dir])
		}
	}
}

// room is a part of the repository. It may import itself and rooms of lower floors that it does not shun.
type room struct {
	floor int
	shuns []string
}

// rooms are the rooms by directory; a directory belongs to the room with the longest matching path.
// docs/architecture.md explains them.
var rooms = map[string]room{
	"ackbits":             {floor: 0},
	"fec":                 {floor: 0},
	"rollback/input":      {floor: 0},
	"natpunch/rendezvous": {floor: 0},
	"rollback":            {floor: 1},
	"sim":                 {floor: 1},
	"natpunch":            {floor: 2, shuns: []string{"rollback", "sim"}},
	"peer":                {floor: 3},
	"relay":               {floor: 3},
	"cmd":                 {floor: 4},
	"scripts":             {floor: 4},
}

// roomOf is the room that the directory dir belongs to.
func roomOf(dir string) (name string, ok bool) {
	for dir != "." && dir != "" {
		if _, ok := rooms[dir]; ok {
			return dir, true
		}
		i := strings.LastIndexByte(dir, '/')
		if i < 0 {
			break
		}
		dir = dir[:i]
	}
	return "", false
}

// floorFault says why a package in directory from must not import the one in directory to; empty if it may.
func floorFault(from, to string) string {
	a, okA := roomOf(from)
	b, okB := roomOf(to)
	switch {
	case !okA:
		return from + " belongs to no room; see docs/architecture.md"
	case !okB:
		return to + " belongs to no room; see docs/architecture.md"
	case a == b:
		return ""
	case rooms[b].floor >= rooms[a].floor:
		return "room " + a + " (floor " + strconv.Itoa(rooms[a].floor) + ") may import lower floors only, and " + b +
			" is on floor " + strconv.Itoa(rooms[b].floor)
	case slices.Contains(rooms[a].shuns, b):
		return "room " + a + " must know nothing of " + b
	}
	return ""
}

// SIM-32: simulation and rollback know nothing of each other.
func TestImportFloors(t *testing.T) {
	for _, f := range parsed(t, parser.ImportsOnly) {
		if f.test {
			continue
		}
		if _, ok := roomOf(f.dir); !ok {
			t.Errorf("%s: %s belongs to no room; see docs/architecture.md", f.name, f.dir)
		}
		for _, spec := range f.Imports {
			path, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				t.Fatal(err)
			}
			if to, ok := strings.CutPrefix(path, module+"/"); ok {
				if fault := floorFault(f.dir, to); fault != "" {
					t.Errorf("%s imports %s: %s", f.name, path, fault)
				}
			}
		}
	}
}

func TestFloorFault(t *testing.T) {
	for _, tt := range []struct {
		from, to string
		fault    bool
	}{
		{"rollback", "ackbits", false},
		{"rollback", "rollback/wire", false},
		{"rollback/wire", "rollback/input", false},
		{"sim/replay", "rollback/input", false},
		{"cmd/peer", "relay", false},
		{"cmd/peer", "cmd/internal/settings", false},
		{"natpunch/lobby", "natpunch/rendezvous", false},
		{"relay", "sim/replay", false},
		{"rollback/input", "rollback", true},
		{"natpunch/rendezvous", "natpunch", true},
		{"sim", "rollback", true},
		{"rollback", "sim", true},
		{"peer", "relay", true},
		{"relay/lobby", "peer/link", true},
		{"natpunch", "rollback/wire", true},
		{"natpunch", "sim", true},
		{"ackbits", "fec", true},
		{"peer", "cmd/internal/exit", true},
		{"toolbox", "sim", true},
		{"sim", "toolbox", true},
	} {
		if got := floorFault(tt.from, tt.to); (got != "") != tt.fault {
			t.Errorf("%s imports %s: fault %q, want one: %v", tt.from, tt.to, got, tt.fault)
		}
	}
}

// Every room stands in docs/architecture.md, so that the page cannot fall behind.
func TestRoomsAreDocumented(t *testing.T) {
	page := read(t, "docs/architecture.md")
	for _, name := range slices.Sorted(maps.Keys(rooms)) {
		if !strings.Contains(page, "`"+name+"`") {
			t.Errorf("docs/architecture.md does not name the room `%s`", name)
		}
	}
}
