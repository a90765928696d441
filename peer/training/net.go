package training

import (
	"cmp"
	"math/rand/v2"
	"slices"

	"backstep/fec"
	"backstep/rollback"
	"backstep/rollback/wire"
	"backstep/sim"
)

const tick = 1_000_000 / sim.SimulationHz // µs

// practice is the game of the room.
type practice struct{ refill bool }

var (
	_ rollback.Game[sim.World, uint16] = practice{}
	_ rollback.Freer[sim.World]        = practice{}
	_ rollback.Cosmetics[sim.World]    = practice{}
)

func (p practice) Step(w *sim.World, in []rollback.Input[uint16], policy rollback.Policy) {
	words := [2]sim.Input{sim.Input(in[0]), sim.Input(in[1])}
	w.Step(words[:], sim.Policy(policy))
	if p.refill {
		w.Practice()
	}
}

func (practice) Hash(w *sim.World) uint64 { return w.Hash() }
func (practice) Free(w *sim.World) bool   { return w.Free() }
func (practice) Events(w *sim.World, dst []uint64) []uint64 {
	return w.AppendEventIDs(dst)
}

// packet is one on its way.
type packet struct {
	at   int64
	seq  int
	body []byte
}

// sessions are two sides of a match in one process.
type sessions struct {
	drivers [2]*rollback.Driver[sim.World, uint16]
	flying  [2][]packet // to that side
	now     int64
	base    int32 // frame of the world the sessions began with
	seq     int
	chance  *rand.Rand
	buf     []byte
}

// newSessions begins both sides with the world w.
func newSessions(w *sim.World, o Options) (*sessions, error) {
	s := &sessions{now: 1, base: w.Frame(), chance: rand.New(rand.NewPCG(1, 2)), buf: make([]byte, 0, wire.MaxPacket)}
	for side := range s.drivers {
		c := rollback.DefaultConfig()
		c.Local, c.FEC, c.NoTimeSync, c.SecondBudget = side, fec.Off, true, 0
		c.PredictionWindowFrames, c.MaxRollbackFrames = rollback.MaxWindow, rollback.HardWindow
		if side == o.Side {
			c.InputDelay = o.Delay
		}
		d, err := rollback.NewDriver(practice{o.Refill}, c, w, s.now)
		if err != nil {
			return nil, err
		}
		s.drivers[side] = d
	}
	return s, nil
}

// step runs one tick of both sides and gives what the player's did.
func (s *sessions) step(o Options, player uint16, dummy func(w *sim.World) uint16) rollback.Result {
	s.now += tick
	s.deliver()
	other := 1 - o.Side
	seen, _ := s.drivers[other].State(s.drivers[other].Frame())
	s.drivers[other].Tick(s.now, dummy(seen))
	s.send(other, o)
	r := s.drivers[o.Side].Tick(s.now, player)
	s.send(o.Side, o)
	return r
}

func (s *sessions) deliver() {
	for side := range s.flying {
		for len(s.flying[side]) > 0 && s.flying[side][0].at <= s.now {
			p := s.flying[side][0]
			s.flying[side] = s.flying[side][1:]
			// Both sides are ours: what cannot be read was cut by nobody.
			_ = s.drivers[side].Receive(p.at, p.body)
		}
	}
}

func (s *sessions) send(from int, o Options) {
	b := s.drivers[from].AppendPacket(s.buf[:0], s.now)
	if s.chance.IntN(100) < o.Loss {
		return
	}
	at := s.now + int64(o.Latency)*500 + int64(o.Rollback)*tick
	if o.Jitter > 0 {
		at += s.chance.Int64N(int64(o.Jitter) * 1000)
	}
	s.seq++
	q := &s.flying[1-from]
	*q = append(*q, packet{at, s.seq, slices.Clone(b)})
	slices.SortFunc(*q, func(a, b packet) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.seq, b.seq)) })
}

// label is the session's name of the state of a world frame.
func (s *sessions) label(frame int32) int32 { return frame - s.base - 1 }
