package fec

import "testing"

// The table of the design: parity for a first-round failure of 1 %.
func TestParityForTable(t *testing.T) {
	loss := []uint32{10_000, 20_000, 50_000, 100_000, 200_000, 300_000}
	for k, want := range map[int][]int{
		8: {1, 2, 3, 4, 7, 10}, 16: {2, 2, 4, 6, 10, 15}, 31: {2, 3, 5, 9, 16, 25}, 61: {3, 4, 8, 14, 26, 42},
	} {
		for i, p := range loss {
			if got := ParityFor(k, p); got != want[i] {
				t.Errorf("k=%d loss %d ppm: m=%d, want %d", k, p, got, want[i])
			}
		}
	}
}
