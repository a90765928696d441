package peer

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"time"

	"backstep/peer/archive"
	"backstep/peer/match"
	"backstep/rollback/desync"
	"backstep/sim"
)

// shownRanges is how many runs of differing bytes are printed.
const shownRanges = 16

// keepEvidence writes the evidence of a desync into the player's directory.
func (c *Config) keepEvidence(e *desync.Evidence) (path string, err error) {
	dir := c.DataDir
	if dir == "" {
		if dir, err = archive.DefaultDir(); err != nil {
			return "", err
		}
	}
	a, err := archive.Open(dir)
	if err != nil {
		return "", err
	}
	return a.SaveDesync(desync.AppendEvidence(nil, e), time.Now(), e.Code())
}

// evidence takes the evidence of a match and says in the log where it is.
func (c *Config) evidence(e *desync.Evidence) {
	path, err := c.keepEvidence(e)
	if err != nil {
		c.Log.Warn().Str("event", "desync").Str("code", e.Code()).Int32("frame", e.Frame).Err(err).Msg("the evidence of a desync could not be written")
		return
	}
	c.Log.Warn().Str("event", "desync").Str("code", e.Code()).Int32("frame", e.Frame).Str("file", path).
		Msg("the two simulations differed; the opponent has a file with the same code")
}

// acceptState takes the host's state when two simulations keep differing: the
// match is unranked, it happens once, and who does not want it may leave.
func (d *duel) acceptState() desync.Answer {
	d.tell("The two games still differ. Yours goes on from the host's; leave if you do not want that.")
	return desync.Yes
}

// tell says something to the player, where there is one.
func (d *duel) tell(text string) {
	if d.notice != nil {
		d.notice("warn", text)
	}
}

// Verdict is what a re-simulation of the differing frame says.
type Verdict uint8

// The verdicts.
const (
	Unknown    Verdict = iota // a state or an input is missing, or it is a game of another version
	HostRight                 // the host's state is what comes out
	GuestRight                // the guest's is
	Neither                   // none is
)

func (v Verdict) String() string {
	return [...]string{"unknown", "host", "guest", "neither"}[v]
}

// Judge steps the differing frame again on this machine, from the state before
// it and the words of both players.
func Judge(e *desync.Evidence) Verdict {
	if n := len(e.Game) - 8; n < 0 || binary.LittleEndian.Uint64(e.Game[n:]) != sim.DataHash() {
		return Unknown
	}
	w := again(e)
	if w == nil {
		return Unknown
	}
	switch state := w.AppendState(nil); {
	case bytes.Equal(state, e.States[0]):
		return HostRight
	case bytes.Equal(state, e.States[1]):
		return GuestRight
	}
	return Neither
}

// isEvidence tells evidence from a replay.
func isEvidence(b []byte) bool { return bytes.HasPrefix(b, []byte("V2DE")) }

// showEvidence prints what the evidence of a desync says.
func showEvidence(b []byte, w io.Writer) error {
	e, err := desync.ParseEvidence(b)
	if err != nil {
		return fail(exitUsage, match.EndError, err, "the file is no evidence that this version can read")
	}
	wrote := "guest"
	if e.Host {
		wrote = "host"
	}
	fmt.Fprintf(w, "desync %s\nwritten by %s\nframe %d\nagreed %d\nranked %v\n", e.Code(), wrote, e.Frame, e.Agreed, e.Ranked)
	for i, name := range []string{"host", "guest"} {
		fmt.Fprintf(w, "%s build %s hash %016x state %d bytes\n", name, quotedBuild(e.Builds[i]), e.Hashes[i], len(e.States[i]))
	}
	for _, r := range e.Ranges(shownRanges) {
		fmt.Fprintf(w, "differ %d..%d host %x guest %x\n", r.Offset, r.Offset+r.Length-1, cut(e.States[0], r), cut(e.States[1], r))
	}
	for p, words := range e.Words {
		fmt.Fprintf(w, "input %d from frame %d:", p, e.First)
		for _, word := range words {
			fmt.Fprintf(w, " %03x", word)
		}
		fmt.Fprintln(w)
	}
	_, err = fmt.Fprintf(w, "stepped again here: %v\n", Judge(e))
	return err
}

// cut is what a state has of a range, 16 bytes at most.
func cut(state []byte, r desync.Range) []byte {
	from := min(r.Offset, len(state))
	return state[from:min(from+min(r.Length, 16), len(state))]
}
