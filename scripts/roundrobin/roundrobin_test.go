package main

import (
	"strings"
	"testing"

	"backstep/sim"
	"backstep/sim/data"
)

// The table does not depend on the number of goroutines, every match is counted once, and every fighter stands in it.
func TestPlay(t *testing.T) {
	to := tournament{matches: 1, bot: "medium", rules: data.SF, format: sim.Format1v1, rounds: 1, seed: 7}
	var pages [2]string
	for i := range pages {
		r, err := to.play(1 + 2*i)
		if err != nil {
			t.Fatal(err)
		}
		all := r.total()
		if n := len(r.names); all.left+all.right+all.draws != n*n || all.rounds < n*n {
			t.Fatalf("%d fighters, %+v", n, all)
		}
		var b strings.Builder
		r.write(&b)
		pages[i] = b.String()
		for _, name := range sim.FighterNames() {
			if !strings.Contains(pages[i], name) {
				t.Errorf("%s is missing", name)
			}
		}
	}
	if pages[0] != pages[1] {
		t.Fatalf("%s\n%s", pages[0], pages[1])
	}
	if _, err := (tournament{matches: 1, bot: "nobody", rules: data.SF, rounds: 1}).play(1); err == nil {
		t.Fatal("an unknown bot plays")
	}
}

// A fighter's rate counts both sides of a pairing and not its mirror matches; a draw is half a win.
func TestRates(t *testing.T) {
	r := result{tournament: tournament{matches: 10}, names: []string{"a", "b"}, pairs: [][]score{
		{{left: 10}, {left: 7, right: 2, draws: 1}},
		{{left: 5, right: 5}, {right: 10}},
	}}
	if a, b := r.fighter(0), r.fighter(1); a != 625 || b != 375 {
		t.Errorf("%d %d", a, b)
	}
	if s := r.side(); s != 563 {
		t.Errorf("left %d", s)
	}
	if f := r.faults(); len(f) != 1 || !strings.Contains(f[0], "56.3") {
		t.Errorf("%q", f)
	}
}
