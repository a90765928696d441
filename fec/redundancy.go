package fec

import "math/bits"

// oneQ63 is 1 in fixed point with 63 fractional bits.
const oneQ63 = 1 << 63

// maxSizedLoss is the largest loss parity is sized for, in millionths; beyond
// it, parity on demand carries the rest.
const maxSizedLoss = 400_000

// ParityFor returns how many parity shards to send with k data shards (1 to
// MaxData) so that fewer than k of the k+m arrive in at most 1 % of cases, when
// lossPPM millionths of the shards are lost independently. Loss above 40 % is
// sized as 40 %. The result is at most MaxBlockParity.
//
// The number of losses before the k-th arrival follows the negative binomial
// distribution, P(j) = C(k+j-1, j)·pʲ·(1-p)ᵏ; m is its 99 % quantile. It is
// summed in fixed point with 63 bits.
func ParityFor(k int, lossPPM uint32) int {
	if lossPPM == 0 || k < 1 {
		return 0
	}
	p := uint64(min(lossPPM, maxSizedLoss)) * (oneQ63 / 1_000_000)
	term := uint64(oneQ63)
	for range min(k, MaxData) {
		term = mulQ63(term, oneQ63-p)
	}
	const enough = oneQ63 / 100 * 99
	m, sum := 0, term
	for sum < enough && m < MaxBlockParity {
		hi, lo := bits.Mul64(mulQ63(term, p), uint64(k+m))
		term, _ = bits.Div64(hi, lo, uint64(m+1))
		m++
		sum += term
	}
	return m
}

func mulQ63(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a, b)
	return hi<<1 | lo>>63
}
