package main

import (
	"errors"
	"math"
	"strconv"
	"strings"
)

// byteSize is a flag that takes 500GB, 1.5TB, 64MiB or a plain number of bytes.
type byteSize uint64

var byteUnits = []struct {
	suffix string
	factor uint64
}{
	{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"TiB", 1 << 40},
	{"kB", 1e3}, {"KB", 1e3}, {"MB", 1e6}, {"GB", 1e9}, {"TB", 1e12}, {"B", 1}, {"", 1},
}

var errByteSize = errors.New("is not a number of bytes such as 500GB, 1.5TB or 64MiB")

// Set reads a size.
func (b *byteSize) Set(s string) error {
	for _, u := range byteUnits {
		digits, ok := strings.CutSuffix(strings.TrimSpace(s), u.suffix)
		if !ok {
			continue
		}
		digits = strings.TrimSpace(digits)
		if n, err := strconv.ParseUint(digits, 10, 64); err == nil && n <= math.MaxUint64/u.factor {
			*b = byteSize(n * u.factor)
			return nil
		}
		f, err := strconv.ParseFloat(digits, 64)
		if err != nil || !(f >= 0) || f*float64(u.factor) >= math.MaxUint64 || strings.ContainsAny(digits, "eExXpP_") {
			return errByteSize
		}
		*b = byteSize(f * float64(u.factor))
		return nil
	}
	return errByteSize
}

// String writes the size in the largest unit that divides it, so that Set reads it back.
func (b *byteSize) String() string {
	n := uint64(*b)
	for _, u := range []struct {
		suffix string
		factor uint64
	}{{"TB", 1e12}, {"GB", 1e9}, {"MB", 1e6}, {"kB", 1e3}} {
		if n > 0 && n%u.factor == 0 {
			return strconv.FormatUint(n/u.factor, 10) + u.suffix
		}
	}
	return strconv.FormatUint(n, 10)
}
