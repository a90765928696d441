package main

import (
	"math/rand/v2"
	"slices"
	"time"

	"backstep/peer/impair"
)

const (
	second = 1_000_000   // µs
	tick   = second / 60 // µs, rounded down
	oneWay = 75_000      // µs
	never  = 1 << 62
)

// network is what both directions of a road do to datagrams. Times are µs, loss is a share.
type network struct {
	name      string
	delay     int64
	loss      float64
	good, bad float64 // mean times of the two states of bursts
	trace     *impair.Trace
}

type datagram struct {
	at int64
	b  []byte
}

// road is one direction. Loss goes by time, so that two datagrams sent close together share their fate in a burst.
type road struct {
	network
	rng    *rand.Rand
	shift  int64 // where in the trace it begins
	inBad  bool
	flip   float64
	flying []datagram
	sent   int64
	bytes  int64 // with everything below a packet
}

func newRoad(n network, seed uint64) *road {
	r := &road{network: n, rng: rand.New(rand.NewPCG(seed, 0x6c696e6b))}
	if n.trace != nil {
		r.shift = r.rng.Int64N(60 * second)
	}
	r.flip = r.sojourn(n.good)
	return r
}

func (r *road) sojourn(mean float64) float64 { return r.rng.ExpFloat64() * mean }

// fate is the delay of a datagram sent at now and whether it is lost. Time must not run backwards.
func (r *road) fate(now int64) (delay int64, lost bool) {
	if r.trace != nil {
		d, lost := r.trace.At(time.Duration(now+r.shift) * time.Microsecond)
		return d.Microseconds(), lost
	}
	if r.bad > 0 {
		for float64(now) > r.flip {
			r.inBad = !r.inBad
			if r.inBad {
				r.flip += r.sojourn(r.bad)
			} else {
				r.flip += r.sojourn(r.good)
			}
		}
		return r.delay, r.inBad
	}
	return r.delay, r.loss > 0 && r.rng.Float64() < r.loss
}

// send puts b on the road; below is what layers under the packet add to it.
func (r *road) send(now int64, b []byte, below int) {
	r.sent++
	r.bytes += int64(len(b) + below)
	delay, lost := r.fate(now)
	if lost {
		return
	}
	d := datagram{now + delay, slices.Clone(b)}
	i := len(r.flying)
	for i > 0 && r.flying[i-1].at > d.at {
		i--
	}
	r.flying = slices.Insert(r.flying, i, d)
}

// deliver hands over what has arrived by now.
func (r *road) deliver(now int64, f func(at int64, b []byte) error) error {
	n := 0
	for ; n < len(r.flying) && r.flying[n].at <= now; n++ {
		if err := f(r.flying[n].at, r.flying[n].b); err != nil {
			return err
		}
	}
	r.flying = slices.Delete(r.flying, 0, n)
	return nil
}

// next is when the first datagram arrives.
func (r *road) next() int64 {
	if len(r.flying) == 0 {
		return never
	}
	return r.flying[0].at
}
