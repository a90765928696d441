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

// zeros appends k zero bits.
func (w *writer) zeros(k int) {
	for ; k > 32; k -= 32 {
		w.put(0, 32)
	}
	w.put(0, uint(k))
}

// code is a bit string of n bits, or what one stands for.
type code struct{ bits, n, skip uint8 }

// skipCodes are the codes of skip in a block of m frames with the one-bit before them, by m and skip.
var skipCodes = [block + 1][block]code{
	1: {{bits: 0b1, n: 1}},
	2: {{bits: 0b01, n: 2}, {bits: 0b11, n: 2}},
	3: {{bits: 0b01, n: 2}, {bits: 0b011, n: 3}, {bits: 0b111, n: 3}},
	4: {{bits: 0b001, n: 3}, {bits: 0b011, n: 3}, {bits: 0b101, n: 3}, {bits: 0b111, n: 3}},
}

// AppendRun appends the coding of words to b, each word taken against the one before it and the first against prev, at most
// MaxRun(len(words)) bytes. It allocates only if b has no room.
func AppendRun[W Word](b []byte, prev W, words []W) []byte {
	start := len(b)
	wide, log := width[W]()
	w := writer{b: b}
	from := 0 // the frame behind the last change
	for base := 0; base < len(words); base += 64 {
		part := words[base:min(base+64, len(words))]
		// Which words differ from the one before is found out first, without a branch on each.
		var changed uint64
		before := prev
		for i, word := range part {
			differs := uint64(0)
			if word != before {
				differs = 1
			}
			changed |= differs << (i & 63)
			before = word
		}
		for changed != 0 {
			i := bits.TrailingZeros64(changed) & 63
			changed &= changed - 1
			gap := base + i - from
			w.zeros(gap / block)
			m := min(block, len(words)-from-gap/block*block)
			c := skipCodes[m][gap%block]
			w.put(uint64(c.bits), uint(c.n))
			w.change(uint32(part[i]^prev), wide, log)
			prev = part[i]
			from = base + i + 1
		}
	}
	// The bits of the unchanged words behind the last change are zeros at the end, which are left out.
	var tail [8]byte
	binary.LittleEndian.PutUint64(tail[:], w.acc)
	b = append(w.b, tail[:(bits.Len64(w.acc)+7)/8]...)
	for len(b) > start && b[len(b)-1] == 0 {
		b = b[:len(b)-1]
	}
	return b
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
