package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

// reference is what other libraries did on the same model, and the targets. A limit of zero is not checked.
type reference struct {
	others     string
	stallsEach int64   // of each side at most; -1: none allowed
	stallsMean float64 // mean of both sides at most
	sum, diff  float64 // of mean depths at most
	wire, dtls float64 // bytes a second at most
}

func references(window int) map[string]reference {
	byWindow := func(w8, w12, w20 float64) float64 {
		switch {
		case window < 12:
			return w8
		case window < 20:
			return w12
		}
		return w20
	}
	const wire, dtls, wire2, dtls2 = 2600, 4400, 5400, 8900
	const clean = "stalls 0; depth GGPO 3/3, GGPO-Go 3/3, GekkoNet 3/3, GGRS 3/2"
	r := map[string]reference{
		"rtt80_l0":        {clean, -1, 0, 5.01, 1.01, wire, dtls},
		"rtt80_off33":     {clean, -1, 0, 5.01, 1.01, wire, dtls},
		"rtt80_off200":    {clean, -1, 0, 5.01, 1.01, wire, dtls},
		"rtt80_l5":        {"", -1, 0, 0, 0, wire2, dtls2},
		"rtt80_l10":       {"", -1, 0, 0, 0, wire2, dtls2},
		"rtt80_l20":       {"stalls GGPO 12, GGPO-Go 0, GekkoNet 0, GGRS 6", -1, 0, 0, 0, wire2, dtls2},
		"rtt80_burst":     {"stalls GGPO 2288, GGPO-Go 1800, GekkoNet 1750, GGRS 2397", 0, byWindow(1434, 660, 160), 0, 0, wire2, dtls2},
		"rtt80_jit30_l2":  {"depth GGPO 4.02/3.57, GGPO-Go 3.47/3.50, GekkoNet 3.84/3.70, GGRS 3.65/3.97", 0, 0, 7.6, 0, wire2, dtls2},
		"rtt150_l0":       {"depth GGPO 7/3, GGPO-Go 5/5, GekkoNet 5/5, GGRS 4/5", -1, 0, 0, 1, wire, dtls},
		"rtt150_l5":       {"", 1, 0, 0, 0, wire2, dtls2},
		"rtt150_l10":      {"", 1, 0, 0, 0, wire2, dtls2},
		"rtt150_l20":      {"stalls GGPO 451, GGPO-Go 2, GekkoNet 3, GGRS 369", 1, 0, 0, 0, wire2, dtls2},
		"rtt150_burst":    {"stalls GGPO 3163, GGPO-Go 2671, GekkoNet 2409, GGRS 3365", 0, byWindow(2205, 1010, 230), 0, 0, wire2, dtls2},
		"rtt200_l5":       {"stalls GGPO 2038, GGPO-Go 52, GekkoNet 0, GGRS 799", 1, 0, 0, 0, wire2, dtls2},
		"rtt80_drift1pct": {"depth GGPO 4.62/1.63, GGPO-Go 5.18/1.23, GekkoNet 3.10/2.00, GGRS 3.49/2.24", 0, 0, 5.05, 1.05, wire, dtls},
		"rtt80_drift5pct": {"stalls GGPO 1255, GGPO-Go 1259, GekkoNet 1233, GGRS 0", -1, 0, 5.1, 1.1, wire, dtls},
		"rtt80_damage20":  {"GGPO exits, GGPO-Go panics, GekkoNet freezes, GGRS desyncs", -1, 0, 0, 0, 0, 0},
	}
	return r
}

// misses names the targets a run missed.
func (r reference) misses(x report) []string {
	var m []string
	miss := func(bad bool, format string, args ...any) {
		if bad {
			m = append(m, fmt.Sprintf(format, args...))
		}
	}
	each := max(r.stallsEach, 0)
	miss(r.stallsEach != 0 && (x.A.Stalls > each || x.B.Stalls > each), "stalls > %d", each)
	miss(r.stallsMean > 0 && float64(x.A.Stalls+x.B.Stalls)/2 > r.stallsMean, "mean stalls > %.0f", r.stallsMean)
	miss(r.sum > 0 && x.A.DepthMean+x.B.DepthMean > r.sum, "sum of depths > %.2f", r.sum)
	d := x.A.DepthMean - x.B.DepthMean
	miss(r.diff > 0 && max(d, -d) > r.diff, "difference of depths > %.2f", r.diff)
	for _, f := range []flow{x.AB, x.BA} {
		miss(r.wire > 0 && f.Wire > r.wire, "wire %.0f > %.0f B/s", f.Wire, r.wire)
		miss(r.dtls > 0 && f.WireDTLS > r.dtls, "wire with DTLS %.0f > %.0f B/s", f.WireDTLS, r.dtls)
	}
	miss(r.stallsMean > 0 && x.A.SyncWait+x.B.SyncWait > 0, "sync waits > 0")
	miss(x.Mismatches > 0, "%d mismatches", x.Mismatches)
	miss(x.A.Desyncs+x.B.Desyncs > 0, "desync reported")
	return m
}

// table prints all runs beside the reference figures and returns how many missed a target.
func table(w io.Writer, runs []report) (missed int) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "scenario\twin\tseed\tstalls A/B\tlongest\tdepth A/B\tsum\tp99\tresim\tpps\twire\tDTLS\toffset p99\ttarget\tothers")
	for _, x := range runs {
		r := references(x.Window)[x.Scenario]
		verdict := "met"
		if m := r.misses(x); len(m) > 0 {
			verdict = "MISSED: " + strings.Join(m, "; ")
			missed++
		}
		others := r.others
		if x.Window != 8 && !strings.HasPrefix(others, "depth") {
			others = ""
		}
		fmt.Fprintf(t, "%s\t%d\t%d\t%d/%d\t%d/%d\t%.3f/%.3f\t%.3f\t%d/%d\t%d/%d\t%.1f\t%.0f\t%.0f\t%.1f ms\t%s\t%s\n",
			x.Scenario, x.Window, x.Seed, x.A.Stalls, x.B.Stalls, x.A.LongestStall, x.B.LongestStall,
			x.A.DepthMean, x.B.DepthMean, x.A.DepthMean+x.B.DepthMean, x.A.DepthP99, x.B.DepthP99,
			x.A.Resimulated, x.B.Resimulated, x.AB.Rate, x.AB.Wire, x.AB.WireDTLS,
			float64(max(x.A.OffsetP99, x.B.OffsetP99))/1000, verdict, others)
	}
	t.Flush()
	return missed
}
