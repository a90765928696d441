package natpunch

import (
	"net"
	"os"
	"sync"
	"time"
)

// queueSlots is about half a second of a match on both routes, more than any
// reader that is still useful falls behind.
const queueSlots = 128

// queue is the bounded receive queue under DTLS. When it is full the oldest
// datagram goes, because a rollback session has no use for old input. Setting a
// deadline wakes a blocked reader: pion/dtls cancels a handshake that way.
// All memory is allocated once; push and pop allocate nothing.
type queue struct {
	drops *Drops

	mu       sync.Mutex
	wake     sync.Cond
	slots    [queueSlots][maxDatagram]byte
	size     [queueSlots]int
	head, n  int
	deadline time.Time
	timer    *time.Timer
	closed   bool
}

func newQueue(drops *Drops) *queue {
	q := &queue{drops: drops}
	q.wake.L = &q.mu
	return q
}

// push copies b into the queue.
func (q *queue) push(b []byte) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return
	}
	if q.n == queueSlots {
		q.head = (q.head + 1) % queueSlots
		q.n--
		q.drops.add(DropQueue)
	}
	i := (q.head + q.n) % queueSlots
	q.size[i] = copy(q.slots[i][:], b)
	q.n++
	q.wake.Signal()
}

// pop waits for a datagram and copies it into b; what does not fit is cut off,
// as with any PacketConn. It returns os.ErrDeadlineExceeded once the deadline
// has passed, and net.ErrClosed after close.
func (q *queue) pop(b []byte) (int, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for {
		switch {
		case q.closed:
			return 0, net.ErrClosed
		case !q.deadline.IsZero() && !time.Now().Before(q.deadline):
			return 0, os.ErrDeadlineExceeded
		case q.n > 0:
			n := copy(b, q.slots[q.head][:q.size[q.head]])
			q.head = (q.head + 1) % queueSlots
			q.n--
			return n, nil
		}
		q.wake.Wait()
	}
}

// setDeadline sets when pop gives up; the zero time means never.
func (q *queue) setDeadline(t time.Time) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.deadline = t
	if q.timer != nil {
		q.timer.Stop()
	}
	if d := time.Until(t); !t.IsZero() && d > 0 && !q.closed {
		if q.timer == nil {
			q.timer = time.AfterFunc(d, q.expire)
		} else {
			q.timer.Reset(d)
		}
	}
	q.wake.Broadcast()
}

func (q *queue) expire() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.wake.Broadcast()
}

func (q *queue) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	if q.timer != nil {
		q.timer.Stop()
	}
	q.wake.Broadcast()
}
