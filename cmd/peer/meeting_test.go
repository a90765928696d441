package main

import (
	"strings"
	"testing"
	"time"

	"backstep/relay"
)

// A code may name several relays: those that are gone, or do not know the lobby, cost a joiner nothing but time.
func TestSeveralRelaysInTheCode(t *testing.T) {
	t.Parallel()
	d := hosted(t, startRelay(t, nil).String(), "--frames", "60")
	symbols, at, ok := strings.Cut(d.code, "@")
	if !ok {
		t.Fatalf("code %s names no relay", d.code)
	}
	d.code = symbols + "@" + startRelay(t, nil).String() + "," + at
	d.joins("--frames", "60")
	d.end(60)

	gone := hosted(t, startRelay(t, nil).String(), "--frames", "60")
	symbols, at, _ = strings.Cut(gone.code, "@")
	gone.code = symbols + "@127.0.0.1:1," + at
	gone.joins("--frames", "60")
	gone.end(60)
}

// A host who does not trust the relay asks for a longer secret half.
func TestLongerSecret(t *testing.T) {
	t.Parallel()
	d := hosted(t, startRelay(t, nil).String(), "--frames", "60", "--secret-symbols", "8")
	symbols, _, _ := strings.Cut(d.code, "@")
	if _, secret, _ := strings.Cut(symbols, "-"); len(secret) != 8 {
		t.Fatalf("code %s", symbols)
	}
	joinAs(t, other(d.code, 12)).ends(4, "the code did not fit")
	d.joins("--frames", "60")
	d.end(60)
}

// Whose clock is right does not matter: a relay that is a day ahead, or behind, hands out keys that it takes itself.
func TestRelayClockOffByADay(t *testing.T) {
	t.Parallel()
	for name, off := range map[string]time.Duration{"ahead": 24 * time.Hour, "behind": -24 * time.Hour} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			addr := startRelay(t, func(c *relay.Config) { c.Now = func() time.Time { return time.Now().Add(off) } }).String()
			d := startDuel(t, addr, []string{"--frames", "120", "--path", "relay"}, nil, nil)
			for side, r := range d.end(120) {
				if r["path"] != "relay" {
					t.Errorf("side %d: path %v", side, r["path"])
				}
			}
		})
	}
}

// Of two who join at once, from one place as far as the relay can tell, one plays and the other is told that the lobby is full, or
// that the newer attempt took the place of the older.
func TestTwoJoinAtOnce(t *testing.T) {
	t.Parallel()
	d := hosted(t, startRelay(t, nil).String(), "--frames", "120")
	first, second := joinAs(t, d.code, "--frames", "120"), joinAs(t, d.code, "--frames", "120")
	if first.code() == 0 {
		first, second = second, first
	}
	if first.code(); strings.Contains(first.said(), "took this one's place") {
		first.ends(4, "type the code again")
	} else {
		first.ends(4, "has already found its opponent")
	}
	second.ends(0, "")
	d.host.ends(0, "")
}

// A joiner that vanishes between code and match: it is met, and then nothing of it comes. The host says so at once and does not
// wait for it.
func TestJoinerGoneBeforeTheMatch(t *testing.T) {
	t.Parallel()
	d := hosted(t, startRelay(t, nil).String(), "--timeout", "30s")
	d.joins("--path", "relay", "--impair", "loss=100%", "--timeout", "30s")
	d.host.waitLog("the opponent is here")
	began := time.Now()
	if err := d.join.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	<-d.join.ended
	d.host.ends(6, "the opponent left the lobby")
	if took := time.Since(began); took > 20*time.Second {
		t.Errorf("it took %v", took)
	}
	if r := readReport(t, d.files[0]); r["end_reason"] != "opponent_left" {
		t.Errorf("end_reason %v", r["end_reason"])
	}
}
