package input

import (
	"encoding/binary"
	"math/bits"
)

// reader hands out bits, least significant first, and zeros behind the end of b. The bits of acc above n are zero.
type reader struct {
	b   []byte
	acc uint64
	n   uint
}

// fill makes at least 48 bits available.
func (r *reader) fill() {
	if r.n >= 48 {
		return
	}
	if len(r.b) >= 8 {
		k := (63 - r.n) >> 3
		r.acc |= binary.LittleEndian.Uint64(r.b) & (1<<(k<<3) - 1) << r.n
		r.b = r.b[k:]
		r.n += k << 3
		return
	}
	for r.n <= 56 {
		if len(r.b) > 0 {
			r.acc |= uint64(r.b[0]) << r.n
			r.b = r.b[1:]
		}
		r.n += 8
	}
}

// take returns the next k bits; fill has provided them.
func (r *reader) take(k uint) uint32 {
	v := uint32(r.acc & (1<<k - 1))
	r.acc >>= k
	r.n -= k
	return v
}

// ParseRun fills dst from b, all of which is what AppendRun made of len(dst) words against prev, and otherwise returns
// ErrCoding and leaves dst undefined. It does not allocate.
func ParseRun[W Word](b []byte, prev W, dst []W) error {
	if len(b) > 0 && b[len(b)-1] == 0 {
		return ErrCoding
	}
	wide, log := width[W]()
	r := reader{b: b}
	for i := 0; i < len(dst); {
		// One block takes at most 3 bits and one change at most 35.
		r.fill()
		m := min(block, len(dst)-i)
		skip := m
		changed := r.take(1) == 1
		if changed {
			skip = r.skip(m)
		}
		for _, end := i, i+skip; i < end; i++ {
			dst[i] = prev
		}
		if !changed {
			continue
		}
		x, ok := r.change(wide, log)
		if !ok {
			return ErrCoding
		}
		prev ^= W(x)
		dst[i] = prev
		i++
	}
	// What is left is padding. Left-out zeros are in acc's n, never in its bits.
	if r.acc != 0 || len(r.b) > 0 {
		return ErrCoding
	}
	return nil
}

// skip reads how many words of a block of m are unchanged before the one that changes.
func (r *reader) skip(m int) int {
	switch m {
	case 4:
		return int(r.take(2))
	case 3:
		if r.take(1) == 0 {
			return 0
		}
		return 1 + int(r.take(1))
	case 2:
		return int(r.take(1))
	}
	return 0
}

// change reads a difference of words and reports whether it is in the first form that fits it.
func (r *reader) change(wide, log uint) (x uint32, ok bool) {
	if r.take(1) == 0 {
		return 1 << r.take(log), true
	}
	if r.take(1) == 0 {
		at := r.take(log - 3)
		x = r.take(8)
		return x << (at << 3), bits.OnesCount32(x) > 1
	}
	if r.take(1) == 0 {
		low, high := r.take(log), r.take(log)
		return 1<<low | 1<<high, low>>3 < high>>3
	}
	x = r.take(wide)
	if x == 0 {
		return 0, false
	}
	low, high := bits.TrailingZeros32(x), bits.Len32(x)-1
	return x, low>>3 < high>>3 && x != 1<<low|1<<high
}
