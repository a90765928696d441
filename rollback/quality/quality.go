// Package quality judges a link: the grade before the match, the offer of delay mode during it, and the reliability
// score after it. All figures are integers: microseconds, millionths of loss, tenths of a score.
//
// Before the match:
//
//	no samples, or RTT > 150 ms, or loss >= 8 %                 Poor        delay     not ranked
//	else RTT > 100 ms, or jitter > 18 ms, or loss >= 4 %        Borderline  hybrid    ranked
//	else                                                        Good        rollback  ranked
//
// During it (Ladder):
//
//	        1800 samples in a row above the cap           answer yes
//	Playing ───────────────────────────────────▶ Offered ───────────▶ Accepted
//	   ▲ one sample at or below starts anew         │ answer no
//	                                                └───────────────▶ Declined      (no second offer)
package quality

// Fixed limits of a Borderline link. The other limits are part of the configuration.
const (
	BorderlineJitterMicros = 18_000
	BorderlineLoss         = 40_000
)

// Percent is one per cent of loss, in the millionths in which loss is given.
const Percent = 10_000

// Medium is what a player's machine hangs on.
type Medium uint8

const (
	Unknown Medium = iota
	Wired
	WiFi
	Mobile
)

// Sample is one measurement of a link.
type Sample struct {
	RTT      int64 // microseconds
	Jitter   int64 // microseconds
	Loss     int64 // millionths: 1 % is 10 000
	Rollback int   // frames, 0 before a match
	Medium   Medium
}

// Grade orders links from bad to good.
type Grade uint8

const (
	Poor Grade = iota
	Borderline
	Good
)

func (g Grade) String() string {
	switch g {
	case Good:
		return "good"
	case Borderline:
		return "borderline"
	}
	return "poor"
}

// Mode is how inputs become frames.
type Mode uint8

const (
	Delay Mode = iota
	Hybrid
	Rollback
)

func (m Mode) String() string {
	switch m {
	case Rollback:
		return "rollback"
	case Hybrid:
		return "hybrid"
	}
	return "delay"
}

// Limits are the configurable edges of the grades. The zero value means DefaultLimits.
type Limits struct {
	HybridRTT int64 // microseconds; above it Borderline
	DelayRTT  int64 // microseconds; above it Poor
	PoorLoss  int64 // millionths; from it on Poor
}

// DefaultLimits are 100 ms, 150 ms and 8 %.
func DefaultLimits() Limits {
	return Limits{HybridRTT: 100_000, DelayRTT: 150_000, PoorLoss: 8 * Percent}
}

// Verdict is what the handshake decides.
type Verdict struct {
	Grade          Grade
	Mode           Mode
	RankedEligible bool
	WiredHint      bool  // someone plays over Wi-Fi or mobile; never blocks a match
	RTT            int64 // mean, microseconds
	Jitter         int64 // largest, microseconds
	Loss           int64 // mean, millionths
}

// Handshake grades a link from the samples taken before the match: mean RTT, mean loss, largest jitter.
func Handshake(samples []Sample, l Limits) Verdict {
	if l == (Limits{}) {
		l = DefaultLimits()
	}
	var v Verdict
	var rtt, loss int64
	n := int64(len(samples))
	for _, s := range samples {
		rtt += s.RTT
		loss += s.Loss
		v.Jitter = max(v.Jitter, s.Jitter)
		v.WiredHint = v.WiredHint || s.Medium == WiFi || s.Medium == Mobile
	}
	if n > 0 {
		v.RTT, v.Loss = rtt/n, loss/n
	}
	// Sums are compared, not the rounded means, so that an edge is an edge.
	switch {
	case n == 0, rtt > l.DelayRTT*n, loss >= l.PoorLoss*n:
		v.Grade, v.Mode = Poor, Delay
	case rtt > l.HybridRTT*n, v.Jitter > BorderlineJitterMicros, loss >= BorderlineLoss*n:
		v.Grade, v.Mode, v.RankedEligible = Borderline, Hybrid, true
	default:
		v.Grade, v.Mode, v.RankedEligible = Good, Rollback, true
	}
	return v
}

// Agree is the verdict of a match between two sides that each graded the link: the worse one counts.
func Agree(a, b Verdict) Verdict {
	v := a
	if b.Grade < a.Grade {
		v = b
	}
	v.WiredHint = a.WiredHint || b.WiredHint
	v.RTT, v.Jitter, v.Loss = max(a.RTT, b.RTT), max(a.Jitter, b.Jitter), max(a.Loss, b.Loss)
	return v
}
