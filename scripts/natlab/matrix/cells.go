//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"backstep/scripts/natlab"
)

// cell is a pair of NATs and the path that theory gives it.
type cell struct {
	name  string
	a, b  string   // kinds
	lab   []string // further commands of natlab.sh, words separated by spaces
	join  string   // node of the joiner, b if empty
	path  string   // expected; two separated by a slash if either is right
	cause string   // why that path
}

// keyCells are the pairs that tell most about a way through NATs.
var keyCells = []cell{
	{name: "cone x cone", a: "eim", b: "eim", path: "direct", cause: "both punch at once"},
	{name: "cone x symmetric", a: "eim", b: "symfull", path: "relay", cause: "the port that would have to be let in is unknown"},
	{name: "symmetric x symmetric", a: "symfull", b: "symfull", path: "relay", cause: "no port is known"},
	{name: "address-restricted x symmetric", a: "addrres", b: "symfull", path: "direct", cause: "any port of a known address comes in"},
	{name: "full cone x symmetric", a: "fullcone", b: "symfull", path: "direct", cause: "anybody comes in"},
	{name: "open INPUT x open INPUT", a: "eim-openinput", b: "eim-openinput", path: "direct/relay", cause: "a probe that comes first takes the port away"},
	{name: "carrier NAT x cone", a: "eim", b: "eim", lab: []string{"cgnat on eim"}, path: "direct", cause: "two mappings in a row are one"},
	{name: "same network", a: "eim", b: "eim", join: "a2", path: "lan", cause: "host candidates"},
}

// row is what the matches of a cell gave.
type row struct {
	cell    cell
	results []natlab.Result
	errs    []error
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
	for n := range o.runs {
		dir := filepath.Join(o.logs, fmt.Sprintf("%s %d", r.cell.name, n+1))
		if err := os.MkdirAll(dir, 0o755); err != nil {
			fail(err)
			return
		}
		res, err := lab.Play(ctx, bin, natlab.Match{Frames: o.frames, Seed: 1, Trace: o.trace, Join: r.cell.join}, dir)
		if err = errors.Join(err, res.Fault()); err != nil {
			fail(fmt.Errorf("run %d: %w", n+1, err))
			continue
		}
		r.results = append(r.results, res)
		for _, side := range []natlab.Side{res.Host, res.Join} {
			if p := side.Report.Path; p == nil || !r.expects(*p) {
				fail(fmt.Errorf("run %d: a path that theory does not give: %s (%s; %s)", n+1, path(side), side.Report.Changes(), side.Report.Reason()))
			}
		}
	}
}

func (r *row) prepare(ctx context.Context, lab *natlab.Lab, o options) error {
	if err := lab.NAT(ctx, r.cell.a, r.cell.b); err != nil {
		return err
	}
	for _, line := range r.cell.lab {
		if err := lab.Do(ctx, words(line)...); err != nil {
			return err
		}
	}
	if o.rtt == 0 && o.loss == 0 {
		return nil
	}
	// A quarter of the round trip on each player's line, each way. Two players behind one router share its line.
	lines := []string{"a", "b"}
	if len(r.cell.lab) > 0 {
		lines[0] = "cg"
	}
	for _, line := range lines {
		if err := lab.Do(ctx, "delay", line, (o.rtt / 4).String(), "0", fmt.Sprint(o.loss)); err != nil {
			return err
		}
	}
	return nil
}
