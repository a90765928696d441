package main

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
)

// The scenarios that settle quickly meet their targets in a fraction of the time too.
func TestQuickTargets(t *testing.T) {
	for _, name := range []string{"rtt80_l0", "rtt80_l20", "rtt150_l0", "rtt80_off33", "rtt80_drift1pct", "rtt80_damage20"} {
		x, err := choose(name)
		if err != nil {
			t.Fatal(err)
		}
		r, err := run(x[0], 8, 1, 64)
		if err != nil {
			t.Fatal(err)
		}
		ref := references(8)[name]
		// One minute still shows how the clocks met.
		ref.sum *= 1.02
		ref.diff *= 1.1
		if m := ref.misses(r); len(m) > 0 {
			t.Errorf("%s: %v\n%+v", name, m, r)
		}
		if name == "rtt80_damage20" && (r.A.Malformed < 500 || r.B.Malformed < 500) {
			t.Errorf("damage: malformed %d and %d", r.A.Malformed, r.B.Malformed)
		}
	}
}

// The model is seeded: the same run gives the same figures, another seed gives others.
func TestRunsRepeat(t *testing.T) {
	x, err := choose("rtt80_jit30_l2")
	if err != nil {
		t.Fatal(err)
	}
	line := func(seed uint64) string {
		r, err := run(x[0], 8, seed, 20)
		if err != nil {
			t.Fatal(err)
		}
		b, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	if a, b := line(3), line(3); a != b {
		t.Errorf("%s\n%s", a, b)
	}
	if line(3) == line(4) {
		t.Error("the seed changes nothing")
	}
}

// The first draws of the model's generator and link, so that it stays the model.
func TestGenerator(t *testing.T) {
	g := generator(1)
	if got := g.next(); got != 0x40822041 {
		t.Errorf("first draw %#x", got)
	}
	l := newLink(scenario{rtt: 80, loss: 0.5}, 0, 1)
	var seed uint64 = 0x9E3779B97F4A7C15
	r := newGenerator(seed+1, 20)
	for i := range 100 {
		before := l.Len()
		l.send(int64(1+i), []byte{1})
		if dropped := l.Len() == before; dropped != (r.uniform() < 0.5) {
			t.Fatalf("packet %d: dropped %v", i, dropped)
		}
	}
	if l.Next() < 40_001 || l.counts.packets != 100 {
		t.Errorf("arrival %d, counted %d", l.Next(), l.counts.packets)
	}
}

func TestTableNamesMisses(t *testing.T) {
	r := report{Scenario: "rtt80_l0", Window: 8, Seed: 1}
	r.A.Stalls, r.A.DepthMean, r.B.DepthMean, r.Mismatches = 3, 4, 2, 1
	var b bytes.Buffer
	if n := table(&b, []report{r}); n != 1 {
		t.Errorf("%d missed", n)
	}
	for _, want := range []string{"MISSED", "stalls > 0", "sum of depths > 5.01", "difference of depths > 1.01", "1 mismatches"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("the table does not say %q:\n%s", want, b.String())
		}
	}
	for _, x := range scenarios() {
		if _, ok := references(8)[x.name]; !ok {
			t.Errorf("no reference for %s", x.name)
		}
	}
	if _, err := choose("rtt1_nowhere"); err == nil || !strings.Contains(err.Error(), "rtt80_burst") {
		t.Errorf("an unknown scenario: %v", err)
	}
}

// Real play: an eight-frame window of inputs costs at most 3 bytes in the mean and 9 in 99 of 100 cases, and skipping saves frames.
func TestRecordedInputs(t *testing.T) {
	var out bytes.Buffer
	x := scenarios()[0]
	missed, err := inputs(&out, "../../rollback/input/testdata", x, 1)
	if err != nil || missed > 0 {
		t.Fatalf("%d missed, %v\n%s", missed, err, out.String())
	}
	lines := 0
	for line := range strings.Lines(out.String()) {
		var p played
		if json.Unmarshal([]byte(line), &p) != nil {
			continue
		}
		lines++
		if p.Stepped >= p.Looked || p.Rollbacks < 1 || p.Frames < 6000 || p.Mismatches != 0 || p.WindowMean <= 0 {
			t.Errorf("%+v", p)
		}
	}
	if lines != 3 {
		t.Errorf("%d recordings\n%s", lines, out.String())
	}
	if _, err := inputs(&out, t.TempDir(), x, 1); err == nil {
		t.Error("an empty folder passes")
	}
}
