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
	k := (63 - r.n) >> 3
	var next uint64
	if len(r.b) >= 8 {
		next = binary.LittleEndian.Uint64(r.b) & (1<<(k<<3) - 1)
	} else {
		var tail [8]byte
		k = min(k, uint(len(r.b)))
		copy(tail[:], r.b[:k])
		next = binary.LittleEndian.Uint64(tail[:])
	}
	r.acc |= next << r.n
	r.n += k << 3
	if r.b = r.b[k:]; len(r.b) == 0 {
		r.n = 64
	}
}

// take returns the next k bits; fill has provided them.
func (r *reader) take(k uint) uint32 {
	v := uint32(r.acc & (1<<(k&63) - 1))
	r.acc >>= k & 63
	r.n -= k
	return v
}

// skips are skip and its length in bits, behind the one-bit of a block of m frames, by m and the next two bits.
var skips = [block + 1][4]code{
	1: {},
	2: {{n: 1}, {n: 1, skip: 1}, {n: 1}, {n: 1, skip: 1}},
	3: {{n: 1}, {n: 2, skip: 1}, {n: 1}, {n: 2, skip: 2}},
	4: {{n: 2}, {n: 2, skip: 1}, {n: 2, skip: 2}, {n: 2, skip: 3}},
}

// ParseRun fills dst from b, all of which is what AppendRun made of len(dst) words against prev, and otherwise returns
// ErrCoding and leaves dst undefined. It does not allocate.
func ParseRun[W Word](b []byte, prev W, dst []W) error {
	if len(b) > 0 && b[len(b)-1] == 0 {
		return ErrCoding
	}
	wide, log := width[W]()
	r := reader{b: b}
	clear(dst)
	for at := 0; at < len(dst); {
		// A change takes at most 38 bits.
		r.fill()
		zeros := min(uint(bits.TrailingZeros64(r.acc)), r.n)
		blocks := min(zeros, uint(len(dst)-at+block-1)/block)
		r.acc >>= blocks
		r.n -= blocks
		at += int(blocks) * block
		if at >= len(dst) {
			break
		}
		if r.n < 48 || r.acc&1 == 0 {
			continue
		}
		c := skips[min(block, len(dst)-at)][r.acc>>1&3]
		r.take(1 + uint(c.n))
		at += int(c.skip)
		x, ok := r.change(wide, log)
		if !ok {
			return ErrCoding
		}
		dst[at] = W(x)
		at++
	}
	for i, x := range dst {
		prev ^= x
		dst[i] = prev
	}
	// What is left is padding; a byte that is left is not, for the last one is not zero.
	if r.acc != 0 || len(r.b) > 0 {
		return ErrCoding
	}
	return nil
}

// change reads a difference of words and reports whether it is in the first form that fits it.
func (r *reader) change(wide, log uint) (x uint32, ok bool) {
	switch r.acc & 7 {
	case 0, 2, 4, 6:
		r.take(1)
		return 1 << r.take(log), true
	case 1, 5:
		r.take(2)
		at := r.take(log - 3)
		x = r.take(8)
		return x << (at << 3), bits.OnesCount32(x) > 1
	case 3:
		r.take(3)
		low, high := r.take(log), r.take(log)
		return 1<<low | 1<<high, low>>3 < high>>3
	}
	r.take(3)
	if x = r.take(wide); x == 0 {
		return 0, false
	}
	low, high := bits.TrailingZeros32(x), bits.Len32(x)-1
	return x, low>>3 < high>>3 && x != 1<<low|1<<high
}
