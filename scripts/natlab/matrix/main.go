//go:build linux

// Command matrix plays matches of the real programs between pairs of NATs and prints what path each pair reached and how fast.
//
//	for each cell, -runs times, -parallel side by side:
//	  lab up ── nat a, nat b ── relay, peer host, peer join ── two reports ──> one row of medians
//
// It runs as root on Linux, from the source tree: go run ./scripts/natlab/matrix. Exit 1 if a match failed, hashes differ or a
// path is not the one that theory gives.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"time"

	"backstep/scripts/natlab"
)

type options struct {
	runs, parallel, frames int
	rtt                    time.Duration
	loss                   float64
	trace, only, logs      string
	events                 bool
}

func main() {
	var o options
	f := flag.NewFlagSet("matrix", flag.ExitOnError)
	f.IntVar(&o.runs, "runs", 1, "matches a cell; figures are medians")
	f.IntVar(&o.parallel, "parallel", 4, "cells side by side")
	f.IntVar(&o.frames, "frames", 300, "of a match")
	f.DurationVar(&o.rtt, "rtt", 0, "round trip between the players; half of it to the relay")
	f.Float64Var(&o.loss, "loss", 0, "percent of the frames on each player's line, each way")
	f.StringVar(&o.trace, "trace", "scripts/natlab/testdata/melee_14_20s.csv.gz", "inputs, columns w1 and w2")
	f.StringVar(&o.only, "only", "", "play the cells whose name contains this")
	f.StringVar(&o.logs, "logs", "", "folder for the logs and reports of every match; they go with the lab otherwise")
	f.BoolVar(&o.events, "events", false, "play what happens to running matches instead of the pairs of NATs")
	_ = f.Parse(os.Args[1:]) // ends the program itself
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, o); err != nil {
		fmt.Fprintln(os.Stderr, "matrix:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, o options) error {
	if o.runs < 1 || o.parallel < 1 || o.frames < 1 || o.rtt < 0 {
		return errors.New("-runs, -parallel and -frames must be 1 or more, -rtt 0 or more")
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

	if o.events {
		rows := playEvents(ctx, bin, o)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return writeEvents(os.Stdout, rows, o)
	}
	var rows []*row
	for _, c := range keyCells {
		if strings.Contains(c.name, o.only) {
			rows = append(rows, &row{cell: c})
		}
	}
	slots := make(chan struct{}, o.parallel)
	var group sync.WaitGroup
	for _, r := range rows {
		group.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			r.play(ctx, bin, o)
			fmt.Fprintf(os.Stderr, "%s: %s\n", r.cell.name, r.verdict())
		})
	}
	group.Wait()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return writeTable(os.Stdout, rows, o)
}
