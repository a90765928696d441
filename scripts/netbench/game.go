package main

import "backstep/rollback"

// state is 4096 bytes; the hash step is trivial on purpose: the session is what is measured.
type state [512]uint64

type game struct{}

func (game) Step(s *state, in []rollback.Input[uint32], _ rollback.Policy) {
	x := s[0]*6364136223846793005 + 1
	for _, i := range in {
		x = (x ^ uint64(i.Now)) * 0xBF58476D1CE4E5B9
		x ^= x >> 29
	}
	s[0] = x
	s[x>>32&511] ^= x
}

func (game) Hash(s *state) uint64 {
	h := uint64(len(s))
	for _, w := range s {
		h = (h ^ w) * 0x9E3779B185EBCA87
		h ^= h >> 32
	}
	return h
}
