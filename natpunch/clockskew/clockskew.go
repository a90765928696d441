// Package clockskew compares this machine's clock with the one in an HTTP answer,
// which carries whole seconds. Matches do not depend on either clock; what people
// are told about a wrong one is the caller's.
package clockskew

import (
	"fmt"
	"time"
)

const (
	// Worth is the difference from which somebody should be told. Below it lie
	// the rounding of the answer and slow lines.
	Worth = 30 * time.Second
	// Wrong is the difference from which certificates may seem invalid.
	Wrong = 5 * time.Minute
)

// Ahead is how much this machine's clock was ahead of the one that wrote date
// into its answer, between the moments before and after. It is right to half a
// second and half of the time between the two.
func Ahead(before, after, date time.Time) time.Duration {
	return before.Add(after.Sub(before) / 2).Sub(date.Add(time.Second / 2))
}

// Sentence says ahead of or behind whom a clock is, "25 hours ahead of", and by
// how much in the unit that people use.
func Sentence(ahead time.Duration) string {
	word := "ahead of"
	if ahead < 0 {
		ahead, word = -ahead, "behind"
	}
	switch {
	case ahead >= 36*time.Hour:
		return fmt.Sprintf("%.0f days %s", ahead.Hours()/24, word)
	case ahead >= 90*time.Minute:
		return fmt.Sprintf("%.0f hours %s", ahead.Hours(), word)
	case ahead >= 90*time.Second:
		return fmt.Sprintf("%.0f minutes %s", ahead.Minutes(), word)
	}
	return fmt.Sprintf("%.0f seconds %s", ahead.Seconds(), word)
}
