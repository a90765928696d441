package impair

import (
	"container/heap"
	"net"
	"sync"
	"time"
)

// maxQueued bounds the datagrams in flight: a peer sends at most a few
// hundred a second, so this is seconds of traffic.
const maxQueued = 4096

// Conn is a UDP socket whose outgoing datagrams are damaged. Reading, the
// deadlines and the addresses are the socket's own. It is safe for several
// goroutines. It runs one goroutine, which Close ends; datagrams still
// waiting then are lost, as they would be on a wire that is cut.
type Conn struct {
	net.PacketConn

	mu     sync.Mutex
	model  *model
	start  time.Time
	queue  queue
	serial uint64
	wake   chan struct{}
	done   chan struct{}
	once   sync.Once
	ended  sync.WaitGroup
}

// Wrap returns a socket that sends through conn what the specification leaves
// of it, or conn itself when it does nothing.
func Wrap(conn net.PacketConn, s Spec) net.PacketConn {
	if s.Zero() {
		return conn
	}
	c := &Conn{
		PacketConn: conn,
		model:      newModel(s),
		start:      time.Now(),
		wake:       make(chan struct{}, 1),
		done:       make(chan struct{}),
	}
	c.ended.Add(1)
	go c.run()
	return c
}

// WriteTo takes a datagram to send. It never blocks and always reports
// success: what becomes of the datagram is the network's affair.
func (c *Conn) WriteTo(b []byte, to net.Addr) (int, error) {
	select {
	case <-c.done:
		return 0, net.ErrClosed
	default:
	}
	now := time.Now()
	body := append([]byte(nil), b...)
	c.mu.Lock()
	c.model.fate(now.Sub(c.start), body, func(delay time.Duration) {
		if len(c.queue) < maxQueued {
			c.serial++
			heap.Push(&c.queue, item{at: now.Add(delay), serial: c.serial, body: body, to: to})
		}
	})
	c.mu.Unlock()
	select {
	case c.wake <- struct{}{}:
	default:
	}
	return len(b), nil
}

// SetDeadline sets the read deadline. WriteTo only queues, and a datagram that is held back must not
// meet a deadline that was meant for the moment it was handed over.
func (c *Conn) SetDeadline(t time.Time) error { return c.SetReadDeadline(t) }

// SetWriteDeadline does nothing: WriteTo does not wait.
func (c *Conn) SetWriteDeadline(time.Time) error { return nil }

// Close closes the socket and ends the sender.
func (c *Conn) Close() error {
	c.once.Do(func() { close(c.done) })
	err := c.PacketConn.Close()
	c.ended.Wait()
	return err
}

func (c *Conn) run() {
	defer c.ended.Done()
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		c.mu.Lock()
		wait := time.Hour
		for len(c.queue) > 0 {
			if wait = time.Until(c.queue[0].at); wait > 0 {
				break
			}
			due := heap.Pop(&c.queue).(item)
			c.mu.Unlock()
			// A refused datagram is a lost one: the wire reports nothing.
			_, _ = c.PacketConn.WriteTo(due.body, due.to)
			c.mu.Lock()
			wait = time.Hour
		}
		c.mu.Unlock()
		timer.Reset(wait)
		select {
		case <-c.done:
			return
		case <-c.wake:
		case <-timer.C:
		}
	}
}

type item struct {
	at     time.Time
	serial uint64 // keeps the sending order among equal times
	body   []byte
	to     net.Addr
}

type queue []item

func (q queue) Len() int { return len(q) }
func (q queue) Less(i, j int) bool {
	if q[i].at.Equal(q[j].at) {
		return q[i].serial < q[j].serial
	}
	return q[i].at.Before(q[j].at)
}
func (q queue) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q *queue) Push(x any)   { *q = append(*q, x.(item)) }
func (q *queue) Pop() any {
	old := *q
	last := old[len(old)-1]
	old[len(old)-1] = item{}
	*q = old[:len(old)-1]
	return last
}
