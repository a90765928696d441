package sim

import (
	"bytes"
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"backstep/sim/data"

	"pgregory.net/rapid"
)

// ATTR-06: a client that only gets deltas follows every attribute of a running match, is told of each change once, and of nothing
// else; deltas that get lost do no harm as long as the next one is made against what the client has.
func TestReplicaFollowsAMatch(t *testing.T) {
	for rules := range Ruleset(data.RulesCount) {
		g, random := newRing(t, rules, Format1v1, 100), rand.New(rand.NewPCG(6, uint64(rules)))
		var held [2]uint16
		var have, heard [2]Replica
		var told, lost, size int
		for f := range 900 {
			if f%6 == 0 {
				held = [2]uint16{uint16(random.Uint32N(1 << 12)), uint16(random.Uint32N(1 << 12))}
			}
			g.step(held[0], held[1])
			for i := range have {
				now := g.p(i).Replica()
				delta := now.AppendDelta(nil, &have[i])
				size += len(delta)
				if f%5 == i {
					lost++
					continue
				}
				rest, err := have[i].Apply(append(delta, 0xaa), func(a Attribute, before, after int32) {
					if heard[i][a] != before || before == after {
						t.Fatalf("%v frame %d: %s went from %d to %d, and was %d", rules, f, a, before, after, heard[i][a])
					}
					heard[i][a] = after
					told++
				})
				if err != nil || !bytes.Equal(rest, []byte{0xaa}) || have[i] != now || heard[i] != now {
					t.Fatalf("%v frame %d: %v, rest %x", rules, f, err, rest)
				}
			}
		}
		if told < 30 || lost == 0 {
			t.Errorf("%v: %d changes, %d deltas lost", rules, told, lost)
		}
		t.Logf("%v: %d changes, %.1f bytes a delta", rules, told, float64(size)/1800)
	}
}

// ATTR-06: any two sets of values, the extremes of int32 included.
func TestReplicaProperty(t *testing.T) {
	values := rapid.OneOf(rapid.Int32(), rapid.SampledFrom([]int32{0, 1, -1, math.MaxInt32, math.MinInt32}))
	rapid.Check(t, func(t *rapid.T) {
		var from, to Replica
		for a := range from {
			from[a] = values.Draw(t, "from")
			to[a] = from[a]
			if rapid.Bool().Draw(t, "changes") {
				to[a] = values.Draw(t, "to")
			}
		}
		got := from
		rest, err := got.Apply(to.AppendDelta(nil, &from), nil)
		if err != nil || len(rest) != 0 || got != to {
			t.Fatalf("%v, %d bytes left", err, len(rest))
		}
	})
}

// ATTR-06: a delta that is cut, not in its shortest form, says nothing or leaves the range changes and notifies nothing.
func TestReplicaRefuses(t *testing.T) {
	for name, b := range map[string][]byte{
		"empty": {}, "cut set": {0x80}, "long set": {0x81, 0x00, 0x02}, "no such attribute": {0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x01, 0x02},
		"cut value": {0x03, 0x02}, "cut in a value": {0x01, 0x80}, "long value": {0x01, 0x82, 0x00}, "no change": {0x01, 0x00},
		"second out of range": {0x03, 0x02, 0x80, 0x80, 0x80, 0x80, 0x10}, "beyond 64 bits": {0x01, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f},
	} {
		r := Replica{5, 5}
		_, err := r.Apply(b, func(a Attribute, _, _ int32) { t.Errorf("%s: notified of %s", name, a) })
		if !errors.Is(err, ErrDelta) || r != (Replica{5, 5}) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestReplicaAllocates(t *testing.T) {
	g := newRing(t, data.SF, Format1v1, 300)
	b, heard := make([]byte, 0, 256), 0
	if n := testing.AllocsPerRun(100, func() {
		var client Replica
		now := g.p(0).Replica()
		b = now.AppendDelta(b[:0], &client)
		if _, err := client.Apply(b, func(Attribute, int32, int32) { heard++ }); err != nil {
			t.Fatal(err)
		}
	}); n != 0 || heard == 0 {
		t.Errorf("%v allocations, %d changes", n, heard)
	}
}

// ATTR-06: what is accepted is the only encoding of it.
func FuzzReplicaApply(f *testing.F) {
	f.Add([]byte{0x00}, int32(0))
	f.Add([]byte{0x03, 0x02, 0x01}, int32(7))
	f.Add([]byte{0xff, 0xff, 0xff, 0xff, 0xff, 0x7f, 0x02}, int32(-1))
	f.Fuzz(func(t *testing.T, b []byte, start int32) {
		var base Replica
		for a := range base {
			base[a] = start
		}
		got := base
		rest, err := got.Apply(b, nil)
		if err != nil {
			if got != base {
				t.Fatal("changed by a delta that is none")
			}
			return
		}
		if again := got.AppendDelta(nil, &base); !bytes.Equal(again, b[:len(b)-len(rest)]) {
			t.Fatalf("%x is written %x", b[:len(b)-len(rest)], again)
		}
	})
}
