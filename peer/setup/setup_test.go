package setup

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func offer() Offer {
	return Offer{Wire: 1, Sim: 3, DataHash: 0xfeed, Rounds: 2, Team: [3]uint8{1}, Build: "abc"}
}

type random struct{ r *rand.Rand }

func newRandom(seed uint64) random { return random{rand.New(rand.NewPCG(seed, 1))} }
func (r random) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = byte(r.r.Uint32())
	}
	return len(b), nil
}

func pair(t interface{ Fatal(...any) }, h, j Offer, seed uint64) (*Setup, *Setup) {
	a, err := New(true, h, newRandom(seed))
	if err != nil {
		t.Fatal(err)
	}
	b, err := New(false, j, newRandom(seed+1))
	if err != nil {
		t.Fatal(err)
	}
	return a, b
}

// TestAgreement delivers the messages of both sides in any order, some lost,
// some twice and some late, and expects one match on both sides.
func TestAgreement(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h, j := offer(), offer()
		h.Seeded = rapid.Bool().Draw(t, "seeded")
		if h.Seeded {
			h.Seed = rapid.Uint64().Draw(t, "seed")
		}
		a, b := pair(t, h, j, rapid.Uint64().Draw(t, "rng"))
		var toA, toB [][]byte
		steps := rapid.SliceOfN(rapid.IntRange(0, 5), 0, 60).Draw(t, "steps")
		for _, s := range append(steps, 0, 3, 1, 2, 0, 3, 1, 2) {
			switch {
			case s == 0:
				toB = append(toB, a.AppendMessage(nil))
			case s == 1:
				toA = append(toA, b.AppendMessage(nil))
			case s == 2 && len(toA) > 0:
				if err := a.Receive(toA[len(toA)-1]); err != nil {
					t.Fatal(err)
				}
			case s == 3 && len(toB) > 0:
				if err := b.Receive(toB[len(toB)-1]); err != nil {
					t.Fatal(err)
				}
			case s == 4 && len(toA) > 0:
				if err := a.Receive(toA[0]); err != nil {
					t.Fatal(err)
				}
			case s == 5 && len(toB) > 0:
				if err := b.Receive(toB[0]); err != nil {
					t.Fatal(err)
				}
			}
		}
		if err := b.Receive(a.AppendMessage(nil)); err != nil {
			t.Fatal(err)
		}
		ma, oka := a.Match()
		mb, okb := b.Match()
		if !oka || !okb || ma != mb {
			t.Fatalf("host %+v %v, joiner %+v %v", ma, oka, mb, okb)
		}
		if h.Seeded && ma.Seed != h.Seed {
			t.Fatalf("seed %x, the host fixed %x", ma.Seed, h.Seed)
		}
	})
}

func TestNobodyPicksTheSeed(t *testing.T) {
	seeds := map[uint64]bool{}
	for i := range uint64(4) {
		a, b := pair(t, offer(), offer(), 0)
		// Only the joiner's share changes, then only the host's.
		if i < 2 {
			b.t[0] ^= byte(i)
		} else {
			a.s[0] ^= byte(i)
			a.commit = commitment(a.s, a.r)
		}
		exchange(t, a, b)
		m, _ := b.Match()
		seeds[m.Seed] = true
	}
	if len(seeds) != 4 {
		t.Fatalf("%d different seeds of 4", len(seeds))
	}
}

func exchange(t *testing.T, a, b *Setup) {
	t.Helper()
	for range 2 {
		if err := b.Receive(a.AppendMessage(nil)); err != nil {
			t.Fatal(err)
		}
		if err := a.Receive(b.AppendMessage(nil)); err != nil {
			t.Fatal(err)
		}
	}
	if err := b.Receive(a.AppendMessage(nil)); err != nil {
		t.Fatal(err)
	}
}

func TestShareOnlyAfterCommit(t *testing.T) {
	a, b := pair(t, offer(), offer(), 1)
	if bytes.Contains(b.AppendMessage(nil), b.t[:]) {
		t.Fatal("the joiner showed its share before the host was bound")
	}
	if bytes.Contains(a.AppendMessage(nil), a.s[:]) {
		t.Fatal("the host showed its share before it had the joiner's")
	}
}

func TestCheats(t *testing.T) {
	a, b := pair(t, offer(), offer(), 1)
	exchange(t, a, b)
	reveal := a.AppendMessage(nil)
	fresh := func() *Setup {
		_, b := pair(t, offer(), offer(), 1)
		return b
	}
	bad := bytes.Clone(reveal)
	bad[len(bad)-1] ^= 1
	if err := fresh().Receive(bad); !errors.Is(err, ErrCheated) {
		t.Errorf("false reveal: %v", err)
	}
	a2, _ := pair(t, offer(), offer(), 9)
	if err := b.Receive(a2.AppendMessage(nil)); !errors.Is(err, ErrCheated) {
		t.Errorf("second commitment: %v", err)
	}
	o := offer()
	o.Team[1] = 7
	a3, _ := pair(t, o, offer(), 1)
	if err := b.Receive(a3.AppendMessage(nil)); !errors.Is(err, ErrCheated) {
		t.Errorf("changed offer: %v", err)
	}
	b.t[3] ^= 1
	if err := a.Receive(b.AppendMessage(nil)); !errors.Is(err, ErrCheated) {
		t.Errorf("second share: %v", err)
	}
}

func TestIncompatible(t *testing.T) {
	for _, c := range []struct {
		name       string
		change     func(h, j *Offer)
		host, join string
	}{
		{"wire", func(h, j *Offer) { h.Wire = 2 }, "the opponent is older", "this side is older"},
		{"sim", func(h, j *Offer) { j.Sim = 4 }, "this side is older", "the opponent is older"},
		{"data", func(h, j *Offer) { j.DataHash = 4 }, "game data differs", "game data differs"},
		{"ruleset", func(h, j *Offer) { j.Ruleset, j.Explicit = 4, SetRuleset }, "another ruleset", "another ruleset"},
		{"format", func(h, j *Offer) { j.Format, j.Explicit = 4, SetFormat }, "another format", "another format"},
		{"rounds", func(h, j *Offer) { j.Rounds, j.Explicit = 4, SetRounds }, "another rounds", "another rounds"},
		{"ranked", func(h, j *Offer) { j.Ranked, j.Explicit = true, SetRanked }, "another ranked", "another ranked"},
		{"seeded ranked", func(h, j *Offer) { h.Ranked, h.Seeded = true, true }, "ranked match", "ranked match"},
	} {
		h, j := offer(), offer()
		c.change(&h, &j)
		a, b := pair(t, h, j, 1)
		errB := b.Receive(a.AppendMessage(nil))
		errA := a.Receive(b.AppendMessage(nil))
		if !errors.Is(errA, ErrIncompatible) || !strings.Contains(errA.Error(), c.host) {
			t.Errorf("%s: host says %v", c.name, errA)
		}
		if !errors.Is(errB, ErrIncompatible) || !strings.Contains(errB.Error(), c.join) {
			t.Errorf("%s: joiner says %v", c.name, errB)
		}
		if _, ok := a.Match(); ok {
			t.Errorf("%s: the host plays all the same", c.name)
		}
	}
	h, j := offer(), offer()
	j.Ruleset, j.Rounds, j.Build = 9, 9, "xyz" // not explicit, and a build only warns
	a, b := pair(t, h, j, 1)
	exchange(t, a, b)
	if m, ok := b.Match(); !ok || m.Ruleset != h.Ruleset || m.Rounds != h.Rounds {
		t.Errorf("the host's rules should count: %+v", m)
	}
}

func FuzzReceive(f *testing.F) {
	a, b := pair(f, offer(), offer(), 1)
	f.Add(a.AppendMessage(nil), true)
	f.Add(b.AppendMessage(nil), false)
	f.Fuzz(func(t *testing.T, msg []byte, host bool) {
		a, b := pair(t, offer(), offer(), 1)
		side := a
		if !host {
			side = b
		}
		if side.Receive(msg) == nil {
			if o, ok := side.Other(); !ok || Compare(side.own, o, host) != nil {
				t.Fatal("taken without being compatible")
			}
		}
	})
}

func FuzzParseOffer(f *testing.F) {
	f.Add(AppendOffer(nil, offer()))
	f.Fuzz(func(t *testing.T, b []byte) {
		o, err := ParseOffer(b)
		if err == nil && !bytes.Equal(AppendOffer(nil, o), b) {
			t.Fatalf("%x parses but re-encodes to %x", b, AppendOffer(nil, o))
		}
	})
}
