package main

import (
	"math/rand/v2"
	"time"

	"backstep/peer/impair"
	"backstep/scripts/flight"
)

const (
	second = 1_000_000   // µs
	tick   = second / 60 // µs, rounded down
	oneWay = 75_000      // µs
)

// network is what both directions of a road do to datagrams. Times are µs, loss is a share.
type network struct {
	name      string
	delay     int64
	loss      float64
	good, bad float64 // mean times of the two states of bursts
	trace     *impair.Trace
}

// road is one direction. Loss goes by time, so that two datagrams sent close together share their fate in a burst.
type road struct {
	network
	flight.Queue
	rng   *rand.Rand
	shift int64 // where in the trace it begins
	inBad bool
	flip  float64
	sent  int64
	bytes int64 // with everything below a packet
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
	r.Put(now+delay, b)
}
