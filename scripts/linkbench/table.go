package main

import (
	"fmt"
	"io"
	"text/tabwriter"
)

// inputTarget bounds lateness on a road, in ticks, for the way the link chooses by itself.
type inputTarget struct{ p99, p999 float64 }

var inputTargets = map[string]inputTarget{
	"random 10 %": {1, 1.5},
	"random 20 %": {1, 2},
}

// stretch is by how much of a tick an input may be later: pacing makes ticks up to 5 % longer or shorter.
const stretch = 0.05

// A player's bytes a second with the second datagram on, and with nothing lost.
const (
	mostBytes  = 8900
	cleanBytes = 4400
)

// Targets of a snapshot of 64 KB at 10 % loss: ms, ms, bytes over its size.
const (
	blobP50, blobP99, blobBytes = 355, 385, 1.25
)

func inputTable(w io.Writer, runs []inputReport) (missed []string) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "network\tstrategy\tlate mean\tp50\tp99\tp99.9\tmax\tdepth\tstalls\tB/s\tparity\tsecond\trecovered\t")
	last := ""
	for _, r := range runs {
		name := r.Network
		if name == last {
			name = ""
		}
		last = r.Network
		fmt.Fprintf(t, "%s\t%s\t%.3f\t%.1f\t%.1f\t%.1f\t%.1f\t%.2f\t%d\t%d\t%d\t%d\t%d\t\n", name, r.Strategy, r.Mean, r.P50, r.P99, r.P999, r.Max, r.Depth, r.Stalls, r.PerSecond, r.Parity, r.Second, r.Recovered)
		if r.Strategy != "auto" {
			continue
		}
		if x, ok := inputTargets[r.Network]; ok && (r.P99 > x.p99+stretch || r.P999 > x.p999+stretch) {
			missed = append(missed, fmt.Sprintf("%s: late %.2f/%.2f ticks, target %.1f/%.1f", r.Network, r.P99, r.P999, x.p99, x.p999))
		}
		limit := int64(mostBytes)
		if r.Network == "random  0 %" {
			limit = cleanBytes
		}
		if r.PerSecond > limit {
			missed = append(missed, fmt.Sprintf("%s: %d B/s, target %d", r.Network, r.PerSecond, limit))
		}
	}
	t.Flush()
	return missed
}

func blobTable(w io.Writer, runs []blobReport) (missed []string) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "snapshot\tloss\tp50 ms\tp99 ms\tbytes\tplain p50\tplain p99\tplain bytes\t")
	for _, r := range runs {
		fmt.Fprintf(t, "%d KB\t%.0f %%\t%.0f\t%.0f\t%.2f\t%.0f\t%.0f\t%.2f\t\n", r.KB, r.Loss*100, r.P50, r.P99, r.Bytes, r.PlainP50, r.PlainP99, r.PlainBytes)
		if r.KB == 64 && r.Loss == 0.1 && (r.P50 > blobP50 || r.P99 > blobP99 || r.Bytes > blobBytes) {
			missed = append(missed, fmt.Sprintf("64 KB at 10 %%: %.0f/%.0f ms at %.2f times the bytes", r.P50, r.P99, r.Bytes))
		}
	}
	t.Flush()
	return missed
}
