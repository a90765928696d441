//go:build linux

package main

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"backstep/scripts/natlab"
)

func path(s natlab.Side) string {
	if s.Report.Path == nil {
		return "none"
	}
	return *s.Report.Path
}

// target is the limit, with a mark where it was missed.
func (r *row) target(o options) string {
	mark := ""
	if r.slow != nil {
		mark = " missed"
	}
	return fmt.Sprint(r.limit(o).Milliseconds(), mark)
}

// bad reports whether a cell is not as it must be.
func (r *row) bad(o options) bool { return len(r.errs) > 0 || r.slow != nil && !o.busy }

// verdict is one word or sentence about a cell.
func (r *row) verdict() string {
	if len(r.errs) > 0 {
		return errors.Join(r.errs...).Error()
	}
	if r.slow != nil {
		return r.slow.Error()
	}
	return "ok"
}

// paths lists the paths of one side with how often each was reached, if not always.
func (r *row) paths(side func(natlab.Result) natlab.Side) string {
	count := map[string]int{}
	var order []string
	for _, res := range r.results {
		p := path(side(res))
		if count[p]++; count[p] == 1 {
			order = append(order, p)
		}
	}
	for i, p := range order {
		if count[p] < len(r.results) {
			order[i] = fmt.Sprintf("%s %d/%d", p, count[p], len(r.results))
		}
	}
	return strings.Join(order, ", ")
}

// figures of one side's reports that hold them.
func (r *row) figures(side func(natlab.Result) natlab.Side, figure func(*natlab.Report) *float64) []float64 {
	var all []float64
	for _, res := range r.results {
		s := side(res)
		if f := figure(&s.Report); f != nil {
			all = append(all, *f)
		}
	}
	return all
}

func (r *row) median(side func(natlab.Result) natlab.Side, figure func(*natlab.Report) *float64) string {
	return middle(r.figures(side, figure))
}

// middle is the median as text, "-" of nothing.
func middle(all []float64) string {
	if len(all) == 0 {
		return "-"
	}
	return fmt.Sprintf("%.0f", middleOf(all))
}

func middleOf(all []float64) float64 {
	slices.Sort(all)
	return (all[(len(all)-1)/2] + all[len(all)/2]) / 2
}

func connect(r *natlab.Report) *float64 { return r.ConnectMs }
func direct(r *natlab.Report) *float64  { return r.DirectMs }
func stalls(r *natlab.Report) *float64 {
	if r.Stalls == nil {
		return nil
	}
	f := float64(*r.Stalls)
	return &f
}

func host(r natlab.Result) natlab.Side { return r.Host }
func join(r natlab.Result) natlab.Side { return r.Join }

// hashes are the final hashes of all good matches, each once. All cells play the same match.
func hashes(rows []*row) []string {
	var all []string
	for _, r := range rows {
		for _, res := range r.results {
			if h := *res.Host.Report.FinalHash; !slices.Contains(all, h) {
				all = append(all, h)
			}
		}
	}
	return all
}

// writeTable prints the rows and returns an error if a cell is not as it must be.
func writeTable(w io.Writer, rows []*row, o options) error {
	fmt.Fprintf(w, "%d matches a key cell, %d any other that was on time, %d frames each, round trip %v, jitter %v, loss %g %%; times in ms from both in the lobby,\n"+
		"of the direct path from both accepted; medians, host / join\n\n", o.runs, o.pairRuns, o.frames, o.rtt, o.jitter, o.loss)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "NATs\texpected\tpath\tconnect_ms\ttarget\tdirect_ms\tstalls\tgood\tbecause")
	bad := 0
	for _, r := range rows {
		both := func(figure func(*natlab.Report) *float64) string {
			return r.median(host, figure) + " / " + r.median(join, figure)
		}
		want := r.cell.path
		if p := r.cell.joinPath; p != "" && p != want {
			want += ", " + p
		}
		fmt.Fprintf(t, "%s\t%s\t%s / %s\t%s\t%s\t%s\t%s\t%d/%d\t%s\n", r.cell.name, want, r.paths(host), r.paths(join),
			both(connect), r.target(o), both(direct), both(stalls), len(r.results), r.runs, r.cell.cause)
		if r.bad(o) {
			bad++
		}
	}
	if err := t.Flush(); err != nil {
		return err
	}
	var errs []error
	if bad > 0 {
		errs = append(errs, fmt.Errorf("%d of %d cells are not as they must be", bad, len(rows)))
		for _, r := range rows {
			if r.bad(o) {
				errs = append(errs, fmt.Errorf("%s: %s", r.cell.name, r.verdict()))
			}
		}
	}
	all := hashes(rows)
	fmt.Fprintf(w, "\nfinal hash of every match: %s\n", strings.Join(all, ", "))
	if len(all) != 1 {
		errs = append(errs, fmt.Errorf("one seed and one pair of traces end with %d final hashes", len(all)))
	}
	return errors.Join(errs...)
}
