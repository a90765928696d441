// Package fixed is the only arithmetic of the simulation that is not a plain integer: Q16.16 numbers in an int32.
//
//	 31           16 15            0
//	+---------------+---------------+
//	| whole, signed |   fraction    |     value = raw / 65536, range [-32768, 32768), step 1/65536
//	+---------------+---------------+
//
// Every operation rounds toward zero, never toward minus infinity, so that negating the operands negates the result.
// The mirror property of the simulation (no side of the stage is favoured) rests on that.
package fixed

import "errors"

// Q is a Q16.16 number. The zero value is zero. Addition, subtraction and comparison are those of int32.
type Q int32

// One is the number one.
const One Q = 1 << 16

// Errors of Parse.
var (
	ErrSyntax = errors.New("not a decimal number with at most four digits after the point")
	ErrRange  = errors.New("outside -32768…32767")
)

// Int gives the number n, which must lie in [-32768, 32767]; outside it wraps.
func Int(n int) Q { return Q(n << 16) }

// Mul multiplies and rounds toward zero. The product must fit; otherwise it wraps.
func (a Q) Mul(b Q) Q { return Q(int64(a) * int64(b) / int64(One)) }

// Abs gives the distance from zero.
func (a Q) Abs() Q {
	if a < 0 {
		return -a
	}
	return a
}

// Sign gives -1, 0 or 1.
func (a Q) Sign() int {
	switch {
	case a < 0:
		return -1
	case a > 0:
		return 1
	}
	return 0
}

// Whole rounds toward zero to an integer.
func (a Q) Whole() int { return int(a / One) }

// Toward moves a toward zero by step (at least zero) and stops there.
func (a Q) Toward(step Q) Q {
	switch {
	case a > step:
		return a - step
	case a < -step:
		return a + step
	}
	return 0
}

// Clamp limits a to [lo, hi].
func (a Q) Clamp(lo, hi Q) Q { return max(lo, min(hi, a)) }

// Parse reads a decimal such as "-3.25": an optional minus, one to five digits, optionally a point and one to four digits.
// The fraction is truncated to the step of 1/65536. It allocates nothing.
func Parse(s string) (Q, error) {
	negative := len(s) > 0 && s[0] == '-'
	if negative {
		s = s[1:]
	}
	var whole, frac, unit int64 = 0, 0, 1
	digits, point := 0, -1
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case c == '.' && point < 0 && digits > 0:
			point = i
		case c < '0' || c > '9':
			return 0, ErrSyntax
		case point < 0:
			whole = whole*10 + int64(c-'0')
			digits++
		default:
			frac = frac*10 + int64(c-'0')
			unit *= 10
		}
		if digits > 5 || unit > 10000 {
			return 0, ErrSyntax
		}
	}
	if digits == 0 || (point >= 0 && unit == 1) {
		return 0, ErrSyntax
	}
	if whole > 32767 {
		return 0, ErrRange
	}
	q := Q(whole<<16 + frac<<16/unit)
	if negative {
		q = -q
	}
	return q, nil
}
