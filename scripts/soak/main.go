// Command soak presses buttons at random for a very long time, under every ruleset and in every format, and looks at every state.
//
//	go run ./scripts/soak [-frames 1000000] [-seed 1] [-rulesets sf,mk]
//
// After each frame the state must be one that a match can be in (it is written and read again, which checks every range), the frame
// number must be one higher, no event may have been lost, and in a running round nobody may be unable to act for longer than
// fifteen seconds. Now and then a player tries a move nobody has begun yet. When all frames are played, every move of every fighter that belongs to the ruleset must have been begun. The
// exit code is 1 if anything of this is not so.
package main

import (
	"flag"
	"fmt"
	"os"
	"strings"

	"backstep/sim"
	"backstep/sim/data"
)

func main() {
	frames := flag.Int("frames", 1000000, "frames under each ruleset")
	seed := flag.Uint64("seed", 1, "first seed")
	only := flag.String("rulesets", "", "rulesets, separated by commas; all if empty")
	flag.Parse()
	bad := false
	for _, rules := range choose(*only) {
		s := &soak{rules: rules, seed: *seed}
		err := s.run(*frames)
		missing := s.missing()
		fmt.Printf("%-12s %9d frames, %4d matches, %3d of %3d moves begun, %d states checked\n", rules, s.frames, s.matches, s.wanted()-len(missing), s.wanted(), s.checked)
		if err != nil {
			fmt.Fprintf(os.Stderr, "soak: %s: %v\n", rules, err)
			bad = true
		}
		if len(missing) > 0 {
			fmt.Fprintf(os.Stderr, "soak: %s: never begun: %s\n", rules, strings.Join(missing, ", "))
			bad = true
		}
	}
	if bad {
		os.Exit(1)
	}
}

func choose(only string) []sim.Ruleset {
	var out []sim.Ruleset
	for r := range sim.Ruleset(data.RulesCount) {
		if only == "" || strings.Contains(","+only+",", ","+r.String()+",") {
			out = append(out, r)
		}
	}
	if len(out) == 0 {
		fmt.Fprintf(os.Stderr, "soak: no ruleset in %q\n", only)
		os.Exit(2)
	}
	return out
}
