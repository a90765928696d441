package impair

import (
	"math/rand/v2"
	"time"
)

// model draws the fate of each datagram. It is not safe for use by several
// goroutines; Conn guards it.
type model struct {
	spec    Spec
	rng     *rand.Rand
	bad     bool          // burst state
	flip    time.Duration // when the burst state changes next, since the start
	started bool
}

func newModel(s Spec) *model {
	return &model{spec: s, rng: rand.New(rand.NewPCG(s.Seed, 0x9E3779B97F4A7C15))}
}

func (m *model) hit(p float64) bool { return p > 0 && m.rng.Float64() < p }

// fate decides what happens to a datagram sent at time since. It may flip one
// bit of b, and calls send once for each copy that survives.
func (m *model) fate(since time.Duration, b []byte, send func(delay time.Duration)) {
	if len(b) > 0 && m.hit(m.spec.Corrupt) {
		bit := m.rng.IntN(len(b) * 8)
		b[bit/8] ^= 1 << (bit % 8)
	}
	copies := 1
	if m.hit(m.spec.Dup) {
		copies = 2
	}
	for range copies {
		if m.lost(since) {
			continue
		}
		delay := m.spec.Delay
		if m.spec.Trace != nil {
			delay, _ = m.spec.Trace.At(since)
		}
		if m.spec.Jitter > 0 {
			delay += time.Duration(m.rng.Int64N(int64(m.spec.Jitter) + 1))
		}
		if m.hit(m.spec.Reorder) {
			delay += reorderDelay
		}
		send(delay)
	}
}

func (m *model) lost(since time.Duration) bool {
	gone := m.hit(m.spec.Loss)
	if m.spec.Trace != nil {
		_, gone = m.spec.Trace.At(since)
	}
	if m.spec.BurstGood > 0 {
		if !m.started {
			m.started = true
			m.flip = m.sojourn(m.spec.BurstGood)
		}
		for since > m.flip {
			m.bad = !m.bad
			mean := m.spec.BurstGood
			if m.bad {
				mean = m.spec.BurstBad
			}
			m.flip += m.sojourn(mean)
		}
		gone = gone || m.bad
	}
	return gone
}

func (m *model) sojourn(mean time.Duration) time.Duration {
	return time.Duration(m.rng.ExpFloat64() * float64(mean))
}
