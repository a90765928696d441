package relay

import (
	"encoding/binary"
	"sync"
)

const (
	// tunnelQueue is how many bytes of frames wait for a tunnel at most: some five seconds of a match. Older frames go first,
	// because the newest input packet says all that is not acknowledged.
	tunnelQueue = 64 << 10
	// queueStart is what a queue starts with; most never hold more than a few frames.
	queueStart = 2 << 10
)

// frameQueue is a ring of frames between the workers that forward to a tunnel and the goroutine that writes to its socket. It
// never blocks the former: when it is full the oldest frames are dropped. Frames are stored as length u16 and bytes. The zero
// value is not usable; see newFrameQueue.
type frameQueue struct {
	ready chan struct{} // holds a token while there may be something to pop

	mu   sync.Mutex
	buf  []byte // a power of two long, grows up to tunnelQueue
	head int
	size int
}

func newFrameQueue() *frameQueue { return &frameQueue{ready: make(chan struct{}, 1)} }

// push appends a copy of b, 1 to MaxFrame bytes, and returns how many frames it dropped to make room.
func (q *frameQueue) push(b []byte) (dropped int) {
	q.mu.Lock()
	need := 2 + len(b)
	for q.size+need > tunnelQueue {
		q.skip(2 + q.length())
		dropped++
	}
	if q.size+need > len(q.buf) {
		q.grow(q.size + need)
	}
	var n [2]byte
	binary.LittleEndian.PutUint16(n[:], uint16(len(b)))
	q.put(n[:])
	q.put(b)
	q.mu.Unlock()
	select {
	case q.ready <- struct{}{}:
	default:
	}
	return dropped
}

// pop moves the oldest frame into dst, which must have room for the longest, and returns its length, 0 if there is none.
func (q *frameQueue) pop(dst []byte) int {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.size == 0 {
		return 0
	}
	n := q.length()
	q.skip(2)
	q.peek(dst[:n])
	q.skip(n)
	return n
}

func (q *frameQueue) length() int {
	var n [2]byte
	q.peek(n[:])
	return int(binary.LittleEndian.Uint16(n[:]))
}

func (q *frameQueue) peek(dst []byte) {
	n := copy(dst, q.buf[q.head:])
	copy(dst[n:], q.buf)
}

func (q *frameQueue) skip(n int) {
	q.head = (q.head + n) & (len(q.buf) - 1)
	q.size -= n
}

func (q *frameQueue) put(b []byte) {
	at := (q.head + q.size) & (len(q.buf) - 1)
	n := copy(q.buf[at:], b)
	copy(q.buf, b[n:])
	q.size += len(b)
}

func (q *frameQueue) grow(need int) {
	n := max(len(q.buf), queueStart)
	for n < need {
		n *= 2
	}
	buf := make([]byte, n)
	if len(q.buf) > 0 {
		q.peek(buf[:q.size])
	}
	q.buf, q.head = buf, 0
}
