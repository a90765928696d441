// Command linkbench measures, in virtual time, what a lossy network does to the inputs of a match and to a snapshot, under
// every way the link has of repairing it. It prints one JSON line a run, then two tables, and exits 1 if a target is missed.
//
//	peer A ── road ──▶ peer B     60 Hz both, 75 ms one way, words that change eight times a second
//	peer A ◀── road ── peer B     random loss, bursts, or a recorded trace
//
//	lateness of an input = when it was known there − when it was made − the delay of the road, in ticks
//
//	linkbench [-traces DIR] [-duration S] [-seed N] [-transfers N]
//
// Without -traces only the synthetic roads are measured; testdata holds four recorded ones. A trace is CSV of t_ms,one_way_delay_ms,lost, as the impairment of
// the peer reads it.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"backstep/peer/impair"
)

func main() {
	traces := flag.String("traces", "", "folder of recorded network traces (*.csv, *.csv.gz)")
	seconds := flag.Int64("duration", 300, "seconds of virtual time of each run of inputs, warm-up left out")
	seed := flag.Uint64("seed", 1, "seed of networks and inputs")
	transfers := flag.Int("transfers", 300, "snapshots sent for each figure")
	flag.Parse()
	if flag.NArg() > 0 {
		fail(2, fmt.Errorf("unexpected argument %q", flag.Arg(0)))
	}
	if *seconds < 1 || *transfers < 1 {
		fail(2, fmt.Errorf("-duration and -transfers must be at least 1"))
	}
	roads, err := networks(*traces)
	if err != nil {
		fail(2, err)
	}
	out := json.NewEncoder(os.Stdout)
	var inputs []inputReport
	for _, n := range roads {
		for _, s := range strategies() {
			r, err := runInputs(n, s, *seed, *seconds)
			if err != nil {
				fail(1, fmt.Errorf("%s, %s: %w", n.name, s.name, err))
			}
			inputs = append(inputs, r)
			if err := out.Encode(r); err != nil {
				fail(1, err)
			}
		}
	}
	var blobs []blobReport
	for _, kb := range []int{8, 16, 64} {
		for _, loss := range []float64{0.01, 0.02, 0.05, 0.1, 0.2} {
			r, err := runBlobs(kb<<10, loss, *seed, *transfers)
			if err != nil {
				fail(1, fmt.Errorf("%d KB at %.0f %%: %w", kb, loss*100, err))
			}
			blobs = append(blobs, r)
			if err := out.Encode(r); err != nil {
				fail(1, err)
			}
		}
	}
	fmt.Println()
	missed := inputTable(os.Stdout, inputs)
	fmt.Println()
	missed = append(missed, blobTable(os.Stdout, blobs)...)
	if len(missed) > 0 {
		fmt.Printf("\nmissed: %s\n", strings.Join(missed, "; "))
		os.Exit(1)
	}
	fmt.Println("\nall targets met")
}

// networks are the roads to measure on: random loss, bursts that lose a tenth, and what lies in the folder.
func networks(folder string) ([]network, error) {
	var all []network
	for _, loss := range []float64{0, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3} {
		all = append(all, network{name: fmt.Sprintf("random %2.0f %%", loss*100), delay: oneWay, loss: loss})
	}
	for _, n := range []float64{1, 2, 4, 8} {
		bad := n * tick
		all = append(all, network{name: fmt.Sprintf("bursts of %.0f", n), delay: oneWay, good: bad * 9, bad: bad})
	}
	if folder == "" {
		return all, nil
	}
	files, err := filepath.Glob(filepath.Join(folder, "*.csv*"))
	if err != nil {
		return nil, err
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("no trace (*.csv, *.csv.gz) in %s", folder)
	}
	for _, f := range files {
		t, err := impair.ReadTrace(f)
		if err != nil {
			return nil, err
		}
		name, _, _ := strings.Cut(filepath.Base(f), ".")
		all = append(all, network{name: name, trace: t})
	}
	return all, nil
}

func fail(code int, err error) {
	fmt.Fprintln(os.Stderr, "linkbench:", err)
	os.Exit(code)
}
