package pacing

const (
	sampled = 30          // samples an offset is taken from: half a second
	enough  = sampled / 3 // samples before there is an offset
	lowCut  = 3           // the lowest and the highest third are left out
	smooth  = 64          // samples over which round trip and jitter are smoothed
)

// Estimator estimates from lag samples how far this side is ahead of one other, and the round trip between them.
// The zero value has no sample. It does not allocate.
type Estimator struct {
	ring   [sampled]int64 // mine - theirs, in order of arrival
	sorted [sampled]int64
	n      int
	at     int

	trip   int64 // smoothed mine + theirs, in units of 1/smooth µs
	jitter int64 // smoothed deviation from it, halved, in the same units
	seen   bool
}

// Add takes a sample: the lag measured here and the one the other side claims, in µs.
func (e *Estimator) Add(mine, theirs int64) {
	d := mine - theirs
	i := e.n
	if e.n == sampled {
		i = e.find(e.ring[e.at])
	} else {
		e.n++
	}
	e.settle(i, d)
	e.ring[e.at] = d
	if e.at++; e.at == sampled {
		e.at = 0
	}

	sum := mine + theirs
	if !e.seen {
		e.trip, e.seen = sum*smooth, true
	}
	off := sum*smooth - e.trip
	e.jitter += (max(off, -off)/2 - e.jitter) / smooth
	e.trip += off / smooth
}

// find is where d lies among all samples.
func (e *Estimator) find(d int64) int {
	low, high := 0, sampled-1
	for low < high {
		if mid := (low + high) / 2; e.sorted[mid] < d {
			low = mid + 1
		} else {
			high = mid
		}
	}
	return low
}

// settle puts d in place of the sample at i and moves it to where it belongs.
func (e *Estimator) settle(i int, d int64) {
	for ; i > 0 && e.sorted[i-1] > d; i-- {
		e.sorted[i] = e.sorted[i-1]
	}
	for ; i < e.n-1 && e.sorted[i+1] < d; i++ {
		e.sorted[i] = e.sorted[i+1]
	}
	e.sorted[i] = d
}

// Offset is how far this side is ahead, in µs: half the mean of the middle third of the samples. ok is false while
// there are too few.
func (e *Estimator) Offset() (ahead int64, ok bool) {
	var sum int64
	if e.n == sampled {
		for _, d := range e.sorted[sampled/lowCut : sampled-sampled/lowCut] {
			sum += d
		}
		return sum / (2 * (sampled - 2*(sampled/lowCut))), true
	}
	if e.n < enough {
		return 0, false
	}
	low, high := e.n/lowCut, e.n-e.n/lowCut
	for _, d := range e.sorted[low:high] {
		sum += d
	}
	return sum / int64(2*(high-low)), true
}

// RoundTrip is the smoothed round trip in µs, free of tick quantisation; 0 before the first sample.
func (e *Estimator) RoundTrip() int64 { return e.trip / smooth }

// Jitter is the smoothed deviation of a one-way delay, in µs.
func (e *Estimator) Jitter() int64 { return e.jitter / smooth }
