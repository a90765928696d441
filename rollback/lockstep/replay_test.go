package lockstep

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"
)

// LOCK-21, LOCK-11: both sides' records are one replay, which holds head, seed and bundles and repeats the match, recovery included;
// a game that differs is found.
func TestReplay(t *testing.T) {
	f := newField(t, 12, 2, 300)
	f.loss = 10
	f.sides[1].army.stray = 150
	f.run(20_000_000)
	f.same(400)
	frames := min(f.sides[0].Frame(), f.sides[1].Frame())
	a := f.sides[0].record.AppendReplay(nil)
	r, err := ParseReplay(a)
	if err != nil {
		t.Fatal(err)
	}
	if r.Match != f.match || r.Frames != int(f.sides[0].Frame())+1 {
		t.Errorf("%+v, %d frames", r.Match, r.Frames)
	}
	if err := r.Play(newArmy(300)); err != nil {
		t.Error(err)
	}
	b, err := ParseReplay(f.sides[1].record.AppendReplay(nil))
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Play(newArmy(300)); err != nil {
		t.Errorf("of the side that recovered: %v", err)
	}
	for i, c := range b.checks {
		if int32(i*HashIntervalFrames) <= frames && c != r.checks[i] {
			t.Errorf("checkpoint %d: %016x and %016x", i, c, r.checks[i])
		}
	}
	odd := newArmy(300)
	odd.stray = 230
	if err := r.Play(odd); !errors.Is(err, ErrReplay) || !strings.Contains(err.Error(), "frame 300, at 200") {
		t.Errorf("a game that differs: %v", err)
	}
}

// LOCK-22, V-42: thirty minutes, 45 000 frames, with two commands in each, which is more than people give, are about 1 MB.
func TestReplaySize(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	r := NewRecord(Match{Seed: 1, Players: 2})
	for f := range int32(45_000) {
		r.add(f, []Command{
			{0, orders[rng.IntN(4)], rng.Int32N(2000), rng.Int32N(64), rng.Int32N(1 << 14)},
			{1, orders[rng.IntN(4)], rng.Int32N(2000), rng.Int32N(64), rng.Int32N(1 << 14)},
		}, 0)
	}
	b := r.AppendReplay(nil)
	if n := len(b); n > 1_100_000 {
		t.Errorf("%d bytes, %d a frame", n, n/45_000)
	} else {
		t.Logf("%d bytes, %.1f a frame", n, float64(n)/45_000)
	}
	if _, err := ParseReplay(b); err != nil {
		t.Error(err)
	}
}

func TestReplayErrors(t *testing.T) {
	f := newField(t, 13, 2, 8)
	f.run(6_000_000)
	good := f.sides[0].record.AppendReplay(nil)
	for i := range good {
		for _, bit := range []byte{1, 128} {
			bad := bytes.Clone(good)
			bad[i] ^= bit
			if r, err := ParseReplay(bad); err == nil && !bytes.Equal(r.again(), bad) {
				t.Fatalf("byte %d: accepted, and another encoding", i)
			} else if err != nil && !errors.Is(err, ErrReplay) {
				t.Fatal(err)
			}
		}
	}
	for n := range good {
		if _, err := ParseReplay(good[:n]); err == nil {
			t.Fatalf("%d of %d bytes accepted", n, len(good))
		}
	}
}

func FuzzReplay(f *testing.F) {
	x := newField(nil, 14, 2, 8)
	x.run(3_000_000)
	f.Add(x.sides[0].record.AppendReplay(nil))
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := ParseReplay(b)
		if err != nil {
			return
		}
		if got := r.again(); !bytes.Equal(got, b) {
			t.Fatalf("% x becomes % x", b, got)
		}
		if r.Frames < 10_000 {
			_ = r.Play(newArmy(8))
		}
	})
}

// Packets that parse are the only encoding of what they say, and none makes a session panic.
func FuzzPacket(f *testing.F) {
	x := newField(nil, 15, 2, 600)
	x.sides[1].army.stray = 30
	for range 40 {
		x.run(100_000)
		for _, m := range x.mail {
			f.Add(m.body)
		}
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		var head turn
		if rest, err := parseTurn(b, &head, 2); err == nil {
			if got := appendTurn(nil, &head, 2); !bytes.Equal(append(got, rest...), b) {
				t.Fatalf("turn % x becomes % x", b, got)
			}
		}
		n := names{known: map[string]string{}}
		if c, rest, err := parseBundle(b, 0, nil, &n); err == nil {
			if got := append(appendBundle(nil, c), rest...); !bytes.Equal(got, b) {
				t.Fatalf("bundle % x becomes % x", b, got)
			}
		}
		if p, w, o, err := parseFetch(b); err == nil && !bytes.Equal(appendFetch(nil, p, w, o), b) {
			t.Fatalf("fetch % x", b)
		}
		if c, err := parseChunk(b); err == nil && !bytes.Equal(appendChunk(nil, &c), b) {
			t.Fatalf("chunk % x", b)
		}
		for slot := range 2 {
			s, err := New(newArmy(8), Config{Match: Match{Players: 2}, Local: slot, Late: slot == 1}, nowhere{})
			if err != nil {
				t.Fatal(err)
			}
			_ = s.Receive(b, 1)
			s.Tick(FrameMicros)
			s.Tick(3 * FrameMicros)
		}
	})
}
