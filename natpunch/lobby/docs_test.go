package lobby

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"backstep/natpunch/rendezvous"
)

// TestSecurityPage: every test that docs/security.md leans on exists.
func TestSecurityPage(t *testing.T) {
	page, err := os.ReadFile("../../docs/security.md")
	if err != nil {
		t.Fatal(err)
	}
	named := regexp.MustCompile("`([a-z0-9_/]+)\\.((?:Test|Benchmark|Fuzz)\\w+)`").FindAllStringSubmatch(string(page), -1)
	if len(named) < 30 {
		t.Fatalf("%d tests named", len(named))
	}
	source := map[string]string{}
	for _, m := range named {
		dir := m[1]
		if _, ok := source[dir]; !ok {
			files, err := filepath.Glob(filepath.Join("../..", dir, "*_test.go"))
			if err != nil {
				t.Fatal(err)
			}
			var all strings.Builder
			for _, f := range files {
				b, err := os.ReadFile(f)
				if err != nil {
					t.Fatal(err)
				}
				all.Write(b)
			}
			source[dir] = all.String()
		}
		if !strings.Contains(source[dir], "func "+m[2]+"(") {
			t.Errorf("docs/security.md names %s.%s, which does not exist", dir, m[2])
		}
	}
}

// TestOdds computes the odds that docs/security.md states.
func TestOdds(t *testing.T) {
	page, err := os.ReadFile("../../docs/security.md")
	if err != nil {
		t.Fatal(err)
	}
	text := strings.NewReplacer("⁰", "0", "¹", "1", "²", "2", "³", "3", "⁴", "4", "⁵", "5", "⁶", "6", "⁷", "7", "⁸", "8", "⁹", "9", "⁻", "-").Replace(string(page))
	symbols := float64(len(rendezvous.Alphabet))
	for _, guesses := range []float64{maxGuesses, 1} {
		var row []string
		for _, n := range []float64{4, 6, 8} {
			odds := guesses / math.Pow(symbols, n)
			exp := math.Floor(math.Log10(odds))
			row = append(row, fmt.Sprintf("%.1f·10%d", odds/math.Pow(10, exp), int(exp)))
		}
		if want := strings.Join(row, " / "); !strings.Contains(text, want) {
			t.Errorf("%v guesses: the page should say %s", guesses, want)
		}
	}
	for _, n := range []int{4, 6, 8} {
		if want := fmt.Sprintf("%.1f", float64(n)*math.Log2(symbols)); !strings.Contains(text, want) {
			t.Errorf("%d symbols hold %s bits", n, want)
		}
	}
}
