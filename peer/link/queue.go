package link

import (
	"sync"

	"backstep/rollback/wire"
)

// queueLen in packets: two seconds of one packet a tick and its second copy.
const queueLen = 256

// queue hands packets from the reader goroutine to the match loop. It is
// bounded, never blocks the reader, and gives up the oldest packet when full:
// inputs are repeated until acknowledged, so the newest packet says most.
// All memory is allocated once.
type queue struct {
	mu      sync.Mutex
	slot    [queueLen]entry
	head, n int
	dropped uint64
	epoch   byte
	strays  uint64 // packets of another match
}

type entry struct {
	at   int64
	size int
	body [wire.MaxPacket]byte
}

// push takes a packet of an epoch; one of another epoch than the queue's is
// counted and dropped.
func (q *queue) push(b []byte, at int64, epoch byte) {
	q.mu.Lock()
	if epoch != q.epoch {
		q.strays++
		q.mu.Unlock()
		return
	}
	if q.n == queueLen {
		q.head = (q.head + 1) % queueLen
		q.n--
		q.dropped++
	}
	e := &q.slot[(q.head+q.n)%queueLen]
	e.at, e.size = at, copy(e.body[:], b)
	q.n++
	q.mu.Unlock()
}

// pop copies the oldest packet into b, which must hold wire.MaxPacket bytes.
func (q *queue) pop(b []byte) (n int, at int64, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.n == 0 {
		return 0, 0, false
	}
	e := &q.slot[q.head]
	n, at = copy(b, e.body[:e.size]), e.at
	q.head = (q.head + 1) % queueLen
	q.n--
	return n, at, true
}

// begin empties the queue and lets packets of another epoch in from now on.
func (q *queue) begin(epoch byte) {
	q.mu.Lock()
	if q.epoch != epoch {
		q.strays += uint64(q.n)
		q.epoch, q.head, q.n = epoch, 0, 0
	}
	q.mu.Unlock()
}
