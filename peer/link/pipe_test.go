package link

import (
	"math/rand/v2"
	"net"
	"os"
	"sync"
	"time"

	"backstep/natpunch"
)

// fakeTransport is one end of an in-memory path whose loss the test sets. It
// keeps what the Link told it.
type fakeTransport struct {
	mu       sync.Mutex
	cond     *sync.Cond
	queue    [][]byte
	deadline time.Time
	closed   bool

	other *fakeTransport
	rng   *rand.Rand
	loss  float64
	plan  natpunch.Mask
	route natpunch.Mask
	seen  map[natpunch.Mask]int // authenticated arrivals by path
	sent  [][]byte              // datagrams as they went out, when kept
	keep  bool
}

func newPair(seed uint64, loss float64) (*fakeTransport, *fakeTransport) {
	mk := func(s uint64) *fakeTransport {
		t := &fakeTransport{rng: rand.New(rand.NewPCG(seed, s)), loss: loss, plan: natpunch.Relay, seen: map[natpunch.Mask]int{}}
		t.cond = sync.NewCond(&t.mu)
		return t
	}
	a, b := mk(1), mk(2)
	a.other, b.other = b, a
	return a, b
}

// inject puts a datagram into the receive queue as the network would.
func (t *fakeTransport) inject(b []byte) {
	t.mu.Lock()
	t.queue = append(t.queue, append([]byte(nil), b...))
	t.mu.Unlock()
	t.cond.Broadcast()
}

func (t *fakeTransport) ReadFrom(b []byte) (int, net.Addr, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for {
		switch {
		case t.closed:
			return 0, nil, net.ErrClosed
		case !t.deadline.IsZero() && !time.Now().Before(t.deadline):
			return 0, nil, os.ErrDeadlineExceeded
		case len(t.queue) > 0:
			n := copy(b, t.queue[0])
			t.queue = t.queue[1:]
			return n, opponent{}, nil
		}
		t.cond.Wait()
	}
}

func (t *fakeTransport) WriteTo(b []byte, _ net.Addr) (int, error) {
	t.mu.Lock()
	lost := t.rng.Float64() < t.loss
	if t.keep {
		t.sent = append(t.sent, append([]byte(nil), b...))
	}
	t.mu.Unlock()
	if !lost {
		t.other.inject(b)
	}
	return len(b), nil
}

func (t *fakeTransport) SetReadDeadline(d time.Time) error {
	t.mu.Lock()
	t.deadline = d
	t.mu.Unlock()
	t.cond.Broadcast()
	if wait := time.Until(d); wait > 0 {
		time.AfterFunc(wait, t.cond.Broadcast)
	}
	return nil
}

func (t *fakeTransport) Close() error {
	t.mu.Lock()
	t.closed = true
	t.mu.Unlock()
	t.cond.Broadcast()
	return nil
}
func (t *fakeTransport) LocalAddr() net.Addr              { return opponent{} }
func (t *fakeTransport) SetDeadline(d time.Time) error    { return t.SetReadDeadline(d) }
func (t *fakeTransport) SetWriteDeadline(time.Time) error { return nil }
func (t *fakeTransport) Plan(int64) natpunch.Mask {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.plan
}
func (t *fakeTransport) Select(m natpunch.Mask) {
	t.mu.Lock()
	t.route = m
	t.mu.Unlock()
}
func (t *fakeTransport) Authenticated(m natpunch.Mask, _ int64) {
	t.mu.Lock()
	t.seen[m]++
	t.mu.Unlock()
}
func (t *fakeTransport) arrivals(m natpunch.Mask) int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.seen[m]
}
