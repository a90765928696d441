package sim

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strings"

	"backstep/sim/data"
	"backstep/sim/fixed"
)

// Version is the version of the rules in code. Peers whose versions differ must not play.
const Version = 3

// What makes two machines agree (DET-01, DET-02): the step is deterministic, and there is no floating point in it to be strict about.
const (
	Determinism = 1
	StrictFP    = 1
)

// SimulationHz is the number of steps a second.
const SimulationHz = 60

// MaxFighters is the most fighters in a world: three a side.
const MaxFighters = 6

// Fixed is the Q16.16 number of positions and speeds.
type Fixed = fixed.Q

// FighterID names a fighter of the roster. 0 is none.
type FighterID = data.FighterID

// Ruleset names the rules of a match.
type Ruleset = data.Rules

// Format says how many fighters a side has and how they change.
type Format uint8

// The formats. In Format1v1 each side has one fighter.
const (
	Format1v1 Format = iota
	Format2v2
	Format3v3
	FormatTrinity
	formats
)

var formatNames = [formats]string{"1v1", "2v2", "3v3", "trinity"}

// String gives the name used on command lines and in reports.
func (f Format) String() string {
	if f < formats {
		return formatNames[f]
	}
	return "unknown"
}

// Roster gives the number of fighters on a side.
func (f Format) Roster() int {
	switch f {
	case Format1v1:
		return 1
	case Format2v2:
		return 2
	}
	return 3
}

// reserved gives the buttons that tag play takes: the assist button. The stance button stays the fighter's own.
func (f Format) reserved() uint8 {
	if f == Format1v1 {
		return 0
	}
	return 1 << data.Assist
}

// Errors of Config.Valid and of the parsers of its parts. The text around them says which value and what is possible.
var (
	ErrRuleset = errors.New("unknown ruleset")
	ErrFormat  = errors.New("unknown format")
	ErrFighter = errors.New("unknown fighter")
	ErrRounds  = errors.New("impossible number of rounds")
	ErrConfig  = errors.New("match settings are malformed")
)

// MaxRounds is the most rounds a side may have to win.
const MaxRounds = 5

// Config is what both sides must agree on before a match. It is a comparable value.
type Config struct {
	Seed    uint64
	Ruleset Ruleset
	Format  Format
	Rounds  uint8 // a side that has won so many has won the match, 1…MaxRounds
	Teams   [2][3]FighterID
}

// DefaultConfig is a 1v1 of the first two fighters under the rules of SF, first to two rounds.
func DefaultConfig() Config {
	c := Config{Ruleset: data.SF, Format: Format1v1, Rounds: 2}
	cast := data.Embedded().Fighters()
	c.Teams[0][0] = cast[0].ID
	c.Teams[1][0] = cast[min(1, len(cast)-1)].ID
	return c
}

// Valid tells whether a world can be made of c, and if not why, in a sentence that names the value and the choices.
func (c Config) Valid() error { return c.valid(data.Embedded()) }

func (c Config) valid(r *data.Roster) error {
	if r.Ruleset(c.Ruleset) == nil {
		return fmt.Errorf("%w: %s is not in this version, which has %s", ErrRuleset, c.Ruleset, strings.Join(rulesets(r), ", "))
	}
	if c.Format >= formats {
		return fmt.Errorf("%w: %s, must be one of %s", ErrFormat, c.Format, strings.Join(formatNames[:], ", "))
	}
	if c.Rounds < 1 || c.Rounds > MaxRounds {
		return fmt.Errorf("%w: %d, must be 1…%d", ErrRounds, c.Rounds, MaxRounds)
	}
	for side := range c.Teams {
		for k, id := range c.Teams[side] {
			switch {
			case k >= c.Format.Roster() && id != 0:
				return fmt.Errorf("%w: a side of %s has %d, side %d names more", ErrFighter, c.Format, c.Format.Roster(), side)
			case k < c.Format.Roster() && r.Fighter(id) == nil:
				return fmt.Errorf("%w: no fighter has id %d (side %d, position %d)", ErrFighter, id, side, k)
			}
		}
	}
	return nil
}

func rulesets(r *data.Roster) []string {
	var out []string
	for id := Ruleset(0); id < data.RulesCount; id++ {
		if r.Ruleset(id) != nil {
			out = append(out, id.String())
		}
	}
	return out
}

// ParseRuleset reads the name of a ruleset of this version.
func ParseRuleset(name string) (Ruleset, error) {
	r := data.Embedded()
	if id, ok := data.RulesByName(name); ok && r.Ruleset(id) != nil {
		return id, nil
	}
	return 0, fmt.Errorf("%w: %q, this version has %s", ErrRuleset, name, strings.Join(rulesets(r), ", "))
}

// ParseFormat reads the name of a format.
func ParseFormat(name string) (Format, error) {
	for i, n := range formatNames {
		if n == name {
			return Format(i), nil
		}
	}
	return 0, fmt.Errorf("%w: %q, must be one of %s", ErrFormat, name, strings.Join(formatNames[:], ", "))
}

// ParseTeam reads one to three fighter names separated by commas.
func ParseTeam(names string) ([3]FighterID, error) {
	var team [3]FighterID
	list := strings.Split(names, ",")
	if len(list) > len(team) {
		return team, fmt.Errorf("%w: %q names %d, a side has at most %d", ErrFighter, names, len(list), len(team))
	}
	for i, name := range list {
		f := data.Embedded().FighterByKey(strings.TrimSpace(name))
		if f == nil {
			return [3]FighterID{}, fmt.Errorf("%w: %q, this version has %s", ErrFighter, name, strings.Join(FighterNames(), ", "))
		}
		team[i] = f.ID
	}
	return team, nil
}

// FighterNames lists the names ParseTeam takes, in order of id.
func FighterNames() []string {
	cast := data.Embedded().Fighters()
	out := make([]string, len(cast))
	for i, f := range cast {
		out[i] = f.Key
	}
	return out
}

// DataHash is the hash of all data files; peers whose hashes differ must not play.
func DataHash() uint64 { return data.Embedded().Hash() }

// ConfigSize is the length of an encoded Config in bytes.
const ConfigSize = 17

// AppendConfig appends c: seed u64, ruleset u8, format u8, rounds u8, two times three fighters u8, little-endian.
func AppendConfig(b []byte, c Config) []byte {
	b = binary.LittleEndian.AppendUint64(b, c.Seed)
	b = append(b, byte(c.Ruleset), byte(c.Format), c.Rounds)
	for side := range c.Teams {
		for _, id := range c.Teams[side] {
			b = append(b, byte(id))
		}
	}
	return b
}

// ParseConfig reads what AppendConfig wrote from exactly ConfigSize bytes. It does not ask whether this version can play it:
// that is Config.Valid, so that a program can say what is missing.
func ParseConfig(b []byte) (Config, error) {
	if len(b) != ConfigSize {
		return Config{}, fmt.Errorf("%w: %d bytes, not %d", ErrConfig, len(b), ConfigSize)
	}
	c := Config{Seed: binary.LittleEndian.Uint64(b), Ruleset: Ruleset(b[8]), Format: Format(b[9]), Rounds: b[10]}
	for i := range 6 {
		c.Teams[i/3][i%3] = FighterID(b[11+i])
	}
	return c, nil
}
