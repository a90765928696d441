// Package tally counts integer measurements in bins of equal width, so that means and percentiles of a whole match are
// known without keeping its samples. The width w is a power of two, because it is divided by in every tick.
//
//	bin        0        1        2              n-1
//	value   [0, w)  [w, 2w) [2w, 3w)  …  [(n-1)w, ∞)
package tally

// Histogram is owned by one goroutine and does not allocate after New.
type Histogram struct {
	counts []uint32
	shift  uint
	n      int64
	sum    int64
	max    int64
}

// New has that many bins, at least one, each 1<<shift wide; the last one takes everything above.
func New(bins int, shift uint) Histogram {
	return Histogram{counts: make([]uint32, max(bins, 1)), shift: shift}
}

// Add counts v; a negative one counts as 0.
func (h *Histogram) Add(v int64) {
	v = max(v, 0)
	h.counts[min(v>>h.shift, int64(len(h.counts))-1)]++
	h.n++
	h.sum += v
	h.max = max(h.max, v)
}

// Count is how many values were added, Sum their sum, Max the largest.
func (h *Histogram) Count() int64 { return h.n }
func (h *Histogram) Sum() int64   { return h.sum }
func (h *Histogram) Max() int64   { return h.max }

// MeanMilli is the mean in thousandths, 0 if empty.
func (h *Histogram) MeanMilli() int64 {
	if h.n == 0 {
		return 0
	}
	return h.sum * 1000 / h.n
}

// Quantile is the lower edge of the bin in which the given share (per 1000) of the values is reached, 0 if empty.
// With a shift of 0 it is exact below the last bin.
func (h *Histogram) Quantile(permille int64) int64 {
	if h.n == 0 {
		return 0
	}
	var seen int64
	for i, c := range h.counts {
		seen += int64(c)
		if seen*1000 >= h.n*permille {
			return min(int64(i)<<h.shift, h.max)
		}
	}
	return h.max
}

// Reset forgets everything added.
func (h *Histogram) Reset() {
	clear(h.counts)
	h.n, h.sum, h.max = 0, 0, 0
}
