package peer

import (
	"strings"
	"testing"

	"backstep/natpunch"
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
