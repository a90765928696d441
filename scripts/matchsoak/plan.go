package main

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"backstep/fec"
	"backstep/peer/impair"
	"backstep/rollback"
)

// fault is a kind of disturbance that can be left out of a match.
type fault int

const (
	loss fault = iota
	burst
	jitter
	dup
	reorder
	corrupt
	asymmetry
	partition
	drift
	freeze
	late
	redelay
	traced
	faultCount
)

var faultNames = [faultCount]string{
	"loss", "burst", "jitter", "dup", "reorder", "corrupt", "asymmetry", "partition", "drift", "freeze", "late", "redelay", "trace",
}

// faults is a set of them.
type faults uint32

func (f faults) has(k fault) bool { return f>>k&1 != 0 }

func (f faults) String() string {
	var names []string
	for k, name := range faultNames {
		if f.has(fault(k)) {
			names = append(names, name)
		}
	}
	return strings.Join(names, ",")
}

func parseFaults(s string) (f faults, err error) {
	for name := range strings.SplitSeq(s, ",") {
		if name == "" {
			continue
		}
		found := false
		for k, have := range faultNames {
			if have == name {
				f, found = f|1<<k, true
			}
		}
		if !found {
			return 0, fmt.Errorf("no fault %q; there are %s", name, strings.Join(faultNames[:], ", "))
		}
	}
	return f, nil
}

// way is one direction between two players. Times are µs, chances are percent.
type way struct {
	delay, jitter                int64
	loss, dup, reorder, corrupt  int
	burst                        int // chance that a packet begins an outage
	outage                       int64
	partitionFrom, partitionTill int64
	trace                        *impair.Trace
	traceAt                      int64 // where in the recording it begins
	seed                         uint64
}

// machine is one player's end.
type machine struct {
	cfg          rollback.Config
	speed        float64 // of its clock
	start        int64
	asleep, wake int64 // the process stands still from … to
	redelay      bool  // its input delay changes now and then
	seed         uint64
}

// plan is all there is to know of a match.
type plan struct {
	game     rollback.Game[state, uint16]
	machines []machine
	ways     [][]way // by sender and receiver
	calm     int64   // from then on nothing but delay happens on the ways
	over     int64   // and every process runs
	frames   int
}

// newPlan draws a match. What without names is drawn all the same and then left out, so that the rest stays as it was.
func newPlan(seed uint64, frames int, without faults, traces []*impair.Trace) *plan {
	rng := rand.New(rand.NewPCG(seed, 0x6d61746368))
	players := 2
	if rng.IntN(5) == 0 {
		players = 3 + rng.IntN(rollback.MaxPlayers-2)
	}
	p := &plan{
		game:     games[rng.IntN(len(games))],
		machines: make([]machine, players),
		ways:     make([][]way, players),
		calm:     int64(700_000 + rng.IntN(1_300_000)),
		frames:   frames,
	}
	compact := rng.IntN(4) != 0
	for i := range p.machines {
		p.machines[i] = drawMachine(rng, p.calm, without)
		c := &p.machines[i].cfg
		c.Players, c.Local, c.RequireEncryptedTransport = players, i, compact
	}
	p.over = p.calm
	for _, x := range p.machines {
		p.over = max(p.over, x.start, x.wake)
	}
	hard := rng.IntN(3)
	for i := range p.ways {
		for j := range players {
			w := drawWay(rng, hard, p.calm, without, traces)
			if without.has(asymmetry) && j < i {
				seed := w.seed
				w = p.ways[j][i]
				w.seed = seed
			}
			p.ways[i] = append(p.ways[i], w)
		}
	}
	return p
}

func drawMachine(rng *rand.Rand, calm int64, without faults) machine {
	m := machine{cfg: rollback.DefaultConfig(), speed: 1, start: 1, seed: rng.Uint64()}
	m.cfg.PredictionWindowFrames = 1 + rng.IntN(rollback.MaxWindow)
	m.cfg.MaxRollbackFrames = m.cfg.PredictionWindowFrames
	m.cfg.InputDelay = max(rng.IntN(8)-4, 0)
	m.cfg.FEC = fec.Mode(rng.IntN(4))
	start := rng.Int64N(800_000)
	drifts, by := rng.IntN(3) == 0, rng.Float64()
	sleeps, from, long := rng.IntN(5) == 0, rng.Int64N(calm), rng.Int64N(2_000_000)
	redelays := rng.IntN(3) == 0
	if !without.has(late) {
		m.start += start
	}
	if drifts && !without.has(drift) {
		m.speed = 0.95 + by/10
	}
	if sleeps && !without.has(freeze) {
		m.asleep = m.start + from
		m.wake = m.asleep + long
	}
	m.redelay = redelays && !without.has(redelay)
	return m
}

func drawWay(rng *rand.Rand, hard int, calm int64, without faults, traces []*impair.Trace) way {
	w := way{
		delay: rng.Int64N(100_000), jitter: rng.Int64N(40_000),
		loss: rng.IntN(1 + 15*hard), dup: rng.IntN(10), reorder: rng.IntN(10), corrupt: rng.IntN(8),
		burst: rng.IntN(4), outage: 1 + rng.Int64N(300_000),
		partitionFrom: rng.Int64N(calm), seed: rng.Uint64(),
	}
	bursts, cut, long := rng.IntN(3) == 0, rng.IntN(4) == 0, rng.Int64N(1_000_000)
	replays, at := rng.IntN(2) == 0, rng.Int64N(600_000_000)
	for k, v := range map[fault]*int{loss: &w.loss, dup: &w.dup, reorder: &w.reorder, corrupt: &w.corrupt} {
		if without.has(k) {
			*v = 0
		}
	}
	if without.has(jitter) {
		w.jitter = 0
	}
	if !bursts || without.has(burst) {
		w.burst = 0
	}
	if cut && !without.has(partition) {
		w.partitionTill = w.partitionFrom + long
	}
	if len(traces) > 0 && replays && !without.has(traced) {
		w.trace, w.traceAt = traces[w.seed%uint64(len(traces))], at
	}
	return w
}
