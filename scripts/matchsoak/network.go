package main

import (
	"math/rand/v2"
	"time"
)

// link is one direction in virtual time.
type link struct {
	way
	calm    int64
	discard bool // damaged packets are dropped, as by a channel that authenticates
	rng     *rand.Rand
	badTill int64
	queue   []packet
	free    [][]byte
}

type packet struct {
	at int64
	b  []byte
}

func (l *link) chance(percent int) bool { return percent > 0 && l.rng.IntN(100) < percent }

func (l *link) send(now int64, b []byte) {
	if now >= l.calm {
		l.put(now+l.delay, b)
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
		l.put(now+delay, b)
		if l.jitter > 0 {
			delay += l.rng.Int64N(l.jitter)
		}
	}
	if l.chance(l.corrupt) {
		if !l.discard {
			l.put(now+delay, l.damaged(b))
		}
		return
	}
	if l.chance(l.reorder) {
		delay += 25_000
	}
	l.put(now+delay, b)
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

func (l *link) put(at int64, b []byte) {
	var c []byte
	if n := len(l.free); n > 0 {
		c, l.free = l.free[n-1][:0], l.free[:n-1]
	}
	l.queue = append(l.queue, packet{at, append(c, b...)})
	for i := len(l.queue) - 1; i > 0 && l.queue[i-1].at > at; i-- {
		l.queue[i-1], l.queue[i] = l.queue[i], l.queue[i-1]
	}
}

// deliver hands over what has arrived by now, with its arrival time.
func (l *link) deliver(now int64, f func(at int64, b []byte)) {
	n := 0
	for ; n < len(l.queue) && l.queue[n].at <= now; n++ {
		f(l.queue[n].at, l.queue[n].b)
		l.free = append(l.free, l.queue[n].b)
	}
	l.queue = append(l.queue[:0], l.queue[n:]...)
}
