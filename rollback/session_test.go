package rollback

import (
	"errors"
	"testing"
)

// tiny is a session of two over smallGame; the remote player is 1.
func tiny(t *testing.T, change func(*Config)) *Session[small, uint16] {
	t.Helper()
	cfg := DefaultConfig()
	if change != nil {
		change(&cfg)
	}
	s, err := NewSession(smallGame{}, cfg, new(small))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func confirm(t *testing.T, s *Session[small, uint16], frame int32, w uint16) {
	t.Helper()
	if err := s.Confirm(1, frame, w); err != nil {
		t.Fatalf("confirm frame %d: %v", frame, err)
	}
}

// play ticks up to label frame with every remote word confirmed beforehand up to label confirmed.
func play(t *testing.T, s *Session[small, uint16], frame, confirmed int32, remote uint16) {
	t.Helper()
	for f := s.Frame() + 1; f <= frame; f++ {
		if f <= confirmed {
			confirm(t, s, f, remote)
		}
		if r := s.Tick(uint16(f)); !r.Advanced || r.Frame != f {
			t.Fatalf("tick %d: %+v", f, r)
		}
	}
}

const (
	forward = uint16(8)
	crouch  = uint16(2)
)

// V-01, SESS-03, SESS-04, SESS-05, SESS-06, SESS-07, SESS-08, SESS-09, SESS-10, SESS-12, SESS-14, SESS-15, SESS-36, HASH-09, X-04, X-07: the worked example, on the entry point that does not
// advance.
func TestWorkedExample(t *testing.T) {
	s := tiny(t, nil)
	play(t, s, 100, 95, forward)
	confirm(t, s, 96, forward)
	before := *s.state(100)
	confirm(t, s, 97, crouch)
	r := s.Reconcile()
	if !r.Recovered || r.Advanced || r.RollbackFrames != 4 || r.Resimulated != 4 || r.Frame != 100 || r.Rollback == nil {
		t.Fatalf("result %+v", r)
	}
	b := r.Rollback
	if b.Restored != 96 || b.First != 97 || b.Last != 100 || len(b.Replayed) != 4 || b.Replayed[0] != 97 || b.Replayed[3] != 100 {
		t.Errorf("telemetry %+v", b)
	}
	if b.Before() != (smallGame{}).Hash(&before) || b.After() != r.Hash() || b.Before() == b.After() {
		t.Errorf("hashes before %x after %x now %x", b.Before(), b.After(), r.Hash())
	}
	for f := int32(97); f <= 100; f++ {
		if in, ok := s.Used(1, f); !ok || in.Now != crouch {
			t.Errorf("frame %d ran with %v %v: the new word is the new guess (SESS-22, SESS-23)", f, in, ok)
		}
	}
	if r := s.Reconcile(); r.Recovered {
		t.Error("the same correction ran twice")
	}
}

// The same with frame 96 unknown: it stays provisional, and its own word corrects it later.
func TestWorkedExampleOutOfOrder(t *testing.T) {
	s := tiny(t, nil)
	play(t, s, 100, 95, forward)
	confirm(t, s, 97, crouch)
	if r := s.Reconcile(); r.Rollback == nil || r.Rollback.Restored != 96 || r.Confirmed != 95 {
		t.Fatalf("result %+v", r)
	}
	confirm(t, s, 96, 16)
	r := s.Reconcile()
	if r.Rollback == nil || r.Rollback.Restored != 95 || r.Confirmed != 97 {
		t.Fatalf("result %+v", r)
	}
	for f, want := range map[int32]uint16{95: forward, 96: 16, 97: crouch, 98: crouch, 100: crouch} {
		if in, _ := s.Used(1, f); in.Now != want {
			t.Errorf("frame %d ran with %d, want %d", f, in.Now, want)
		}
	}
}

// SESS-16, SESS-17, SESS-18, SESS-24, SESS-28.
func TestPrediction(t *testing.T) {
	s := tiny(t, nil)
	if s.Confirmed() != -1 || s.Frame() != -1 {
		t.Errorf("at the start confirmed %d, frame %d", s.Confirmed(), s.Frame())
	}
	s.Tick(7)
	if in, _ := s.Used(1, 0); in.Now != 0 {
		t.Errorf("nothing known: ran with %d, want neutral", in.Now)
	}
	if in, _ := s.Used(0, 0); in.Now != 7 {
		t.Errorf("own word %d is not what was given", in.Now)
	}
	confirm(t, s, 0, 0)
	confirm(t, s, 1, 5)
	confirm(t, s, 2, 6)
	for range 4 {
		s.Tick(7)
	}
	for f, want := range map[int32]Input[uint16]{1: {5, 0}, 2: {6, 5}, 3: {6, 6}, 4: {6, 6}} {
		if in, _ := s.Used(1, f); in != want {
			t.Errorf("frame %d ran with %v, want %v", f, in, want)
		}
	}
}

// SESS-27: with GuessFrames a guess ends after as many frames; what comes to be known is played all the same.
func TestGuessesEnd(t *testing.T) {
	s := tiny(t, func(c *Config) { c.GuessFrames = 3 })
	play(t, s, 4, 4, 5)
	for range 6 {
		s.Tick(7)
	}
	for f, want := range map[int32]Input[uint16]{5: {5, 5}, 7: {5, 5}, 8: {0, 5}, 10: {0, 0}} {
		if in, _ := s.Used(1, f); in != want {
			t.Errorf("frame %d ran with %v, want %v", f, in, want)
		}
	}
	for f := int32(5); f <= 10; f++ {
		confirm(t, s, f, 5)
	}
	if r := s.Reconcile(); r.Rollback == nil || r.Rollback.First != 8 || r.Resimulated != 3 {
		t.Errorf("the player never let go: %+v", r)
	}
}

// SESS-20, SESS-21: a guess that was right costs nothing.
func TestRightGuessesCostNothing(t *testing.T) {
	s := tiny(t, nil)
	for f := range int32(600) {
		if f >= 5 {
			confirm(t, s, f-5, 0)
		}
		if r := s.Tick(uint16(f)); r.Recovered || !r.Advanced {
			t.Fatalf("frame %d: %+v", f, r)
		}
	}
}

// V-05, RCFG-05: at frame 100 a snapshot of frame 10 is kept and that of frame 9 is not.
func TestHistoryTrim(t *testing.T) {
	s := tiny(t, nil)
	play(t, s, 100, 100, 3)
	if _, ok := s.State(10); !ok {
		t.Error("frame 10 is gone")
	}
	if _, ok := s.State(9); ok {
		t.Error("frame 9 is still kept")
	}
	if _, ok := s.State(101); ok {
		t.Error("a frame that never ran has a state")
	}
	if s.Oldest() != 10 {
		t.Errorf("oldest %d", s.Oldest())
	}
	words := [][]uint16{make([]uint16, 101), make([]uint16, 101)}
	for f := range 101 {
		words[0][f], words[1][f] = uint16(f), 3
	}
	truth := replay(smallGame{}, small{}, words, 101)
	for f := int32(10); f <= 100; f++ {
		if st, _ := s.State(f); *st != truth[f] {
			t.Errorf("the state labelled %d is not the one after frame %d", f, f)
		}
	}
}

// X-02, SESS-26, SESS-01, G-26: window 8 is eight predicted frames, and what is confirmed counts from there.
func TestWindow(t *testing.T) {
	for _, window := range []int{1, 8, 12, 20} {
		s := tiny(t, func(c *Config) { c.PredictionWindowFrames, c.MaxRollbackFrames = window, window })
		confirm(t, s, 0, 0)
		confirm(t, s, 1, 0)
		play(t, s, int32(1+window), 1, 0)
		r := s.Tick(0)
		if r.Advanced || !r.Stalled || r.Frame != int32(1+window) {
			t.Errorf("window %d: frame %d after confirmed 1 ran: %+v", window, 2+window, r)
		}
		confirm(t, s, 2, 0)
		if r := s.Tick(0); !r.Advanced || r.Stalled {
			t.Errorf("window %d: still held: %+v", window, r)
		}
		if st := s.Stats(); st.Stalls != 1 || st.LongestStall != 1 {
			t.Errorf("stalls %d, longest %d", st.Stalls, st.LongestStall)
		}
	}
}

// ggrs#75, backroll#12, GGPOPLUSR#64: a correction that is due runs on a tick that refuses to advance.
func TestDueCorrectionRunsOnARefusedTick(t *testing.T) {
	s := tiny(t, nil)
	play(t, s, 7, -1, 0)
	if r := s.Tick(0); !r.Stalled {
		t.Fatalf("not stalled: %+v", r)
	}
	// Frame 1 is refuted while frame 0 is still unknown: the session stays full.
	confirm(t, s, 1, 9)
	r := s.Tick(0)
	if !r.Stalled || !r.Recovered || r.RollbackFrames != 7 {
		t.Fatalf("result %+v", r)
	}
	want := replay(smallGame{}, small{}, [][]uint16{{0, 1, 2, 3, 4, 5, 6, 7}, {0, 9, 9, 9, 9, 9, 9, 9}}, 8)
	if *s.state(7) != want[7] {
		t.Error("the state is not the corrected one")
	}
}

// V-14, SESS-30, SESS-31, SESS-32, RCFG-02, SESS-02, SESS-39: eight frames do not freeze, nine do; the first tick
// without a correction thaws.
func TestFreezeAndThaw(t *testing.T) {
	at99 := func() *Session[small, uint16] {
		s := tiny(t, nil)
		play(t, s, 99, 99, 4)
		return s
	}
	s := at99()
	if err := s.Invalidate(92); err != nil {
		t.Fatal(err)
	}
	if r := s.Tick(0); r.Frozen || !r.Advanced || r.RollbackFrames != 8 || r.Rollback.Restored != 91 || r.Status != Running {
		t.Errorf("eight frames: %+v", r)
	}
	s = at99()
	if err := s.Invalidate(91); err != nil {
		t.Fatal(err)
	}
	r := s.Tick(0)
	if !r.Frozen || r.Advanced || !r.Recovered || r.RollbackFrames != 9 || r.Resimulated != 9 || r.Status != Recovering || r.Frame != 99 {
		t.Errorf("nine frames: %+v", r)
	}
	if r.Status.String() != "Recovering Connection…" {
		t.Errorf("overlay %q", r.Status)
	}
	if err := s.Invalidate(98); err != nil {
		t.Fatal(err)
	}
	if r = s.Tick(0); !r.Frozen || r.Advanced || r.RollbackFrames != 2 {
		t.Errorf("frozen, and one more correction: %+v", r)
	}
	if r = s.Tick(0); r.Frozen || !r.Advanced || r.Status != Running || r.Frame != 100 {
		t.Errorf("no correction: %+v", r)
	}
	if st := s.Stats(); st.Frozen != 2 || st.Stalls != 0 {
		t.Errorf("frozen %d stalls %d", st.Frozen, st.Stalls)
	}
}

// a quarter of a second of stall shows the overlay too, and the first advance takes it away.
func TestLongStallShowsRecovering(t *testing.T) {
	s := tiny(t, nil)
	play(t, s, 7, -1, 0)
	for i := 1; i < 15; i++ {
		if r := s.Tick(0); r.Status != Running {
			t.Fatalf("stalled tick %d: %v", i, r.Status)
		}
	}
	if r := s.Tick(0); r.Status != Recovering || r.Frozen {
		t.Errorf("after 250 ms: %+v", r)
	}
	confirm(t, s, 0, 0)
	if r := s.Tick(0); r.Status != Running || !r.Advanced {
		t.Errorf("after the stall: %+v", r)
	}
}

// SESS-33, SNAP-11, SNAP-12: the snapshot is gone. The state is untouched, nothing advances, and a snapshot from outside ends it.
func TestMissingSnapshot(t *testing.T) {
	s := tiny(t, nil)
	play(t, s, 100, 100, 4)
	before := *s.state(100)
	if err := s.Invalidate(10); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		r := s.Tick(0)
		if r.Status != FallbackOffered || r.Advanced || r.Recovered || r.Frame != 100 || *s.state(100) != before {
			t.Fatalf("result %+v", r)
		}
	}
	snapshot := *s.state(50)
	if err := s.Restore(9, &snapshot); !errors.Is(err, ErrSnapshot) {
		t.Errorf("a label outside the history was taken: %v", err)
	}
	if err := s.Restore(50, &snapshot); err != nil {
		t.Fatal(err)
	}
	r := s.Tick(0)
	if !r.Frozen || r.RollbackFrames != 50 || *s.state(100) != before {
		t.Errorf("after the snapshot: %+v", r)
	}
	if r = s.Tick(1); !r.Advanced || r.Status != Running {
		t.Errorf("after the thaw: %+v", r)
	}
	// With frame 11 the state before it is the oldest one, label 10.
	s = tiny(t, nil)
	play(t, s, 100, 100, 4)
	if err := s.Invalidate(11); err != nil {
		t.Fatal(err)
	}
	if r := s.Tick(0); r.Status == FallbackOffered || r.RollbackFrames != 90 {
		t.Errorf("the oldest snapshot was not used: %+v", r)
	}
	if err := s.Invalidate(-1); !errors.Is(err, ErrFrame) {
		t.Errorf("frame -1: %v", err)
	}
	if err := s.Invalidate(s.Frame() + 1); !errors.Is(err, ErrFrame) {
		t.Errorf("a frame to come: %v", err)
	}
}

// X-03, QUAL-09, QUAL-10, SESS-37: frames predicted and ticks held make the offer after 1800 samples in a row, once.
func TestPressureOffersOnce(t *testing.T) {
	s := tiny(t, func(c *Config) { c.SustainedRollbackPressureFrames = 100 })
	play(t, s, 7, -1, 0)
	offers, at := 0, 0
	for i := 1; i <= 400; i++ {
		if r := s.Tick(0); r.Offer {
			offers++
			at = i
			if r.Status != FallbackOffered && r.Status != Recovering {
				t.Errorf("status %v with the offer", r.Status)
			}
		}
	}
	// Eight frames are predicted: from the first held tick on a sample is above the cap of eight.
	if offers != 1 || at != 100 {
		t.Errorf("%d offers, the last at held tick %d", offers, at)
	}
	confirm(t, s, 0, 0)
	if r := s.Tick(0); r.Status != FallbackOffered {
		t.Errorf("the offer does not stand: %v", r.Status)
	}
	if !s.Answer(false) || s.Answer(true) {
		t.Error("the answer was not taken, or twice")
	}
	if s.Status() == FallbackOffered {
		t.Error("the offer stands after the answer")
	}
}

// a full window alone is no pressure.
func TestFullWindowIsNoPressure(t *testing.T) {
	s := tiny(t, func(c *Config) { c.SustainedRollbackPressureFrames = 50 })
	play(t, s, 7, -1, 0)
	for f := range int32(500) {
		confirm(t, s, f, 0)
		if r := s.Tick(0); r.Offer || !r.Advanced {
			t.Fatalf("frame %d: %+v", f, r)
		}
	}
}

// S-13, WIRE-17: first confirmation wins, a repeat is nothing, another value ends the match with both in the error.
func TestConflict(t *testing.T) {
	s := tiny(t, nil)
	play(t, s, 20, 20, 4)
	confirm(t, s, 20, 4)
	err := s.Confirm(1, 20, 5)
	var c *ConflictError
	if !errors.Is(err, ErrConflict) || !errors.As(err, &c) || *c != (ConflictError{1, 20, 4, 5}) {
		t.Fatalf("error %v", err)
	}
	if s.Conflict() != c {
		t.Error("the session forgot the conflict")
	}
	if w, ok := s.Word(1, 20); !ok || w != 4 {
		t.Errorf("the first word is %d now", w)
	}
}

// Rulings, cheating: an input beyond what an honest player can have is dropped, and harms nothing.
func TestInputsTooFarAhead(t *testing.T) {
	s := tiny(t, nil)
	play(t, s, 20, 20, 4)
	edge := s.Reach()
	if want := int32(20 + MaxWindow + MaxInputDelay); edge != want {
		t.Errorf("reach %d, want own newest input 20 + window + delay = %d", edge, want)
	}
	if err := s.Confirm(1, edge+1, 1); !errors.Is(err, ErrTooFar) {
		t.Errorf("beyond the edge: %v", err)
	}
	if err := s.Confirm(1, edge, 1); err != nil {
		t.Errorf("at the edge: %v", err)
	}
	for _, c := range []struct {
		player int
		frame  int32
		want   error
	}{{0, 21, ErrPlayer}, {2, 21, ErrPlayer}, {-1, 21, ErrPlayer}, {1, -1, ErrFrame}} {
		if err := s.Confirm(c.player, c.frame, 0); !errors.Is(err, c.want) {
			t.Errorf("player %d frame %d: %v, want %v", c.player, c.frame, err, c.want)
		}
	}
	if s.Stats().TooFar != 1 || s.Confirmed() != 20 {
		t.Errorf("too far %d, confirmed %d", s.Stats().TooFar, s.Confirmed())
	}
	if err := s.Confirm(1, 0, 9); errors.Is(err, ErrConflict) != (s.Frame() < inputRing) {
		t.Errorf("an old frame: %v", err)
	}
}

// SESS-29.
func TestAdvantage(t *testing.T) {
	s := tiny(t, nil)
	play(t, s, 10, 6, 0)
	if a := s.Advantage(); a != 4 {
		t.Errorf("player 0 has words up to 10, player 1 up to 6: advantage %d", a)
	}
}

// A smaller window holds the session until it fits, and never rewinds; a larger one lets it go on.
func TestSetWindow(t *testing.T) {
	s := tiny(t, nil)
	play(t, s, 7, -1, 0)
	s.SetWindow(12)
	play(t, s, 11, -1, 0)
	s.SetWindow(4)
	if r := s.Tick(0); !r.Stalled || r.Frame != 11 || r.Recovered {
		t.Errorf("result %+v", r)
	}
	for f := range int32(7) {
		confirm(t, s, f, 0)
		if r := s.Tick(0); !r.Stalled {
			t.Errorf("confirmed %d: %+v", f, r)
		}
	}
	confirm(t, s, 7, 0)
	confirm(t, s, 8, 0)
	if r := s.Tick(0); !r.Advanced {
		t.Errorf("three frames predicted, window 4: %+v", r)
	}
	s.SetWindow(100)
	if w := s.Config().PredictionWindowFrames; w != MaxWindow {
		t.Errorf("window %d", w)
	}
}
