//go:build linux

package main

import (
	"container/heap"
	"math/rand/v2"
	"time"
)

// model decides about the frames of one direction.
type model struct {
	delay, jitter time.Duration
	loss          float64 // percent
	reorder       bool
	random        *rand.Rand
	last          time.Time
}

func newModel(delay, jitter time.Duration, loss float64, reorder bool, random *rand.Rand) *model {
	return &model{delay: delay, jitter: jitter, loss: loss, reorder: reorder, random: random}
}

// next says when a frame that arrived at now is passed on; ok is false if it is lost.
func (m *model) next(now time.Time) (at time.Time, ok bool) {
	if m.loss > 0 && m.random.Float64()*100 < m.loss {
		return time.Time{}, false
	}
	at = now.Add(m.delay)
	if m.jitter > 0 {
		at = at.Add(time.Duration(m.random.NormFloat64() * float64(m.jitter)))
	}
	if !m.reorder && at.Before(m.last) {
		at = m.last
	}
	m.last = at
	return at, true
}

// frame is one Ethernet frame under way.
type frame struct {
	at time.Time
	b  []byte
}

// queue holds frames by time, and among equal times in the order of arrival. The zero value is empty.
type queue struct {
	heap entries
	n    uint64
}

type entry struct {
	frame
	n uint64
}

type entries []entry

func (e entries) Len() int { return len(e) }
func (e entries) Less(i, j int) bool {
	if c := e[i].at.Compare(e[j].at); c != 0 {
		return c < 0
	}
	return e[i].n < e[j].n
}
func (e entries) Swap(i, j int) { e[i], e[j] = e[j], e[i] }
func (e *entries) Push(x any)   { *e = append(*e, x.(entry)) }
func (e *entries) Pop() any {
	old := *e
	x := old[len(old)-1]
	old[len(old)-1] = entry{}
	*e = old[:len(old)-1]
	return x
}

func (q *queue) len() int         { return len(q.heap) }
func (q *queue) first() time.Time { return q.heap[0].at }
func (q *queue) pop() frame       { return heap.Pop(&q.heap).(entry).frame }
func (q *queue) push(f frame) {
	q.n++
	heap.Push(&q.heap, entry{f, q.n})
}
