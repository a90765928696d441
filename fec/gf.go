package fec

import (
	"crypto/subtle"

	"github.com/klauspost/reedsolomon"
)

// field multiplies slices in GF(2⁸) with the widest instructions there are.
var field reedsolomon.LowLevel

// coefficients[r][i] is the factor of packet i in parity row r: the Cauchy
// matrix 1/(x ⊕ y) with x = MaxGroup+r, y = i, each column divided by its entry
// in row 0. Scaling columns keeps every square submatrix invertible, so any e
// parity rows rebuild any e packets, and makes row 0 plain XOR.
var coefficients = cauchyRows()

func cauchyRows() (c [MaxParity][MaxGroup]byte) {
	for r := range MaxParity {
		for i := range MaxGroup {
			c[r][i] = mul(reedsolomon.Inv(byte((MaxGroup+r)^i)), byte(MaxGroup^i))
		}
	}
	return c
}

// mul multiplies in GF(2⁸) modulo x⁸+x⁴+x³+x²+1, the field of klauspost/reedsolomon.
func mul(a, b byte) byte {
	var p byte
	for ; b != 0; b >>= 1 {
		if b&1 != 0 {
			p ^= a
		}
		carry := a & 0x80
		a <<= 1
		if carry != 0 {
			a ^= 0x1d
		}
	}
	return p
}

// xor adds b to a, which has the same length.
func xor(a, b []byte) { subtle.XORBytes(a, a, b) }

// eliminate solves factors · x = rows in place, so that rows[j] becomes x[j].
// Every leading square part of factors must be invertible, as it is for the
// coefficients; then no pivot is ever zero.
func eliminate(rows [][]byte, factors *[MaxParity][MaxParity]byte) {
	n := len(rows)
	for p := range n {
		if inv := reedsolomon.Inv(factors[p][p]); inv != 1 {
			field.GalMulSlice(inv, rows[p], rows[p])
			for j := range n {
				factors[p][j] = mul(factors[p][j], inv)
			}
		}
		for r := range n {
			f := factors[r][p]
			if r == p || f == 0 {
				continue
			}
			field.GalMulSliceXor(f, rows[p], rows[r])
			for j := range n {
				factors[r][j] ^= mul(factors[p][j], f)
			}
		}
	}
}
