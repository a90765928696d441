package ackbits

const (
	// MaxRTT is the largest round-trip sample believed, in µs. A longer one is
	// a clock fault or a lie; a link that slow is dead for play.
	MaxRTT = 60_000_000

	// minSpan is how long a minimum is remembered at least, in µs; it is
	// forgotten after at most twice that, so that a route change shows.
	minSpan = 5_000_000

	// granularity is the smallest allowance for variance in Timeout, in µs: one
	// tick at 60 Hz, since acknowledgements leave on ticks.
	granularity = 16_667
)

// RTT estimates the round-trip time of a path from samples in µs. The smoothed
// mean and variance are those of RFC 6298 (gains 1/8 and 1/4); the minimum is
// over the last 5 to 10 s; the jitter is kept apart in a [Jitter]. The zero
// value has no sample and reports 0 throughout.
type RTT struct {
	samples  uint64
	smoothed int64 // µs · 8
	variance int64 // µs · 4
	last     int64
	current  int64 // minimum since start
	previous int64 // minimum of the span before
	start    int64
	jitter   Jitter
}

// Sample records one round trip of rtt µs, measured at time now. It returns
// false and changes nothing if rtt is negative or above MaxRTT.
func (r *RTT) Sample(now, rtt int64) bool {
	if rtt < 0 || rtt > MaxRTT {
		return false
	}
	if r.samples == 0 {
		r.smoothed, r.variance = rtt<<3, rtt<<1
		r.start, r.current, r.previous = now, rtt, rtt
	} else {
		err := rtt - r.smoothed>>3
		r.smoothed += err
		r.variance += max(err, -err) - r.variance>>2
		if age := now - r.start; age >= minSpan {
			r.previous = r.current
			if age >= 2*minSpan {
				r.previous = rtt
			}
			r.start, r.current = now, rtt
		}
		r.current = min(r.current, rtt)
	}
	r.samples++
	r.last = rtt
	r.jitter.Observe(rtt)
	return true
}

// Smoothed is the exponentially weighted mean over about 8 samples, in µs.
func (r *RTT) Smoothed() int64 { return r.smoothed >> 3 }

// Variance is RFC 6298's mean deviation, in µs.
func (r *RTT) Variance() int64 { return r.variance >> 2 }

// Min is the least sample of the last 5 to 10 s, in µs: the path without queues.
func (r *RTT) Min() int64 { return min(r.current, r.previous) }

// Queue is the part of the smoothed round trip that neither the path nor its jitter explains, in µs: what it is above Min
// less two mean deviations. It is the time packets wait in queues of the path. A delay that only varies gives none.
func (r *RTT) Queue() int64 { return max(r.Smoothed()-r.Min()-2*r.Variance(), 0) }

// Last is the newest sample, in µs.
func (r *RTT) Last() int64 { return r.last }

// Jitter is the mean change from one sample to the next, in µs.
func (r *RTT) Jitter() int64 { return r.jitter.Mean() }

// Samples is the number of samples taken.
func (r *RTT) Samples() uint64 { return r.samples }

// Timeout is how long to wait for an acknowledgement before sending again, in
// µs: the smoothed time plus four deviations, but at least one tick, as in RFC
// 6298 without its floor of one second. It is 0 before the first sample.
func (r *RTT) Timeout() int64 {
	if r.samples == 0 {
		return 0
	}
	return r.Smoothed() + max(r.variance, granularity)
}

// Jitter estimates the variation of a delay as RFC 3550 section 6.4.1 does: the
// mean, with gain 1/16, of the absolute difference of successive values. The
// values may have any constant offset, so the difference between a local arrival
// time and a remote sending time serves as well as a round trip. The zero value
// has seen nothing and reports 0.
type Jitter struct {
	last int64
	mean int64 // µs · 16
	seen bool
}

// Observe records the next delay, in µs. Steps above MaxRTT are a clock change
// and count as that much.
func (j *Jitter) Observe(delay int64) {
	if j.seen {
		d := delay - j.last
		if (delay < j.last) != (d < 0) {
			d = MaxRTT
		}
		d = min(max(d, -MaxRTT), MaxRTT)
		d = max(d, -d)
		j.mean += d - (j.mean+8)>>4
	}
	j.last, j.seen = delay, true
}

// Mean is the jitter, in µs.
func (j *Jitter) Mean() int64 { return j.mean >> 4 }
