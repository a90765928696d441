package peer

import (
	"strings"
	"testing"

	"backstep/peer/lounge"
	"backstep/rollback/quality"
)

// S-01, QUAL-02 to QUAL-04, QUAL-14, LOCK-27: the grade of what was measured
// chooses the mode, and the mode the automatic delay; what the player chose
// stands.
func TestAutomaticDelay(t *testing.T) {
	for _, tt := range []struct {
		name        string
		rtt, jitter int64 // ms
		loss        int64
		auto        bool
		chosen      int
		want        int
		mode        quality.Mode
	}{
		{"same house", 1, 0, 0, true, 0, 0, quality.Rollback},
		{"80 ms", 80, 0, 0, true, 0, 0, quality.Rollback},
		{"99 ms", 99, 2, 0, true, 0, 0, quality.Rollback},
		{"120 ms is hybrid", 120, 2, 0, true, 0, 1, quality.Hybrid},
		{"145 ms", 145, 2, 0, true, 0, 1, quality.Hybrid},
		{"more than 150 ms is delay, straight away", 151, 2, 0, true, 0, 6, quality.Delay},
		{"300 ms", 300, 10, 0, true, 0, 12, quality.Delay},
		{"loss is hybrid", 30, 0, 50_000, true, 0, 1, quality.Hybrid},
		{"much loss is delay", 30, 0, 80_000, true, 0, 5, quality.Delay},
		{"chosen", 300, 0, 0, false, 2, 2, quality.Delay},
	} {
		m := &company{c: Config{AutoMode: true, AutoDelay: tt.auto, Delay: tt.chosen},
			figures: lounge.Figures{RTT: tt.rtt * 1000, Jitter: tt.jitter * 1000, Loss: tt.loss, Samples: 100}}
		if c := m.tuned(); c.Delay != tt.want || c.Mode != tt.mode {
			t.Errorf("%s: delay %d %v, want %d %v", tt.name, c.Delay, c.Mode, tt.want, tt.mode)
		}
	}
	m := &company{c: Config{AutoDelay: true, Mode: quality.Rollback}, figures: lounge.Figures{RTT: 250_000, Samples: 9}}
	if c := m.tuned(); c.Delay != 3 || c.Mode != quality.Rollback {
		t.Errorf("rollback at 250 ms: delay %d %v", c.Delay, c.Mode)
	}
	m.figures.Samples, m.c.AutoMode = 0, true
	if c := m.tuned(); c.Delay != 0 || c.Mode != quality.Rollback {
		t.Errorf("without a measurement: delay %d %v", c.Delay, c.Mode)
	}
}

// The depth the forecast promises is what matches measure: 3 and 2 at 80 ms.
func TestForecast(t *testing.T) {
	for _, tt := range []struct {
		rtt   int64
		delay int
		want  [2]int
		text  string
	}{{80_000, 0, [2]int{2, 3}, "2–3 rollback frames"}, {80_000, 2, [2]int{0, 1}, "0–1"}, {1_000, 0, [2]int{0, 1}, "0–1"}, {60_000, 0, [2]int{2, 2}, "Expect 2 rollback"}} {
		g := lounge.Figures{RTT: tt.rtt, Samples: 100}
		got := depthOf(g, tt.delay)
		if got != tt.want {
			t.Errorf("%+v: %v", tt, got)
		}
		if s := forecastSentence(quality.Good, g, got); !strings.Contains(s, tt.text) {
			t.Errorf("%q", s)
		}
	}
}

func TestParseInvite(t *testing.T) {
	for _, text := range []string{"BCDF-GHJK@relay.example", "bcdf ghjk@relay.example", "backstep://join#BCDF-GHJK@relay.example", " https://x.example/#bcdfghjk@relay.example "} {
		c, err := ParseInvite(text)
		if err != nil || c.Lookup.String() != "BCDF" || len(c.Relays) != 1 {
			t.Errorf("%q: %+v, %v", text, c.Lookup, err)
		}
	}
	for _, text := range []string{"", "#", "backstep://join#", "<script>"} {
		if _, err := ParseInvite(text); err == nil {
			t.Errorf("%q was read as a code", text)
		}
	}
}
