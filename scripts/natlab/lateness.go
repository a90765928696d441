//go:build linux

package natlab

import (
	"context"
	"time"
)

// MaxLateness is how late a timer may be on a machine of which one can ask that a fifth of a second of silence means something.
const MaxLateness = 100 * time.Millisecond

// Lateness measures until ctx ends how late a timer of this process was at most.
func Lateness(ctx context.Context) (worst func() time.Duration) {
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
