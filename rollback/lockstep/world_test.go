package lockstep

import (
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"
)

// army is a game of units that go where they are told and sometimes stumble.
type army struct {
	units  []int32
	stray  int32 // frame at which an error of this machine moves unit 0, once
	broken bool  // every frame differs
}

func newArmy(units int) *army { return &army{units: make([]int32, units), stray: -1} }

func (a *army) Step(frame int32, commands []Command, d *Draws) {
	for _, c := range commands {
		a.units[int(uint32(c.Target))%len(a.units)] += c.Primary ^ int32(c.Player)<<8 ^ int32(len(c.Name))<<16 ^ c.Secondary
	}
	for u := int(frame) % 7; u < len(a.units) && u < 64; u += 7 {
		a.units[u] += int32(d.Next(uint32(u), 3) % 5)
	}
	if frame == a.stray {
		a.units[0]++
		a.stray = -1
	}
	if a.broken {
		a.units[0]++
	}
}

func (a *army) Hash() uint64 {
	h := uint64(1)
	for _, u := range a.units {
		h = fold(h, uint64(uint32(u)))
	}
	return h
}

func (a *army) AppendState(b []byte) []byte {
	for _, u := range a.units {
		b = binary.LittleEndian.AppendUint32(b, uint32(u))
	}
	return b
}

var errState = errors.New("not a state")

func (a *army) LoadState(b []byte) error {
	if len(b) != 4*len(a.units) {
		return errState
	}
	for i := range a.units {
		a.units[i] = int32(binary.LittleEndian.Uint32(b[4*i:]))
	}
	return nil
}

// field is a match in virtual time over lossy links.
type field struct {
	t     *testing.T
	rng   *rand.Rand
	match Match
	delay int
	sides []*side
	mail  []letter
	now   int64
	loss  int   // per cent
	way   int64 // µs
	jit   int64
	busy  int // one frame in so many a player gives a command
	cut   map[int]bool
}

type side struct {
	*Session
	army   *army
	slot   int
	record *Record
	log    map[int32]uint64 // digest of each frame when it was run last
	next   int64
	step   int64 // µs between calls of Tick
}

type letter struct {
	at   int64
	to   int
	body []byte
}

type mailbox struct {
	f    *field
	from int
}

func (m mailbox) Send(to int, pkt []byte) {
	f := m.f
	if f.cut[to] || f.cut[m.from] || f.rng.IntN(100) < f.loss {
		return
	}
	for range 1 + f.rng.IntN(20)/19 {
		f.mail = append(f.mail, letter{f.now + f.way + f.rng.Int64N(f.jit+1), to, slices.Clone(pkt)})
	}
}

func newField(t *testing.T, seed uint64, players, units int) *field {
	f := &field{t: t, rng: rand.New(rand.NewPCG(seed, 1)), match: Match{Config: 77, Seed: seed, Players: players}, way: 20_000, busy: 5, cut: map[int]bool{}}
	for p := range players {
		f.join(p, newArmy(units), Config{})
	}
	return f
}

// join adds a side, or takes the place of the one in that slot.
func (f *field) join(slot int, a *army, cfg Config) *side {
	cfg.Match, cfg.Local, cfg.Delay = f.match, slot, f.delay
	s, err := New(a, cfg, mailbox{f, slot})
	if err != nil {
		f.t.Fatal(err)
	}
	x := &side{Session: s, army: a, slot: slot, log: map[int32]uint64{}, next: f.now + f.rng.Int64N(50_000), step: 1000 + f.rng.Int64N(30_000)}
	if !cfg.Late {
		x.record = NewRecord(f.match)
		s.SetRecord(x.record)
	}
	for i, o := range f.sides {
		if o.slot == slot {
			f.sides[i] = x
			return x
		}
	}
	f.sides = append(f.sides, x)
	return x
}

var orders = []string{"attack", "build", "move", "patrol"}

// run plays for so long.
func (f *field) run(micros int64) {
	for end := f.now + micros; f.now < end; f.now += 1000 {
		mail := f.mail
		f.mail = nil
		for _, m := range mail {
			if m.at > f.now {
				f.mail = append(f.mail, m)
				continue
			}
			for _, s := range f.sides {
				if s.slot == m.to && !f.cut[m.to] {
					if err := s.Receive(m.body, f.now); err != nil && s.Err() == nil {
						f.t.Fatalf("side %d: %v: % x", m.to, err, m.body)
					}
				}
			}
		}
		for _, s := range f.sides {
			if f.now < s.next {
				continue
			}
			s.next = f.now + s.step
			before := s.Frame()
			s.Tick(f.now)
			for n := before + 1; n <= s.Frame(); n++ {
				if s.player() && f.rng.IntN(f.busy) == 0 {
					c := Command{Name: orders[f.rng.IntN(len(orders))], Primary: f.rng.Int32(), Secondary: -f.rng.Int32N(9), Target: f.rng.Int32N(99)}
					if err := s.Add(c); err != nil {
						f.t.Fatal(err)
					}
				}
			}
			for n := max(s.Frame()-ring+1, 0); n <= s.Frame(); n++ {
				if d, ok := s.DigestOf(n); ok {
					s.log[n] = d
				}
			}
		}
	}
}

// same fails unless all sides came at least to frame and have one digest for every frame both ran.
func (f *field) same(frame int32) {
	f.t.Helper()
	for _, s := range f.sides {
		if s.Frame() < frame || s.Err() != nil {
			f.t.Errorf("side %d came to frame %d of %d, %v, %v; known %v", s.slot, s.Frame(), frame, s.Status(), s.Err(), s.known)
		}
		for n, d := range s.log {
			if e, ok := f.sides[0].log[n]; ok && d != e {
				f.t.Fatalf("side %d: digest %016x of frame %d, the host has %016x", s.slot, d, n, e)
			}
		}
	}
}
