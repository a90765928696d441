package data

import (
	"fmt"
	"strconv"
	"strings"

	"backstep/sim/fixed"
)

type entry struct {
	key, value string
	line       int
	used       bool
}

type section struct {
	file, kind, name string
	line             int
	entries          []entry
	err              error
	lacks            string // the key whose absence is err
}

func (s *section) label() string { return strings.TrimSpace(s.kind + " " + s.name) }

func (s *section) fail(line int, format string, args ...any) {
	if s.err == nil {
		s.err = fmt.Errorf("%w: %s:%d: %s: %s", ErrInvalid, s.file, line, s.label(), fmt.Sprintf(format, args...))
	}
}

// maxFile and maxLine bound what a data file may hold before it is looked at any closer.
const (
	maxFile = 1 << 18
	maxLine = 400
)

// sections cuts text into its sections. Carriage returns are dropped, so that a checkout with other line ends is the same data.
func sections(file string, text []byte) ([]section, error) {
	if len(text) > maxFile {
		return nil, fmt.Errorf("%w: %s: %d bytes, more than %d", ErrInvalid, file, len(text), maxFile)
	}
	var out []section
	line := 0
	for raw := range strings.SplitSeq(string(text), "\n") {
		line++
		if len(raw) > maxLine {
			return nil, fmt.Errorf("%w: %s:%d: the line is longer than %d bytes", ErrInvalid, file, line, maxLine)
		}
		for _, c := range []byte(raw) {
			if c < ' ' && c != '\t' && c != '\r' {
				return nil, fmt.Errorf("%w: %s:%d: control character %#02x", ErrInvalid, file, line, c)
			}
		}
		body, _, _ := strings.Cut(raw, "#")
		body = strings.TrimSpace(strings.TrimSuffix(body, "\r"))
		switch {
		case body == "":
		case body[0] == '[':
			if body[len(body)-1] != ']' {
				return nil, fmt.Errorf("%w: %s:%d: a section starts with [ and must end with ]", ErrInvalid, file, line)
			}
			kind, name, _ := strings.Cut(strings.TrimSpace(body[1:len(body)-1]), " ")
			out = append(out, section{file: file, kind: kind, name: strings.TrimSpace(name), line: line})
		default:
			key, value, ok := strings.Cut(body, "=")
			key, value = strings.TrimSpace(key), strings.TrimSpace(value)
			if !ok || key == "" || value == "" {
				return nil, fmt.Errorf("%w: %s:%d: %q is neither a [section] nor a line of the form key = value", ErrInvalid, file, line, body)
			}
			if len(out) == 0 {
				return nil, fmt.Errorf("%w: %s:%d: %q stands before the first [section]", ErrInvalid, file, line, key)
			}
			s := &out[len(out)-1]
			s.entries = append(s.entries, entry{key: key, value: value, line: line})
		}
	}
	return out, nil
}

// one takes the only entry of key. Without one it complains if required.
func (s *section) one(key string, required bool) (entry, bool) {
	found := -1
	for i := range s.entries {
		if s.entries[i].key != key {
			continue
		}
		s.entries[i].used = true
		if found >= 0 {
			s.fail(s.entries[i].line, "%s stands twice (first in line %d)", key, s.entries[found].line)
			continue
		}
		found = i
	}
	if found < 0 {
		if required {
			if s.err == nil {
				s.lacks = key
			}
			s.fail(s.line, "%s is missing", key)
		}
		return entry{}, false
	}
	return s.entries[found], true
}

// all takes every entry of key in file order.
func (s *section) all(key string) []entry {
	var out []entry
	for i := range s.entries {
		if s.entries[i].key == key {
			s.entries[i].used = true
			out = append(out, s.entries[i])
		}
	}
	return out
}

// done complains about entries nobody took. One that looks like the key that is missing is most likely that key with a slip in it.
func (s *section) done() error {
	for _, e := range s.entries {
		if !e.used {
			if s.lacks != "" && slip(e.key, s.lacks) {
				s.err = nil
				s.fail(e.line, "%s is not a key of this section; is it %s, which is missing?", e.key, s.lacks)
			}
			s.fail(e.line, "%s is not a key of this section", e.key)
		}
	}
	return s.err
}

// slip tells whether one word is the other but for a letter too many, too few or wrong, or two that changed places.
func slip(a, b string) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	i := 0
	for i < len(a) && a[i] == b[i] {
		i++
	}
	switch {
	case len(a) == len(b) && i+1 < len(a) && a[i] == b[i+1] && a[i+1] == b[i]:
		return a[i+2:] == b[i+2:]
	case len(a) == len(b) && i < len(a):
		return a[i+1:] == b[i+1:]
	case len(a)+1 == len(b):
		return a[i:] == b[i+1:]
	}
	return false
}

func (s *section) text(key string, longest int) string {
	e, ok := s.one(key, true)
	if ok && len(e.value) > longest {
		s.fail(e.line, "%s is longer than %d bytes", key, longest)
	}
	return e.value
}

// integer reads a whole number in [lo, hi].
func (s *section) integer(key string, lo, hi int32) int32 {
	e, ok := s.one(key, true)
	if !ok {
		return lo
	}
	return s.int(e.line, key, e.value, lo, hi)
}

// optional is integer with a value for when the key does not stand.
func (s *section) optional(key string, lo, hi, otherwise int32) int32 {
	e, ok := s.one(key, false)
	if !ok {
		return otherwise
	}
	return s.int(e.line, key, e.value, lo, hi)
}

func (s *section) int(line int, key, value string, lo, hi int32) int32 {
	n, err := strconv.ParseInt(value, 10, 32)
	if err != nil {
		s.fail(line, "%s: %q is not a whole number", key, value)
		return lo
	}
	if int32(n) < lo || int32(n) > hi {
		s.fail(line, "%s %d is outside %d…%d", key, n, lo, hi)
		return lo
	}
	return int32(n)
}

// decimal reads a number with a point in [lo, hi].
func (s *section) decimal(key string, lo, hi int, required bool) fixed.Q {
	e, ok := s.one(key, required)
	if !ok {
		return 0
	}
	return s.fix(e.line, key, e.value, lo, hi)
}

func (s *section) fix(line int, key, value string, lo, hi int) fixed.Q {
	q, err := fixed.Parse(value)
	if err != nil {
		s.fail(line, "%s: %q is %v", key, value, err)
		return 0
	}
	if q < fixed.Int(lo) || q > fixed.Int(hi) {
		s.fail(line, "%s %s is outside %d…%d", key, value, lo, hi)
		return 0
	}
	return q
}

// fixes reads exactly n numbers with a point.
func (s *section) fixes(e entry, values []string, lo, hi int) []fixed.Q {
	out := make([]fixed.Q, len(values))
	for i, v := range values {
		out[i] = s.fix(e.line, e.key, v, lo, hi)
	}
	return out
}

// parts reads decimals in [0, hi] as ten-thousandths, separated by blanks, at least least and at most most of them.
func (s *section) parts(key string, hi int32, least, most int, required bool) []int32 {
	e, ok := s.one(key, required)
	if !ok {
		return nil
	}
	values := strings.Fields(e.value)
	if len(values) < least || len(values) > most {
		s.fail(e.line, "%s has %d values, not %d…%d", key, len(values), least, most)
		return nil
	}
	out := make([]int32, len(values))
	for i, v := range values {
		whole, frac, _ := strings.Cut(v, ".")
		if len(frac) > 4 || len(whole) > 2 {
			s.fail(e.line, "%s: %q is not a number with at most four digits after the point", key, v)
			return nil
		}
		n, err := strconv.ParseUint(whole+frac+"0000"[len(frac):], 10, 31)
		if err != nil {
			s.fail(e.line, "%s: %q is not a number with at most four digits after the point", key, v)
			return nil
		}
		if int32(n) > hi {
			s.fail(e.line, "%s %s is more than %d.%04d", key, v, hi/10000, hi%10000)
			return nil
		}
		out[i] = int32(n)
	}
	return out
}

// word reads one of words and gives its position.
func (s *section) word(key string, words []string, required bool, otherwise uint8) uint8 {
	e, ok := s.one(key, required)
	if !ok {
		return otherwise
	}
	return s.among(e.line, key, e.value, words)
}

func (s *section) among(line int, key, value string, words []string) uint8 {
	for i, w := range words {
		if w == value {
			return uint8(i)
		}
	}
	s.fail(line, "%s: %q is not one of %s", key, value, strings.Join(words, ", "))
	return 0
}

// span reads "5-7" or "5" with 1 <= start <= end <= last.
func (s *section) span(line int, key, value string, last int32) Span {
	a, b, both := strings.Cut(value, "-")
	if !both {
		b = a
	}
	sp := Span{s.int(line, key, a, 1, last), s.int(line, key, b, 1, last)}
	if sp.Start > sp.End {
		s.fail(line, "%s: window %d-%d ends before it starts", key, sp.Start, sp.End)
	}
	return sp
}

// box reads "x y half-width half-height".
func (s *section) box(e entry, f []string) Box {
	if len(f) != 4 {
		s.fail(e.line, "%s: a box is four numbers: x y half-width half-height", e.key)
		return Box{}
	}
	q := s.fixes(e, f, -600, 600)
	if q[2] <= 0 || q[3] <= 0 {
		s.fail(e.line, "%s: half-width and half-height must be above 0", e.key)
	}
	return Box{X: q[0], Y: q[1], HW: q[2], HH: q[3]}
}
