package relay

import "time"

// rate is a token bucket's size and refill, as the generic cell rate algorithm wants it (ITU-T I.371): step nanoseconds a
// unit, burst nanoseconds of depth. Nanoseconds because one byte at 96 KiB/s is 10.2 µs.
type rate struct{ step, burst int64 }

// perSecond returns the rate of n units a second with depth seconds of burst. n is 1 to 1e9.
func perSecond(n int, depth int64) rate {
	return rate{step: int64(time.Second) / int64(n), burst: depth * int64(time.Second)}
}

// refill returns the rate of burst units at once and one more each period.
func refill(burst int, period time.Duration) rate {
	return rate{step: int64(period), burst: int64(burst) * int64(period)}
}

// bucket is the state of one token bucket: the time at which it will be full again. The zero value is full.
type bucket struct{ full int64 }

// wait returns how many nanoseconds after now n units could be taken, 0 if they can be taken at once.
func (b bucket) wait(now int64, r rate, n int) int64 {
	return max(0, max(b.full, now)+r.step*int64(n)-r.burst-now)
}

// take takes n units if they are there.
func (b *bucket) take(now int64, r rate, n int) bool {
	if b.wait(now, r, n) > 0 {
		return false
	}
	b.full = max(b.full, now) + r.step*int64(n)
	return true
}
