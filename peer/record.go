package peer

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"

	"backstep/natpunch/rendezvous"
	"backstep/peer/archive"
	"backstep/peer/match"
	"backstep/peer/setup"
	"backstep/sim"
	"backstep/sim/data"
	"backstep/sim/replay"
)

// record takes down a match, if it is wanted.
type record struct {
	wanted bool
	build  string
	rec    *replay.Recorder
	err    error
	words  [2]uint16
}

func newRecord(build string, wanted bool) *record { return &record{wanted: wanted, build: build} }

func (r *record) start(_ setup.Match, w *match.World) {
	if r.wanted {
		r.rec, r.err = replay.NewRecorder(r.build, w.Config(), w.Players())
	}
}

func (r *record) add(frame int32, words [2]uint16, w *match.World) {
	if r.rec == nil {
		return
	}
	r.words = words
	if err := r.rec.Add(r.words[:]); err != nil {
		if !errors.Is(err, replay.ErrFull) {
			r.err = err
		}
		return
	}
	if frame%replay.HashEvery == 0 {
		r.rec.Hash(frame, w.Hash())
	}
}

// finish gives the file. A match that broke off is recorded as far as it was
// confirmed; one without a confirmed frame gives none.
func (r *record) finish(o match.Outcome) ([]byte, error) {
	if r.rec == nil || r.err != nil || r.rec.Frames() == 0 {
		return nil, r.err
	}
	if o.HasFinal {
		r.rec.Hash(int32(o.Confirmed-1), o.FinalHash)
	}
	return r.rec.Append(nil)
}

// Verified is what a replay that reproduces says.
type Verified struct {
	Frames, Hashes int
	Final          uint64
}

// VerifyReplay simulates the replay in a file and compares every hash. A file
// that is no replay, or one of another version, is a usage error; a hash that
// does not come out has the exit code of a desync.
func VerifyReplay(path string) (Verified, error) {
	rep, err := readReplay(path)
	if err == nil {
		err = rep.Verify()
	}
	if err != nil {
		return Verified{}, replayFailure(path, err)
	}
	v := Verified{Frames: rep.Frames(), Hashes: len(rep.Hashes)}
	if v.Hashes > 0 {
		v.Final = rep.Hashes[v.Hashes-1].Hash
	}
	return v, nil
}

func readReplay(path string) (*replay.Replay, error) {
	b, err := archive.ReadFile(path)
	if err != nil {
		return nil, fail(exitUsage, match.EndError, err, "the replay cannot be read: %v", err)
	}
	return replay.Decode(b)
}

func replayFailure(path string, err error) error {
	var f *Failure
	switch {
	case errors.As(err, &f):
		return err
	case errors.Is(err, replay.ErrMismatch):
		return fail(exitDesync, match.EndDesync, err, "%v", err)
	case errors.Is(err, replay.ErrIncompatible):
		return fail(exitIncompatible, match.EndVersion, err, "%v; use the version that made it", err)
	}
	return fail(exitUsage, match.EndError, err, "%s: %v", filepath.Base(path), err)
}

// ShowReplay prints what a replay, or the evidence of a desync, holds. Of a
// replay these are its header, its hashes and the
// inputs of both players, one line for each frame on which a word changes.
func ShowReplay(path string, w io.Writer) error {
	if b, err := archive.ReadFile(path); err == nil && isEvidence(b) {
		return showEvidence(b, w)
	}
	rep, err := readReplay(path)
	if err == nil {
		if cerr := rep.Compatible(); errors.Is(cerr, replay.ErrMalformed) {
			err = cerr
		}
	}
	if err != nil {
		return replayFailure(path, err)
	}
	b := bufio.NewWriter(w)
	c := rep.Config
	fmt.Fprintf(b, "build %s\nsim %d\ndata %016x\nruleset %s\nformat %s\nrounds %d\nseed %016x\nframes %d\n",
		quotedBuild(rep.Build), rep.Sim, rep.DataHash, c.Ruleset, c.Format, c.Rounds, c.Seed, rep.Frames())
	for side := range c.Teams {
		fmt.Fprintf(b, "team %d %s\n", side, strings.Join(teamNames(c.Teams[side]), ","))
	}
	for _, h := range rep.Hashes {
		fmt.Fprintf(b, "hash %d %016x\n", h.Frame, h.Hash)
	}
	last := make([]uint16, len(rep.Words))
	for f := range rep.Frames() {
		changed := f == 0
		for p := range rep.Words {
			changed = changed || rep.Words[p][f] != last[p]
			last[p] = rep.Words[p][f]
		}
		if !changed {
			continue
		}
		fmt.Fprintf(b, "input %d", f)
		for _, word := range last {
			fmt.Fprintf(b, " %03x", word)
		}
		fmt.Fprintln(b)
	}
	return b.Flush()
}

// teamMusic is the music of each side, which the page plays.
func teamMusic(teams [2][3]sim.FighterID) [2]uint8 {
	table := &data.Embedded().Team
	return [2]uint8{table.Music(teams[0]), table.Music(teams[1])}
}

// quotedBuild is the name of a build out of a file, for a terminal.
func quotedBuild(s string) string {
	return strconv.Quote(rendezvous.CleanLine(s, replay.MaxBuild, replay.MaxBuild))
}

// teamNames are the keys of the fighters of a side; ids this version does not
// know are numbers.
func teamNames(team [3]sim.FighterID) []string {
	names := []string{}
	for _, id := range team {
		if id == 0 {
			continue
		}
		if f := data.Embedded().Fighter(id); f != nil {
			names = append(names, f.Key)
		} else {
			names = append(names, "#"+strconv.Itoa(int(id)))
		}
	}
	return names
}
