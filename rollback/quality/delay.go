package quality

// MaxDelay is the most frames of input delay there can be: 250 ms at 60 Hz.
const MaxDelay = 15

const (
	deepest = 4 // frames of rollback that rollback and hybrid leave to correction

	rollbackMost = 3
	hybridLeast  = 1
	hybridMost   = 4

	// spread jitters, which are mean deviations, hold more than 99 % of the packets of any delay seen on real paths.
	spread      = 4
	tickMargin  = 2000 // µs that two clocks held level are apart
	spareMost   = 3    // frames of delay against loss
	lateInTenth = 2    // ten-thousandths of frames that may be late because of loss
)

// Figures are what a delay is chosen by.
type Figures struct {
	RTT    int64 // microseconds
	Jitter int64 // microseconds, mean deviation of one way
	Loss   int64 // millionths
}

// AutoDelay is the input delay in frames that mode m wants on a link, at hz steps a second (S-01).
//
//	rollback  0 to 3   as few as leave the expected depth, one way and jitter in whole frames, at or below 4
//	hybrid    1 to 4   the same
//	delay     1 to 15  one way, four jitters and 2 ms in whole frames, and a frame more for each repetition it takes
//	                   until at most 2 in 10 000 inputs are late because of loss, 3 at most
//
// Delay mode needs no more than one way: an input has to be there when its frame runs, and nobody waits for an answer.
func AutoDelay(m Mode, f Figures, hz int) int {
	switch m {
	case Rollback:
		return min(max(frames(f.RTT/2+f.Jitter, hz)-deepest, 0), rollbackMost)
	case Hybrid:
		return min(max(frames(f.RTT/2+f.Jitter, hz)-deepest, hybridLeast), hybridMost)
	}
	return min(max(frames(f.RTT/2+spread*f.Jitter+tickMargin, hz), 1)+spare(f.Loss), MaxDelay)
}

func frames(micros int64, hz int) int { return int((max(micros, 0)*int64(hz) + 999_999) / 1_000_000) }

// spare is how many repetitions in later packets bring an input through in time often enough.
func spare(loss int64) int {
	late := min(max(loss, 0), 1_000_000)
	n := 0
	for left := late; left > lateInTenth*100 && n < spareMost; n++ {
		left = left * late / 1_000_000
	}
	return n
}
