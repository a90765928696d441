//go:build linux

package natlab

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Match is one match to be played. The zero values of nodes mean a and b.
type Match struct {
	Host, Join         string // nodes
	HostArgs, JoinArgs []string
	Relay              string // as the host names it; RelayAddr if empty
	IPv6               bool   // the relay listens there too
	Frames             int
	Seed               uint64
	Trace              string // file with the columns w1 (host) and w2 (joiner)
	// During runs beside the match, from before the players start, with a context that ends with the match. Its error is Play's.
	During func(ctx context.Context, v *Live) error
}

// Side is what one player's process left.
type Side struct {
	Exit   int
	Log    string // its stderr
	Report Report
	JSON   []byte // the report as it was written
}

// Result of a match.
type Result struct {
	Code string // the lobby code, secret half included
	Host Side
	Join Side
}

// Report holds the fields of a match report that a lab looks at; pointers are nil where the report has null.
type Report struct {
	Path            *string  `json:"path"`
	PathReason      *string  `json:"path_reason"`
	PathChanges     [][2]any `json:"path_changes"`
	LocalCandidate  *string  `json:"local_candidate"`
	RemoteCandidate *string  `json:"remote_candidate"`
	ConnectMs       *float64 `json:"connect_ms"`
	HandshakeMs     *float64 `json:"handshake_ms"`
	DirectMs        *float64 `json:"direct_ms"`
	Cipher          *string  `json:"cipher"`
	Frames          int      `json:"frames"`
	ConfirmedFrames int      `json:"confirmed_frames"`
	FinalHash       *string  `json:"final_hash"`
	EndReason       string   `json:"end_reason"`
	Stalls          *int64   `json:"stalls"`
	LongestStall    *int64   `json:"longest_stall"`
	Packets         struct {
		Sent *int64 `json:"sent"`
		Lost *int64 `json:"lost"`
	} `json:"packets"`
	FEC struct {
		ParitySent *int64 `json:"parity_sent"`
	} `json:"fec"`
	SecondDatagrams *int64 `json:"second_datagrams"`
	Desyncs         int64  `json:"desyncs"`
}

// Was reports whether the match used a path at any time.
func (r *Report) Was(path string) bool {
	for _, c := range r.PathChanges {
		if c[1] == path {
			return true
		}
	}
	return false
}

// Changes are the path changes as text: "0 relay, 9 direct".
func (r *Report) Changes() string {
	var all []string
	for _, c := range r.PathChanges {
		all = append(all, fmt.Sprintf("%v %v", c[0], c[1]))
	}
	return strings.Join(all, ", ")
}

// Expects reports whether a path is one of those that are right, which slashes separate.
func Expects(right, path string) bool { return slices.Contains(strings.Split(right, "/"), path) }

// Reason is why the path is what it is.
func (r *Report) Reason() string {
	if r.PathReason == nil {
		return "no reason"
	}
	return *r.PathReason
}

// Fault says why the match is not a good one: a player that failed, frames that are missing, states that differ; nil if it is.
func (r *Result) Fault() error {
	for _, s := range []struct {
		name string
		Side
	}{{"host", r.Host}, {"join", r.Join}} {
		rep := &s.Report
		switch {
		case s.Exit != 0:
			return fmt.Errorf("%s ended with %d: %s", s.name, s.Exit, lastLine(s.Log))
		case rep.EndReason != "frames" || rep.Frames == 0 || rep.Frames != rep.ConfirmedFrames:
			return fmt.Errorf("%s ended by %q after %d frames, %d confirmed", s.name, rep.EndReason, rep.Frames, rep.ConfirmedFrames)
		case rep.Desyncs != 0:
			return fmt.Errorf("%s saw %d desyncs", s.name, rep.Desyncs)
		case rep.FinalHash == nil:
			return fmt.Errorf("%s reports no final hash", s.name)
		}
	}
	if h, j := r.Host.Report, r.Join.Report; *h.FinalHash != *j.FinalHash || h.Frames != j.Frames {
		return fmt.Errorf("host ended on %s after %d frames, join on %s after %d", *h.FinalHash, h.Frames, *j.FinalHash, j.Frames)
	}
	return nil
}

const (
	// patience is how long players wait for relay and opponent: more than the default, because labs stand side by side.
	patience = 30 * time.Second
	// matchTime is what a match may take beside its frames: start, connection, end.
	matchTime = patience + 15*time.Second
)

// errOver is why During's context ends.
var errOver = errors.New("natlab: the match is over")

// Play starts a relay and both players and waits for their end. An error means that the match could not be played or During
// failed; how it went is in the result, which holds what there is also beside an error. Logs and reports stay in dir.
func (l *Lab) Play(ctx context.Context, p Programs, m Match, dir string) (Result, error) {
	limit := matchTime + 2*time.Duration(m.Frames)*time.Second/60
	ctx, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("natlab: the match was not over after %v", limit))
	defer cancel()
	v := &Live{lab: l, program: p.Relay, dir: dir, ipv6: m.IPv6, players: map[string]*process{}}
	defer v.stopRelay()
	if err := v.startRelay(ctx); err != nil {
		return Result{}, err
	}
	if m.During == nil {
		return l.players(ctx, p, m, dir, v)
	}
	mctx, over := context.WithCancelCause(ctx)
	during := make(chan error, 1)
	go func() { during <- m.During(mctx, v) }()
	r, err := l.players(ctx, p, m, dir, v)
	over(errOver)
	return r, errors.Join(err, <-during)
}

// players plays with a relay that runs.
func (l *Lab) players(ctx context.Context, p Programs, m Match, dir string, v *Live) (r Result, err error) {
	run := func(node, name, column string, args ...string) (*process, error) {
		args = append(args, "--headless", "--input", "trace:"+m.Trace+":"+column, "--frames", fmt.Sprint(m.Frames),
			"--report", filepath.Join(dir, name+".json"), "--timeout", patience.String(), "--log-level", "debug")
		player, err := start(l.Command(ctx, node, p.Peer, args...), filepath.Join(dir, name+".log"))
		if err == nil {
			v.add(name, player)
		}
		return player, err
	}
	host, err := run(cmp.Or(m.Host, "a"), "host", "w1",
		append([]string{"host", "--relay", cmp.Or(m.Relay, RelayAddr.String()), "--seed", fmt.Sprint(m.Seed)}, m.HostArgs...)...)
	if err != nil {
		return r, fmt.Errorf("natlab: host: %w", err)
	}
	defer func() { r.Host = host.side(filepath.Join(dir, "host.json")) }()
	if r.Code, err = host.line(ctx, "lobby "); err != nil {
		host.stop()
		return r, fmt.Errorf("natlab: host: %w", err)
	}
	join, err := run(cmp.Or(m.Join, "b"), "join", "w2", append([]string{"join", r.Code}, m.JoinArgs...)...)
	if err != nil {
		host.stop()
		return r, fmt.Errorf("natlab: join: %w", err)
	}
	<-join.ended
	r.Join = join.side(filepath.Join(dir, "join.json"))
	<-host.ended
	return r, context.Cause(ctx)
}
