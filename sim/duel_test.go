package sim

import (
	"math/rand/v2"
	"testing"

	"backstep/sim/data"
)

// duel is a match in phase Live that a test drives frame by frame.
type duel struct {
	t  *testing.T
	w  World
	in [2]Input
}

func newWorld(t testing.TB, seed uint64, a, b string) World {
	t.Helper()
	c := DefaultConfig()
	c.Seed = seed
	for side, name := range []string{a, b} {
		team, err := ParseTeam(name)
		if err != nil {
			t.Fatal(err)
		}
		c.Teams[side] = team
	}
	var w World
	if err := w.Reset(c); err != nil {
		t.Fatal(err)
	}
	return w
}

// newDuel puts two fighters apart centimetres from each other around the middle of the stage, with the round running.
func newDuel(t *testing.T, a, b string, apart int) *duel {
	t.Helper()
	d := &duel{t: t, w: newWorld(t, 1, a, b)}
	for i := 0; d.w.Phase() != Live; i++ {
		if i > 1000 {
			t.Fatal("the round never starts")
		}
		d.step(0, 0)
	}
	d.w.fighters[0].X = -Fixed(apart) << 15
	d.w.fighters[1].X = Fixed(apart) << 15
	return d
}

func (d *duel) step(a, b uint16) TickResult {
	for p, now := range []uint16{a, b} {
		d.in[p] = Input{Now: now, Prev: d.in[p].Now}
	}
	r := d.w.Step(d.in[:], Emit)
	if err := d.w.valid(data.Embedded()); err != nil {
		d.t.Fatalf("frame %d: %v", d.w.frame, err)
	}
	return r
}

func (d *duel) run(n int, a, b uint16) {
	for range n {
		d.step(a, b)
	}
}

// until steps with the same words until done, at most n frames.
func (d *duel) until(n int, a, b uint16, what string, done func() bool) int {
	d.t.Helper()
	for i := range n {
		if done() {
			return i
		}
		d.step(a, b)
	}
	if !done() {
		d.t.Fatalf("%s did not come within %d frames", what, n)
	}
	return n
}

func (d *duel) f(i int) *Fighter { return &d.w.fighters[i] }

// attack starts a move of slot 0 by its key and gives the move.
func (d *duel) attack(slot int, key string, other uint16) *data.Move {
	d.t.Helper()
	m := data.Embedded().Fighter(d.f(slot).ID).MoveByKey(key)
	word := command(m, d.f(slot).Facing)
	if slot == 0 {
		d.step(word, other)
	} else {
		d.step(other, word)
	}
	if d.f(slot).Action != Attack || d.f(slot).Move != m.ID {
		d.t.Fatalf("%s did not start: %s, move %d", key, d.f(slot).Action, d.f(slot).Move)
	}
	return m
}

// command gives the word that asks for a move.
func command(m *data.Move, facing int8) uint16 {
	word := LightBit << m.Button
	ahead, behind := RightBit, LeftBit
	if facing < 0 {
		ahead, behind = behind, ahead
	}
	switch m.Direction {
	case data.Forward:
		word |= ahead
	case data.Back:
		word |= behind
	case data.Down:
		word |= DownBit
	}
	return word
}

// hits counts the hits of the last step that were not blocked.
func (d *duel) hits() (landed, blocked int) {
	for _, h := range d.w.Hits() {
		if h.Blocked {
			blocked++
		} else {
			landed++
		}
	}
	return landed, blocked
}

// stream makes plausible random words: a direction and sometimes a button, held for some frames.
type stream struct {
	r    *rand.Rand
	word uint16
	left int
}

func newStream(seed, n uint64) *stream { return &stream{r: rand.New(rand.NewPCG(seed, n))} }

func (s *stream) next() uint16 {
	if s.left--; s.left <= 0 {
		s.left = 1 + s.r.IntN(14)
		s.word = uint16(s.r.UintN(16))
		if s.r.IntN(5) < 2 {
			s.word = [...]uint16{LeftBit, RightBit}[s.r.IntN(2)]
		}
		if s.r.IntN(2) == 0 {
			s.word |= LightBit << s.r.UintN(8)
		}
	}
	return s.word
}

// tape is a recorded run of inputs.
func tape(seed uint64, frames int) [][2]Input {
	a, b := newStream(seed, 1), newStream(seed, 2)
	out := make([][2]Input, frames)
	for f := range out {
		out[f][0].Now, out[f][1].Now = a.next(), b.next()
		if f > 0 {
			out[f][0].Prev, out[f][1].Prev = out[f-1][0].Now, out[f-1][1].Now
		}
	}
	return out
}
