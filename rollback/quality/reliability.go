package quality

// RollbackCap is the rollback depth in frames above which a sample costs 10 points.
const RollbackCap = 8

// penalty unit: one tenth of a point is 4000, the smallest number all divisors of the formula divide.
const tenth = 4000

// Reliability is a score in tenths of a point, 0 to 1000: 100 minus the mean over the samples of
// RTT/200 ms·25 + jitter/40 ms·25 + loss/10 %·40 + 10 if a rollback was deeper than 8 frames (QUAL-15).
// It is rounded half up and clamped once, at the end. Without samples it is 0: nothing speaks for the link.
func Reliability(samples []Sample) int {
	if len(samples) == 0 {
		return 0
	}
	var sum int64
	for _, s := range samples {
		sum += s.RTT*(250*tenth/200_000) + s.Jitter*(250*tenth/40_000) + s.Loss*(400*tenth/100_000)
		if s.Rollback > RollbackCap {
			sum += 100 * tenth
		}
	}
	unit := tenth * int64(len(samples))
	score := 1000*unit - sum
	return int(min(max((2*score+unit)/(2*unit), 0), 1000))
}

// Stamp is the diagnosis bound to a match record.
type Stamp struct {
	Endpoint    string // where operators read it
	RTT         int64  // microseconds
	Jitter      int64  // microseconds
	Loss        int64  // millionths
	Grade       Grade
	Reliability int // tenths of a point
}

// Endpoint names the operators' page that stamps are made for.
const Endpoint = "Ops.NetworkHealth.V2"

// NewStamp sums up a match from its samples.
func NewStamp(samples []Sample, l Limits) Stamp {
	v := Handshake(samples, l)
	return Stamp{Endpoint: Endpoint, RTT: v.RTT, Jitter: v.Jitter, Loss: v.Loss, Grade: v.Grade, Reliability: Reliability(samples)}
}
