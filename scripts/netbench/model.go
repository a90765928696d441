package main

import (
	"math"

	"backstep/scripts/flight"
)

// generator is the xorshift generator of the model.
type generator uint64

func (g *generator) next() uint64 {
	x := uint64(*g)
	x ^= x << 13
	x ^= x >> 7
	x ^= x << 17
	*g = generator(x)
	return x
}

func (g *generator) uniform() float64 { return float64(g.next()>>11) / (1 << 53) }

func newGenerator(state uint64, skip int) generator {
	g := generator(state)
	for range skip {
		g.next()
	}
	return g
}

// scenario is one kind of network. Times are milliseconds, loss is a share.
type scenario struct {
	name      string
	rtt, loss float64
	good, bad float64 // mean sojourn times of the two burst states
	jitter    float64
	hzb       float64 // ticks a second of B, by A's clock
	off       float64 // how much later B starts
	damage    float64 // share of packets of which a damaged copy is delivered too; full form
}

func scenarios() []scenario {
	s := func(name string, rtt float64) scenario { return scenario{name: name, rtt: rtt, hzb: 60, off: 8} }
	with := func(x scenario, f func(*scenario)) scenario { f(&x); return x }
	loss := func(name string, rtt, loss float64) scenario {
		return with(s(name, rtt), func(x *scenario) { x.loss = loss })
	}
	burst := func(name string, rtt float64) scenario {
		return with(s(name, rtt), func(x *scenario) { x.good, x.bad = 1500, 100 })
	}
	return []scenario{
		s("rtt80_l0", 80), loss("rtt80_l5", 80, .05), loss("rtt80_l10", 80, .1), loss("rtt80_l20", 80, .2),
		burst("rtt80_burst", 80),
		with(loss("rtt80_jit30_l2", 80, .02), func(x *scenario) { x.jitter = 30 }),
		s("rtt150_l0", 150), loss("rtt150_l5", 150, .05), loss("rtt150_l10", 150, .1), loss("rtt150_l20", 150, .2),
		burst("rtt150_burst", 150),
		loss("rtt200_l5", 200, .05),
		with(s("rtt80_drift1pct", 80), func(x *scenario) { x.hzb = 59.4 }),
		with(s("rtt80_drift5pct", 80), func(x *scenario) { x.hzb = 57 }),
		with(s("rtt80_off200", 80), func(x *scenario) { x.off = 200 }),
		with(s("rtt80_off33", 80), func(x *scenario) { x.off = 33 }),
		with(s("rtt80_damage20", 80), func(x *scenario) { x.damage = .2 }),
	}
}

// link is one direction of the network.
type link struct {
	scenario
	warm  int64
	r, br generator
	hurt  generator // damage draws, which the model leaves to us
	inBad bool
	flip  float64
	flight.Queue
	counts struct{ packets, bytes int }
}

func newLink(x scenario, warm int64, seed uint64) *link {
	return &link{
		scenario: x, warm: warm, flip: float64(warm),
		r:    newGenerator(seed*0x9E3779B97F4A7C15+1, 20),
		br:   newGenerator(seed*0xD1B54A32D192ED03+7, 20),
		hurt: newGenerator(seed*0xA24BAED4963EE407+3, 20),
	}
}

func (l *link) send(now int64, b []byte) {
	if now > l.warm {
		l.counts.packets++
		l.counts.bytes += len(b)
		drop := false
		if l.good > 0 {
			for float64(now) > l.flip {
				l.inBad = !l.inBad
				mean := l.good
				if l.inBad {
					mean = l.bad
				}
				l.flip += -math.Log(1-l.br.uniform()) * mean * 1000
			}
			drop = l.inBad
		}
		if l.loss > 0 && l.r.uniform() < l.loss {
			drop = true
		}
		if drop {
			return
		}
	}
	delay := l.rtt / 2 * 1000
	if l.jitter > 0 {
		delay += l.r.uniform() * l.jitter * 1000
	}
	l.Put(now+int64(delay), b)
	if l.damage > 0 && l.hurt.uniform() < l.damage {
		l.Put(now+int64(delay), l.damaged(b))
	}
}

// damaged is a copy of b with one bit flipped, cut short, or replaced by noise.
func (l *link) damaged(b []byte) []byte {
	c := append([]byte(nil), b...)
	switch l.hurt.next() % 3 {
	case 0:
		i := l.hurt.next() % uint64(len(c)*8)
		c[i/8] ^= 1 << (i % 8)
	case 1:
		c = c[:l.hurt.next()%uint64(len(c))]
	default:
		for i := range c {
			c[i] = byte(l.hurt.next() >> 24)
		}
	}
	return c
}
