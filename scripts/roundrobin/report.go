package main

import (
	"fmt"
	"io"
)

// result is a played tournament: pairs[a][b] is team a on the left against team b on the right.
type result struct {
	tournament
	names []string
	pairs [][]score
}

// Ranges of -check, in tenths of a percent.
const (
	fighterLeast, fighterMost = 350, 650
	sideLeast, sideMost       = 470, 530
)

// rate is the share of won in played matches in tenths of a percent, draws counting half.
func rate(won, draws, played int) int {
	if played == 0 {
		return 500
	}
	return (2000*won + 1000*draws + played) / (2 * played)
}

func percent(tenths int) string { return fmt.Sprintf("%d.%d %%", tenths/10, tenths%10) }

// fighter gives the rate of a fighter against all others, from both sides.
func (r result) fighter(k int) int {
	won, draws, played := 0, 0, 0
	for o := range r.names {
		if o == k {
			continue
		}
		l, m := r.pairs[k][o], r.pairs[o][k]
		won += l.left + m.right
		draws += l.draws + m.draws
		played += 2 * r.matches
	}
	return rate(won, draws, played)
}

// against gives the rate of a against b from both sides.
func (r result) against(a, b int) int {
	l, m := r.pairs[a][b], r.pairs[b][a]
	if a == b {
		return rate(l.left, l.draws, r.matches)
	}
	return rate(l.left+m.right, l.draws+m.draws, 2*r.matches)
}

func (r result) total() score {
	var all score
	for a := range r.pairs {
		for b := range r.pairs[a] {
			all.add(r.pairs[a][b])
		}
	}
	return all
}

// side gives the rate of the left side over all matches.
func (r result) side() int {
	all := r.total()
	return rate(all.left, all.draws, len(r.names)*len(r.names)*r.matches)
}

// faults names every rate outside its range.
func (r result) faults() []string {
	var out []string
	for k, name := range r.names {
		if v := r.fighter(k); v < fighterLeast || v > fighterMost {
			out = append(out, fmt.Sprintf("%s wins %s, outside 35 to 65 %%", name, percent(v)))
		}
	}
	if v := r.side(); v < sideLeast || v > sideMost {
		out = append(out, fmt.Sprintf("the left side wins %s, outside 47 to 53 %%", percent(v)))
	}
	return out
}

func (r result) write(w io.Writer) {
	all := r.total()
	played := len(r.names) * len(r.names) * r.matches
	fmt.Fprintf(w, "%d matches of %s bots, %s, %s, first to %d: %d of each on the left with each on the right, seeds from %d\n\n",
		played, r.bot, r.rules, r.format, r.rounds, r.matches, r.seed)
	fmt.Fprintf(w, "%-10s %8s  against", "", "wins")
	for _, n := range r.names {
		fmt.Fprintf(w, " %9s", n)
	}
	fmt.Fprintln(w)
	for a, n := range r.names {
		fmt.Fprintf(w, "%-10s %8s         ", n, percent(r.fighter(a)))
		for b := range r.names {
			if a == b {
				fmt.Fprintf(w, " %9s", "-")
				continue
			}
			fmt.Fprintf(w, " %9s", percent(r.against(a, b)))
		}
		fmt.Fprintln(w)
	}
	fmt.Fprintf(w, "%-10s %8s\n%-10s %8s\n", "left", percent(r.side()), "right", percent(1000-r.side()))
	fmt.Fprintf(w, "\n%d draws; a match lasts %d s; %s of %d rounds end by time, %s without a scratch\n", all.draws, all.frames/60/max(played, 1),
		percent(rate(all.byTime, 0, all.rounds)), all.rounds, percent(rate(all.perfects, 0, all.rounds)))
}
