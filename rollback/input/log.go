package input

import (
	"encoding/binary"
	"slices"
)

// A log is the words of one player over a whole match in one run, which says its own length:
//
//	words   uvarint   number of words
//	bytes   uvarint   number of bytes of the run
//	run               the words, coded against 0
//
// The numbers are in their shortest form, least significant seven bits first.

// AppendLog appends the log of words, about 0.2 bytes a word of human play. It allocates only if b has no room.
func AppendLog[W Word](b []byte, words []W) []byte {
	b = binary.AppendUvarint(b, uint64(len(words)))
	start := len(b)
	b = AppendRun(b, 0, words)
	n := len(b) - start
	var head [binary.MaxVarintLen64]byte
	return slices.Insert(b, start, head[:binary.PutUvarint(head[:], uint64(n))]...)
}

// ParseLog appends the words of the log at the start of b to dst and returns them with what follows the log. A log of more than
// bound words is refused before anything is allocated for it. Errors are ErrTruncated, ErrTooLong and ErrCoding; dst is then
// returned as it was, with b.
func ParseLog[W Word](b []byte, dst []W, bound int) (words []W, rest []byte, err error) {
	count, rest, err := uvarint(b)
	if err != nil {
		return dst, b, err
	}
	if count > uint64(max(bound, 0)) {
		return dst, b, ErrTooLong
	}
	size, rest, err := uvarint(rest)
	if err != nil {
		return dst, b, err
	}
	if size > uint64(MaxRun[W](int(count))) {
		return dst, b, ErrCoding
	}
	if size > uint64(len(rest)) {
		return dst, b, ErrTruncated
	}
	have := len(dst)
	words = slices.Grow(dst, int(count))[:have+int(count)]
	if err := ParseRun(rest[:size], 0, words[have:]); err != nil {
		return dst, b, err
	}
	return words, rest[size:], nil
}

// uvarint reads a number in its shortest form.
func uvarint(b []byte) (v uint64, rest []byte, err error) {
	v, n := binary.Uvarint(b)
	switch {
	case n == 0:
		return 0, b, ErrTruncated
	case n < 0 || n > 1 && b[n-1] == 0:
		return 0, b, ErrCoding
	}
	return v, b[n:], nil
}
