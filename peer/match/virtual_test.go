package match

import (
	"cmp"
	"math/rand/v2"
	"slices"

	"backstep/fec"
	"backstep/peer/setup"
	"backstep/sim"
)

// network is the fault model of one direction in virtual time.
type network struct {
	delay, jitter int64 // µs
	loss, dup     float64
	cutFrom, cut  int64 // nothing arrives for this long from then on
}

type flying struct {
	at  int64
	seq int
	b   []byte
}

// virtualPipe is one end of a wire whose other end is another virtualPipe.
type virtualPipe struct {
	rng    *rand.Rand
	net    network
	other  *virtualPipe
	queue  []flying
	seq    int
	now    int64
	broken bool
	out    []byte
	seen   func(b []byte)
}

func (p *virtualPipe) Send(b []byte) {
	if p.seen != nil {
		p.seen(b)
	}
	copies := 1
	if p.rng.Float64() < p.net.dup {
		copies = 2
	}
	for range copies {
		if p.rng.Float64() < p.net.loss || p.now >= p.net.cutFrom && p.now < p.net.cutFrom+p.net.cut {
			continue
		}
		at := p.now + p.net.delay
		if p.net.jitter > 0 {
			at += p.rng.Int64N(p.net.jitter)
		}
		p.seq++
		o := p.other
		o.queue = append(o.queue, flying{at, p.seq, slices.Clone(b)})
		slices.SortFunc(o.queue, func(a, b flying) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.seq, b.seq)) })
	}
}

func (p *virtualPipe) Receive() ([]byte, int64, bool) {
	if len(p.queue) == 0 || p.queue[0].at > p.now {
		return nil, 0, false
	}
	f := p.queue[0]
	p.queue = p.queue[1:]
	p.out = append(p.out[:0], f.b...)
	return p.out, f.at, true
}

func (p *virtualPipe) Broken() bool { return p.broken }

// words is a random player.
type words struct {
	rng  *rand.Rand
	word uint16
}

func (w *words) Next(int32, *sim.World) uint16 {
	if w.rng.Float64() < 0.15 {
		w.word = uint16(w.rng.Uint32()) & 0xfff
	}
	return w.word
}

type duel struct {
	loops [2]*Loop
	pipes [2]*virtualPipe
	next  [2]int64
	ended [2]bool
	start [2]int64
}

type player struct {
	offer  func(*setup.Offer)
	config func(*Config)
	net    network
	start  int64
	source Source
}

func offerFor(side int, frames int32) setup.Offer {
	o := Offer(sim.DefaultConfig(), side)
	o.Frames, o.Build = uint32(frames), "test"
	return o
}

// newDuel makes two loops on one virtual wire; everything random comes from seed.
func newDuel(seed uint64, frames int32, players [2]player) *duel {
	d := &duel{}
	for side, p := range players {
		rng := rand.New(rand.NewPCG(seed, uint64(side)))
		d.pipes[side] = &virtualPipe{rng: rng, net: p.net}
		o := offerFor(side, frames)
		if p.offer != nil {
			p.offer(&o)
		}
		su, err := setup.New(side == 0, o, shares{rng})
		if err != nil {
			panic(err) // shares never fail
		}
		src := p.source
		if src == nil {
			src = &words{rng: rand.New(rand.NewPCG(seed, 10+uint64(side)))}
		}
		c := Config{Side: side, Setup: su, Source: src, Frames: frames, Window: 8, FEC: fec.Off, Timeout: 10_000_000}
		if p.config != nil {
			p.config(&c)
		}
		d.loops[side] = New(c, d.pipes[side])
		d.start[side] = 1_000_000 + p.start
		d.next[side] = d.start[side]
	}
	d.pipes[0].other, d.pipes[1].other = d.pipes[1], d.pipes[0]
	return d
}

// run plays until both have ended or the virtual time is over, and reports
// whether both ended.
func (d *duel) run(limit int64) bool {
	for !d.ended[0] || !d.ended[1] {
		i := 0
		if d.ended[0] || !d.ended[1] && d.next[1] < d.next[0] {
			i = 1
		}
		now := d.next[i]
		if now > limit {
			return false
		}
		d.pipes[0].now, d.pipes[1].now = now, now
		next, ended := d.loops[i].Step(now)
		d.next[i], d.ended[i] = max(next, now+1), ended
	}
	return true
}

func (d *duel) outcomes() (a, b Outcome) { return d.loops[0].Outcome(), d.loops[1].Outcome() }

type shares struct{ r *rand.Rand }

func (s shares) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = byte(s.r.Uint32())
	}
	return len(b), nil
}
