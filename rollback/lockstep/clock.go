package lockstep

const (
	// Hz is the rate of a match in lockstep, FrameMicros the length of a frame.
	Hz          = 25
	FrameMicros = 1_000_000 / Hz
)

// Clock turns time into frames: one for each 40 ms accumulated, whatever steps the time comes in. The zero value has
// none.
type Clock struct {
	acc int64 // µs
}

// Add accumulates time in µs; negative time is none.
func (c *Clock) Add(micros int64) { c.acc += max(micros, 0) }

// Due is how many frames have come due and were not taken.
func (c *Clock) Due() int { return int(c.acc / FrameMicros) }

// Take takes one frame; it reports whether one was due.
func (c *Clock) Take() bool {
	if c.acc < FrameMicros {
		return false
	}
	c.acc -= FrameMicros
	return true
}

// wait forgets the time spent waiting for others, so that the side that is ahead falls in with them.
func (c *Clock) wait() { c.acc = min(c.acc, FrameMicros) }
