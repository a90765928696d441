// Package flight keeps the datagrams that are under way on one direction of a network in virtual time, for the programs that
// measure on one. What a network does to a datagram is theirs; this is the part that waits.
//
//	Put(at, b) ──▶ [ earliest … latest ] ── Deliver(now) ──▶ in order of arrival
package flight

import "math"

// Never is what Next returns when nothing is under way.
const Never = math.MaxInt64

type datagram struct {
	at int64
	b  []byte
}

// Queue is one direction. The zero value is empty. Buffers of delivered datagrams are used again, so that a long run
// allocates only for the most that was ever under way at once. It belongs to one goroutine.
type Queue struct {
	flying []datagram
	free   [][]byte
}

// Put lets a copy of b arrive at time at. Among equal times the order of sending holds.
func (q *Queue) Put(at int64, b []byte) {
	var c []byte
	if n := len(q.free); n > 0 {
		c, q.free = q.free[n-1][:0], q.free[:n-1]
	}
	q.flying = append(q.flying, datagram{at, append(c, b...)})
	for i := len(q.flying) - 1; i > 0 && q.flying[i-1].at > at; i-- {
		q.flying[i-1], q.flying[i] = q.flying[i], q.flying[i-1]
	}
}

// Deliver hands over what has arrived by now, with its arrival time, and returns the first error of f, which ends nothing.
// The slice is valid during the call only; f may not use the queue.
func (q *Queue) Deliver(now int64, f func(at int64, b []byte) error) (err error) {
	n := 0
	for ; n < len(q.flying) && q.flying[n].at <= now; n++ {
		if e := f(q.flying[n].at, q.flying[n].b); err == nil {
			err = e
		}
		q.free = append(q.free, q.flying[n].b)
	}
	q.flying = append(q.flying[:0], q.flying[n:]...)
	return err
}

// Next is when the first datagram arrives.
func (q *Queue) Next() int64 {
	if len(q.flying) == 0 {
		return Never
	}
	return q.flying[0].at
}

// Len is how many datagrams are under way.
func (q *Queue) Len() int { return len(q.flying) }
