//go:build linux

package natlab

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"
)

// together is how many matches of TestEvents run side by side.
const together = 5

// TestEvents: what happens to players' networks while they play, with the real programs. The match goes on, both end in the same
// state, the path is the right one afterwards; how long nothing came in is judged where the machine was on time. Attack case 13
// is "relay restarted, match relayed", and in a tunnel.
func TestEvents(t *testing.T) {
	needShellLab(t)
	bin := needPrograms(t)
	outcomes, errs := make([]Outcome, len(Events)), make([]error, len(Events))
	ctx, over := context.WithCancel(t.Context())
	defer over()
	slots := make(chan struct{}, together)
	var group sync.WaitGroup
	late := Lateness(ctx)
	for i := range Events {
		dir := t.TempDir()
		group.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			lab, err := Up(t.Context())
			if err != nil {
				errs[i] = err
				return
			}
			if errs[i] = lab.NAT(t.Context(), Events[i].A, Events[i].B); errs[i] == nil {
				outcomes[i], errs[i] = Events[i].Play(t.Context(), lab, bin, Match{Seed: seed, Trace: trace}, dir)
			}
			errs[i] = errors.Join(errs[i], lab.Down())
		})
	}
	group.Wait()
	over()
	worst := late()
	t.Logf("timers were up to %v late", worst.Round(time.Millisecond))
	for i := range Events {
		e, o := &Events[i], &outcomes[i]
		t.Run(e.Name, func(t *testing.T) {
			if err := errors.Join(errs[i], e.Fault(o)); err != nil {
				t.Fatalf("%v\nhost:\n%s\njoin:\n%s\n%s\n%s", err, o.Host.Log, o.Join.Log, o.Host.JSON, o.Join.JSON)
			}
			p := played{late: worst}
			if err := e.Late(o); err != nil {
				p.timely(t, "%v", err)
			}
			t.Logf("%s; nothing came in for %v / %v; stalls %d / %d", o.Host.Report.Changes(),
				o.Silence[0].Round(time.Millisecond), o.Silence[1].Round(time.Millisecond), *o.Host.Report.Stalls, *o.Join.Report.Stalls)
		})
	}
}
