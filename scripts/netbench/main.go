// Command netbench measures the rollback core on a seeded model of the network in virtual time, so that it can be
// compared with other libraries frame by frame. It prints one JSON line a run, then a table beside reference figures
// and targets, and exits 1 if a target is missed.
//
//	peer A ── link(seed) ──▶ peer B        60 Hz and hzb Hz, states of 4096 bytes, words of 4 bytes
//	peer A ◀── link(seed+1000) ── peer B   delay, jitter, random loss, bursts, damage
//
//	netbench [-scenario NAME] [-window N] [-seed N] [-duration S]
//
//	netbench -inputs DIR [-scenario NAME] [-seed N]
//
// With -inputs the game that ships is played from recorded words, columns w1 and w2 of every *.csv.gz of a folder: how often players'
// words change, how often that rolls back, what is stepped again and what is skipped, and what eight frames of inputs cost.
//
// Without -scenario, -window and -seed it runs every scenario with windows 8, 12 and 20 and seeds 1 and 7.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"strings"
)

func main() {
	name := flag.String("scenario", "", "names of scenarios, separated by commas; all if empty")
	window := flag.Int("window", 0, "frames that may be predicted, 1 to 20; 0 runs 8, 12 and 20")
	seed := flag.Uint64("seed", 0, "seed of network and inputs; 0 runs 1 and 7")
	seconds := flag.Float64("duration", 604, "seconds of virtual time, of which the first four are not counted")
	recorded := flag.String("inputs", "", "play the recorded inputs of this folder over rtt80_l0, or -scenario, instead")
	flag.Parse()
	if flag.NArg() > 0 {
		fail(2, fmt.Errorf("unexpected argument %q", flag.Arg(0)))
	}
	if *seconds <= 4 {
		fail(2, fmt.Errorf("a duration of %v s leaves nothing to count: the first 4 s are warm-up", *seconds))
	}
	chosen, err := choose(*name)
	if err != nil {
		fail(2, err)
	}
	if *recorded != "" {
		x := chosen[0] // rtt80_l0, or the one that was named
		missed, err := inputs(os.Stdout, *recorded, x, max(*seed, 1))
		if err != nil {
			fail(1, err)
		}
		if missed > 0 {
			os.Exit(1)
		}
		return
	}
	windows, seeds := []int{8, 12, 20}, []uint64{1, 7}
	if *window != 0 {
		windows = []int{*window}
	}
	if *seed != 0 {
		seeds = []uint64{*seed}
	}
	var runs []report
	out := json.NewEncoder(os.Stdout)
	for _, sd := range seeds {
		for _, w := range windows {
			for _, x := range chosen {
				r, err := run(x, w, sd, *seconds)
				if err != nil {
					fail(1, fmt.Errorf("%s window %d seed %d: %w", x.name, w, sd, err))
				}
				runs = append(runs, r)
				if err := out.Encode(r); err != nil {
					fail(1, err)
				}
			}
		}
	}
	fmt.Println()
	if missed := table(os.Stdout, runs); missed > 0 {
		fmt.Printf("\n%d of %d runs missed a target\n", missed, len(runs))
		os.Exit(1)
	}
	fmt.Printf("\nall %d runs met their targets\n", len(runs))
}

// choose finds scenarios by name.
func choose(names string) ([]scenario, error) {
	all := scenarios()
	if names == "" {
		return all, nil
	}
	var out []scenario
	for n := range strings.SplitSeq(names, ",") {
		found := false
		for _, x := range all {
			if x.name == n {
				out, found = append(out, x), true
			}
		}
		if !found {
			var have []string
			for _, x := range all {
				have = append(have, x.name)
			}
			return nil, fmt.Errorf("no scenario %q; there are %s", n, strings.Join(have, ", "))
		}
	}
	return out, nil
}

func fail(code int, err error) {
	fmt.Fprintln(os.Stderr, "netbench:", err)
	os.Exit(code)
}
