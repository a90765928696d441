package rules

import (
	"go/format"
	"slices"
	"strings"
	"testing"
)

func TestGofmt(t *testing.T) {
	for _, name := range goFiles(t) {
		have := read(t, name)
		want, err := format.Source([]byte(have))
		if err != nil {
			t.Errorf("%s: %v", name, err)
		} else if have != string(want) {
			t.Errorf("%s: not formatted; run gofmt -w %s", name, name)
		}
	}
}

func TestFileSizes(t *testing.T) {
	const limit = 20 << 10
	for _, name := range goFiles(t) {
		if size := len(read(t, name)); size > limit {
			t.Errorf("%s: %d bytes, the most is %d; give the second idea in it a file of its own", name, size, limit)
		}
	}
}

// Names that say nothing about what is inside.
var emptyNames = []string{"util", "utils", "common", "helper", "helpers", "misc", "shared", "base", "stuff"}

func TestNames(t *testing.T) {
	for _, name := range goFiles(t) {
		parts := strings.Split(strings.TrimSuffix(strings.TrimSuffix(name, ".go"), "_test"), "/")
		for _, part := range parts {
			if slices.Contains(emptyNames, part) {
				t.Errorf("%s: %q says nothing; name it after what it holds", name, part)
			}
		}
	}
	for _, f := range parsed(t, 0) {
		if slices.Contains(emptyNames, strings.TrimSuffix(f.Name.Name, "_test")) {
			t.Errorf("%s: package %s says nothing; name it after what it holds", f.name, f.Name.Name)
		}
	}
}
