package clockskew

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

// Whatever the difference, the round trip and the part of the second that the
// answer drops, Ahead is wrong by no more than it says.
func TestAhead(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		theirs := time.Unix(1_700_000_000, rapid.Int64Range(0, 999_999_999).Draw(t, "part of the second"))
		there := time.Duration(rapid.Int64Range(0, int64(3*time.Second)).Draw(t, "there"))
		back := time.Duration(rapid.Int64Range(0, int64(3*time.Second)).Draw(t, "back"))
		skew := time.Duration(rapid.Int64Range(-int64(100*time.Hour), int64(100*time.Hour)).Draw(t, "skew"))
		got := Ahead(theirs.Add(skew-there), theirs.Add(skew+back), theirs.Truncate(time.Second))
		if off := (got - skew).Abs(); off > (there+back+1)/2+time.Second/2 { // halves are rounded down
			t.Fatalf("%v instead of %v", got, skew)
		}
	})
}

func TestSentence(t *testing.T) {
	for ahead, want := range map[time.Duration]string{
		45 * time.Second: "45 seconds ahead of", -time.Hour: "60 minutes behind", 25 * time.Hour: "25 hours ahead of",
		-48 * time.Hour: "2 days behind", 2 * time.Minute: "2 minutes ahead of",
	} {
		if got := Sentence(ahead); got != want {
			t.Errorf("%v: %q, want %q", ahead, got, want)
		}
	}
}
