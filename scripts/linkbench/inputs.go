package main

import (
	"math/rand/v2"
	"slices"

	"backstep/fec"
	"backstep/rollback"
	"backstep/scripts/flight"
)

const (
	below = 28 + 29 // bytes of IPv4, UDP and DTLS record under a packet
	warm  = 5 * second
	tail  = second // frames made in it may still be under way
)

// strategy is one way to get inputs across.
type strategy struct {
	name  string
	mode  fec.Mode
	pays  bool // the second datagram, when it pays
	every int  // the bench itself sends each such packet again half a tick later; 0: none
}

func strategies() []strategy {
	return []strategy{
		{name: "unacked", mode: fec.Off},
		{name: "xor", mode: fec.XOR},
		{name: "rs", mode: fec.RS},
		{name: "copy of each 4th", mode: fec.Off, every: 4},
		{name: "copy of each 2nd", mode: fec.Off, every: 2},
		{name: "copy of each", mode: fec.Off, every: 1},
		{name: "auto", mode: fec.Auto, pays: true},
	}
}

// inputReport is one run. Lateness is in ticks, bytes are a second and player, everything below the packet included.
type inputReport struct {
	Network   string  `json:"network"`
	Strategy  string  `json:"strategy"`
	Mean      float64 `json:"late_mean"`
	P50       float64 `json:"late_p50"`
	P99       float64 `json:"late_p99"`
	P999      float64 `json:"late_p999"`
	Max       float64 `json:"late_max"`
	Depth     float64 `json:"depth_mean"`
	Stalls    int64   `json:"stalls"`
	PerSecond int64   `json:"bytes_per_second"`
	Parity    int64   `json:"parity"`
	Second    int64   `json:"second"`
	Recovered int64   `json:"recovered"`
}

// state is nothing but a digest of all inputs: the bench is about the link.
type state struct{ digest uint64 }

type game struct{}

func (game) Step(s *state, in []rollback.Input[uint16], _ rollback.Policy) {
	for _, i := range in {
		s.digest = (s.digest ^ uint64(i.Now)) * 0xBF58476D1CE4E5B9
		s.digest ^= s.digest >> 29
	}
}

func (game) Hash(s *state) uint64 { return s.digest }

type peer struct {
	*rollback.Driver[state, uint16]
	strategy
	rng    *rand.Rand
	word   uint16
	buf    []byte
	made   []int64 // by frame, when its word was made
	known  int32   // newest frame of the other side that is known here
	late   []float64
	ticks  int
	copyAt int64
	copied []byte
}

func runInputs(n network, s strategy, seed uint64, seconds int64) (inputReport, error) {
	roads := [2]*road{newRoad(n, seed), newRoad(n, seed+1000)}
	var peers [2]*peer
	for i := range peers {
		cfg := rollback.DefaultConfig()
		cfg.Local, cfg.FEC = i, s.mode
		if !s.pays {
			cfg.SecondBudget = 0
		}
		p := &peer{strategy: s, rng: rand.New(rand.NewPCG(seed+uint64(i), 3)), known: -1, copyAt: flight.Never}
		d, err := rollback.NewDriver(game{}, cfg, new(state), int64(i)*8000)
		if err != nil {
			return inputReport{}, err
		}
		p.Driver = d
		peers[i] = p
	}
	end := warm + seconds*second
	counting := false
	for now := int64(0); now < end; {
		now = end
		for i, p := range peers {
			now = min(now, p.Next(), p.copyAt, roads[1-i].Next())
			if at, ok := p.SecondAt(); ok {
				now = min(now, at)
			}
		}
		if !counting && now >= warm {
			counting = true
			for i, p := range peers {
				p.ResetStats()
				roads[i].bytes, roads[i].sent = 0, 0
			}
		}
		for i, p := range peers {
			if err := p.turn(now, peers[1-i], roads[1-i], roads[i], end); err != nil {
				return inputReport{}, err
			}
		}
	}
	return newInputReport(n, s, peers, roads, seconds), nil
}

func (p *peer) turn(now int64, other *peer, from, to *road, end int64) error {
	err := from.Deliver(now, func(at int64, b []byte) error {
		if err := p.Receive(at, b); err != nil {
			return err
		}
		for f := p.Session().ConfirmedOf(other.Session().Config().Local); p.known < f; {
			p.known++
			if int(p.known) >= len(other.made) {
				continue // pledged before it was made: an input delay
			}
			made := other.made[p.known]
			if made >= warm && made < end-tail {
				p.late = append(p.late, max(float64(at-made-from.base(made))/tick, 0))
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	if now >= p.Next() {
		if p.rng.Float64() < 8./60 {
			p.word = uint16(p.rng.Uint32()) & 0xfff
		}
		p.Tick(now, p.word)
		for int32(len(p.made)) < p.Session().InputFrame() {
			p.made = append(p.made, now)
		}
		p.buf = p.AppendPacket(p.buf[:0], now)
		to.send(now, p.buf, below)
		if p.ticks++; p.every > 0 && p.ticks%p.every == 0 {
			p.copied, p.copyAt = append(p.copied[:0], p.buf...), now+tick/2
		}
		for ok := true; ok; {
			if p.buf, ok = p.AppendParity(p.buf[:0], now); ok {
				to.send(now, p.buf, below)
			}
		}
	}
	if at, ok := p.SecondAt(); ok && now >= at {
		p.buf = p.AppendSecond(p.buf[:0], now)
		to.send(now, p.buf, below)
	}
	if now >= p.copyAt {
		to.send(now, p.copied, below)
		p.copyAt = flight.Never
	}
	return p.Err()
}

// base is the delay an input made at that time would have had, had nothing been lost.
func (r *road) base(made int64) int64 {
	if r.trace == nil {
		return r.delay
	}
	d, _ := r.fate(made)
	return d
}

func newInputReport(n network, s strategy, peers [2]*peer, roads [2]*road, seconds int64) inputReport {
	r := inputReport{Network: n.name, Strategy: s.name}
	var late []float64
	var depth int64
	for i, p := range peers {
		st := p.Stats()
		late = append(late, p.late...)
		depth += st.Session.Depth.MeanMilli()
		r.Stalls += st.Session.Stalls
		r.Parity += st.Link.Parity
		r.Second += st.Link.Second
		r.Recovered += st.Link.Recovered
		r.PerSecond += roads[i].bytes / seconds / 2
	}
	r.Depth = float64(depth) / 2000
	slices.Sort(late)
	at := func(q float64) float64 {
		if len(late) == 0 {
			return 0
		}
		return round(late[min(int(q*float64(len(late))), len(late)-1)])
	}
	sum := 0.
	for _, x := range late {
		sum += x
	}
	if len(late) > 0 {
		r.Mean = float64(int64(sum/float64(len(late))*1e4+.5)) / 1e4
	}
	r.P50, r.P99, r.P999, r.Max = at(.5), at(.99), at(.999), at(1)
	return r
}

func round(x float64) float64 { return float64(int64(x*100+.5)) / 100 }
