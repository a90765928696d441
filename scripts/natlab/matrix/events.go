//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"text/tabwriter"
	"time"

	"backstep/scripts/natlab"
)

// eventRow is what an event did to its matches.
type eventRow struct {
	event    natlab.Event
	outcomes []natlab.Outcome
	errs     []error
	slow     []error // targets that were missed
}

func (r *eventRow) play(ctx context.Context, bin natlab.Programs, o options) {
	fail := func(err error) { r.errs = append(r.errs, err) }
	for n := range o.pairRuns {
		out, err := r.once(ctx, bin, o, n)
		if err = errors.Join(err, r.event.Fault(&out)); err != nil {
			fail(fmt.Errorf("run %d: %w", n+1, err))
			continue
		}
		r.outcomes = append(r.outcomes, out)
		if err := r.event.Late(&out); err != nil {
			r.slow = append(r.slow, fmt.Errorf("run %d: %w", n+1, err))
		}
	}
}

// once plays in a lab of its own: an event leaves its traces in one.
func (r *eventRow) once(ctx context.Context, bin natlab.Programs, o options, n int) (out natlab.Outcome, err error) {
	lab, err := natlab.Up(ctx, "WANDELAY="+bin.Wandelay)
	if err != nil {
		return out, err
	}
	defer func() { err = errors.Join(err, lab.Down()) }()
	prepared := row{cell: cell{a: r.event.A, b: r.event.B, lab: r.event.Lab}}
	if err := prepared.prepare(ctx, lab, o); err != nil {
		return out, err
	}
	dir := filepath.Join(o.logs, fmt.Sprintf("%s %d", r.event.Name, n+1))
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return out, err
	}
	return r.event.Play(ctx, lab, bin, natlab.Match{Seed: 1, Trace: o.trace}, dir)
}

// playEvents plays every event whose name contains only.
func playEvents(ctx context.Context, bin natlab.Programs, o options) []*eventRow {
	var rows []*eventRow
	slots := make(chan struct{}, o.parallel)
	var group sync.WaitGroup
	for _, e := range natlab.Events {
		if !strings.Contains(e.Name, o.only) {
			continue
		}
		r := &eventRow{event: e}
		rows = append(rows, r)
		group.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			r.play(ctx, bin, o)
			fmt.Fprintf(os.Stderr, "%s: %v\n", r.event.Name, errors.Join(append(r.errs, r.slow...)...))
		})
	}
	group.Wait()
	return rows
}

func writeEvents(w io.Writer, rows []*eventRow, o options) error {
	fmt.Fprintf(w, "\nWhat happened to running matches: %d each, round trip %v, loss %g %%; medians, host / join. Silence is the longest\n"+
		"time without a packet of the opponent, ticks missed the packets that did not come meanwhile.\n\n", o.pairRuns, o.rtt, o.loss)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "event\tNATs\tpath\tsilence_ms\tticks missed\tlost\tstalls\tlongest stall\thashes\tgood")
	var errs []error
	for _, r := range rows {
		both := func(figure func(o *natlab.Outcome, side int) float64) string {
			var text [2]string
			for side := range text {
				var all []float64
				for i := range r.outcomes {
					all = append(all, figure(&r.outcomes[i], side))
				}
				text[side] = middle(all)
			}
			return text[0] + " / " + text[1]
		}
		changes := "-"
		if len(r.outcomes) > 0 {
			changes = r.outcomes[0].Host.Report.Changes()
		}
		fmt.Fprintf(t, "%s\t%s x %s\t%s\t%s\t%s\t%s\t%s\t%s\tequal\t%d/%d\n", r.event.Name, r.event.A, r.event.B, changes,
			both(func(o *natlab.Outcome, i int) float64 { return float64(o.Silence[i]) / float64(time.Millisecond) }),
			both(func(o *natlab.Outcome, i int) float64 { return float64(o.Missed[i]) }),
			both(func(o *natlab.Outcome, i int) float64 { return count(report(o, i).Packets.Lost) }),
			both(func(o *natlab.Outcome, i int) float64 { return count(report(o, i).Stalls) }),
			both(func(o *natlab.Outcome, i int) float64 { return count(report(o, i).LongestStall) }),
			len(r.outcomes), o.pairRuns)
		if !o.busy {
			r.errs = append(r.errs, r.slow...)
		}
		if len(r.errs) > 0 {
			errs = append(errs, fmt.Errorf("%s: %w", r.event.Name, errors.Join(r.errs...)))
		}
	}
	return errors.Join(t.Flush(), errors.Join(errs...))
}

func report(o *natlab.Outcome, side int) *natlab.Report {
	if side == 0 {
		return &o.Host.Report
	}
	return &o.Join.Report
}

func count(n *int64) float64 {
	if n == nil {
		return 0
	}
	return float64(*n)
}
