package rollback

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// S-01: the word of a tick is used that many frames later, and the frames before the first are neutral.
func TestInputDelay(t *testing.T) {
	s := tiny(t, func(c *Config) { c.InputDelay = 3 })
	for f := range int32(20) {
		confirm(t, s, f, 0)
		if s.InputFrame() != max(f+3, 0) && f > 0 {
			t.Fatalf("frame %d: the next word is for %d", f, s.InputFrame())
		}
		s.Tick(uint16(100 + f))
	}
	for f := range int32(23) {
		want := uint16(0)
		if f >= 3 {
			want = uint16(100 + f - 3)
		}
		if w, ok := s.Word(0, f); !ok || w != want {
			t.Errorf("frame %d has %d %v, want %d", f, w, ok, want)
		}
	}
	if in, _ := s.Used(0, 19); in != (Input[uint16]{116, 115}) {
		t.Errorf("frame 19 ran with %v", in)
	}
}

// A recording gives frame f its row f whatever the delay: Feed fills the frames before the first sample, and a row
// that is not taken is asked for again.
func TestRecordedInputsIgnoreTheDelay(t *testing.T) {
	s := tiny(t, func(c *Config) { c.InputDelay = 4 })
	row := func(f int32) uint16 { return uint16(f / 3) }
	for f := range int32(200) {
		if f < 195 {
			confirm(t, s, f, 0)
		}
		switch f {
		case 50:
			s.SetInputDelay(0)
		case 120:
			s.SetInputDelay(7)
		}
		for s.Missing() > 0 {
			s.Feed(row(s.InputFrame()))
		}
		if s.Feed(99) {
			t.Fatal("a word was taken that no frame misses")
		}
		s.Tick(row(s.InputFrame()))
	}
	for f := s.Oldest() + 1; f < s.InputFrame(); f++ {
		if w, ok := s.Word(0, f); !ok || w != row(f) {
			t.Errorf("frame %d has %d %v, want %d", f, w, ok, row(f))
		}
	}
	if lead := s.InputFrame() - s.Frame() - 1; lead != 7 {
		t.Errorf("the delay is %d now", lead)
	}
}

// transitions are the changes of a stream of words, holds left out.
func transitions(words []uint16) []uint16 {
	return slices.Compact(append([]uint16{0}, words...))
}

// ggrs#106, S-01: the delay goes up and down in a running match, and no press, no release and no order of them is lost
// or doubled.
func TestDelayChangesLoseNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cfg := DefaultConfig()
		cfg.InputDelay = rapid.IntRange(0, 4).Draw(t, "delay")
		s, err := NewSession(smallGame{}, cfg, new(small))
		if err != nil {
			t.Fatal(err)
		}
		var given, used []uint16
		word := uint16(0)
		for f := range int32(120) {
			if err := s.Confirm(1, f, 0); err != nil {
				t.Fatal(err)
			}
			if rapid.IntRange(0, 3).Draw(t, "change") == 0 {
				word = rapid.Uint16().Draw(t, "word")
			}
			if rapid.IntRange(0, 9).Draw(t, "adjust") == 0 {
				s.SetInputDelay(rapid.IntRange(-1, 16).Draw(t, "delay"))
			}
			if r := s.Tick(word); !r.Advanced {
				t.Fatalf("frame %d: %+v", f, r)
			}
			given = append(given, word)
			for g := int32(len(used)); g < s.InputFrame(); g++ {
				w, ok := s.Word(0, g)
				if !ok {
					t.Fatalf("frame %d has no word", g)
				}
				used = append(used, w)
			}
			if lead := s.InputFrame() - s.Frame() - 1; lead < int32(s.InputDelay()) || lead > MaxInputDelay {
				t.Fatalf("frame %d: words reach %d ahead, delay %d", f, lead, s.InputDelay())
			}
		}
		if a, b := transitions(given), transitions(used); !slices.Equal(a, b) {
			t.Fatalf("given %v, used %v", a, b)
		}
	})
}

// A lowered delay takes effect as soon as the words stand still.
func TestLoweredDelayTakesEffect(t *testing.T) {
	s := tiny(t, func(c *Config) { c.InputDelay = 5 })
	for f := range int32(30) {
		confirm(t, s, f, 0)
		if f == 10 {
			s.SetInputDelay(2)
		}
		s.Tick(7)
	}
	if lead := s.InputFrame() - s.Frame() - 1; lead != 2 {
		t.Errorf("the delay is %d, want 2", lead)
	}
}
