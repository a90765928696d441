package fixed_test

import (
	"errors"
	"testing"

	"backstep/sim/fixed"
	"pgregory.net/rapid"
)

// X-18, DET-10: fixed point, and one rounding rule.
func TestParse(t *testing.T) {
	good := []struct {
		in  string
		raw int32
	}{
		{"0", 0}, {"1", 65536}, {"-1", -65536}, {"3.25", 212992}, {"-3.25", -212992}, {"0.0001", 6}, {"-0.0001", -6},
		{"32767.9999", 2147483641}, {"007", 7 << 16},
	}
	for _, c := range good {
		q, err := fixed.Parse(c.in)
		if err != nil || int32(q) != c.raw {
			t.Errorf("Parse(%q) = %d, %v; want %d", c.in, q, err, c.raw)
		}
	}
	for _, in := range []string{"", "-", ".", "1.", ".5", "+1", "1e3", "1.23456", "1..2", "123456", " 1", "--1", "0x1"} {
		if _, err := fixed.Parse(in); !errors.Is(err, fixed.ErrSyntax) {
			t.Errorf("Parse(%q): %v, want ErrSyntax", in, err)
		}
	}
	if _, err := fixed.Parse("32768"); !errors.Is(err, fixed.ErrRange) {
		t.Errorf("Parse(32768): %v, want ErrRange", err)
	}
}

// Negating the operands negates the result, which the mirror property needs.
func TestRoundsTowardZero(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := fixed.Q(rapid.Int32Range(-1<<23, 1<<23).Draw(t, "a"))
		b := fixed.Q(rapid.Int32Range(-1<<23, 1<<23).Draw(t, "b"))
		if (-a).Mul(b) != -a.Mul(b) || a.Mul(-b) != -a.Mul(b) {
			t.Fatalf("%d * %d is not odd", a, b)
		}
		step := b.Abs()
		if (-a).Toward(step) != -a.Toward(step) || a.Toward(step).Abs() > a.Abs() {
			t.Fatalf("Toward(%d, %d)", a, step)
		}
		if (-a).Whole() != -a.Whole() {
			t.Fatalf("Whole(%d)", a)
		}
	})
	if got := fixed.Int(3).Mul(fixed.One / 2); got != fixed.One+fixed.One/2 {
		t.Fatalf("3 * 0.5 = %d", got)
	}
	if fixed.Q(-5).Sign() != -1 || fixed.Q(0).Sign() != 0 || fixed.Q(5).Sign() != 1 {
		t.Fatal("Sign")
	}
	if fixed.Int(9).Clamp(0, fixed.Int(4)) != fixed.Int(4) || fixed.Int(-9).Clamp(fixed.Int(-4), 0) != fixed.Int(-4) {
		t.Fatal("Clamp")
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"0", "-3.25", "32767.9999", "1.", "x", "99999.9999"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		q, err := fixed.Parse(s)
		if err != nil && q != 0 {
			t.Fatalf("%q: a value with an error", s)
		}
		if err == nil && len(s) > 0 && s[0] != '-' {
			if n, err := fixed.Parse("-" + s); err != nil || n != -q {
				t.Fatalf("-%q = %d, %v; want %d", s, n, err, -q)
			}
		}
	})
}
