//go:build linux

package natlab

import (
	"context"
	"testing"
	"time"
)

// maxLateness is how late a timer may be on a machine of which one can ask that a fifth of a second of silence means something.
const maxLateness = 100 * time.Millisecond

// lateness measures until ctx ends how late a timer of this process was at most.
func lateness(ctx context.Context) (worst func() time.Duration) {
	result := make(chan time.Duration, 1)
	go func() {
		const step = 5 * time.Millisecond
		var most time.Duration
		for ctx.Err() == nil {
			before := time.Now()
			time.Sleep(step)
			most = max(most, time.Since(before)-step)
		}
		result <- most
	}()
	return func() time.Duration { return <-result }
}

// timely is an error of what depends on timers that are on time. Where the machine stood still it is only logged: it says
// nothing about the programs then.
func (p *played) timely(t *testing.T, format string, args ...any) {
	t.Helper()
	if p.late > maxLateness {
		t.Logf("the machine stood still for %v, so only noted: "+format, append([]any{p.late.Round(time.Millisecond)}, args...)...)
		return
	}
	t.Errorf(format, args...)
}
