// Package golden is the corpus of matches that must come out the same for ever: settings and inputs in plain text with the hash of
// the state every ten frames. It is what shows that a change has not altered the game unnoticed, and that every architecture plays
// the same one.
//
// A manifest is one JSON file, in this form and no other (parsing encodes again and compares):
//
//	schema        "v2.tests.goldenReplay.simCorpus.v1"
//	name          the file's name without .json
//	source        where the inputs come from, in words
//	sim_version   of the program that wrote it
//	data_hash     of the game data of that program; another one explains other hashes, it does not excuse them
//	config        seed, ruleset, format, rounds, teams
//	frames        N: frames 0…N-1 are played
//	inputs        for each player lines of runs: "000*12 008 028*3" is word 000 for twelve frames, 008 for one, 028 for three
//	input_sha256  SHA-256 of the players' inputs as rollback/input writes them for the wire and for replays
//	hash_every    10
//	hashes        of the states labelled 0, 10, 20, …
//	final_hash    of the state labelled N-1
//
//	Make: play ──> play again ──> the same? ──> manifest         Verify: manifest ──> play ──> every hash the same?
//	                                  └─ no ──> ErrUnsteady                                          └─ no ──> *Mismatch
//
// The files stand in sim/testdata/golden and are written by scripts/golden alone; tests only read them.
package golden

import (
	"errors"
	"fmt"
)

// Schema names the form of a manifest.
const Schema = "v2.tests.goldenReplay.simCorpus.v1"

// HashEvery is the distance of the hashes in frames.
const HashEvery = 10

// MaxFrames is the most frames of a manifest.
const MaxFrames = 20000

// Errors. ErrMalformed: the bytes are no manifest in the one form. ErrUnsteady: playing twice gave two results, so no manifest
// can be made. ErrMismatch: the game came to another state than the manifest says; see Mismatch.
var (
	ErrMalformed = errors.New("malformed golden manifest")
	ErrUnsteady  = errors.New("the match does not reproduce")
	ErrMismatch  = errors.New("the match has changed")
)

// Mismatch is the first state that differs.
type Mismatch struct {
	Name             string
	Frame            int32
	Stored, Computed uint64
	OtherData        bool // the manifest was written with other game data
}

func (m *Mismatch) Error() string {
	data := "the game data is the same"
	if m.OtherData {
		data = "the game data has changed too"
	}
	return fmt.Sprintf("%v: %s, frame %d: %016x in the manifest, %016x now; %s", ErrMismatch, m.Name, m.Frame, m.Stored, m.Computed, data)
}

// Unwrap gives ErrMismatch.
func (m *Mismatch) Unwrap() error { return ErrMismatch }
