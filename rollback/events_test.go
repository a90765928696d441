package rollback

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// loud emits an event whenever a player's word has a fresh bit, and says which policies its steps had.
type loud struct {
	Frame int32
	IDs   [MaxPlayers]uint64
}

type loudGame struct{ policies *[]Policy }

func (g loudGame) Step(s *loud, in []Input[uint16], p Policy) {
	if g.policies != nil {
		*g.policies = append(*g.policies, p)
	}
	s.Frame++
	for i := range in {
		s.IDs[i] = 0
		if fresh := in[i].Now &^ in[i].Prev; fresh != 0 {
			s.IDs[i] = uint64(s.Frame)<<32 | uint64(i)<<16 | uint64(fresh)
		}
	}
}

func (loudGame) Hash(s *loud) uint64 { return uint64(s.Frame) ^ s.IDs[0]*3 ^ s.IDs[1]*5 }

func (loudGame) Events(s *loud, dst []uint64) []uint64 {
	for _, id := range s.IDs {
		if id != 0 {
			dst = append(dst, id)
		}
	}
	return dst
}

// SESS-09, SESS-11, SESS-13, RCFG-14, SESS-34, SESS-35, X-05: a frame is stepped with Emit once and silently after; the
// difference is reported by id.
func TestCosmetics(t *testing.T) {
	for _, silent := range []bool{true, false} {
		var policies []Policy
		cfg := DefaultConfig()
		cfg.SuppressCosmeticsDuringResim = silent
		s, err := NewSession[loud, uint16](loudGame{&policies}, cfg, new(loud))
		if err != nil {
			t.Fatal(err)
		}
		id := func(frame, player int, bits uint16) uint64 {
			return uint64(frame+1)<<32 | uint64(player)<<16 | uint64(bits)
		}
		if err := s.Confirm(1, 0, 0); err != nil {
			t.Fatal(err)
		}
		s.Tick(0)
		r := s.Tick(2)
		if !slices.Equal(r.Emitted, []uint64{id(1, 0, 2)}) || len(r.Cancelled) != 0 {
			t.Errorf("a fresh frame: %v %v", r.Emitted, r.Cancelled)
		}
		s.Tick(2)
		policies = nil
		for f, w := range []uint16{0, 4, 4} {
			if err := s.Confirm(1, int32(1+f), w); err != nil {
				t.Fatal(err)
			}
		}
		r = s.Tick(2) // frame 2 is stepped again, then frame 3 for the first time
		want := []Policy{SuppressCosmetics, Emit}
		if !silent {
			want[0] = Emit
		}
		if !slices.Equal(policies, want) {
			t.Errorf("policies %v, want %v", policies, want)
		}
		if !slices.Equal(r.Emitted, []uint64{id(2, 1, 4)}) || len(r.Cancelled) != 0 {
			t.Errorf("an event that was not predicted: %v %v", r.Emitted, r.Cancelled)
		}
		// Frame 4 predicts 4 held; the word of frame 4 was 0, then 5 presses again: 5's event is new, none is lost.
		s.Tick(2)
		s.Tick(2)
		if err := s.Confirm(1, 4, 0); err != nil {
			t.Fatal(err)
		}
		if r = s.Tick(2); len(r.Emitted)+len(r.Cancelled) != 0 {
			t.Errorf("a release: %v %v", r.Emitted, r.Cancelled)
		}
	}
}

// An event shown on a mispredicted frame that no longer happens is taken back.
func TestCancelledEvents(t *testing.T) {
	s, err := NewSession[loud, uint16](loudGame{}, DefaultConfig(), new(loud))
	if err != nil {
		t.Fatal(err)
	}
	for f, w := range []uint16{0, 0, 0, 8} {
		if f == 2 {
			continue // frame 2 stays open, so frame 3's press of 8 counts from it
		}
		if err := s.Confirm(1, int32(f), w); err != nil {
			t.Fatal(err)
		}
	}
	var shown []uint64
	for range 4 {
		shown = append(shown, s.Tick(0).Emitted...)
	}
	press := uint64(4)<<32 | 1<<16 | 8
	if !slices.Equal(shown, []uint64{press}) {
		t.Fatalf("shown %x", shown)
	}
	if err := s.Confirm(1, 2, 8); err != nil {
		t.Fatal(err)
	}
	r := s.Reconcile()
	if !slices.Equal(r.Cancelled, []uint64{press}) || !slices.Equal(r.Emitted, []uint64{uint64(3)<<32 | 1<<16 | 8}) {
		t.Errorf("emitted %x cancelled %x", r.Emitted, r.Cancelled)
	}
	if r = s.Reconcile(); len(r.Emitted)+len(r.Cancelled) != 0 {
		t.Error("reported twice")
	}
}

// Whatever is predicted, in the end exactly the events that happened are shown: each id once more than it is cancelled.
func TestEventsBalance(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, err := NewSession[loud, uint16](loudGame{}, DefaultConfig(), new(loud))
		if err != nil {
			t.Fatal(err)
		}
		words := [2][]uint16{}
		for p := range words {
			words[p] = rapid.SliceOfN(rapid.Uint16Range(0, 7), 40, 40).Draw(t, "words")
		}
		shown := map[uint64]int{}
		count := func(r Result) {
			for _, id := range r.Emitted {
				shown[id]++
			}
			for _, id := range r.Cancelled {
				shown[id]--
			}
			for id, n := range shown {
				if n < 0 || n > 1 {
					t.Fatalf("event %x is shown %d times", id, n)
				}
			}
		}
		next := int32(0)
		for s.Frame() < 39 {
			for n := rapid.IntRange(0, 4).Draw(t, "arrivals"); n > 0 && next < 40; n-- {
				if err := s.Confirm(1, next, words[1][next]); err != nil {
					t.Fatal(err)
				}
				next++
			}
			count(s.Tick(words[0][s.InputFrame()]))
		}
		for ; next < 40; next++ {
			if err := s.Confirm(1, next, words[1][next]); err != nil {
				t.Fatal(err)
			}
		}
		count(s.Reconcile())
		want := map[uint64]int{}
		var state loud
		var ids []uint64
		for f := range 40 {
			in := make([]Input[uint16], 2)
			for p := range in {
				in[p].Now = words[p][f]
				if f > 0 {
					in[p].Prev = words[p][f-1]
				}
			}
			loudGame{}.Step(&state, in, TelemetryOnly)
			for _, id := range (loudGame{}).Events(&state, ids[:0]) {
				want[id] = 1
			}
		}
		for id, n := range shown {
			if n != want[id] {
				t.Errorf("event %x is shown %d times, want %d", id, n, want[id])
			}
		}
		for id := range want {
			if shown[id] != 1 {
				t.Errorf("event %x is not shown", id)
			}
		}
	})
}
