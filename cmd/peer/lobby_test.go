package main

import (
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"backstep/relay"
)

// other replaces a symbol of a code by another one.
func other(code string, at int) string {
	c := byte('2')
	if code[at] == c {
		c = '3'
	}
	return code[:at] + string(c) + code[at+1:]
}

// joinAs starts a joiner with a bot.
func joinAs(t *testing.T, code string, args ...string) *process {
	t.Helper()
	return start(t, "peer", append([]string{"join", code, "--headless", "--input", "bot:easy", "--frames", "90"}, args...)...)
}

// Wrong codes cost the one who typed them, never the host: the right joiner gets in afterwards.
func TestWrongCodes(t *testing.T) {
	t.Parallel()
	addr := startRelay(t, nil).String()
	d := hosted(t, addr, "--frames", "90")
	joinAs(t, other(d.code, 0)).ends(4, "no lobby has this code")
	joinAs(t, other(d.code, 5)).ends(4, "the code did not fit")
	joinAs(t, other(d.code, 8)).ends(4, "the code did not fit")
	d.host.waitLog("wrong_guess")
	d.joins("--frames", "90")
	d.end(90)
	// It has served its opponent.
	joinAs(t, d.code).ends(4, "")
}

// Three wrong guesses kill a code; the host shows a new one, different in both halves, and that works.
func TestThreeWrongGuesses(t *testing.T) {
	t.Parallel()
	addr := startRelay(t, nil).String()
	d := hosted(t, addr, "--frames", "60")
	for at := 5; at < 8; at++ {
		joinAs(t, other(d.code, at)).ends(4, "the code did not fit")
	}
	old := d.code
	d.code = d.host.line("lobby")
	if old[:4] == d.code[:4] || old[5:9] == d.code[5:9] {
		t.Errorf("code %s became %s", old, d.code)
	}
	joinAs(t, old).ends(4, "no lobby has this code")
	// Case, separators and spaces do not matter.
	d.code = strings.ToLower(d.code[:4] + " " + d.code[5:])
	d.joins("--frames", "60")
	d.end(60)
}

func TestFullLobby(t *testing.T) {
	t.Parallel()
	addr := startRelay(t, nil).String()
	d := startDuel(t, addr, []string{"--frames", "240"}, nil, nil)
	d.host.waitLog("direct path found")
	third := joinAs(t, d.code)
	third.ends(4, "has already found its opponent")
	d.end(240)
}

// A host that vanished without a goodbye: the joiner waits a moment for it and then says who is away. It is not the relay.
func TestHostAway(t *testing.T) {
	t.Parallel()
	d := hosted(t, startRelay(t, nil).String())
	if err := d.host.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	<-d.host.ended
	join := joinAs(t, d.code, "--timeout", "3s")
	join.waitLog("waiting a moment")
	join.ends(6, "the host is away")
	if said := join.said(); strings.Contains(said, "relay") {
		t.Errorf("it speaks of the relay: %s", said)
	}
}

func TestExpiredCode(t *testing.T) {
	t.Parallel()
	addr := startRelay(t, func(c *relay.Config) { c.Limits.CodeTime = 2 * time.Second }).String()
	d := hosted(t, addr)
	old := d.code
	renewed := d.host.line("lobby")
	if old[:4] == renewed[:4] {
		t.Errorf("code %s was renewed as %s", old, renewed)
	}
	joinAs(t, old).ends(4, "")
}

func TestNobodyComes(t *testing.T) {
	t.Parallel()
	d := hosted(t, startRelay(t, nil).String(), "--wait", "1s")
	d.host.ends(4, "nobody joined in time")
	complete(t, readReport(t, d.files[0]), false)
}

// A relay that cannot be reached, or is something else, ends with code 3 within the time that was given.
func TestNoRelay(t *testing.T) {
	t.Parallel()
	if _, err := binaries(); err != nil { // not within the time that is measured
		t.Fatal(err)
	}
	deaf, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer deaf.Close()
	web := httptest.NewServer(http.NotFoundHandler())
	defer web.Close()
	for name, addr := range map[string]string{
		"closed": "127.0.0.1:1", "deaf": deaf.Addr().String(), "web server": strings.TrimPrefix(web.URL, "http://"), "no name": "relay.invalid",
	} {
		t.Run(name, func(t *testing.T) {
			began := time.Now()
			host := start(t, "peer", "host", "--headless", "--input", "bot:easy", "--relay", addr, "--timeout", "2s")
			join := joinAs(t, "BCDF-GHJK@"+addr, "-timeout=2s")
			host.ends(3, addr)
			join.ends(3, addr)
			if took := time.Since(began); took > 30*time.Second {
				t.Errorf("it took %v", took)
			}
		})
	}
}

func TestToken(t *testing.T) {
	t.Parallel()
	addr := startRelay(t, func(c *relay.Config) { c.Token = "open-sesame" }).String()
	start(t, "peer", "host", "--headless", "--input", "bot:easy", "--relay", addr).ends(3, "wants a token")
	start(t, "peer", "host", "--headless", "--input", "bot:easy", "--relay", addr, "--relay-token", "sesame").ends(3, "token")
	joinAs(t, "BCDF-GHJK@"+addr).ends(3, "wants a token")
	d := startDuel(t, addr, []string{"--frames", "60", "--relay-token", "open-sesame"}, nil, nil)
	d.end(60)
}

// Whoever cannot agree on the rules or on a path says so on both sides.
func TestDisagreements(t *testing.T) {
	t.Parallel()
	t.Run("rounds", func(t *testing.T) {
		t.Parallel()
		d := startDuel(t, startRelay(t, nil).String(), nil, []string{"--rounds", "2"}, []string{"--rounds", "3"})
		d.join.ends(8, "another rounds (3) than the host (2)")
		d.host.ends(8, "another rounds (3) than the host (2)")
		for side := range d.files {
			if r := readReport(t, d.files[side]); r["end_reason"] != "version" {
				t.Errorf("side %d: end_reason %v", side, r["end_reason"])
			}
		}
	})
	t.Run("same rounds", func(t *testing.T) {
		t.Parallel()
		d := startDuel(t, startRelay(t, nil).String(), []string{"--rounds", "2", "--frames", "60"}, nil, nil)
		d.end(60)
	})
	t.Run("path", func(t *testing.T) {
		t.Parallel()
		d := startDuel(t, startRelay(t, nil).String(), nil, []string{"--path", "relay"}, []string{"--path", "lan"})
		d.join.ends(5, "nothing in common")
		d.host.ends(5, "nothing in common")
	})
	// On one machine there is no direct path, only lan.
	t.Run("no way", func(t *testing.T) {
		t.Parallel()
		d := startDuel(t, startRelay(t, nil).String(), []string{"--path", "direct", "--timeout", "2s"}, nil, nil)
		d.join.ends(5, "no direct path to the opponent came about within 2s (")
		d.host.ends(5, "no direct path to the opponent came about within 2s (")
	})
	t.Run("silent relay", func(t *testing.T) {
		t.Parallel()
		d := startDuel(t, startRelay(t, nil).String(), []string{"--path", "relay", "--timeout", "2s", "--impair", "loss=100%"}, nil, nil)
		d.join.ends(5, "does not answer this player on UDP, and --path forbids the tunnel")
		d.host.ends(5, "does not answer this player on UDP, and --path forbids the tunnel")
	})
}
