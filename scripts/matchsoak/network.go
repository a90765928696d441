package main

import (
	"math/rand/v2"
	"time"

	"backstep/scripts/flight"
)

// link is one direction in virtual time.
type link struct {
	way
	calm    int64
	discard bool // damaged packets are dropped, as by a channel that authenticates
	rng     *rand.Rand
	badTill int64
	flight.Queue
}

func (l *link) chance(percent int) bool { return percent > 0 && l.rng.IntN(100) < percent }

func (l *link) send(now int64, b []byte) {
	if now >= l.calm {
		l.Put(now+l.delay, b)
		return
	}
	delay := l.delay
	if l.chance(l.burst) {
		l.badTill = now + 1 + l.rng.Int64N(l.outage+1)
	}
	if l.trace != nil {
		d, lost := l.trace.At(time.Duration(l.traceAt+now) * time.Microsecond)
		if lost {
			return
		}
		delay = d.Microseconds()
	}
	if now < l.badTill || now >= l.partitionFrom && now < l.partitionTill || l.chance(l.loss) {
		return
	}
	if l.jitter > 0 {
		delay += l.rng.Int64N(l.jitter)
	}
	if l.chance(l.dup) {
		l.Put(now+delay, b)
		if l.jitter > 0 {
			delay += l.rng.Int64N(l.jitter)
		}
	}
	if l.chance(l.corrupt) {
		if !l.discard {
			l.Put(now+delay, l.damaged(b))
		}
		return
	}
	if l.chance(l.reorder) {
		delay += 25_000
	}
	l.Put(now+delay, b)
}

// damaged is a copy of b with one bit flipped, cut short, or replaced by noise.
func (l *link) damaged(b []byte) []byte {
	c := append([]byte(nil), b...)
	switch l.rng.IntN(3) {
	case 0:
		c[l.rng.IntN(len(c))] ^= 1 << l.rng.IntN(8)
	case 1:
		c = c[:l.rng.IntN(len(c))]
	default:
		for i := range c {
			c[i] = byte(l.rng.Uint32())
		}
	}
	return c
}
