package quality

import (
	"testing"

	"pgregory.net/rapid"
)

// S-01, LOCK-24 on 60 Hz, ggrs#116: what each mode asks for on links that are known.
func TestAutoDelay(t *testing.T) {
	for _, c := range []struct {
		name string
		f    Figures
		want [3]int // delay, hybrid, rollback
	}{
		{"nothing between", Figures{}, [3]int{1, 1, 0}},
		{"RTT 80", Figures{RTT: 80_000}, [3]int{3, 1, 0}},
		{"RTT 133: four frames one way are corrected", Figures{RTT: 133_000}, [3]int{5, 1, 0}},
		{"RTT 150: the fifth is not", Figures{RTT: 150_000}, [3]int{5, 1, 1}},
		{"RTT 200", Figures{RTT: 200_000}, [3]int{7, 2, 2}},
		{"RTT 300", Figures{RTT: 300_000}, [3]int{10, 4, 3}},
		{"RTT 80, jitter 8", Figures{RTT: 80_000, Jitter: 8000}, [3]int{5, 1, 0}},
		{"loss of 1 % takes one repetition", Figures{RTT: 80_000, Loss: Percent}, [3]int{4, 1, 0}},
		{"loss of 5 % two", Figures{RTT: 80_000, Loss: 5 * Percent}, [3]int{5, 1, 0}},
		{"more than three are not taken", Figures{RTT: 80_000, Loss: 40 * Percent}, [3]int{6, 1, 0}},
		{"a second away", Figures{RTT: 2_000_000}, [3]int{15, 4, 3}},
	} {
		for m, want := range c.want {
			if got := AutoDelay(Mode(m), c.f, 60); got != want {
				t.Errorf("%s, %v: %d frames, want %d", c.name, Mode(m), got, want)
			}
		}
	}
}

// A worse link never gets a smaller delay, and every mode stays in its range.
func TestAutoDelayIsMonotonic(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := Figures{RTT: rapid.Int64Range(0, 1_000_000).Draw(t, "rtt"), Jitter: rapid.Int64Range(0, 200_000).Draw(t, "jitter"), Loss: rapid.Int64Range(0, 1_000_000).Draw(t, "loss")}
		worse := Figures{
			RTT:    f.RTT + rapid.Int64Range(0, 100_000).Draw(t, "more rtt"),
			Jitter: f.Jitter + rapid.Int64Range(0, 100_000).Draw(t, "more jitter"),
			Loss:   min(f.Loss+rapid.Int64Range(0, 100_000).Draw(t, "more loss"), 1_000_000),
		}
		for m, bounds := range [3][2]int{{1, MaxDelay}, {1, 4}, {0, 3}} {
			a, b := AutoDelay(Mode(m), f, 60), AutoDelay(Mode(m), worse, 60)
			if a > b || a < bounds[0] || b > bounds[1] {
				t.Fatalf("%v: %d frames on %+v, %d on %+v", Mode(m), a, f, b, worse)
			}
		}
	})
}
