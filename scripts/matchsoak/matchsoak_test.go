package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"backstep/peer/impair"
)

// ggrs#63, ggrs#75, ggrs#97, ggrs#106, GekkoNet#27, openliero#81, netfox#332; SESS-01, SESS-12, SESS-26, S-03, X-02: a few matches of
// `make soak`, with and without recorded networks.
func TestSoak(t *testing.T) {
	o := options{first: 1, n: matches, frames: 120, jobs: 2}
	for range 2 {
		r := soak(o)
		if r.failed != nil {
			small := reduce(o, r.failed.seed)
			t.Fatalf("seed %d: %v\nreduced: %v\n%s", r.failed.seed, r.failed.err, small.err, small.command(o.files))
		}
		if r.played != matches || r.frames < matches*120 || r.grown() {
			t.Errorf("%+v", r)
		}
		o.first, o.traces = 1_000_000, []*impair.Trace{recorded(t)}
	}
}

// recorded is a network with an outage, slow and fast by turns.
func recorded(t *testing.T) *impair.Trace {
	t.Helper()
	path := filepath.Join(t.TempDir(), "trace.csv")
	text := "t_ms,one_way_delay_ms,lost\n0,20,0\n200,90,0\n230,60,1\n500,45,0\n600,300,0\n620,15,0\n900,15,0\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	tr, err := impair.ReadTrace(path)
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

// Every kind of fault, every number of players and every game comes up, and a fair share of matches is held to the recovery.
func TestPlansHaveEverything(t *testing.T) {
	traces := []*impair.Trace{recorded(t)}
	seen := map[string]int{}
	const n = 1000
	for seed := range uint64(n) {
		p := newPlan(seed, 120, 0, traces)
		m, err := newMatch(p)
		if err != nil {
			t.Fatal(err)
		}
		if m.affords() {
			seen["affords"]++
		}
		note := func(k fault, has bool) {
			if has {
				seen[faultNames[k]]++
			}
		}
		seen[string(rune('0'+len(p.machines)))]++
		for g := range games {
			if p.game == games[g] {
				seen["game "+string(rune('0'+g))]++
			}
		}
		x, w, back := p.machines[1], p.ways[0][1], p.ways[1][0]
		note(loss, w.loss > 0)
		note(burst, w.burst > 0)
		note(jitter, w.jitter > 0)
		note(dup, w.dup > 0)
		note(reorder, w.reorder > 0)
		note(corrupt, w.corrupt > 0 && !x.cfg.RequireEncryptedTransport)
		note(asymmetry, w.delay != back.delay)
		note(partition, w.partitionTill > w.partitionFrom)
		note(drift, x.speed < 0.96 || x.speed > 1.04)
		note(freeze, x.wake > x.asleep+1_000_000)
		note(late, x.start > 100_000)
		note(redelay, x.redelay)
		note(traced, w.trace != nil)
	}
	for _, what := range append(faultNames[:], "2", "3", "4", "game 0", "game 1", "game 2", "game 3", "affords") {
		if seen[what] < n/100 {
			t.Errorf("%s: in %d of %d matches", what, seen[what], n)
		}
	}
	if seen["affords"] < n/4 {
		t.Errorf("recovery is watched in %d of %d matches only", seen["affords"], n)
	}
}

// What is left out is gone, and nothing else changes.
func TestWithoutFaults(t *testing.T) {
	for seed := range uint64(200) {
		with, none := newPlan(seed, 120, 0, nil), newPlan(seed, 120, 1<<faultCount-1, nil)
		for i, x := range none.machines {
			if x.speed != 1 || x.start != 1 || x.wake != 0 || x.redelay || x.cfg != with.machines[i].cfg {
				t.Fatalf("seed %d: %+v", seed, x)
			}
			for j, w := range none.ways[i] {
				if w.jitter+w.partitionTill != 0 || w.loss+w.dup+w.reorder+w.corrupt+w.burst != 0 || w.delay != none.ways[j][i].delay {
					t.Fatalf("seed %d: %+v", seed, w)
				}
			}
		}
	}
	if f, err := parseFaults("burst,late"); err != nil || f.String() != "burst,late" {
		t.Errorf("%v %v", f, err)
	}
	if _, err := parseFaults("boredom"); err == nil || !strings.Contains(err.Error(), "partition") {
		t.Errorf("an unknown fault: %v", err)
	}
}

// Each planted bug is found within a minute, and the command that is printed shows it again: a dropped due rollback, windows one frame
// too long and too short, a hash of a predicted frame, a resimulation that stops on equal state, a press that is lost when the delay
// is lowered, a fixed resend window.
func TestPlantedBugs(t *testing.T) {
	if matches < 100 {
		t.Skip("compiles the module several times; not under the race detector")
	}
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("needs git to apply the patches")
	}
	var b bytes.Buffer
	if err := plantAll(&b, "../..", "planted", 20_000); err != nil {
		t.Errorf("%v\n%s", err, b.String())
	}
	if n := strings.Count(b.String(), " found in "); n != 7 {
		t.Errorf("%d found:\n%s", n, b.String())
	}
}

// A patch that changes nothing about the promises is reported as not found, and one that does not apply as an error.
func TestHarmlessPatch(t *testing.T) {
	if matches < 100 {
		t.Skip("compiles the module; not under the race detector")
	}
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("needs git to apply the patches")
	}
	dir := t.TempDir()
	patch := "--- a/rollback/hashes.go\n+++ b/rollback/hashes.go\n@@ -1,3 +1,5 @@\n package rollback\n \n+// Nothing.\n+\n type frameHash struct {\n"
	path := filepath.Join(dir, "nothing.patch")
	if err := os.WriteFile(path, []byte(patch), 0o600); err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := plantAll(&b, "../..", dir, 50); err == nil || !strings.Contains(b.String(), "NOT FOUND") {
		t.Errorf("%v\n%s", err, b.String())
	}
	if err := os.WriteFile(path, []byte(strings.Replace(patch, "package rollback", "package other", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := plantAll(&b, "../..", dir, 50); err == nil || !strings.Contains(err.Error(), "apply") {
		t.Errorf("a patch that does not fit: %v", err)
	}
	if err := plantAll(&b, "../..", t.TempDir(), 50); err == nil {
		t.Error("an empty folder passes")
	}
}
