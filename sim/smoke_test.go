package sim

import (
	"backstep/sim/data"
	"math/rand/v2"
	"testing"
	"unsafe"
)

func TestSmoke(t *testing.T) {
	t.Log("world", unsafe.Sizeof(World{}), "state", unsafe.Sizeof(state{}), "fighter", unsafe.Sizeof(Fighter{}), "out", unsafe.Sizeof(outputs{}))
	r := rand.New(rand.NewPCG(1, 2))
	var w World
	c := DefaultConfig()
	if err := w.Reset(c); err != nil {
		t.Fatal(err)
	}
	t.Log("enc", len(w.AppendState(nil)))
	var in [2]Input
	counts := map[Action]int{}
	ev := map[EventKind]int{}
	matches, hits := 0, 0
	var hold [2]int
	for f := 0; f < 200000; f++ {
		for p := range in {
			in[p].Prev = in[p].Now
			if hold[p]--; hold[p] <= 0 {
				hold[p] = 1 + r.IntN(16)
				in[p].Now = uint16(r.UintN(16))
				if r.IntN(2) == 0 {
					in[p].Now |= 16 << r.IntN(8)
				}
			}
		}
		w.Step(in[:], Emit)
		for i := range 2 {
			counts[w.fighters[i].Action]++
		}
		for _, e := range w.Events() {
			ev[e.Kind]++
		}
		hits += len(w.Hits())
		if w.Phase() == PostMatch {
			matches++
			c.Seed++
			w.Reset(c)
		}
		if err := w.valid(data.Embedded()); err != nil {
			t.Fatal(f, err)
		}
	}
	for a := Action(0); a < actions; a++ {
		t.Log(a, counts[a])
	}
	for a := EventKind(0); a < eventKinds; a++ {
		t.Log(a, ev[a])
	}
	t.Log(matches, hits)
}

func BenchmarkStep(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 2))
	var w World
	w.Reset(DefaultConfig())
	var ins [4096][2]Input
	for f := range ins {
		for p := range 2 {
			if f > 0 {
				ins[f][p].Prev = ins[f-1][p].Now
				ins[f][p].Now = ins[f-1][p].Now
			}
			if r.IntN(6) == 0 {
				ins[f][p].Now = uint16(r.UintN(4096))
			}
		}
	}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		w.Step(ins[i&4095][:], Emit)
		if w.Phase() == PostMatch {
			w.Reset(DefaultConfig())
		}
	}
}
func BenchmarkHash(b *testing.B) {
	var w World
	w.Reset(DefaultConfig())
	b.ReportAllocs()
	for b.Loop() {
		w.Hash()
	}
}
func BenchmarkCopy(b *testing.B) {
	var w World
	w.Reset(DefaultConfig())
	var ring [90]World
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		ring[i%90] = w
	}
}
