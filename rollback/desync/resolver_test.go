package desync

import (
	"encoding/binary"
	"errors"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// toy is a game of 64 bytes, kept for some labels, with one flaw.
type toy struct {
	states  [][64]byte // by label + 1
	oldest  int32
	settled int32
	agreed  int32
	flawAt  int32 // label from which the state is wrong
	lasting bool  // it comes out wrong again
	adopted int
	replays []int32
}

func newToy(frames int32) *toy {
	g := &toy{settled: frames - 1, agreed: -1, flawAt: 1 << 30, oldest: -1}
	g.states = make([][64]byte, frames+1)
	g.run(-1, true)
	return g
}

func (g *toy) run(from int32, flawed bool) {
	for l := from + 1; l <= g.Newest(); l++ {
		s := g.states[l]
		i := int(l) % 63
		s[i] += byte(l) ^ s[63]
		s[63] += s[i]*5 + 1
		if l == g.flawAt && flawed {
			s[40]++
			s[41] ^= 0x80
		}
		g.states[l+1] = s
	}
}

func (g *toy) Newest() int32  { return int32(len(g.states)) - 2 }
func (g *toy) Settled() int32 { return g.settled }
func (g *toy) Agreed() int32  { return g.agreed }

func (g *toy) kept(l int32) bool { return l >= g.oldest && l <= g.settled }

func (g *toy) Hash(l int32) (uint64, bool) {
	if !g.kept(l) {
		return 0, false
	}
	h := uint64(14695981039346656037)
	for _, b := range g.states[l+1] {
		h = (h ^ uint64(b)) * 1099511628211
	}
	return h, true
}

func (g *toy) AppendState(b []byte, l int32) ([]byte, bool) {
	if !g.kept(l) {
		return b, false
	}
	return append(b, g.states[l+1][:]...), true
}

func (g *toy) Replay(l int32) bool {
	if !g.kept(l) {
		return false
	}
	g.replays = append(g.replays, l)
	g.run(l, g.lasting)
	g.agreed = l
	return true
}

func (g *toy) Adopt(l int32, s []byte) error {
	if len(s) != 64 || !g.kept(l) {
		return errors.New("no state of mine")
	}
	copy(g.states[l+1][:], s)
	g.adopted++
	g.run(l, g.lasting)
	g.agreed = l
	return nil
}

// court is two resolvers joined by ordered messages that take time and sometimes have no room.
type court struct {
	g    [2]*toy
	r    [2]*Resolver
	post [2][]letter
	now  int64
	full func() bool
	deaf bool // player 1 hears nothing
}

type letter struct {
	at int64
	b  []byte
}

func newCourt(g [2]*toy, change func(i int, c *Config)) *court {
	c := &court{g: g, full: func() bool { return false }}
	for i := range g {
		cfg := Config{Side: g[i], Host: i == 0, Build: []string{"host", "guest"}[i]}
		cfg.Send = func(msg []byte) error {
			if c.full() {
				return errors.New("full")
			}
			c.post[1-i] = append(c.post[1-i], letter{c.now + 40_000, slices.Clone(msg)})
			return nil
		}
		cfg.Accept = func() Answer { return Yes }
		if change != nil {
			change(i, &cfg)
		}
		c.r[i] = New(cfg)
	}
	return c
}

func (c *court) run(seconds int64) (strays int) {
	for end := c.now + seconds*1_000_000; c.now < end; c.now += 16_667 {
		for i, r := range c.r {
			for len(c.post[i]) > 0 && c.post[i][0].at <= c.now {
				msg := c.post[i][0].b
				c.post[i] = c.post[i][1:]
				if i == 1 && c.deaf {
					continue
				}
				if r.Receive(msg, c.now) != nil {
					strays++
				}
			}
			r.Step(c.now)
		}
	}
	return strays
}

// S-04, S-12, LOCK-17, LOCK-18, LOCK-19: wherever one side went wrong, both find that label and those bytes; what does not happen again is
// repaired by stepping again, what does by the host's state, which an unranked guest may accept once; ranked matches end.
func TestResolver(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		frames := rapid.Int32Range(2, 500).Draw(t, "frames")
		at := rapid.Int32Range(0, frames-1).Draw(t, "wrong from")
		lasting, ranked := rapid.Bool().Draw(t, "lasting"), rapid.Bool().Draw(t, "ranked")
		who := rapid.IntRange(0, 1).Draw(t, "who")
		answer := rapid.SampledFrom([]Answer{Yes, No}).Draw(t, "answer")
		g := [2]*toy{newToy(frames), newToy(frames + rapid.Int32Range(0, 6).Draw(t, "ahead"))}
		g[who].flawAt, g[who].lasting = at, lasting
		g[who].run(-1, true)
		for _, x := range g {
			x.agreed = rapid.Int32Range(-1, at-1).Draw(t, "agreed")
		}
		c := newCourt(g, func(_ int, cfg *Config) {
			cfg.Ranked = ranked
			cfg.Accept = func() Answer { return answer }
		})
		full := rapid.SliceOfN(rapid.Bool(), 7, 7).Draw(t, "no room")
		n := 0
		c.full = func() bool { n++; return full[n%7] && n%3 == 0 }
		c.r[rapid.IntRange(0, 1).Draw(t, "finder")].Open(0)
		if strays := c.run(4); strays > 0 {
			t.Fatalf("%d messages out of place", strays)
		}
		want := Recovered
		switch {
		case !lasting:
		case ranked:
			want = Differs
		case answer == No:
			want = Declined
		default:
			want = Adopted
		}
		for i, r := range c.r {
			if r.Result() != want || r.Busy() != (want == Differs || want == Declined) {
				t.Fatalf("player %d: %v in phase %d, want %v", i, r.Result(), r.Phase(), want)
			}
			e := r.Evidence()
			if e == nil || e.Frame != at || !e.Exact() || e.Host != (i == 0) || e.Builds != [2]string{"host", "guest"} || e.Hashes[0] == e.Hashes[1] {
				t.Fatalf("player %d: evidence %+v", i, e)
			}
			if got := e.Ranges(9); got[len(got)-1] != (Range{40, 2}) {
				t.Fatalf("player %d: bytes %v", i, got)
			}
			if base := g[i].replays[0]; base != max(at-RecoveryFrames, -1) && base != at-1 {
				t.Fatalf("stepped again from %d, wrong at %d", base, at)
			}
		}
		if a, b := c.r[0].Evidence(), c.r[1].Evidence(); a.Code() != b.Code() || len(a.Code()) != 9 {
			t.Fatalf("codes %s and %s", a.Code(), b.Code())
		}
		if want == Recovered || want == Adopted {
			top := min(g[0].Newest(), g[1].Newest())
			if a, b := g[0].states[top+1], g[1].states[top+1]; a != b {
				t.Fatal("the states still differ")
			}
		}
		if g[0].adopted != 0 {
			t.Fatal("the host gave up its state")
		}
	})
}

// A state is offered once in a match; a second lasting difference ends it.
func TestSecondOfferIsNotMade(t *testing.T) {
	g := [2]*toy{newToy(100), newToy(100)}
	c := newCourt(g, nil)
	for round := 1; round <= 2; round++ {
		g[1].flawAt, g[1].lasting = 50, true
		g[1].run(48, true)
		g[0].agreed, g[1].agreed = 30, 30
		c.r[1].Open(c.now)
		c.run(4)
		want := Adopted
		if round == 2 {
			want = Differs
		}
		for i, r := range c.r {
			if r.Round() != round || r.Result() != want {
				t.Errorf("round %d, player %d: %v", r.Round(), i, r.Result())
			}
		}
	}
}

// A difference that is found again and again is not stepped away for ever.
func TestRoundsAreLimited(t *testing.T) {
	g := [2]*toy{newToy(100), newToy(100)}
	c := newCourt(g, func(_ int, cfg *Config) { cfg.Ranked = true })
	for round := 1; round <= MaxRounds+1; round++ {
		g[0].flawAt = 60
		g[0].run(50, true)
		g[0].agreed, g[1].agreed = 40, 40
		c.r[0].Open(c.now)
		c.run(3)
		if want := map[bool]Result{true: Recovered, false: Differs}[round <= MaxRounds]; c.r[0].Result() != want || c.r[1].Result() != want {
			t.Fatalf("round %d: %v and %v", round, c.r[0].Result(), c.r[1].Result())
		}
	}
}

// Somebody who cries wolf, a side that says nothing, states that are gone.
func TestResolverAlone(t *testing.T) {
	g := [2]*toy{newToy(80), newToy(80)}
	c := newCourt(g, nil)
	c.r[1].Open(0)
	c.run(2)
	for i, r := range c.r {
		if r.Busy() || r.Result() != Vanished || r.Evidence() != nil {
			t.Errorf("nothing differs: player %d: %v, %+v", i, r.Result(), r.Evidence())
		}
	}
	for range MaxOpened {
		c.r[1].Open(c.now)
		c.run(1)
	}
	for i, r := range c.r {
		if r.Round() != MaxOpened+1 && r.Round() != MaxOpened || c.r[1].Result() != Differs {
			t.Errorf("cries wolf: player %d: round %d, %v", i, r.Round(), r.Result())
		}
	}
	c = newCourt([2]*toy{newToy(80), newToy(80)}, nil)
	c.deaf = true
	c.r[0].Open(0)
	c.run(6)
	if !c.r[0].Busy() || c.r[0].Result() != Silent {
		t.Errorf("without an answer: %v", c.r[0].Result())
	}
	g = [2]*toy{newToy(300), newToy(300)}
	g[1].flawAt = 100
	g[1].run(-1, true)
	g[0].oldest, g[1].oldest = 210, 210 // long after it went wrong
	c = newCourt(g, nil)
	c.r[0].Open(0)
	c.run(4)
	e := c.r[0].Evidence()
	if e == nil || e.Exact() || e.Frame < 210 || e.Agreed >= 210 || c.r[0].Result() != Adopted || c.r[1].Result() != Adopted {
		t.Errorf("where it began is gone: %v %v, %+v", c.r[0].Result(), c.r[1].Result(), e)
	}
}

// Messages that are no message, of another round, or out of place change nothing.
func FuzzMessage(f *testing.F) {
	for _, m := range []Message{
		{Kind: KindFound, Round: 1, Label: 90, Second: 80, Body: []byte("build")},
		{Kind: KindProbe, Round: 1, Label: 3, Second: 5, Known: 3, Hashes: [MaxProbes]uint64{7, 9}},
		{Kind: KindPart, Round: 1, Label: 9, Total: 8, Offset: 4, Body: []byte("abcd")},
		{Kind: KindReplayed, Round: 1, Label: 9, Hash: 5},
		{Kind: KindOffer, Round: 2, Label: 9, Hash: 5},
		{Kind: KindAnswer, Round: 2, Yes: true},
	} {
		f.Add(AppendMessage(nil, &m))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		var m Message
		if err := ParseMessage(b, &m); err == nil {
			if got := AppendMessage(nil, &m); string(got) != string(b) {
				t.Fatalf("%x reads as %+v, which is %x", b, m, got)
			}
		}
		c := newCourt([2]*toy{newToy(20), newToy(20)}, nil)
		c.r[0].Open(0)
		_ = c.r[0].Receive(b, 1)
		_ = c.r[1].Receive(b, 1)
		c.r[0].Step(2)
		c.r[1].Step(2)
	})
}

func TestProbes(t *testing.T) {
	for _, c := range []struct{ low, high, n, first, last int32 }{
		{-1, 0, 1, 0, 0}, {-1, 7, 8, 0, 7}, {5, 37, 32, 6, 37}, {-1, 54000, 32, 1686, 54000}, {4, 4, 0, 0, 0}, {-1 << 31, 1<<31 - 1, 32, 0, 1<<31 - 1},
	} {
		n := Probes(c.low, c.high)
		if int32(n) != c.n {
			t.Fatalf("%+v: %d labels", c, n)
		}
		if n > 0 && (c.low > -2 && Probe(c.low, c.high, 0) != c.first || Probe(c.low, c.high, n-1) != c.last) {
			t.Errorf("%+v: %d to %d", c, Probe(c.low, c.high, 0), Probe(c.low, c.high, n-1))
		}
	}
}

func evidence() *Evidence {
	return &Evidence{
		Host: true, Frame: 77, Agreed: 76, Builds: [2]string{"a", "b"}, Hashes: [2]uint64{1, 2}, Game: []byte("game"),
		Before: []byte{9, 9}, States: [2][]byte{{1, 2, 3, 4}, {1, 5, 6, 4, 8}}, First: 60, Words: [][]uint32{{1, 1, 2}, {0, 0, 7}},
	}
}

// The file is read as it was written, and nothing else is read.
func TestEvidenceFile(t *testing.T) {
	e := evidence()
	b := AppendEvidence(nil, e)
	got, err := ParseEvidence(b)
	if err != nil || string(AppendEvidence(nil, got)) != string(b) {
		t.Fatalf("%+v %v", got, err)
	}
	if r := got.Ranges(9); !slices.Equal(r, []Range{{1, 2}, {4, 1}}) || len(got.Ranges(1)) != 1 || !got.Exact() {
		t.Errorf("ranges %v", r)
	}
	for i := range b {
		c := slices.Clone(b)
		c[i] ^= 1
		if _, err := ParseEvidence(c); !errors.Is(err, ErrEvidence) {
			t.Fatalf("byte %d changed: %v", i, err)
		}
		if _, err := ParseEvidence(b[:i]); !errors.Is(err, ErrEvidence) {
			t.Fatalf("cut at %d: %v", i, err)
		}
	}
}

func FuzzEvidence(f *testing.F) {
	b := AppendEvidence(nil, evidence())
	f.Add(b[:len(b)-4])
	f.Fuzz(func(t *testing.T, body []byte) {
		// The checksum is made right, so that what stands behind it is reached.
		b := binary.LittleEndian.AppendUint32(slices.Clone(body), crc(body))
		if e, err := ParseEvidence(b); err == nil {
			if got := AppendEvidence(nil, e); string(got) != string(b) {
				t.Fatalf("%x reads as %+v, which is %x", b, e, got)
			}
			e.Ranges(10)
			_ = e.Code()
		}
	})
}
