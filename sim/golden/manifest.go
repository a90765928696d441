package golden

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"backstep/rollback/input"
	"backstep/sim"
	"backstep/sim/data"
)

// Manifest is one file of the corpus.
type Manifest struct {
	Schema      string     `json:"schema"`
	Name        string     `json:"name"`
	Source      string     `json:"source"`
	SimVersion  int        `json:"sim_version"`
	DataHash    Hash       `json:"data_hash"`
	Config      Config     `json:"config"`
	Frames      int        `json:"frames"`
	Inputs      [][]string `json:"inputs"`
	InputSHA256 string     `json:"input_sha256"`
	HashEvery   int        `json:"hash_every"`
	Hashes      []Hash     `json:"hashes"`
	FinalHash   Hash       `json:"final_hash"`
}

// Config is sim.Config in words.
type Config struct {
	Seed    Hash       `json:"seed"`
	Ruleset string     `json:"ruleset"`
	Format  string     `json:"format"`
	Rounds  uint8      `json:"rounds"`
	Teams   [][]string `json:"teams"`
}

// Hash is a 64-bit value, written as 16 lower-case hexadecimal digits.
type Hash uint64

// MarshalText writes the digits.
func (h Hash) MarshalText() ([]byte, error) {
	return hex.AppendEncode(nil, binary.BigEndian.AppendUint64(nil, uint64(h))), nil
}

// UnmarshalText reads the digits.
func (h *Hash) UnmarshalText(b []byte) error {
	v, err := strconv.ParseUint(string(b), 16, 64)
	if err != nil || len(b) != 16 {
		return fmt.Errorf("%w: %q is not a hash of 16 hexadecimal digits", ErrMalformed, b)
	}
	*h = Hash(v)
	return nil
}

// runsALine is how many runs of inputs stand in a line.
const runsALine = 16

// Append appends the file of m.
func (m *Manifest) Append(b []byte) ([]byte, error) {
	text, err := json.MarshalIndent(m, "", " ")
	if err != nil {
		return b, fmt.Errorf("writing the manifest %s: %w", m.Name, err)
	}
	return append(append(b, text...), '\n'), nil
}

// maxFile bounds what Parse looks at.
const maxFile = 1 << 20

// Parse reads a file that Append wrote. Anything that Append would not write just so is refused with ErrMalformed.
func Parse(b []byte) (*Manifest, error) {
	if len(b) > maxFile {
		return nil, fmt.Errorf("%w: %d bytes, more than %d", ErrMalformed, len(b), maxFile)
	}
	m := &Manifest{}
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err := d.Decode(m); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	if m.Schema != Schema || m.HashEvery != HashEvery {
		return nil, fmt.Errorf("%w: schema %q with a hash every %d frames, want %q and %d", ErrMalformed, m.Schema, m.HashEvery, Schema, HashEvery)
	}
	words, err := m.words()
	if err != nil {
		return nil, err
	}
	if sum := inputSum(words); sum != m.InputSHA256 {
		return nil, fmt.Errorf("%w: %s: the inputs have SHA-256 %s, not %s", ErrMalformed, m.Name, sum, m.InputSHA256)
	}
	if want := (m.Frames + HashEvery - 1) / HashEvery; len(m.Hashes) != want {
		return nil, fmt.Errorf("%w: %s: %d hashes, %d frames have %d", ErrMalformed, m.Name, len(m.Hashes), m.Frames, want)
	}
	for p := range m.Inputs {
		m.Inputs[p] = runs(words[p])
	}
	again, err := m.Append(nil)
	if err != nil {
		return nil, err
	}
	if !bytes.Equal(again, b) {
		return nil, fmt.Errorf("%w: %s is not in the one form", ErrMalformed, m.Name)
	}
	return m, nil
}

// words unpacks the inputs.
func (m *Manifest) words() ([][]uint16, error) {
	if m.Frames < 1 || m.Frames > MaxFrames || len(m.Inputs) < 1 || len(m.Inputs) > sim.MaxFighters {
		return nil, fmt.Errorf("%w: %s: %d frames of %d players", ErrMalformed, m.Name, m.Frames, len(m.Inputs))
	}
	out := make([][]uint16, len(m.Inputs))
	for p, lines := range m.Inputs {
		for run := range strings.FieldsSeq(strings.Join(lines, " ")) {
			word, count, many := strings.Cut(run, "*")
			w, err := strconv.ParseUint(word, 16, 16)
			n := uint64(1)
			if err == nil && many {
				n, err = strconv.ParseUint(count, 10, 32)
			}
			if err != nil || n > uint64(m.Frames-len(out[p])) {
				return nil, fmt.Errorf("%w: %s: the run %q of player %d", ErrMalformed, m.Name, run, p)
			}
			for range n {
				out[p] = append(out[p], uint16(w))
			}
		}
		if len(out[p]) != m.Frames {
			return nil, fmt.Errorf("%w: %s: %d words of player %d, want %d", ErrMalformed, m.Name, len(out[p]), p, m.Frames)
		}
	}
	return out, nil
}

// runs packs the inputs of a player.
func runs(words []uint16) []string {
	lines := []string{}
	var line []byte
	n := 0
	for i := 0; i < len(words); {
		j := i
		for j < len(words) && words[j] == words[i] {
			j++
		}
		if n > 0 {
			line = append(line, ' ')
		}
		digits := strconv.AppendUint(nil, uint64(words[i]), 16)
		line = append(append(line, "000"[min(3, len(digits)):]...), digits...)
		if j-i > 1 {
			line = append(line, '*')
			line = strconv.AppendInt(line, int64(j-i), 10)
		}
		if n++; n == runsALine {
			lines, line, n = append(lines, string(line)), nil, 0
		}
		i = j
	}
	if n > 0 {
		lines = append(lines, string(line))
	}
	return lines
}

// inputSum is the SHA-256 of the players' input logs one after the other, in hexadecimal digits.
func inputSum(words [][]uint16) string {
	var log []byte
	for _, w := range words {
		log = input.AppendLog(log, w)
	}
	sum := sha256.Sum256(log)
	return hex.EncodeToString(sum[:])
}

// spell writes settings in words.
func spell(c sim.Config) Config {
	out := Config{Seed: Hash(c.Seed), Ruleset: c.Ruleset.String(), Format: c.Format.String(), Rounds: c.Rounds}
	for _, team := range c.Teams {
		names := []string{}
		for _, id := range team {
			if f := data.Embedded().Fighter(id); f != nil {
				names = append(names, f.Key)
			}
		}
		out.Teams = append(out.Teams, names)
	}
	return out
}

// Settings gives the settings of the match, if this program has all of them.
func (m *Manifest) Settings() (sim.Config, error) {
	c := sim.Config{Seed: uint64(m.Config.Seed), Rounds: m.Config.Rounds}
	var err error
	if c.Ruleset, err = sim.ParseRuleset(m.Config.Ruleset); err != nil {
		return c, err
	}
	if c.Format, err = sim.ParseFormat(m.Config.Format); err != nil {
		return c, err
	}
	if len(m.Config.Teams) != len(c.Teams) {
		return c, fmt.Errorf("%w: %s: %d teams", ErrMalformed, m.Name, len(m.Config.Teams))
	}
	for side, names := range m.Config.Teams {
		if c.Teams[side], err = sim.ParseTeam(strings.Join(names, ",")); err != nil {
			return c, err
		}
	}
	return c, c.Valid()
}
