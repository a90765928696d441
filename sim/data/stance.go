package data

import (
	"hash/crc32"
	"strings"
)

// MaxStances is the most stances a fighter may have.
const MaxStances = 3

// StanceKind is a way of standing with moves of its own (FDAT-12). Lengths are frames.
type StanceKind struct {
	Name                      string
	Tag                       string // under State.Stance
	Mark                      TagMask
	Hash                      uint32 // CRC-32 of Tag
	Entry, Duration, Recovery int32
}

// stances reads the lines "stance = NAME TAG ENTRY DURATION RECOVERY".
func (s *section) stances(t *Tags) []StanceKind {
	var out []StanceKind
	for _, e := range s.all("stance") {
		f := strings.Fields(e.value)
		if len(f) != 5 {
			s.fail(e.line, "stance: want a name, a tag under State.Stance, and frames of entry, duration and recovery")
			return nil
		}
		st := StanceKind{Name: f[0], Tag: "State.Stance." + f[1], Entry: s.int(e.line, "stance", f[2], 1, 60),
			Duration: s.int(e.line, "stance", f[3], 1, 600), Recovery: s.int(e.line, "stance", f[4], 1, 60)}
		st.Mark, st.Hash = t.State(st.Tag), crc32.ChecksumIEEE([]byte(st.Tag))
		if st.Mark == 0 {
			s.fail(e.line, "stance: %q is not in %s", st.Tag, TagsPath)
		}
		for _, other := range out {
			if other.Name == st.Name {
				s.fail(e.line, "stance: %s stands twice", st.Name)
			}
		}
		out = append(out, st)
	}
	if len(out) > MaxStances {
		s.fail(s.line, "%d stances, more than %d", len(out), MaxStances)
		return nil
	}
	return out
}
