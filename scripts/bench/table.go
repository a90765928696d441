package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"text/tabwriter"
)

// median of a figure over the rounds.
func median(all []result, f func(*result) float64) float64 {
	v := make([]float64, 0, len(all))
	for i := range all {
		v = append(v, f(&all[i]))
	}
	slices.SortFunc(v, cmp.Compare)
	return v[len(v)/2]
}

func printTable(w io.Writer, o *options, names []string, all map[string][]result, direct []result) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	row := func(label, format string, f func(*result) float64) {
		fmt.Fprint(t, label)
		for _, n := range names {
			v := median(all[n], f)
			if v != v || v == 0 {
				fmt.Fprint(t, "\t-")
				continue
			}
			fmt.Fprintf(t, "\t"+format, v)
			if base := median(all[names[0]], f); n != names[0] && base > 0 {
				fmt.Fprintf(t, " (%.2fx)", v/base)
			}
		}
		fmt.Fprintln(t)
	}
	fmt.Fprintf(w, "%d-byte payload, %d matches, medians of %d rounds taken in turns; in brackets against %s\n\n", o.payload, o.pairs, o.rounds, names[0])
	fmt.Fprint(t, "")
	for _, n := range names {
		fmt.Fprintf(t, "\t%s", n)
	}
	fmt.Fprintln(t)
	row(fmt.Sprintf("CPU a datagram at %d/s, us", o.rate), "%.2f", func(r *result) float64 { return r.pacedCPU / 1000 })
	row("CPU a datagram, flood, us", "%.2f", func(r *result) float64 { return r.floodCPU / 1000 })
	row("datagrams/s, flood, one core", "%.0f", func(r *result) float64 { return r.floodRate })
	row("of the core used, %", "%.0f", func(r *result) float64 { return r.core * 100 })
	row("datagrams/s a full core would do", "%.0f", (*result).perCore)
	for _, q := range []float64{.5, .99, .999} {
		base := median(direct, func(r *result) float64 { return r.delay.at(q) })
		row(fmt.Sprintf("added one-way delay at %d/s, p%v, us", o.rate, q*100), "%.0f", func(r *result) float64 { return max(1, r.delay.at(q)-base) })
	}
	row("lost at the rate, %", "%.3f", func(r *result) float64 { return r.lost * 100 })
	if o.sessions > 0 {
		row(fmt.Sprintf("resident memory of an idle session (of %d), bytes", o.sessions), "%.0f", func(r *result) float64 { return r.idle })
	}
	t.Flush()
	if b := all["backstep"]; len(b) > 0 {
		fmt.Fprintf(w, "\nattack case 12: delay of the matches, p50 / p99 / p99.9, us, beside 100000 frames/s from a stranger\n")
		for _, c := range []struct {
			name string
			of   func(*result) delays
		}{
			{"none", func(r *result) delays { return r.delay }},
			{"to a socket that nobody reads", func(r *result) delays { return r.elsewhere }},
			{"to the relay, of an unknown channel", func(r *result) delays { return r.hostile }},
		} {
			at := func(q float64) float64 { return median(b, func(r *result) float64 { return c.of(r).at(q) }) }
			fmt.Fprintf(w, "  %-36s %.0f / %.0f / %.0f\n", c.name, at(.5), at(.99), at(.999))
		}
	}
}
