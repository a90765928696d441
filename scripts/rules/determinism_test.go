package rules

import (
	"go/parser"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"backstep/scripts/rules/determinism"
)

// deterministic are the rooms whose results must be the same on every machine.
var deterministic = []string{"sim", "rollback"}

func guardPatterns() []string {
	var patterns []string
	for _, room := range deterministic {
		patterns = append(patterns, "./"+room+"/...")
	}
	return patterns
}

// DET, X-01, X-18, G-09, G-11: no float, clock, random source, map order, goroutine or mutable variable in the rooms
// that decide what a frame is.
func TestDeterminismGuard(t *testing.T) {
	result, err := determinism.Check(root(), nil, guardPatterns()...)
	if err != nil {
		t.Fatal(err)
	}
	for _, room := range deterministic {
		if !slices.Contains(result.Packages, module+"/"+room) {
			t.Errorf("the guard did not read %s; it read %v", room, result.Packages)
		}
	}
	for _, f := range result.Findings {
		if rel, err := filepath.Rel(root(), f.File); err == nil {
			f.File = filepath.ToSlash(rel)
		}
		t.Error(f)
	}
}

// The guard sees what is planted in every package it watches, as it stands in this repository.
func TestDeterminismGuardSeesPlants(t *testing.T) {
	packages := map[string]string{} // directory to package name
	for _, f := range parsed(t, parser.PackageClauseOnly) {
		if room, _, _ := strings.Cut(f.dir, "/"); !f.test && slices.Contains(deterministic, room) {
			packages[f.dir] = f.Name.Name
		}
	}
	for _, room := range deterministic {
		if packages[room] == "" {
			t.Fatalf("%s is not among the packages to plant in: %v", room, packages)
		}
	}
	overlay := map[string][]byte{}
	for dir, name := range packages {
		overlay[onDisk(dir+"/zz_planted.go")] = []byte("package " + name + `

import plantedTime "time"

var plantedCounter int

func plantedCode(m map[int]int) int64 {
	for k := range m {
		plantedCounter += k
	}
	go func() {}()
	return plantedTime.Now().UnixNano() / int64(1.5*2)
}
`)
	}
	result, err := determinism.Check(root(), overlay, guardPatterns()...)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"3: import of time", "5: package-level variable plantedCounter", "8: range over a map",
		"9: assignment to package-level plantedCounter", "11: go statement", "12: floating-point literal"}
	for _, dir := range slices.Sorted(maps.Keys(packages)) {
		var got strings.Builder
		for _, f := range result.Findings {
			if f.File == onDisk(dir+"/zz_planted.go") {
				got.WriteString(strings.TrimPrefix(f.String(), f.File+":") + "\n")
			}
		}
		for _, w := range want {
			if !strings.Contains(got.String(), w) {
				t.Errorf("%s: %q was planted and not reported; reported:\n%s", dir, w, got.String())
			}
		}
	}
}
