// Command roundrobin lets bots of one skill play every pairing of the roster against each other, from both sides, and prints who
// wins how often, by fighter and by side. It is how the balance of the roster is measured.
//
//	go run ./scripts/roundrobin [-matches 200] [-bot hard] [-ruleset sf] [-format 1v1] [-rounds 2] [-seed 1] [-check]
//
// In the formats of teams, team k is fighter k of the roster and the ones after it; it goes by the name of the first. With
// -check the exit code is 1 when a fighter wins less than 35 % or more than 65 % of the matches against others, or a side less
// than 47 % or more than 53 % of all. The same flags give the same table on every machine.
package main

import (
	"flag"
	"fmt"
	"os"
	"runtime"

	"backstep/sim"
)

func main() {
	t := tournament{}
	flag.IntVar(&t.matches, "matches", 200, "matches of each fighter on the left with each on the right")
	flag.StringVar(&t.bot, "bot", "hard", "skill of the bots")
	ruleset := flag.String("ruleset", "sf", "rules")
	format := flag.String("format", "1v1", "1v1, 2v2, 3v3 or trinity")
	rounds := flag.Int("rounds", 2, "rounds a side must win")
	flag.Uint64Var(&t.seed, "seed", 1, "first seed")
	check := flag.Bool("check", false, "fail when a rate lies outside its range")
	flag.Parse()
	fail := func(err error) {
		if err != nil {
			fmt.Fprintln(os.Stderr, "roundrobin:", err)
			os.Exit(2)
		}
	}
	var err error
	t.rules, err = sim.ParseRuleset(*ruleset)
	fail(err)
	t.format, err = sim.ParseFormat(*format)
	fail(err)
	t.rounds = uint8(min(max(*rounds, 0), 255))
	if flag.NArg() > 0 || t.matches < 1 {
		fail(fmt.Errorf("there are only flags, and at least one match a pairing"))
	}
	r, err := t.play(runtime.GOMAXPROCS(0))
	fail(err)
	r.write(os.Stdout)
	if faults := r.faults(); *check && len(faults) > 0 {
		for _, f := range faults {
			fmt.Fprintln(os.Stderr, "roundrobin:", f)
		}
		os.Exit(1)
	}
}
