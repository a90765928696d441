package peer

import (
	"strings"
	"testing"

	"backstep/natpunch"
	"backstep/peer/report"
)

// TestHUDSaysWhy: a reason that lasts is told once; one that passes, and that
// of a good path, never.
func TestHUDSaysWhy(t *testing.T) {
	var out strings.Builder
	h := newHUD(&out)
	at := int64(1)
	step := func(path natpunch.Kind, reason string, n int) {
		for range n {
			h.why(at, path, reason)
			at += hudInterval
		}
	}
	step(natpunch.KindRelay, "relayed: looking for a direct path", 4)
	step(natpunch.KindDirect, "direct: no relay", 20)
	if out.Len() > 0 {
		t.Errorf("%q", out.String())
	}
	step(natpunch.KindRelay, "relayed: symmetric NAT", 20)
	step(natpunch.KindTunnel, "relayed over TCP: UDP is blocked", 20)
	if got := out.String(); strings.Count(got, "symmetric NAT") != 1 || strings.Count(got, "UDP is blocked") != 1 || strings.Count(got, "\n") != 2 {
		t.Errorf("%q", got)
	}
}

// scriptedPath is on the path its test sets.
type scriptedPath struct{ natpunch.Kind }

func (p *scriptedPath) Path() natpunch.Kind { return p.Kind }
func (p *scriptedPath) Reason() string      { return "because it is " + p.String() }
func (p *scriptedPath) Stats() natpunch.Stats {
	return natpunch.Stats{Path: p.Kind, LocalCandidate: p.String(), RemoteCandidate: p.String()}
}

// TestPathOfTheLastTick: a direct path that fell silent after the last frame
// stays the path of the match; one that fell silent before does not.
func TestPathOfTheLastTick(t *testing.T) {
	for _, late := range []bool{true, false} {
		r := report.New("test", "host")
		p := &scriptedPath{natpunch.KindRelay}
		w := pathWatch{report: r, paths: p}
		w.look(0)
		p.Kind = natpunch.KindDirect
		w.look(9)
		p.Kind = natpunch.KindRelay
		if !late {
			w.look(20)
		}
		r.Path = report.Of("relay") // as the channel reports it at the end
		w.end()
		want, changes := "direct", 2
		if !late {
			want, changes = "relay", 3
		}
		if *r.Path != want || len(r.PathChanges) != changes {
			t.Errorf("late %v: %s after %v", late, *r.Path, r.PathChanges)
		}
		if late && (*r.PathReason != "because it is direct" || *r.LocalCandidate != "direct" || *r.RemoteCandidate != "direct") {
			t.Errorf("%s, %s, %s", *r.PathReason, *r.LocalCandidate, *r.RemoteCandidate)
		}
	}
}
