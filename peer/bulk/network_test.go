package bulk

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// road is one direction of a network in virtual time: random loss or bursts, delay, jitter, copies, and a bottleneck
// with a queue of bounded length.
type road struct {
	rng           *rand.Rand
	delay, jitter int64
	loss, dup     float64
	burst         [2]int64 // mean time good and bad, µs
	bad           bool
	flips         int64
	rate, queue   int64 // bytes a second and bytes of the bottleneck, 0 for none
	busy          int64
	cut           func(now int64) bool
	flying        []datagram
	sent, bytes   int64
	lost, waits   int64
	sizes         []datagramSize
}

type datagram struct {
	at int64
	b  []byte
}

type datagramSize struct{ at, size int64 }

func (r *road) send(now int64, b []byte) {
	size := int64(len(b) + DefaultOverhead)
	r.sent++
	r.bytes += size
	r.sizes = append(r.sizes, datagramSize{now, size})
	if r.burst[0] > 0 {
		for now > r.flips {
			r.bad = !r.bad
			mean := r.burst[0]
			if r.bad {
				mean = r.burst[1]
			}
			r.flips += int64(r.rng.ExpFloat64() * float64(mean))
		}
	}
	at := now
	if r.rate > 0 {
		wait := max(r.busy-now, 0)
		r.waits += wait
		if wait*r.rate/1_000_000+size > r.queue {
			r.lost++
			return
		}
		r.busy = max(r.busy, now) + micros(size, r.rate)
		at = r.busy
	}
	if r.bad || r.rng.Float64() < r.loss || r.cut != nil && r.cut(now) {
		r.lost++
		return
	}
	for range 1 + min(int(r.rng.Float64()+r.dup), 1) {
		at := at + r.delay + r.rng.Int64N(r.jitter+1)
		i := len(r.flying)
		for i > 0 && r.flying[i-1].at > at {
			i--
		}
		r.flying = slices.Insert(r.flying, i, datagram{at, slices.Clone(b)})
	}
}

func (r *road) next() int64 {
	if len(r.flying) == 0 {
		return never
	}
	return r.flying[0].at
}

// transfer is one blob on its way over two roads.
type transfer struct {
	s        *Sender
	r        *Receiver
	to, from *road
	now      int64
	complete int64 // when the receiver had the blob, µs after the start; 0: not yet
	peak     int64 // most bytes in flight
}

const start = 5_000_000

func newTransfer(tb testing.TB, c Config, blob []byte, to, from *road) *transfer {
	s, err := NewSender(c, blob, start)
	if err != nil {
		tb.Fatal(err)
	}
	r, err := NewReceiver(ReceiverConfig{ID: c.ID, Limit: max(len(blob), 1)})
	if err != nil {
		tb.Fatal(err)
	}
	return &transfer{s: s, r: r, to: to, from: from, now: start}
}

// run goes from event to event until the sender is done or the time is over.
func (t *transfer) run(limit int64) error {
	for steps := 0; !t.s.Done() && t.s.Err() == nil; steps++ {
		if t.now-start > limit {
			return fmt.Errorf("not done after %d µs: %+v %+v", limit, t.s.Stats(), t.r.Stats())
		}
		if steps > 2_000_000 {
			return fmt.Errorf("the clock stands still at %d: %+v", t.now, t.s.Stats())
		}
		if err := t.step(); err != nil {
			return err
		}
	}
	return t.s.Err()
}

func (t *transfer) step() error {
	for len(t.to.flying) > 0 && t.to.flying[0].at <= t.now {
		d := t.to.flying[0]
		t.to.flying = t.to.flying[1:]
		if err := t.r.Receive(d.at, d.b); err != nil {
			return err
		}
		if _, ok := t.r.Blob(); ok && t.complete == 0 {
			t.complete = d.at - start
		}
	}
	for len(t.from.flying) > 0 && t.from.flying[0].at <= t.now {
		d := t.from.flying[0]
		t.from.flying = t.from.flying[1:]
		if err := t.s.Receive(d.at, d.b); err != nil {
			return err
		}
	}
	for {
		b := t.s.AppendShard(nil, t.now)
		if len(b) == 0 {
			break
		}
		t.to.send(t.now, b)
		t.peak = max(t.peak, t.s.flights.bytes)
	}
	if b := t.r.AppendReport(nil, t.now); len(b) > 0 {
		t.from.send(t.now, b)
	}
	if t.s.Err() != nil {
		return nil
	}
	next := min(t.s.Next(t.now), t.r.Next(), t.to.next(), t.from.next())
	if next == never && !t.s.Done() && t.s.Err() == nil {
		return fmt.Errorf("nobody has anything to do at %d: %+v", t.now, t.s.Stats())
	}
	t.now = max(next, t.now+1)
	return nil
}

func (t *transfer) check(blob []byte) error {
	if got, ok := t.r.Blob(); !ok || !bytes.Equal(got, blob) {
		return fmt.Errorf("the blob did not come whole: %v %v", ok, t.r.Err())
	}
	return nil
}

func randomBlob(seed uint64, n int) []byte {
	rng := rand.New(rand.NewPCG(seed, 4))
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(rng.Uint32())
	}
	return b
}

// roads are two directions with the same loss and half the round trip each.
func roads(seed uint64, rtt int64, loss float64) (to, from *road) {
	rng := rand.New(rand.NewPCG(seed, 9))
	return &road{rng: rng, delay: rtt / 2, loss: loss}, &road{rng: rng, delay: rtt / 2, loss: loss}
}
