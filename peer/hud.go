package peer

import (
	"fmt"
	"io"

	"backstep/natpunch"
	"backstep/peer/match"
	"backstep/rollback"
)

// hud is the one line a headless player sees on a terminal:
//
//	frame 1234  ping 42±3 · delay 2 · rb 1 (max 4) · loss 0.4 %, there 1.2 % · direct
//
// The loss there is what the opponent misses of ours, once it has said so.
// It is rewritten twice a second, so that it costs nothing in between. Why the
// path is none of the better ones stands on a line of its own, once it has been
// the reason for a while.
type hud struct {
	out     io.Writer
	reason  string
	since   int64 // when that became the reason
	told    string
	nextAt  int64
	deepest int // rollback since the last line
	longest int // the same over the match
	shown   bool
}

const (
	hudInterval = 500_000   // µs
	reasonAfter = 3_000_000 // µs that a reason lasts before it is told
)

func newHUD(out io.Writer) *hud { return &hud{out: out} }

func (h *hud) show(at int64, r rollback.Result, l *match.Loop, paths pathTeller) {
	h.deepest = max(h.deepest, r.RollbackFrames)
	h.longest = max(h.longest, r.RollbackFrames)
	if h.out == nil || at < h.nextAt {
		return
	}
	h.nextAt = at + hudInterval
	d := l.Driver()
	st := d.Link(otherPlayer(d)).Stats()
	rtt, jitter := d.Link(otherPlayer(d)).RoundTrip()
	path := paths.Path()
	h.why(at, path, paths.Reason())
	state := " · " + path.String()
	if s, ok := l.Opponent(); ok {
		state = fmt.Sprintf(", there %d.%d %%%s", s.Loss/10_000, s.Loss/1000%10, state)
	}
	if s := r.Status.String(); s != "" {
		state += " · " + s
	}
	fmt.Fprintf(h.out, "\r\x1b[Kframe %d  ping %d±%d · delay %d · rb %d (max %d) · loss %d.%d %%%s", r.Frame,
		rtt/1000, jitter/1000, d.Session().InputDelay(), h.deepest, h.longest,
		st.LossMillionths/10_000, st.LossMillionths/1000%10, state)
	h.deepest, h.shown = 0, true
}

// pathTeller is what a hud asks of natpunch.Paths.
type pathTeller interface {
	Path() natpunch.Kind
	Reason() string
}

func (h *hud) why(at int64, path natpunch.Kind, reason string) {
	if reason != h.reason {
		h.reason, h.since = reason, at
	}
	if path == natpunch.KindLAN || path == natpunch.KindDirect || reason == h.told || at-h.since < reasonAfter {
		return
	}
	h.told = reason
	fmt.Fprintf(h.out, "\r\x1b[Kpath: %s\n", reason)
}

// end leaves the last line standing.
func (h *hud) end() {
	if h.shown {
		fmt.Fprintln(h.out)
	}
}

func otherPlayer(d *rollback.Driver[match.World, uint16]) int {
	if d.Link(0) == nil {
		return 1
	}
	return 0
}
