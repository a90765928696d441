package rollback

import "testing"

// pair is two sessions joined without a network; every hash that is due is handed over.
type pair struct {
	s     [2]*Session[small, uint16]
	words [2]uint16
}

func newPair(t *testing.T) *pair {
	var p pair
	for i := range p.s {
		p.s[i] = tiny(t, func(c *Config) { c.Local = i })
	}
	return &p
}

// tick runs both with words that arrive lag frames late; hand says which hashes pass.
func (p *pair) tick(t *testing.T, lag int32, hand func(from int, frame int32) bool) {
	t.Helper()
	for i, s := range p.s {
		p.words[i] = uint16(s.Frame()*7) ^ uint16(i)
		if r := s.Tick(p.words[i]); !r.Advanced {
			t.Fatalf("player %d: %+v", i, r)
		}
	}
	for i, s := range p.s {
		other := p.s[1-i]
		if f := s.Frame() - lag; f >= 0 {
			w, _ := s.Word(i, f)
			if err := other.Confirm(i, f, w); err != nil {
				t.Fatal(err)
			}
		}
		if f, h, ok := s.NextHash(1 - i); ok && hand(i, f) {
			other.Compare(i, f, h)
		}
	}
}

// flawed is smallGame with a step that comes out differently on one machine.
type flawed struct {
	smallGame
	at int32
}

func (g flawed) Step(s *small, in []Input[uint16], p Policy) {
	g.smallGame.Step(s, in, p)
	if s.Frame == g.at+1 {
		s.Sum++
	}
}

func all(int, int32) bool { return true }

// S-03, ggrs#63, ggrs#86, bevy_ggrs#71: only frames divisible by 8 that are confirmed and have run with their true
// words are hashed, each once, and equal games never differ. The agreement goes on all match long (ggrs#61).
func TestHashesOfSettledFramesOnly(t *testing.T) {
	p := newPair(t)
	seen := map[int32]int{}
	for range 600 {
		p.tick(t, 4, func(from int, f int32) bool {
			if from == 0 {
				seen[f]++
				if f > p.s[0].Settled() || f%HashInterval != 0 {
					t.Fatalf("frame %d was hashed, settled %d", f, p.s[0].Settled())
				}
			}
			return true
		})
	}
	for f := int32(0); f <= 592; f += 8 {
		if seen[f] != 1 {
			t.Errorf("the hash of frame %d was handed out %d times", f, seen[f])
		}
	}
	for i, s := range p.s {
		if a := s.Agreed(1 - i); a < 580 {
			t.Errorf("player %d agreed up to %d only", i, a)
		}
		if _, ok := s.Desync(1 - i); ok || s.Stats().Desyncs != 0 {
			t.Errorf("player %d sees a desync", i)
		}
	}
	h, ok := p.s[0].ConfirmedHash(320)
	if h2, ok2 := p.s[1].ConfirmedHash(320); !ok || !ok2 || h != h2 {
		t.Errorf("hash of frame 320: %x %v and %x %v", h, ok, h2, ok2)
	}
	for _, f := range []int32{-8, 321, 600, 608} {
		if _, ok := p.s[0].ConfirmedHash(f); ok {
			t.Errorf("there is a confirmed hash of frame %d", f)
		}
	}
}

// S-03: the ring holds the last 1024 hashes.
func TestHashRing(t *testing.T) {
	p := newPair(t)
	const frames = HashRing*HashInterval + 400
	for range frames {
		p.tick(t, 2, all)
	}
	oldest := int32(-1)
	for f := int32(0); f < frames; f += HashInterval {
		if _, ok := p.s[0].ConfirmedHash(f); ok {
			oldest = f
			break
		}
	}
	if n := (p.s[0].Settled()-oldest)/HashInterval + 1; n != HashRing {
		t.Errorf("%d hashes are kept", n)
	}
}

// S-03, S-04: a state that goes wrong is found on both sides, at the very frame, though only every eighth is compared
// and a hash is lost on the way.
func TestDesyncIsFoundAtItsFrame(t *testing.T) {
	for wrong := int32(60); wrong < 78; wrong++ {
		p := newPair(t)
		p.s[1].game = flawed{at: wrong}
		lose := true
		for range 200 {
			p.tick(t, 3, func(from int, frame int32) bool {
				if from == 1 && frame >= wrong && lose {
					lose = false
					return false
				}
				return true
			})
		}
		for i, s := range p.s {
			d, ok := s.Desync(1 - i)
			if !ok || d.Frame != wrong || !d.Exact || d.Agreed != wrong-1 || d.Ours == d.Theirs {
				t.Errorf("wrong from frame %d: player %d found %+v %v", wrong, i, d, ok)
			}
			if r := s.Reconcile(); !r.Desynced || s.Stats().Desyncs != 1 {
				t.Errorf("player %d: desynced %v, count %d", i, r.Desynced, s.Stats().Desyncs)
			}
		}
	}
}

// Hashes nobody can have, of frames that never were, and of strangers change nothing.
func TestForeignHashes(t *testing.T) {
	p := newPair(t)
	for range 100 {
		p.tick(t, 3, all)
	}
	s := p.s[0]
	for _, c := range []struct {
		player int
		frame  int32
	}{{1, -1}, {1, 1 << 30}, {0, 8}, {2, 8}, {-1, 8}, {9, 8}, {1, (s.Settled() + 1) | 1}, {1, s.Reach() + 8}} {
		s.Compare(c.player, c.frame, 0xdead)
	}
	for range 300 {
		p.tick(t, 3, all)
	}
	if d, ok := s.Desync(1); ok {
		t.Errorf("a desync was believed: %+v", d)
	}
}

// The hash of a frame may come before the frame is settled here.
func TestEarlyHashesWait(t *testing.T) {
	s := tiny(t, nil)
	want := tiny(t, nil)
	play(t, want, 40, 40, 3)
	play(t, s, 12, 12, 3)
	h, _ := want.ConfirmedHash(32)
	s.Compare(1, 24, uint32(h)) // a lie about 24
	s.Compare(1, 32, uint32(h))
	play(t, s, 23, 23, 3)
	if _, ok := s.Desync(1); ok {
		t.Fatal("found before the frame was settled")
	}
	play(t, s, 24, 24, 3)
	if d, ok := s.Desync(1); !ok || d.Frame != 24 || d.Theirs != uint32(h) {
		t.Errorf("the difference at 24: %+v %v", d, ok)
	}
	play(t, s, 40, 40, 3)
	if d, _ := s.Desync(1); d.Frame != 24 {
		t.Errorf("a later equal hash hid it: %+v", d)
	}
}

// After a snapshot from outside the hashes of what followed are made anew, and an old difference is forgotten.
func TestRestoreForgetsHashes(t *testing.T) {
	s := tiny(t, nil)
	play(t, s, 100, 100, 4)
	old, _ := s.ConfirmedHash(80)
	s.Compare(1, 72, 1)
	if _, ok := s.Desync(1); !ok {
		t.Fatal("no desync to forget")
	}
	other := *s.state(70)
	other.Sum++
	if err := s.Restore(70, &other); err != nil {
		t.Fatal(err)
	}
	if _, ok := s.ConfirmedHash(80); ok {
		t.Error("the hash of the replaced state is still given out")
	}
	if h, ok := s.ConfirmedHash(64); !ok || h == 0 {
		t.Error("the hash of an older state is gone")
	}
	s.Reconcile()
	if h, ok := s.ConfirmedHash(80); !ok || h == old {
		t.Errorf("frame 80: %x %v", h, ok)
	}
	if _, ok := s.Desync(1); ok {
		t.Error("the difference is still open")
	}
}
