package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Two real binaries and a real relay in processes of their own: the whole way from the code to the report.
func TestBinariesDuel(t *testing.T) {
	t.Parallel()
	const frames = 610
	r := start(t, "relay", "--listen", "127.0.0.1:0", "--admin", "", "--state-dir", t.TempDir(), "--drain", "0s")
	addr := r.line("listening")
	d := startDuel(t, addr, []string{"--frames", "610"},
		[]string{"--name", "Ada", "--region", "eu"}, []string{"--name", "Grace\x1b[31m", "--fec=off"})
	reports := d.end(frames)

	if out := d.host.output(); len(out) != 1 {
		t.Errorf("the host's stdout has more than the contract's line: %q", out)
	}
	if out := d.join.output(); len(out) != 0 {
		t.Errorf("the joiner's stdout: %q", out)
	}
	code, relays, _ := strings.Cut(d.code, "@")
	if !regexp.MustCompile(`^[2-9B-DF-HJKMNP-RTV-Z]{4}-[2-9B-DF-HJKMNP-RTV-Z]{4}$`).MatchString(code) || relays != addr {
		t.Errorf("code %q", d.code)
	}
	secret := code[5:]
	for side, rep := range reports {
		complete(t, rep, true)
		if rep["side"] != []string{"host", "join"}[side] || rep["player"] != []string{"Ada", "Grace[31m"}[side] ||
			rep["lobby"] != code[:4] || rep["ruleset"] != "sf" || rep["format"] != "1v1" ||
			rep["seed"] != "0000000000000007" || rep["version"] != 1.0 ||
			rep["cipher"] != "TLS_ECDHE_PSK_WITH_CHACHA20_POLY1305_SHA256" {
			t.Errorf("side %d: %v", side, rep)
		}
		found(t, rep["path"].(string), rep["path_reason"].(string))
		hashes := rep["hashes_every_600"].([]any)
		if len(hashes) != 2 || hashes[1].([]any)[0] != 600.0 || hashes[1].([]any)[1] != hex(offline(t, 7, 601)) {
			t.Errorf("side %d: hashes %v", side, hashes)
		}
		b, err := os.ReadFile(d.files[side])
		if err != nil {
			t.Fatal(err)
		}
		// The first half of a code may be reported, the second half never, and no address.
		if text := string(b) + d.host.logs.String() + d.join.logs.String(); strings.Contains(text, secret) || strings.Contains(string(b), "127.0.0.1") {
			t.Errorf("side %d: the secret %s or an address is in report or logs:\n%s", side, secret, text)
		}
	}
	if mode, _ := field(reports[0], "fec.mode"); mode != "auto" {
		t.Errorf("fec.mode of the host is %v", mode)
	}
	replays(t, d, frames)
}

// replays verifies the records of a duel with the binary, then damages one.
func replays(t *testing.T, d *duel, frames int) {
	want := hex(offline(t, 7, frames))
	for _, file := range d.records {
		p := start(t, "peer", "replay", "verify", file)
		p.ends(0, "")
		if out := strings.Join(p.output(), "\n"); out != "verified 610 frames, 3 hashes, final "+want {
			t.Errorf("replay verify says %q", out)
		}
	}
	b, err := os.ReadFile(d.records[0])
	if err != nil {
		t.Fatal(err)
	}
	damaged := func(name string, b []byte) string {
		f := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(f, b, 0o600); err != nil {
			t.Fatal(err)
		}
		return f
	}
	flipped := append([]byte(nil), b...)
	flipped[len(flipped)/2] ^= 4
	for name, content := range map[string][]byte{
		"empty": {}, "cut.bsr": b[:len(b)-1], "long.bsr": append(append([]byte(nil), b...), 0), "flipped.bsr": flipped, "text.bsr": []byte(strings.Repeat("hello ", 40)),
	} {
		start(t, "peer", "replay", "verify", damaged(name, content)).ends(2, "malformed replay")
	}
	start(t, "peer", "replay", "verify", filepath.Join(t.TempDir(), "missing")).ends(2, "cannot be read")
	start(t, "peer", "replay", "verify", damaged("hash.bsr", tampered(b))).ends(7, "does not reproduce its hashes")
}

// The duel of the worst line that a match should survive.
func TestBinariesImpaired(t *testing.T) {
	t.Parallel()
	line := "delay=40ms,jitter=5ms,loss=10%,dup=1%,reorder=1%,corrupt=1%"
	addr := startRelay(t, nil)
	d := startDuel(t, addr.String(), []string{"--frames", "400", "--fec", "xor", "--name", "x"},
		[]string{"--impair", line + ",seed=3", "--path", "lan,direct,relay"}, []string{"--impair", line + ",seed=4"})
	damaged := 0.0
	for side, r := range d.end(400) {
		complete(t, r, true)
		for _, name := range []string{"rollbacks", "fec.recovered", "fec.parity_sent", "packets.lost", "packets.duplicate", "loss_pct"} {
			if v, _ := field(r, name); v.(float64) <= 0 {
				t.Errorf("side %d: %s is %v", side, name, v)
			}
		}
		forged, _ := field(r, "packets.forged")
		malformed, _ := field(r, "packets.malformed")
		damaged += forged.(float64) + malformed.(float64)
	}
	if damaged == 0 {
		t.Error("no damaged datagram was counted")
	}
}

// One side may play a number of frames that the other did not ask for, and a match without a number ends by itself.
func TestFramesOfOneSide(t *testing.T) {
	t.Parallel()
	addr := startRelay(t, nil)
	d := startDuel(t, addr.String(), nil, []string{"--frames", "150"}, nil)
	d.end(150)
}

// `peer play` needs nothing, and ends by itself.
func TestPlay(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "play.json")
	p := start(t, "peer", "play", "--headless", "-frames=120", "--report", file)
	p.ends(0, "")
	r := readReport(t, file)
	complete(t, r, false)
	if r["frames"] != 120.0 || r["end_reason"] != "frames" {
		t.Errorf("%v frames, end %v", r["frames"], r["end_reason"])
	}
	for _, l := range p.output() {
		if !strings.HasPrefix(l, "lobby ") {
			t.Errorf("stdout says %q", l)
		}
	}
}

// A match that cannot begin is refused in one sentence, although its relay was up already.
func TestPlayRefusesInOneSentence(t *testing.T) {
	t.Parallel()
	for range 5 {
		p := start(t, "peer", "play", "--headless", "--input", "trace:"+t.TempDir()+":w1")
		p.ends(2, "bad input source")
		if strings.Count(p.logs.String(), "\n") != 1 {
			t.Errorf("it says\n%s", p.logs.String())
		}
	}
}

// What the environment says is meant for the player, not for the opponent in the second process, which would refuse to start
// for the one variable and write its own report over the player's for the other.
func TestPlayKeepsTheEnvironment(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "play.json")
	dir, err := binaries()
	if err != nil {
		t.Fatal(err)
	}
	p := startFile(t, program(dir, "peer"), []string{"BACKSTEP_REPORT=" + file, "BACKSTEP_FRAMES=many"}, "play", "--headless", "--frames", "60")
	p.ends(0, "")
	if r := readReport(t, file); r["side"] != "host" || !strings.Contains(p.logs.String(), "the match is over") {
		t.Errorf("the report is that of the %v side, the log is\n%s", r["side"], p.logs.String())
	}
}

// Reports are valid JSON with all fields also when there was no match.
func TestReportWithoutMatch(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "none.json")
	start(t, "peer", "join", "BCDF-GHJK@127.0.0.1:1", "--headless", "--input", "bot:easy", "--report", file).ends(3, "could not be reached")
	r := readReport(t, file)
	complete(t, r, false)
	for _, name := range []string{"seed", "final_hash", "path", "rollbacks", "depth.p50", "packets.sent", "bytes.sent", "allocs_per_frame"} {
		if v, _ := field(r, name); v != nil {
			t.Errorf("%s is %v, which nobody measured", name, v)
		}
	}
	if b, err := os.ReadFile(file); err != nil || !json.Valid(b) || r["end_reason"] != "no_path" || r["frames"] != 0.0 {
		t.Errorf("end_reason %v, frames %v, %v", r["end_reason"], r["frames"], err)
	}
}
