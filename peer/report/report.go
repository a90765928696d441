// Package report is the match report: one JSON object that says what was
// played, over what, and how well. Its names are a contract with scripts.
//
//	who      version build lobby player side seed ruleset format data_hash
//	path     path path_reason path_changes candidates connect_ms … cipher
//	result   frames confirmed_frames final_hash hashes_every_600 end_reason
//	session  rollbacks depth stalls sync …
//	network  rtt_ms jitter_ms loss_pct packets bytes fec messages opponent …
//	machine  tick_us allocs_per_frame
//	verdict  quality fairness events desyncs
//
// What was not measured is null, never absent and never a made-up zero.
// 64-bit values are strings of 16 lower-case hex digits, because JSON numbers
// are doubles in most readers. Only the first half of the lobby code is in it,
// and no address.
package report

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Version of the report's layout; additions do not raise it.
const Version = 1

// Hex is a 64-bit value as 16 lower-case hex digits.
type Hex uint64

// MarshalJSON never fails.
func (h Hex) MarshalJSON() ([]byte, error) {
	return fmt.Appendf(nil, "%q", fmt.Sprintf("%016x", uint64(h))), nil
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (h *Hex) UnmarshalJSON(b []byte) error {
	var v uint64
	if _, err := fmt.Sscanf(string(b), "\"%016x\"", &v); err != nil || len(b) != 18 {
		return fmt.Errorf("%s is not a string of 16 hex digits", b)
	}
	*h = Hex(v)
	return nil
}

// FrameHash is a pair [frame, hash].
type FrameHash struct {
	Frame int32
	Hash  Hex
}

// MarshalJSON writes the pair as an array.
func (f FrameHash) MarshalJSON() ([]byte, error) { return json.Marshal([]any{f.Frame, f.Hash}) }

// PathChange is a pair [frame, path].
type PathChange struct {
	Frame int32
	Path  string
}

// MarshalJSON writes the pair as an array.
func (p PathChange) MarshalJSON() ([]byte, error) { return json.Marshal([]any{p.Frame, p.Path}) }

// Report is the whole object. Pointers are null until measured.
type Report struct {
	Version  int     `json:"version"`
	Build    string  `json:"build"`
	Lobby    *string `json:"lobby"`  // first half of the code
	Player   *string `json:"player"` // this side's name
	Side     string  `json:"side"`
	Seed     *Hex    `json:"seed"`
	Ruleset  *string `json:"ruleset"`
	Format   *string `json:"format"`
	DataHash Hex     `json:"data_hash"`

	Path            *string      `json:"path"`
	PathReason      *string      `json:"path_reason"`
	PathChanges     []PathChange `json:"path_changes"`
	LocalCandidate  *string      `json:"local_candidate"`
	RemoteCandidate *string      `json:"remote_candidate"`
	ConnectMs       *float64     `json:"connect_ms"`
	HandshakeMs     *float64     `json:"handshake_ms"`
	DirectMs        *float64     `json:"direct_ms"`
	Cipher          *string      `json:"cipher"`

	Frames          int         `json:"frames"`
	ConfirmedFrames int         `json:"confirmed_frames"`
	FinalHash       *Hex        `json:"final_hash"`
	HashesEvery600  []FrameHash `json:"hashes_every_600"`
	EndReason       string      `json:"end_reason"`

	Rollbacks         *int64 `json:"rollbacks"`
	ResimulatedFrames *int64 `json:"resimulated_frames"`
	Depth             Depth  `json:"depth"`
	StoppedEarly      *int64 `json:"stopped_early"`
	Stalls            *int64 `json:"stalls"`
	LongestStall      *int64 `json:"longest_stall"`
	FrozenFrames      *int64 `json:"frozen_frames"`
	Sync              Sync   `json:"sync"`

	RTTMs           Quantiles   `json:"rtt_ms"`
	JitterMs        *float64    `json:"jitter_ms"`
	LossPct         *float64    `json:"loss_pct"`
	Packets         Packets     `json:"packets"`
	Bytes           Bytes       `json:"bytes"`
	InputsBytes     InputsBytes `json:"inputs_bytes"`
	FEC             FEC         `json:"fec"`
	SecondDatagrams *int64      `json:"second_datagrams"`
	Messages        Messages    `json:"messages"`
	Opponent        Opponent    `json:"opponent"`

	TickUs         TickUs   `json:"tick_us"`
	AllocsPerFrame *float64 `json:"allocs_per_frame"`

	Quality  Quality  `json:"quality"`
	Fairness Fairness `json:"fairness"`
	Events   []Event  `json:"events"`
	Desyncs  int64    `json:"desyncs"`
}

// Depth of rollbacks in frames.
type Depth struct {
	Mean *float64 `json:"mean"`
	P50  *int64   `json:"p50"`
	P99  *int64   `json:"p99"`
	Max  *int64   `json:"max"`
}

// Sync is how level the two sides ran; rates are relative to 60 Hz.
type Sync struct {
	WaitFrames   *int64   `json:"wait_frames"`
	MeanOffsetUs *float64 `json:"mean_offset_us"`
	P99OffsetUs  *int64   `json:"p99_offset_us"`
	RateMin      *float64 `json:"rate_min"`
	RateMax      *float64 `json:"rate_max"`
}

// Quantiles in milliseconds.
type Quantiles struct {
	P50 *float64 `json:"p50"`
	P99 *float64 `json:"p99"`
}

// Packets by what became of them.
type Packets struct {
	Sent      *int64 `json:"sent"`
	Received  *int64 `json:"received"`
	Lost      *int64 `json:"lost"` // never acknowledged
	Duplicate *int64 `json:"duplicate"`
	Stale     *int64 `json:"stale"`
	Malformed *int64 `json:"malformed"` // authentic or unprotected, and did not parse
	Forged    *int64 `json:"forged"`    // refused by authentication or the record filter
}

// Bytes of datagrams without IP and UDP.
type Bytes struct {
	Sent     *int64 `json:"sent"`
	Received *int64 `json:"received"`
}

// InputsBytes are the coded inputs of one packet.
type InputsBytes struct {
	Mean *float64 `json:"mean"`
	P99  *int64   `json:"p99"`
}

// FEC of the packet stream.
type FEC struct {
	Mode          string `json:"mode"`
	ParitySent    *int64 `json:"parity_sent"`
	Recovered     *int64 `json:"recovered"`
	Unrecoverable *int64 `json:"unrecoverable"`
}

// Messages on the channels beside inputs, since the link stood.
type Messages struct {
	Sent     *int64 `json:"sent"`
	Received *int64 `json:"received"`
	Resent   *int64 `json:"resent"`  // fragments
	Flooded  *int64 `json:"flooded"` // the opponent's, thrown away because they came too fast
}

// Opponent is how the link looked from the other side, as it said last.
type Opponent struct {
	RTTMs    *float64 `json:"rtt_ms"`
	JitterMs *float64 `json:"jitter_ms"`
	LossPct  *float64 `json:"loss_pct"` // of what this side sent
	Stalls   *int64   `json:"stalls"`
}

// TickUs is the time of the match loop's ticks in microseconds.
type TickUs struct {
	P50 *int64 `json:"p50"`
	P99 *int64 `json:"p99"`
	Max *int64 `json:"max"`
}

// Quality is the grade of the network as this side measured it.
type Quality struct {
	Grade          *string  `json:"grade"`
	Mode           *string  `json:"mode"`
	Reliability    *float64 `json:"reliability"`
	WiredHint      *bool    `json:"wired_hint"`
	RankedEligible *bool    `json:"ranked_eligible"`
}

// Fairness is what can be said of the opponent's behaviour.
type Fairness struct {
	InputLatenessMs *float64 `json:"input_lateness_ms"`
	RateHz          *float64 `json:"rate_hz"`
	OpponentStalls  *int64   `json:"opponent_stalls"`
}

// Event is one thing worth telling, with the frame it happened at.
type Event struct {
	Frame int32  `json:"frame"`
	Kind  string `json:"kind"`
	Text  string `json:"text"`
}

// Write stores the report so that a reader sees the whole of it or none.
func (r *Report) Write(path string) error {
	b, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return fmt.Errorf("report: %w", err)
	}
	if err := WriteFile(path, append(b, '\n')); err != nil {
		return fmt.Errorf("report: %w", err)
	}
	return nil
}

// CheckFile finds out whether WriteFile can store a file under path, so that
// a mistake shows before a match and not after it. Nothing is left behind.
func CheckFile(path string) error {
	path, whole, err := target(path)
	if err != nil {
		return err
	}
	if !whole {
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		return f.Close()
	}
	tmp, err := os.CreateTemp(filepath.Dir(path), ".new-*")
	if err != nil {
		return err
	}
	err = tmp.Close()
	if e := os.Remove(tmp.Name()); err == nil {
		err = e
	}
	return err
}

// target follows links and tells whether path is or will be a plain file,
// which can be replaced as a whole. A device or pipe must be kept.
func target(path string) (file string, whole bool, err error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return path, true, nil
	case err != nil:
		return path, false, err
	case info.IsDir():
		return path, false, fmt.Errorf("%s is a directory", path)
	case !info.Mode().IsRegular():
		return path, false, nil
	}
	file, err = filepath.EvalSymlinks(path)
	return file, true, err
}

// WriteFile stores b under path so that a reader sees the whole of it or
// none. The file is readable by everybody. Into a device or pipe b is written
// as it is.
func WriteFile(path string, b []byte) error {
	path, whole, err := target(path)
	if err != nil {
		return err
	}
	if !whole {
		return os.WriteFile(path, b, 0)
	}
	tmp, err := os.CreateTemp(filepath.Dir(path), ".new-*")
	if err != nil {
		return err
	}
	_, err = tmp.Write(b)
	if e := tmp.Close(); err == nil {
		err = e
	}
	if err == nil {
		err = os.Chmod(tmp.Name(), 0o644)
	}
	if err == nil {
		err = os.Rename(tmp.Name(), path)
	}
	if err != nil {
		_ = os.Remove(tmp.Name())
	}
	return err
}
