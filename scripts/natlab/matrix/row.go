//go:build linux

package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"backstep/scripts/natlab"
)

// row is what the matches of a cell gave.
type row struct {
	cell    cell
	runs    int
	results []natlab.Result
	errs    []error
	slow    error // a target that was missed
}

func (r *row) play(ctx context.Context, bin natlab.Programs, o options) {
	fail := func(err error) { r.errs = append(r.errs, err) }
	lab, err := natlab.Up(ctx, "WANDELAY="+bin.Wandelay)
	if err != nil {
		fail(err)
		return
	}
	defer func() {
		if err := lab.Down(); err != nil {
			fail(err)
		}
	}()
	if err := r.prepare(ctx, lab, o); err != nil {
		fail(err)
		return
	}
	c := &r.cell
	for n := len(r.results); n < r.runs; n++ {
		dir := filepath.Join(o.logs, fmt.Sprintf("%s %d", c.name, n+1))
		if err := os.MkdirAll(dir, 0o755); err != nil {
			fail(err)
			return
		}
		res, err := lab.Play(ctx, bin, natlab.Match{
			Frames: o.frames, Seed: 1, Trace: o.trace, Host: c.host, Join: c.join, HostArgs: c.hostArgs, JoinArgs: c.joinArgs,
			Relay: c.relay, IPv6: c.ipv6,
		}, dir)
		if err = errors.Join(err, res.Fault()); err != nil {
			fail(fmt.Errorf("run %d: %w", n+1, err))
			continue
		}
		r.results = append(r.results, res)
		for i, side := range []natlab.Side{res.Host, res.Join} {
			want := c.path
			if i == 1 {
				want = cmp.Or(c.joinPath, c.path)
			}
			if p := side.Report.Path; p == nil || !natlab.Expects(want, *p) {
				fail(fmt.Errorf("run %d: a path that theory does not give: %s, want %s (%s; %s)", n+1, path(side), want, side.Report.Changes(), side.Report.Reason()))
			}
		}
	}
	r.slow = r.late(o)
}

func (r *row) prepare(ctx context.Context, lab *natlab.Lab, o options) error {
	if err := lab.NAT(ctx, r.cell.a, r.cell.b); err != nil {
		return err
	}
	carrier := false
	for _, line := range r.cell.lab {
		carrier = carrier || strings.HasPrefix(line, "cgnat")
		if err := lab.Do(ctx, strings.Fields(line)...); err != nil {
			return err
		}
	}
	if o.rtt == 0 && o.loss == 0 && o.jitter == 0 {
		return nil
	}
	// A quarter of the round trip on each player's line, each way. Two players behind one router share its line.
	lines := []string{"a", "b"}
	if carrier {
		lines[0] = "cg"
	}
	for _, line := range lines {
		if err := lab.Do(ctx, "delay", line, (o.rtt / 4).String(), o.jitter.String(), fmt.Sprint(o.loss)); err != nil {
			return err
		}
	}
	return nil
}

// The targets of a secure link from both in the lobby on, beside round trips between the players.
const (
	secureLimit  = 300 * time.Millisecond
	blockedLimit = time.Second
	secureTrips  = 4
	// A tunnel is opened (TCP, WebSocket) and registered with first.
	blockedTrips = secureTrips + 3
)

// limit is the target for a cell.
func (r *row) limit(o options) time.Duration {
	if r.cell.blocked() {
		return blockedLimit + blockedTrips*o.rtt
	}
	return secureLimit + secureTrips*o.rtt
}

// late compares the median of the slower side with the target. With loss there is none: TCP then waits for its timer.
func (r *row) late(o options) error {
	if o.loss > 0 || len(r.results) == 0 {
		return nil
	}
	limit := r.limit(o)
	for _, side := range []func(natlab.Result) natlab.Side{host, join} {
		if ms := r.figures(side, connect); len(ms) > 0 && middleOf(ms) > float64(limit.Milliseconds()) {
			return fmt.Errorf("the secure link took %.0f ms, want %d at most", middleOf(ms), limit.Milliseconds())
		}
	}
	return nil
}
