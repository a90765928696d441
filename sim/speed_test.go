package sim

import (
	"testing"

	"backstep/sim/data"
)

// SIM-26: neither stepping, hashing, encoding into room that is there, saving nor asking allocates.
func TestNoAllocations(t *testing.T) {
	w := newDuel(t, "sable", "tarn", 70).w
	in := tape(3, 4096)
	var ring [90]World
	buf := make([]byte, 0, 4096)
	boxes := make([]data.Box, 0, 16)
	ids := make([]uint64, 0, MaxEvents)
	f := 0
	for name, work := range map[string]func(){
		"step":       func() { w.Step(in[f&4095][:], Emit) },
		"hash":       func() { w.Hash() },
		"save":       func() { ring[f%90] = w },
		"load":       func() { w = ring[f%90] },
		"encode":     func() { buf = w.AppendState(buf[:0]) },
		"equivalent": func() { w.Equivalent(0, in[f&4095][0], in[f&4095][1]) },
		"events":     func() { ids = w.AppendEventIDs(ids[:0]) },
		"boxes":      func() { boxes, _ = w.Boxes(0, boxes[:0]) },
	} {
		if name == "load" {
			ring[0], f = w, 0
		}
		if n := testing.AllocsPerRun(500, func() { work(); f++; f %= 90 }); n != 0 {
			t.Errorf("%s allocates %.1f times", name, n)
		}
		w = newDuel(t, "sable", "tarn", 70).w
		for i := range ring {
			ring[i] = w
		}
	}
}

// The same holds for a 3v3 with four fighters on the stage.
func TestNoAllocationsInTeams(t *testing.T) {
	g := newRing(t, data.TagTeam, Format3v3, 100)
	g.p(0).SuperMeter, g.p(1).SuperMeter = 4000, 4000
	g.step(DownBit|AssistBit|StanceBit, DownBit|AssistBit|StanceBit)
	in := busyTape(8, 2000)
	f := 0
	if n := testing.AllocsPerRun(1900, func() { g.w.step(g.r, in[f][:], Emit); g.w.Hash(); f++ }); n != 0 {
		t.Fatalf("a step allocates %.1f times", n)
	}
}

// fighting is a world in which both sides attack all the time.
func fighting(b *testing.B) (World, [][2]Input) {
	w := newWorld(b, 5, "sable", "tarn")
	for w.Phase() != Live {
		w.Step(nil, Emit)
	}
	w.fighters[0].X, w.fighters[1].X = -Fixed(40<<16), Fixed(40<<16)
	words := []uint16{LightBit, 0, MediumBit, HeavyBit, 0, SpecialBit, DownBit | MediumBit, 0, DownBit | HeavyBit}
	in := make([][2]Input, 1024)
	for f := range in {
		in[f][0].Now, in[f][1].Now = words[f/2%len(words)], words[(f/2+4)%len(words)]
		if f > 0 {
			in[f][0].Prev, in[f][1].Prev = in[f-1][0].Now, in[f-1][1].Now
		}
	}
	return w, in
}

func BenchmarkStep(b *testing.B) {
	start, in := fighting(b)
	w := start
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		if i%512 == 0 {
			w = start
		}
		w.Step(in[i&511][:], Emit)
	}
}

// crowded is a 3v3 in which both sides attack, call partners and have two fighters under the same hands.
func crowded(b *testing.B) (World, [][2]Input) {
	c := Config{Seed: 5, Ruleset: data.TagTeam, Format: Format3v3, Rounds: 2, Teams: [2][3]FighterID{{1, 2, 1}, {2, 1, 2}}}
	var w World
	if err := w.Reset(c); err != nil {
		b.Fatal(err)
	}
	for w.Phase() != Live {
		w.Step(nil, Emit)
	}
	w.fighters[0].X, w.fighters[1].X = -Fixed(40<<16), Fixed(40<<16)
	w.fighters[0].SuperMeter, w.fighters[1].SuperMeter = 4000, 4000
	words := []uint16{LightBit, 0, MediumBit, HeavyBit, 0, SpecialBit, DownBit | MediumBit, 0, DownBit | HeavyBit}
	in := make([][2]Input, 512)
	for f := range in {
		in[f][0].Now, in[f][1].Now = words[f/2%len(words)], words[(f/2+4)%len(words)]
		switch f {
		case 0, 1:
			in[f][0].Now, in[f][1].Now = DownBit|AssistBit|StanceBit, DownBit|AssistBit|StanceBit
		case 4, 5:
			in[f][0].Now, in[f][1].Now = LeftBit|AssistBit, RightBit|AssistBit
		}
		if f > 0 {
			in[f][0].Prev, in[f][1].Prev = in[f-1][0].Now, in[f-1][1].Now
		}
	}
	w.Step(in[0][:], Emit)
	if w.active != 0b1111 {
		b.Fatalf("on the stage: %b", w.active)
	}
	return w, in
}

func BenchmarkStep3v3(b *testing.B) {
	start, in := crowded(b)
	w := start
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		if i%511 == 0 {
			w = start
		}
		w.Step(in[1+i%511][:], Emit)
	}
}

func BenchmarkSaveAndLoad(b *testing.B) {
	w, _ := fighting(b)
	var ring [90]World
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		ring[i%90] = w
		w = ring[(i+45)%90]
	}
}

func BenchmarkHash(b *testing.B) {
	w, _ := fighting(b)
	b.ReportAllocs()
	for b.Loop() {
		w.Hash()
	}
}

// A rollback of eight frames: load, then eight times step and save.
func BenchmarkRollback8(b *testing.B) {
	start, in := fighting(b)
	for i := range 100 {
		start.Step(in[i][:], Emit)
	}
	var ring [90]World
	ring[0] = start
	b.ReportAllocs()
	for b.Loop() {
		w := ring[0]
		for i := range 8 {
			w.Step(in[100+i][:], SuppressCosmetics)
			ring[1+i] = w
		}
	}
}

func BenchmarkEquivalent(b *testing.B) {
	w, in := fighting(b)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		w.Equivalent(0, in[i&511][0], in[i&511][1])
	}
}
