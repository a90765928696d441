package lockstep

import (
	"errors"
	"hash/crc32"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"
)

// V-28, LOCK-01, LOCK-02: nothing before 40 ms, one frame then, two at 80.
func TestClock(t *testing.T) {
	var c Clock
	c.Add(39_000)
	if c.Due() != 0 || c.Take() {
		t.Error("a frame at 39 ms")
	}
	c.Add(1000)
	if c.Due() != 1 || !c.Take() || c.Take() {
		t.Error("not one frame at 40 ms")
	}
	c.Add(80_000)
	if c.Due() != 2 {
		t.Errorf("%d frames in 80 ms more", c.Due())
	}
}

// LOCK-03: however the time is cut up, the frames are the same.
func TestClockIgnoresTheCallRate(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		total := rapid.Int64Range(0, 10_000_000).Draw(t, "micros")
		var c Clock
		frames := int64(0)
		for left := total; left > 0; {
			n := min(rapid.Int64Range(0, 300_000).Draw(t, "step"), left)
			if n == 0 {
				n = left
			}
			c.Add(n)
			left -= n
			for c.Take() {
				frames++
			}
		}
		if frames != total/FrameMicros {
			t.Fatalf("%d frames in %d µs", frames, total)
		}
	})
}

var sample = []Command{
	{0, "attack", 1, 2, 3}, {0, "attack", 1, 2, 4}, {0, "attack", 1, 3, 0}, {0, "attack", 2, -9, 0}, {0, "build", -5, 0, 0}, {1, "attack", 0, 0, 0},
}

// LOCK-06: the order is by player, name, primary, secondary, target.
func TestCanonicalOrder(t *testing.T) {
	for i := 1; i < len(sample); i++ {
		if Compare(sample[i-1], sample[i]) >= 0 || Compare(sample[i], sample[i-1]) <= 0 {
			t.Errorf("%v and %v", sample[i-1], sample[i])
		}
	}
}

// LOCK-07, V-62: arrival order does not show.
func TestDigestIgnoresArrivalOrder(t *testing.T) {
	m := Match{Config: 5, Seed: 6, Players: 2}
	want := m.Digest(1, 2, 3, sample)
	rng := rand.New(rand.NewPCG(1, 2))
	for range 100 {
		c := append([]Command(nil), sample...)
		rng.Shuffle(len(c), func(i, j int) { c[i], c[j] = c[j], c[i] })
		Sort(c)
		if got := m.Digest(1, 2, 3, c); got != want {
			t.Fatalf("%016x, %016x", got, want)
		}
	}
}

// LOCK-08, LOCK-09, LOCK-12, V-62, G-22: every single thing that goes into a digest changes it.
func TestDigestFoldsEverything(t *testing.T) {
	digest := func(change func(m *Match, prev *uint64, frame *int32, state *uint64, c []Command)) uint64 {
		m, prev, frame, state := Match{Config: 5, Seed: 6, Players: 2}, uint64(1), int32(2), uint64(3)
		c := append([]Command(nil), sample...)
		change(&m, &prev, &frame, &state, c)
		return m.Digest(prev, frame, state, c)
	}
	seen := map[uint64]string{}
	for _, x := range []struct {
		name   string
		change func(m *Match, prev *uint64, frame *int32, state *uint64, c []Command)
	}{
		{"nothing", func(*Match, *uint64, *int32, *uint64, []Command) {}},
		{"the digest before", func(_ *Match, p *uint64, _ *int32, _ *uint64, _ []Command) { *p++ }},
		{"the configuration", func(m *Match, _ *uint64, _ *int32, _ *uint64, _ []Command) { m.Config++ }},
		{"the seed's low half", func(m *Match, _ *uint64, _ *int32, _ *uint64, _ []Command) { m.Seed ^= 1 << 31 }},
		{"the seed's high half", func(m *Match, _ *uint64, _ *int32, _ *uint64, _ []Command) { m.Seed ^= 1 << 32 }},
		{"the frame", func(_ *Match, _ *uint64, f *int32, _ *uint64, _ []Command) { *f++ }},
		{"the game's state", func(_ *Match, _ *uint64, _ *int32, s *uint64, _ []Command) { *s++ }},
		{"a player", func(_ *Match, _ *uint64, _ *int32, _ *uint64, c []Command) { c[5].Player++ }},
		{"a name", func(_ *Match, _ *uint64, _ *int32, _ *uint64, c []Command) { c[5].Name = "attacj" }},
		{"a primary value", func(_ *Match, _ *uint64, _ *int32, _ *uint64, c []Command) { c[5].Primary-- }},
		{"a secondary value", func(_ *Match, _ *uint64, _ *int32, _ *uint64, c []Command) { c[5].Secondary-- }},
		{"a target", func(_ *Match, _ *uint64, _ *int32, _ *uint64, c []Command) { c[5].Target-- }},
	} {
		d := digest(x.change)
		if other, ok := seen[d]; ok {
			t.Errorf("%s changes the digest as much as %s", x.name, other)
		}
		seen[d] = x.name
	}
	m := Match{Players: 2}
	if m.Digest(0, 0, 0, nil) == m.Digest(0, 0, 0, []Command{{}}) {
		t.Error("the number of commands does not show")
	}
}

// The digest is a format: replays and other programs depend on it.
func TestDigestVectors(t *testing.T) {
	m := Match{Config: 0x0123456789ABCDEF, Seed: 42, Players: 2}
	first := m.Digest(0, 0, 0xFEDCBA9876543210, nil)
	second := m.Digest(first, 1, 7, sample)
	if first != 0xd7ba4599a378f609 || second != 0xc2a5fd78da7591a5 {
		t.Errorf("%#016x %#016x", first, second)
	}
}

// LOCK-10: CRC-32 of the name's characters, by the check value of the algorithm.
func TestNamesAreHashedByContent(t *testing.T) {
	if nameHash("123456789") != 0xCBF43926 || nameHash("move") != crc32.ChecksumIEEE([]byte("move")) {
		t.Errorf("%08x", nameHash("123456789"))
	}
}

// V-32, V-33, V-34.
func TestSplitMix64(t *testing.T) {
	if golden != 0x9E3779B97F4A7C15 {
		t.Error("the increment")
	}
	for seed, want := range map[uint64][]uint64{
		0:       {0xe220a8397b1dcdaf, 0x6e789e6aa1b965f4, 0x06c45d188009454f, 0xf88bb8a8724c81ec},
		1234567: {6457827717110365317, 3203168211198807973, 9817491932198370423, 4593380528125082431},
	} {
		d := NewDraws(seed)
		for i, w := range want {
			if got := d.Next(0, 0); got != w {
				t.Errorf("seed %d, draw %d: %#x, want %#x", seed, i, got, w)
			}
		}
	}
}

// LOCK-13, LOCK-14, LOCK-15: draws name unit and reason, are numbered and logged, and pass in canonical order only.
func TestDrawAudit(t *testing.T) {
	d := NewDraws(1)
	d.frame = 4
	d.Next(1, 0)
	d.Next(1, 2)
	d.Next(7, 1)
	d.frame = 5
	d.Next(0, 9)
	d.Next(0, 9)
	log := d.Log(nil)
	if err := Audit(log); err != nil || d.Err() != nil || d.Count() != 5 || len(log) != 5 {
		t.Fatalf("canonical order: %v, %v, %d", err, d.Err(), d.Count())
	}
	if x := log[2]; x.Frame != 4 || x.Unit != 7 || x.Reason != 1 || x.Index != 2 {
		t.Errorf("%+v", x)
	}
	for name, change := range map[string]func([]Draw){
		"unit before unit":     func(l []Draw) { l[1].Unit = 9 },
		"reason before reason": func(l []Draw) { l[0].Reason = 3 },
		"frame before frame":   func(l []Draw) { l[3].Frame = 3 },
		"a draw left out":      func(l []Draw) { l[4].Index = 6 },
		"a draw twice":         func(l []Draw) { l[4].Index = 3 },
	} {
		l := append([]Draw(nil), log...)
		if change(l); !errors.Is(Audit(l), ErrDrawOrder) {
			t.Errorf("%s passes", name)
		}
	}
	d.Next(3, 0)
	d.Next(2, 0)
	if !errors.Is(d.Err(), ErrDrawOrder) {
		t.Error("unit 2 after unit 3 passes")
	}
}

// LOCK-14: a game that draws in the order of its memory ends the match in that frame.
func TestDrawOrderEndsTheMatch(t *testing.T) {
	f := newField(t, 1, 1, 1)
	s, err := New(backwards{newArmy(1)}, Config{Match: f.match}, mailbox{f, 0})
	if err != nil {
		t.Fatal(err)
	}
	for now := int64(0); now < 1_000_000; now += 10_000 {
		s.Tick(now)
	}
	if !errors.Is(s.Err(), ErrDrawOrder) || s.Frame() != 2 {
		t.Errorf("%v at frame %d", s.Err(), s.Frame())
	}
}

type backwards struct{ *army }

func (backwards) Step(frame int32, _ []Command, d *Draws) {
	d.Next(2, 0)
	if frame == 3 {
		d.Next(1, 0)
	}
}
