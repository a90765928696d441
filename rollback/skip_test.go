package rollback

import (
	"testing"

	"pgregory.net/rapid"
)

// fighter is a game that ignores words most of the time, as fighting games do: while busy a step reads nothing.
type fighter struct {
	X    [MaxPlayers]int32
	Busy [MaxPlayers]uint8
	Stop uint8
	Hits int32
}

type fighterGame struct{}

func (fighterGame) reads(s *fighter, p int, i Input[uint16]) uint16 {
	switch {
	case s.Busy[p] > 0:
		return 0
	case i.Now&^i.Prev&0xf0 != 0:
		return 1 << 8 // any fresh button is an attack
	}
	return i.Now & 0xc
}

func (g fighterGame) Step(s *fighter, in []Input[uint16], _ Policy) {
	if s.Stop > 0 {
		s.Stop--
		return
	}
	for p, i := range in {
		r := g.reads(s, p, i)
		switch {
		case s.Busy[p] > 0:
			if s.Busy[p]--; s.Busy[p] == 3 {
				s.Hits += int32(p) + 1
				s.Stop = 4
			}
		case r == 1<<8:
			s.Busy[p] = 6
		case r&4 != 0:
			s.X[p]--
		case r&8 != 0:
			s.X[p]++
		}
	}
}

func (fighterGame) Hash(s *fighter) uint64 {
	return uint64(s.X[0])<<40 ^ uint64(s.X[1])<<20 ^ uint64(s.Hits)<<8 ^ uint64(s.Busy[0]) ^ uint64(s.Busy[1])<<4
}

// skipping adds Equivalent, hitstop also Free.
type skipping struct{ fighterGame }

func (g skipping) Equivalent(s *fighter, p int, old, new Input[uint16]) bool {
	return s.Stop > 0 || g.reads(s, p, old) == g.reads(s, p, new)
}

type hitstop struct{ skipping }

func (hitstop) Free(s *fighter) bool { return s.Stop > 0 }

// Ruling "prediction": whatever arrives when, and whatever is skipped, every state is what all words known by then and
// the guesses about the rest give. Equality of states alone must not end a resimulation.
func TestSkippingIsExact(t *testing.T) {
	for name, game := range map[string]Game[fighter, uint16]{
		"SESS-21 plain": fighterGame{}, "Equivalent": skipping{}, "SESS-38 Free": hitstop{},
	} {
		t.Run(name, func(t *testing.T) { rapid.Check(t, func(t *rapid.T) { skippingIsExact(t, game) }) })
	}
}

func skippingIsExact(t *rapid.T, game Game[fighter, uint16]) {
	cfg := DefaultConfig()
	cfg.Players = rapid.IntRange(2, 4).Draw(t, "players")
	cfg.Local = rapid.IntRange(0, cfg.Players-1).Draw(t, "local")
	s, err := NewSession(game, cfg, new(fighter))
	if err != nil {
		t.Fatal(err)
	}
	word := rapid.SampledFrom([]uint16{0, 0, 0, 4, 8, 16, 32, 20, 24})
	arrivals := rapid.SampledFrom([]int{0, 0, 0, 0, 1, 1, 2, 5})
	const frames = 60
	words := make([][]uint16, cfg.Players)
	for p := range words {
		words[p] = make([]uint16, frames+64)
		for f := 0; f < len(words[p]); f++ {
			words[p][f] = word.Draw(t, "word")
		}
	}
	var arrived [MaxPlayers]int32
	for range 400 {
		if s.Frame() >= frames {
			break
		}
		for p := range words {
			if p == cfg.Local {
				continue
			}
			for n := arrivals.Draw(t, "arrivals"); n > 0 && arrived[p] <= min(s.Frame()+3, frames+20); n-- {
				if err := s.Confirm(p, arrived[p], words[p][arrived[p]]); err != nil {
					t.Fatal(err)
				}
				arrived[p]++
			}
		}
		s.Tick(words[cfg.Local][s.InputFrame()])
		guessed := make([][]uint16, cfg.Players)
		for p := range guessed {
			for f := range s.Frame() + 1 {
				w := words[p][f]
				if p != cfg.Local && f >= arrived[p] {
					w = 0
					if arrived[p] > 0 {
						w = words[p][arrived[p]-1]
					}
				}
				guessed[p] = append(guessed[p], w)
			}
		}
		for f, want := range replay[fighter](game, fighter{}, guessed, int(s.Frame()+1)) {
			if st, ok := s.State(int32(f)); ok && *st != want {
				t.Fatalf("at frame %d the state labelled %d is %+v, want %+v", s.Frame(), f, *st, want)
			}
		}
		if lead := int(s.cur - s.confirmed); s.freer == nil && lead > cfg.PredictionWindowFrames || lead > HardWindow {
			t.Fatalf("%d frames predicted", lead)
		}
	}
}

// What a busy fighter cannot read is skipped, and the depth that is reported counts it all the same.
func TestEquivalentSkips(t *testing.T) {
	s, err := NewSession[fighter, uint16](skipping{}, DefaultConfig(), new(fighter))
	if err != nil {
		t.Fatal(err)
	}
	give := func(f int32, w uint16) {
		if err := s.Confirm(1, f, w); err != nil {
			t.Fatal(err)
		}
	}
	give(0, 16)
	for range 6 {
		s.Tick(0)
	}
	give(1, 8) // busy since frame 0: reads nothing
	r := s.Tick(0)
	if r.RollbackFrames != 5 || r.Resimulated != 0 || !r.Recovered {
		t.Errorf("result %+v", r)
	}
	if r.Rollback.Before() != r.Rollback.After() {
		t.Error("a correction that changed nothing changed a hash")
	}
	if st := s.Stats(); st.StoppedEarly != 1 || st.Depth.Max() != 5 {
		t.Errorf("stats %+v", st)
	}
}

// reporting keeps the words of its last step in its state, for whoever draws it.
type reporting struct {
	State fighter
	Seen  [MaxPlayers]uint16
}

type reportingGame struct{}

func (reportingGame) Step(s *reporting, in []Input[uint16], p Policy) {
	fighterGame{}.Step(&s.State, in, p)
	for i := range in {
		s.Seen[i] = in[i].Now
	}
}

func (reportingGame) Hash(s *reporting) uint64 { return fighterGame{}.Hash(&s.State) }

// Equivalent knows that only a fresh button makes the word before it matter.
func (reportingGame) Equivalent(_ *reporting, _ int, old, new Input[uint16]) bool {
	return old.Now == new.Now && new.Now&0xf0 == 0
}

type equalGame struct{ reportingGame }

func (equalGame) Equal(a, b *reporting) bool { return a.State == b.State }

// What a state only reports does not keep later frames from being skipped, if the game says so.
func TestEqualLeavesReportsOut(t *testing.T) {
	for want, game := range map[int]Game[reporting, uint16]{2: reportingGame{}, 1: equalGame{}} {
		s, err := NewSession(game, DefaultConfig(), new(reporting))
		if err != nil {
			t.Fatal(err)
		}
		for range 6 {
			s.Tick(0)
		}
		// An up key, held for a frame, changes what frame 1 reports and nothing else.
		for f, w := range []uint16{0, 1, 0} {
			if err := s.Confirm(1, int32(f), w); err != nil {
				t.Fatal(err)
			}
		}
		r := s.Reconcile()
		if r.RollbackFrames != 5 || r.Resimulated != want {
			t.Errorf("%T: %d of %d frames stepped again, want %d", game, r.Resimulated, r.RollbackFrames, want)
		}
		if st, _ := s.State(1); st.Seen[1] != 1 {
			t.Errorf("%T: frame 1 reports %v", game, st.Seen)
		}
	}
}

// X-06, SESS-38: frames in hitstop do not count, up to the hard bound; both figures are reported.
func TestFreeFrames(t *testing.T) {
	run := func(game Game[fighter, uint16]) (frame int32, s *Session[fighter, uint16]) {
		cfg := DefaultConfig()
		s, err := NewSession(game, cfg, new(fighter))
		if err != nil {
			t.Fatal(err)
		}
		for {
			if r := s.Tick(16); r.Stalled {
				return r.Frame, s
			}
		}
	}
	if f, _ := run(skipping{}); f != 7 {
		t.Errorf("without Free the window ends at frame %d, want 7", f)
	}
	f, s := run(hitstop{})
	free := int32(0)
	for i := range f + 1 {
		if s.free[i] {
			free++
		}
	}
	if free == 0 || f != 7+free {
		t.Errorf("held at frame %d with %d free ones, want 7 more than them", f, free)
	}
	if err := s.Confirm(1, 0, 8); err != nil {
		t.Fatal(err)
	}
	r := s.Tick(16)
	if r.RollbackFrames != int(f)+1 || r.CountedFrames != 8 || r.Frozen {
		t.Errorf("rollback %d counted %d frozen %v", r.RollbackFrames, r.CountedFrames, r.Frozen)
	}
}

// A game that is free for ever is held at window + 30.
type always struct{ fighterGame }

func (always) Free(*fighter) bool { return true }

func TestHardBound(t *testing.T) {
	for window, want := range map[int]int32{1: 31, 8: 38, 20: 50} {
		cfg := DefaultConfig()
		cfg.PredictionWindowFrames, cfg.MaxRollbackFrames = window, window
		s, err := NewSession[fighter, uint16](always{}, cfg, new(fighter))
		if err != nil {
			t.Fatal(err)
		}
		for range 200 {
			s.Tick(0)
		}
		if got := s.Frame() + 1; got != want {
			t.Errorf("window %d: %d frames predicted, want %d", window, got, want)
		}
	}
}
