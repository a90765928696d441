package data

import (
	"fmt"
	"strings"
)

// TagsPath is the file of the gameplay tags.
const TagsPath = "tags/tags.txt"

// Bounds of the tag table: 109 leaves and the four roots.
const (
	TagCount   = 113
	TagRoots   = 4
	mostStates = 64
)

// Tag is a gameplay tag: its position in the sorted table, from 1. 0 is no tag.
type Tag uint8

// TagMask is a set of tags under State, as a bit for each in order of the table.
type TagMask uint64

// Tags is the table of gameplay tags. A tag is a path of names; the first is its root.
type Tags struct {
	names  []string
	states int // position of the first tag under State, in names
	ends   int
}

func parseTags(file string, text []byte) (Tags, error) {
	var t Tags
	line := 0
	for raw := range strings.SplitSeq(string(text), "\n") {
		line++
		body, _, _ := strings.Cut(raw, "#")
		if body = strings.TrimSpace(body); body == "" {
			continue
		}
		if n := len(t.names); n > 0 && t.names[n-1] >= body {
			return t, fmt.Errorf("%w: %s:%d: %s must stand before %s (tags are sorted, each once)", ErrInvalid, file, line, body, t.names[n-1])
		}
		if strings.ContainsAny(body, " \t\r") || strings.HasPrefix(body, ".") || strings.HasSuffix(body, ".") || strings.Contains(body, "..") {
			return t, fmt.Errorf("%w: %s:%d: %q is not names joined by points", ErrInvalid, file, line, body)
		}
		if root, _, deep := strings.Cut(body, "."); deep && !t.has(root) {
			return t, fmt.Errorf("%w: %s:%d: %s has no root %s", ErrInvalid, file, line, body, root)
		}
		t.names = append(t.names, body)
	}
	if len(t.names) != TagCount {
		return t, fmt.Errorf("%w: %s: %d tags, not %d", ErrInvalid, file, len(t.names), TagCount)
	}
	if n := len(t.Roots()); n != TagRoots {
		return t, fmt.Errorf("%w: %s: %d roots, not %d", ErrInvalid, file, n, TagRoots)
	}
	for i, n := range t.names {
		if strings.HasPrefix(n, "State.") {
			if t.ends == 0 {
				t.states = i
			}
			t.ends = i + 1
		}
	}
	if t.ends-t.states > mostStates {
		return t, fmt.Errorf("%w: %s: %d tags under State, more than %d", ErrInvalid, file, t.ends-t.states, mostStates)
	}
	return t, nil
}

func (t *Tags) has(name string) bool { return t.ByName(name) != 0 }

// ByName gives a tag by its whole name, 0 if the table has none of that name.
func (t *Tags) ByName(name string) Tag {
	for i, n := range t.names {
		if n == name {
			return Tag(i + 1)
		}
	}
	return 0
}

// Name gives the whole name of a tag, "" for none.
func (t *Tags) Name(tag Tag) string {
	if tag == 0 || int(tag) > len(t.names) {
		return ""
	}
	return t.names[tag-1]
}

// Len gives the number of tags, roots included.
func (t *Tags) Len() int { return len(t.names) }

// Roots gives the tags without a point.
func (t *Tags) Roots() []string {
	var out []string
	for _, n := range t.names {
		if !strings.Contains(n, ".") {
			out = append(out, n)
		}
	}
	return out
}

// Under gives the tags below a path, not the path itself.
func (t *Tags) Under(path string) []string {
	var out []string
	for _, n := range t.names {
		if strings.HasPrefix(n, path+".") {
			out = append(out, n)
		}
	}
	return out
}

// State gives the bit of a tag under State, 0 for any other name.
func (t *Tags) State(name string) TagMask {
	if i := int(t.ByName(name)) - 1; i >= t.states && i < t.ends {
		return 1 << (i - t.states)
	}
	return 0
}

// tagMask reads tags under State, separated by blanks.
func (s *section) tagMask(key string, t *Tags) TagMask {
	e, ok := s.one(key, false)
	if !ok {
		return 0
	}
	var m TagMask
	for _, name := range strings.Fields(e.value) {
		bit := t.State(name)
		if bit == 0 {
			s.fail(e.line, "%s: %q is not a tag under State in %s", key, name, TagsPath)
		}
		m |= bit
	}
	return m
}
