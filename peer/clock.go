package peer

import "time"

var start = time.Now()

// now is the clock of everything in this process that plays: monotonic
// microseconds, never 0.
func now() int64 { return time.Since(start).Microseconds() + 1 }

// sleepUntil waits for a time of that clock, or less if wake fires.
func sleepUntil(t int64, timer *time.Timer, wake <-chan struct{}) {
	wait := time.Duration(t-now()) * time.Microsecond
	if wait <= 0 {
		return
	}
	timer.Reset(wait)
	select {
	case <-timer.C:
	case <-wake:
	}
}
