package ackbits

// Ratio is a number between 0 and 1 in fixed point with 30 fractional bits:
// a probability or a share. The zero value is 0.
type Ratio uint32

// One is the Ratio 1.
const One Ratio = 1 << 30

// RatioPPM returns ppm millionths, at most One. The error is below 2⁻³⁰.
func RatioPPM(ppm uint32) Ratio {
	if ppm >= 1_000_000 {
		return One
	}
	return Ratio(uint64(ppm) << 30 / 1_000_000)
}

// PPM returns r in millionths, rounded to the nearest.
func (r Ratio) PPM() uint32 { return uint32((uint64(r)*1_000_000 + 1<<29) >> 30) }

// Mul returns r·s, rounded down.
func (r Ratio) Mul(s Ratio) Ratio { return Ratio(uint64(r) * uint64(s) >> 30) }

// Pow returns r to the power n, rounded down at each step; for n ≤ 0 it is One.
func (r Ratio) Pow(n int) Ratio {
	p := One
	for ; n > 0 && p > 0; n-- {
		if r == One {
			return One
		}
		p = p.Mul(r)
	}
	return p
}

// approach moves r towards target by 2^-shift of the way: one step of an
// exponentially weighted mean over 2^shift observations.
func (r Ratio) approach(target Ratio, shift uint) Ratio {
	return Ratio(int64(r) + (int64(target)-int64(r))>>shift)
}
