package peer

import (
	"errors"
	"io"
	"os"
	"path/filepath"

	"backstep/peer/match"
	"backstep/peer/report"
	"backstep/peer/setup"
	"backstep/sim/replay"
)

// record takes down the match for --record. Without the flag it does nothing.
type record struct {
	file, build string
	rec         *replay.Recorder
	err         error
	words       [2]uint16
}

func newRecord(c *Config) *record { return &record{file: c.RecordFile, build: c.Build} }

func (r *record) start(_ setup.Match, w *match.World) {
	if r.file == "" {
		return
	}
	r.rec, r.err = replay.NewRecorder(r.build, w.Config(), w.Players())
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

// finish writes the file. A match that broke off is recorded as far as it
// was confirmed; one without a confirmed frame leaves no file.
func (r *record) finish(o match.Outcome) error {
	if r.rec == nil || r.err != nil || r.rec.Frames() == 0 {
		return r.err
	}
	if o.HasFinal {
		r.rec.Hash(int32(o.Confirmed-1), o.FinalHash)
	}
	b, err := r.rec.Append(nil)
	if err != nil {
		return err
	}
	return report.WriteFile(r.file, b)
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
	f, err := os.Open(path)
	if err != nil {
		return Verified{}, fail(exitUsage, match.EndError, err, "the replay cannot be read: %v", err)
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, replay.MaxFile+1))
	if err != nil {
		return Verified{}, fail(exitUsage, match.EndError, err, "the replay cannot be read: %v", err)
	}
	rep, err := replay.Decode(b)
	if err == nil {
		err = rep.Verify()
	}
	switch {
	case errors.Is(err, replay.ErrMismatch):
		return Verified{}, fail(exitDesync, match.EndDesync, err, "%v", err)
	case errors.Is(err, replay.ErrIncompatible):
		return Verified{}, fail(exitIncompatible, match.EndVersion, err, "%v; use the version that made it", err)
	case err != nil:
		return Verified{}, fail(exitUsage, match.EndError, err, "%s: %v", filepath.Base(path), err)
	}
	v := Verified{Frames: rep.Frames(), Hashes: len(rep.Hashes)}
	if v.Hashes > 0 {
		v.Final = rep.Hashes[v.Hashes-1].Hash
	}
	return v, nil
}
