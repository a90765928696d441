package rollback

import (
	"math/bits"

	"backstep/rollback/input"
)

// small is a game whose whole history of inputs shows in its state. It never settles: one different word anywhere
// changes every later state.
type small struct {
	Frame int32
	Sum   uint64
}

type smallGame struct{}

func (smallGame) Step(s *small, in []Input[uint16], _ Policy) {
	s.Frame++
	for p, i := range in {
		s.Sum = (s.Sum ^ uint64(i.Now)<<16 ^ uint64(i.Prev) ^ uint64(p)<<40) * 0x9E3779B185EBCA87
		s.Sum ^= s.Sum >> 31
	}
}

func (smallGame) Hash(s *small) uint64 { return s.Sum ^ uint64(s.Frame) }

// dull is smallGame that looks at the words in every fourth frame only, as a busy fighter does: most refuted guesses
// change nothing, until one does. knowing says so.
type dull struct{ smallGame }

func (g dull) Step(s *small, in []Input[uint16], p Policy) {
	if s.Frame&3 != 0 {
		s.Frame++
		return
	}
	g.smallGame.Step(s, in, p)
}

type knowing struct{ dull }

func (knowing) Equivalent(s *small, _ int, _, _ Input[uint16]) bool { return s.Frame&3 != 0 }

// replay is what a game comes to when nothing is predicted: words[p][f] is player p's word of frame f.
func replay[S any, W input.Word](g Game[S, W], s S, words [][]W, frames int) []S {
	out := make([]S, frames)
	in := make([]Input[W], len(words))
	for f := range frames {
		for p := range words {
			in[p] = Input[W]{Now: words[p][f], Prev: in[p].Now}
		}
		g.Step(&s, in, TelemetryOnly)
		out[f] = s
	}
	return out
}

// large is the state of the benchmarks: 4 KB.
type large [512]uint64

type largeGame struct{}

func (largeGame) Step(s *large, in []Input[uint32], _ Policy) {
	x := s[0]*6364136223846793005 + uint64(in[0].Now)<<32 + uint64(in[1].Now) + 1
	s[0] = x
	s[x>>32&511] ^= x
}

func (largeGame) Hash(s *large) uint64 {
	var a, b, c, d uint64 = 1, 2, 3, 4
	const k = 0x9E3779B185EBCA87
	for w := s[:]; len(w) >= 4; w = w[4:] {
		a, b, c, d = (a^w[0])*k, (b^w[1])*k, (c^w[2])*k, (d^w[3])*k
	}
	h := a ^ bits.RotateLeft64(b, 17) ^ bits.RotateLeft64(c, 31) ^ bits.RotateLeft64(d, 47)
	return h ^ h>>32
}
