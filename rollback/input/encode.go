package input

import (
	"encoding/binary"
	"math/bits"
)

// writer collects bits, least significant first. Fewer than 32 are pending between calls of put.
type writer struct {
	b   []byte
	acc uint64
	n   uint
}

// put appends the low k bits of v, k at most 32; the bits of v above them are zero.
func (w *writer) put(v uint64, k uint) {
	w.acc |= v << w.n
	w.n += k
	if w.n >= 32 {
		w.b = binary.LittleEndian.AppendUint32(w.b, uint32(w.acc))
		w.acc >>= 32
		w.n -= 32
	}
}

// AppendRun appends the coding of words to b, each word taken against the one before it and the first against prev, at most
// MaxRun(len(words)) bytes. It allocates only if b has no room.
func AppendRun[W Word](b []byte, prev W, words []W) []byte {
	start := len(b)
	wide, log := width[W]()
	w := writer{b: b}
	for i := 0; i < len(words); {
		m := min(block, len(words)-i)
		skip := 0
		for skip < m && words[i+skip] == prev {
			skip++
		}
		if skip == m {
			w.put(0, 1)
			i += m
			continue
		}
		head, k := skipCode(skip, m)
		w.put(1|head<<1, 1+k)
		word := words[i+skip]
		w.change(uint32(word^prev), wide, log)
		prev = word
		i += skip + 1
	}
	for w.n > 0 {
		w.b = append(w.b, byte(w.acc))
		w.acc >>= 8
		w.n -= min(w.n, 8)
	}
	for len(w.b) > start && w.b[len(w.b)-1] == 0 {
		w.b = w.b[:len(w.b)-1]
	}
	return w.b
}

// skipCode is the code of skip in a block of m frames, and its length in bits.
func skipCode(skip, m int) (code uint64, k uint) {
	switch {
	case m == 4:
		return uint64(skip), 2
	case m == 2:
		return uint64(skip), 1
	case m == 1 || skip == 0:
		return 0, uint(m >> 1)
	}
	return 1 | uint64(skip-1)<<1, 2
}

// change appends the code of a difference of words, x, which is not zero.
func (w *writer) change(x uint32, wide, log uint) {
	low := uint(bits.TrailingZeros32(x))
	high := uint(bits.Len32(x)) - 1
	switch {
	case low == high:
		w.put(uint64(low)<<1, 1+log)
	case low>>3 == high>>3:
		at := low >> 3
		w.put(1|uint64(at)<<2|uint64(x>>(at<<3))<<(log-1), 2+(log-3)+8)
	case x == 1<<low|1<<high:
		w.put(3|uint64(low)<<3|uint64(high)<<(3+log), 3+2*log)
	default:
		w.put(7, 3)
		w.put(uint64(x), wide)
	}
}
