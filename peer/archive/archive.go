// Package archive is the player's own directory: the replays of all matches and
// the settings of the page.
//
//	DIR/settings.json
//	DIR/replays/20260102-150405-0123abcd.bsr     time of the end (UTC), first half of the last hash
//	DIR/desyncs/20260102-150405-K7QM-3XTD.bsd    the same time, and the code that both players' files have
//
// A file name holds a time and a hash and nothing an opponent said. Files are
// written beside their place and moved there, so a crash leaves the old one.
package archive

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"backstep/peer/infile"
	"backstep/peer/report"
	"backstep/sim/replay"
)

// ErrID: not the name of a replay of this archive.
var ErrID = errors.New("no replay has this name")

// maxSettings is more bytes than the page's settings have.
const maxSettings = 64 << 10

// most is how many replays are listed.
const most = 200

const (
	replayDir = "replays"
	desyncDir = "desyncs"
	extension = ".bsr"
	bundleExt = ".bsd"
	idLayout  = "20060102-150405"
)

// desyncForm is the name of a desync: a time and a code.
var desyncForm = regexp.MustCompile(`^\d{8}-\d{6}-[2-9B-Z]{4}-[2-9B-Z]{4}$`)

var idForm = regexp.MustCompile(`^\d{8}-\d{6}-[0-9a-f]{8}$`)

// Archive is one directory. Its methods may be called from any goroutine.
type Archive struct{ dir string }

// DefaultDir is where this player's files are kept.
func DefaultDir() (string, error) {
	dir, err := os.UserConfigDir()
	if err != nil {
		return "", fmt.Errorf("this user has no directory for settings (%w); give one with --data-dir", err)
	}
	return filepath.Join(dir, "backstep"), nil
}

// Open makes the directory if there is none.
func Open(dir string) (*Archive, error) {
	if err := os.MkdirAll(filepath.Join(dir, replayDir), 0o700); err != nil {
		return nil, err
	}
	return &Archive{dir: dir}, nil
}

// SaveReplay stores an encoded replay that ended at when with the given hash.
func (a *Archive) SaveReplay(b []byte, when time.Time, hash uint64) (id string, err error) {
	id = fmt.Sprintf("%s-%08x", when.UTC().Format(idLayout), uint32(hash>>32))
	return id, report.WriteFile(a.path(id), b)
}

// SaveDesync stores the evidence of a desync, see package desync, and returns where.
func (a *Archive) SaveDesync(b []byte, when time.Time, code string) (path string, err error) {
	dir := filepath.Join(a.dir, desyncDir)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	path = filepath.Join(dir, when.UTC().Format(idLayout)+"-"+code+bundleExt)
	return path, report.WriteFile(path, b)
}

// Desync is the evidence of a desync in the list.
type Desync struct {
	ID   string
	When time.Time
	Code string
}

// Desyncs gives the newest files of SaveDesync, newest first.
func (a *Archive) Desyncs() ([]Desync, error) {
	ids, err := a.ids(desyncDir, bundleExt, desyncForm)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	var out []Desync
	for _, id := range ids {
		when, terr := time.Parse(idLayout, id[:len(idLayout)])
		if terr == nil {
			out = append(out, Desync{id, when, id[len(idLayout)+1:]})
		}
	}
	return out, err
}

// ids gives the names of a directory that have a form, newest first.
func (a *Archive) ids(dir, ext string, form *regexp.Regexp) ([]string, error) {
	files, err := os.ReadDir(filepath.Join(a.dir, dir))
	if err != nil {
		return nil, err
	}
	var ids []string
	for _, f := range files {
		if id, ok := strings.CutSuffix(f.Name(), ext); ok && form.MatchString(id) && f.Type().IsRegular() {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	slices.Reverse(ids)
	return ids[:min(len(ids), most)], nil
}

// path is where a replay or a desync lies, empty for what is no name of one.
func (a *Archive) path(id string) string {
	switch {
	case idForm.MatchString(id):
		return filepath.Join(a.dir, replayDir, id+extension)
	case desyncForm.MatchString(id):
		return filepath.Join(a.dir, desyncDir, id+bundleExt)
	}
	return ""
}

// Load gives the bytes of a replay or of a desync.
func (a *Archive) Load(id string) ([]byte, error) {
	if a.path(id) == "" {
		return nil, ErrID
	}
	b, err := ReadFile(a.path(id))
	if errors.Is(err, os.ErrNotExist) {
		return nil, ErrID
	}
	return b, err
}

// ReadFile reads a replay file of any place, never more than one can be long.
func ReadFile(path string) ([]byte, error) {
	return infile.Read(path, replay.MaxFile)
}

// Delete removes a replay or a desync.
func (a *Archive) Delete(id string) error {
	if a.path(id) == "" {
		return ErrID
	}
	return os.Remove(a.path(id))
}

// Entry is a replay of the list. Err says why it cannot be played.
type Entry struct {
	ID     string
	When   time.Time
	Replay *replay.Replay // without its inputs; nil if it could not be read
	Frames int
	Err    error
}

// List gives the newest replays, newest first.
func (a *Archive) List() ([]Entry, error) {
	ids, err := a.ids(replayDir, extension, idForm)
	if err != nil {
		return nil, err
	}
	out := make([]Entry, 0, len(ids))
	for _, id := range ids {
		e := Entry{ID: id}
		e.When, e.Err = time.Parse(idLayout, id[:len(idLayout)])
		var b []byte
		if b, e.Err = a.Load(id); e.Err == nil {
			var r *replay.Replay
			if r, e.Err = replay.Decode(b); e.Err == nil {
				e.Frames, e.Err = r.Frames(), r.Compatible()
				r.Words = nil
				e.Replay = r
			}
		}
		out = append(out, e)
	}
	return out, nil
}

// Settings gives the bytes of the settings file, os.ErrNotExist if there is none.
func (a *Archive) Settings() ([]byte, error) {
	return infile.Read(filepath.Join(a.dir, "settings.json"), maxSettings)
}

// SaveSettings replaces the settings file.
func (a *Archive) SaveSettings(b []byte) error {
	return report.WriteFile(filepath.Join(a.dir, "settings.json"), b)
}
