package data

import (
	"embed"
	"encoding/binary"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/cespare/xxhash/v2"
)

//go:embed roster/*.txt balance/feel/*.csv balance/rulesets/*.txt balance/tag/*.csv tags/tags.txt
var files embed.FS

var embedded = mustLoad(files)

// Roster is everything the simulation reads, checked. It is never changed after Load and may be read from any goroutine.
type Roster struct {
	Timing   Timing
	Hitstops []Hitstop
	Shakes   []Shake
	Tags     Tags
	Marks    [MarkCount]TagMask // what the simulation sets by itself
	Team     Team
	fighters []*Fighter // in order of id
	byID     [256]*Fighter
	rulesets [RulesCount]*Ruleset
	hash     uint64
}

// Embedded gives the roster that is part of the program.
func Embedded() *Roster { return embedded }

func mustLoad(fsys fs.FS) *Roster {
	r, err := Load(fsys)
	if err != nil {
		panic(err)
	}
	return r
}

// Load reads and checks the files of the package comment. Errors wrap ErrInvalid and name file, line and reason.
func Load(fsys fs.FS) (*Roster, error) {
	r := &Roster{}
	sum := xxhash.New()
	read := func(name string) ([]byte, error) {
		b, err := fs.ReadFile(fsys, name)
		if err != nil {
			return nil, fmt.Errorf("%w: %s: %v", ErrInvalid, name, err)
		}
		fold(sum, name, b)
		return b, nil
	}
	b, err := read(HitstopPath)
	if err != nil {
		return nil, err
	}
	if r.Hitstops, err = parseHitstop(HitstopPath, b); err != nil {
		return nil, err
	}
	if b, err = read(TimingPath); err != nil {
		return nil, err
	}
	if r.Timing, err = parseTiming(TimingPath, b); err != nil {
		return nil, err
	}
	if b, err = read(ShakePath); err != nil {
		return nil, err
	}
	if r.Shakes, err = parseShakes(ShakePath, b); err != nil {
		return nil, err
	}
	if b, err = read(TagsPath); err != nil {
		return nil, err
	}
	if r.Tags, err = parseTags(TagsPath, b); err != nil {
		return nil, err
	}
	if r.Marks, err = r.Tags.marks(); err != nil {
		return nil, err
	}
	rules, err := names(fsys, "balance/rulesets")
	if err != nil {
		return nil, err
	}
	for _, name := range rules {
		if b, err = read(name); err != nil {
			return nil, err
		}
		rs, err := parseRuleset(name, b)
		if err != nil {
			return nil, err
		}
		if path.Base(name) != rs.Rules.String()+".txt" {
			return nil, fmt.Errorf("%w: %s: the ruleset in it is %s", ErrInvalid, name, rs.Rules)
		}
		r.rulesets[rs.Rules] = &rs
	}
	for id, rs := range r.rulesets {
		if rs == nil {
			return nil, fmt.Errorf("%w: balance/rulesets/%s.txt is missing", ErrInvalid, Rules(id))
		}
	}
	cast, err := names(fsys, "roster")
	if err != nil {
		return nil, err
	}
	for _, name := range cast {
		if b, err = read(name); err != nil {
			return nil, err
		}
		f, err := parseFighter(name, b, r.Hitstops, &r.Tags)
		if err != nil {
			return nil, err
		}
		if path.Base(name) != f.Key+".txt" {
			return nil, fmt.Errorf("%w: %s: the fighter in it is %s", ErrInvalid, name, f.Key)
		}
		if other := r.byID[f.ID]; other != nil {
			return nil, fmt.Errorf("%w: %s: id %d already belongs to %s", ErrInvalid, name, f.ID, other.Key)
		}
		r.byID[f.ID] = f
	}
	for _, f := range r.byID {
		if f != nil {
			r.fighters = append(r.fighters, f)
		}
	}
	if err := r.loadTeam(read); err != nil {
		return nil, err
	}
	r.hash = sum.Sum64()
	return r, nil
}

// loadTeam reads the tables of tag play.
func (r *Roster) loadTeam(read func(string) ([]byte, error)) error {
	b, err := read(MechanicsPath)
	if err != nil {
		return err
	}
	if r.Team.Mechanics, err = parseMechanics(MechanicsPath, b); err != nil {
		return err
	}
	if b, err = read(TuningPath); err != nil {
		return err
	}
	if r.Team.Tuning, err = parseTuning(TuningPath, b); err != nil {
		return err
	}
	if b, err = read(PairsPath); err != nil {
		return err
	}
	if err = r.parsePairs(PairsPath, b); err != nil {
		return err
	}
	if b, err = read(MusicPath); err != nil {
		return err
	}
	return r.parseMusic(MusicPath, b)
}

// names lists the .txt files of a folder in byte order, at least one.
func names(fsys fs.FS, dir string) ([]string, error) {
	list, err := fs.ReadDir(fsys, dir)
	if err != nil {
		return nil, fmt.Errorf("%w: %s: %v", ErrInvalid, dir, err)
	}
	var out []string
	for _, e := range list {
		if strings.HasSuffix(e.Name(), ".txt") {
			out = append(out, path.Join(dir, e.Name()))
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("%w: %s: no .txt file", ErrInvalid, dir)
	}
	return out, nil
}

// fold adds a file to the hash as its name and its lines without comments, outer blanks and empty lines, each with its length.
// So line ends and remarks do not make two players incompatible, and no value can slide from one line into another.
func fold(sum *xxhash.Digest, name string, text []byte) {
	add := func(s string) {
		var n [4]byte
		binary.LittleEndian.PutUint32(n[:], uint32(len(s)))
		sum.Write(n[:])
		sum.WriteString(s)
	}
	add(name)
	for raw := range strings.SplitSeq(string(text), "\n") {
		body, _, _ := strings.Cut(raw, "#")
		if body = strings.TrimSpace(body); body != "" {
			add(body)
		}
	}
	add("")
}

// Check reads one fighter file as a designer would hand it over and checks it against the embedded hitstop table.
// It gives what was read, so that a program can print it.
func Check(name string, text []byte) (*Fighter, error) {
	return parseFighter(name, text, embedded.Hitstops, &embedded.Tags)
}

// Hash is 64 bits of xxHash over all files; peers whose hashes differ must not play.
func (r *Roster) Hash() uint64 { return r.hash }

// Fighter gives a fighter by id, nil if there is none.
func (r *Roster) Fighter(id FighterID) *Fighter { return r.byID[id] }

// FighterByKey gives a fighter by the name of its file without .txt, nil if there is none.
func (r *Roster) FighterByKey(key string) *Fighter {
	for _, f := range r.fighters {
		if f.Key == key {
			return f
		}
	}
	return nil
}

// Fighters gives all fighters in order of id. The caller must not change the slice.
func (r *Roster) Fighters() []*Fighter { return r.fighters }

// Ruleset gives the rules by id, nil if this version has no such file.
func (r *Roster) Ruleset(id Rules) *Ruleset {
	if id >= RulesCount {
		return nil
	}
	return r.rulesets[id]
}
