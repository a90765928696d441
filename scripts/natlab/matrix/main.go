//go:build linux

// Command matrix plays matches of the real programs between pairs of NATs and prints what path each pair reached and how fast.
//
//	for each cell, -runs times, -parallel side by side:
//	  lab up ── nat a, nat b ── relay, peer host, peer join ── two reports ──> one row of medians
//	then for each event: the same, and something happens in the middle of it
//
// The key cells tell most and are played five times, every unordered pair of kinds and what no pair describes once.
// It runs as root on Linux, from the source tree: go run ./scripts/natlab/matrix. Exit 1 if a match failed, hashes differ or a
// path is not the one that theory gives, or a secure link took
// longer than its target on a machine that was on time, in the median of five.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"backstep/scripts/natlab"
)

type options struct {
	runs, pairRuns    int
	parallel, frames  int
	rtt, jitter       time.Duration
	loss              float64
	trace, only, logs string
	set               string
	both              bool
	busy              bool // the machine was, so times say nothing
}

func main() {
	var o options
	f := flag.NewFlagSet("matrix", flag.ExitOnError)
	f.IntVar(&o.runs, "runs", 5, "matches a key cell; figures are medians")
	f.IntVar(&o.pairRuns, "pair-runs", 1, "matches any other cell, and event")
	f.BoolVar(&o.both, "both", false, "every pair in both directions")
	f.IntVar(&o.parallel, "parallel", 6, "cells side by side")
	f.IntVar(&o.frames, "frames", 300, "of a match")
	f.DurationVar(&o.rtt, "rtt", 100*time.Millisecond, "round trip between the players; half of it to the relay")
	f.DurationVar(&o.jitter, "jitter", 0, "standard deviation of the delay of each player's line, each way")
	f.Float64Var(&o.loss, "loss", 0, "percent of the frames on each player's line, each way")
	f.StringVar(&o.trace, "trace", "scripts/natlab/testdata/melee_14_20s.csv.gz", "inputs, columns w1 and w2")
	f.StringVar(&o.only, "only", "", "play the cells whose name contains this")
	f.StringVar(&o.logs, "logs", "", "folder for the logs and reports of every match; they go with the lab otherwise")
	f.StringVar(&o.set, "set", "all", "what to play: key, pairs, special, events, or all of them")
	_ = f.Parse(os.Args[1:]) // ends the program itself
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, o); err != nil {
		fmt.Fprintln(os.Stderr, "matrix:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, o options) error {
	if o.runs < 1 || o.pairRuns < 1 || o.parallel < 1 || o.frames < 1 || o.rtt < 0 || o.jitter < 0 {
		return errors.New("-runs, -pair-runs, -parallel and -frames must be 1 or more, -rtt and -jitter 0 or more")
	}
	if !slices.Contains([]string{"all", "key", "pairs", "special", "events"}, o.set) {
		return fmt.Errorf("-set %s: want key, pairs, special, events or all", o.set)
	}
	if err := natlab.Sweep(ctx); err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "natlab")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if o.logs == "" {
		o.logs = dir
	} else if err := os.MkdirAll(o.logs, 0o755); err != nil {
		return err
	}
	bin, err := natlab.Build(ctx, dir, false)
	if err != nil {
		return err
	}

	lctx, over := context.WithCancel(ctx)
	defer over()
	lateness := natlab.Lateness(lctx)
	rows := o.cells()
	playCells(ctx, bin, o, rows)
	// One match that is late says little: the cell is played until there are as many as of a key cell, and their median counts.
	if again := late(rows, o.runs); len(again) > 0 && ctx.Err() == nil {
		fmt.Fprintf(os.Stderr, "%d cells were late in fewer than %d matches and are played again\n", len(again), o.runs)
		playCells(ctx, bin, o, again)
	}
	var events []*eventRow
	if o.plays("events") && ctx.Err() == nil {
		events = playEvents(ctx, bin, o)
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	over()
	worst := lateness()
	o.busy = worst > natlab.MaxLateness
	fmt.Printf("timers of this program were up to %v late meanwhile\n", worst.Round(time.Millisecond))
	if o.busy {
		fmt.Println("the machine stood still at times: what took too long is marked in the tables and not judged")
	}
	if len(rows) > 0 {
		err = writeTable(os.Stdout, rows, o)
	}
	if len(events) > 0 {
		err = errors.Join(err, writeEvents(os.Stdout, events, o))
	}
	if len(rows)+len(events) == 0 {
		err = fmt.Errorf("nothing is called %q", o.only)
	}
	return err
}

// playCells plays what each row wants, some side by side.
func playCells(ctx context.Context, bin natlab.Programs, o options, rows []*row) {
	slots := make(chan struct{}, o.parallel)
	var group sync.WaitGroup
	for _, r := range rows {
		group.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			if ctx.Err() != nil {
				return
			}
			r.play(ctx, bin, o)
			fmt.Fprintf(os.Stderr, "%s: %s\n", r.cell.name, r.verdict())
		})
	}
	group.Wait()
}

// late returns the rows that missed their target in fewer than runs matches, and lets them want as many.
func late(rows []*row, runs int) (out []*row) {
	for _, r := range rows {
		if r.slow != nil && len(r.errs) == 0 && r.runs < runs {
			r.runs = runs
			out = append(out, r)
		}
	}
	return out
}

func (o *options) plays(set string) bool { return o.set == "all" || o.set == set }

// cells are those the options ask for.
func (o *options) cells() []*row {
	var rows []*row
	add := func(set string, runs int, cells []cell) {
		for _, c := range cells {
			if o.plays(set) && strings.Contains(c.name, o.only) {
				rows = append(rows, &row{cell: c, runs: runs})
			}
		}
	}
	add("key", o.runs, keyCells)
	add("special", o.pairRuns, special)
	add("pairs", o.pairRuns, pairs(o.both))
	return rows
}
