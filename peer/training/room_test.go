package training

import (
	"errors"
	"testing"

	"backstep/sim"
)

func room(t *testing.T, o Options) *Room {
	t.Helper()
	r, err := New(sim.DefaultConfig(), o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func step(t *testing.T, r *Room, words ...uint16) Tick {
	t.Helper()
	var in [2]uint16
	copy(in[:], words)
	tick, err := r.Step(in)
	if err != nil {
		t.Fatal(err)
	}
	return tick
}

func TestBeginsInTheFight(t *testing.T) {
	r := room(t, Default())
	if r.World().Phase() != sim.Live {
		t.Fatalf("phase %v", r.World().Phase())
	}
}

// PRES-07: the room drives the real simulation: with the same words and
// nothing refilled it comes to the same hash as stepping a world.
func TestIsTheRealSimulation(t *testing.T) {
	o := Default()
	o.Refill = false
	o.Dummy = "player2"
	r := room(t, o)
	want := *r.World()
	var prev [2]uint16
	for f := range 600 {
		now := [2]uint16{uint16(f*7) & 0xfff, uint16(f*13) & 0xfff}
		step(t, r, now[:]...)
		want.Step([]sim.Input{{Now: now[0], Prev: prev[0]}, {Now: now[1], Prev: prev[1]}}, sim.Emit)
		prev = now
		if r.World().Phase() != sim.Live || want.Phase() != sim.Live {
			break
		}
		if want.Hash() != r.World().Hash() {
			t.Fatalf("frame %d: %016x, want %016x", f, r.World().Hash(), want.Hash())
		}
	}
}

// Both sessions of a netted room agree, and what is shown rolls back as deep
// as the sliders say.
func TestSimulatedNetwork(t *testing.T) {
	for _, tt := range []struct {
		name       string
		change     func(*Options)
		low, high  int // deepest rollback
		noRollback bool
	}{
		{"latency 100", func(o *Options) { o.Latency = 100 }, 3, 5, false},
		{"rollback 6", func(o *Options) { o.Rollback = 6 }, 6, 8, false},
		{"latency hidden by delay", func(o *Options) { o.Latency = 60; o.Delay = 3 }, 1, 4, false},
		{"loss and jitter", func(o *Options) { o.Latency = 80; o.Loss = 20; o.Jitter = 30 }, 4, 20, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			o := Default()
			o.Dummy = "player2"
			tt.change(&o)
			r := room(t, o)
			deepest, frames := 0, 0
			for f := range 600 {
				tick := step(t, r, uint16(1)<<(2+f/9%6), uint16(1)<<(2+f/7%8))
				deepest = max(deepest, tick.Depth)
				if tick.Advanced {
					frames++
				}
				for _, g := range tick.Replayed {
					if w, ok := r.State(g); !ok || w.Frame() != g {
						t.Fatalf("frame %d was stepped again and is not there", g)
					}
				}
			}
			if deepest < tt.low || deepest > tt.high || frames < 500 {
				t.Errorf("deepest rollback %d, want %d to %d; %d frames", deepest, tt.low, tt.high, frames)
			}
			a, b := r.net.drivers[0], r.net.drivers[1]
			f := min(a.Session().Settled(), b.Session().Settled())
			x, okx := a.State(f)
			y, oky := b.State(f)
			if !okx || !oky || x.Hash() != y.Hash() {
				t.Errorf("the two sides differ on frame %d", f)
			}
		})
	}
}

func TestRecordAndPlayBack(t *testing.T) {
	r := room(t, Default())
	r.Record()
	taken := []uint16{sim.DownBit, sim.DownBit | sim.RightBit, sim.RightBit | sim.LightBit, 0}
	for _, w := range taken {
		step(t, r, w)
		if in := r.World().Inputs(); in[0].Now != 0 || in[1].Now != w {
			t.Fatalf("while recording the fighters got %03x and %03x", in[0].Now, in[1].Now)
		}
	}
	r.Record()
	if n := r.Lengths(); n != [Slots]int{4} || r.Recording() {
		t.Fatalf("slots %v", n)
	}
	o := r.Options()
	o.Dummy = "play"
	if err := r.Set(o); err != nil {
		t.Fatal(err)
	}
	for i := range 8 {
		step(t, r, sim.UpBit)
		if in := r.World().Inputs(); in[1].Now != taken[i%4] || in[0].Now != sim.UpBit {
			t.Fatalf("frame %d: %03x", i, in[1].Now)
		}
	}
	r.slots[0].facing = -r.slots[0].facing // it was recorded on the other side
	r.newDummy()
	step(t, r)
	step(t, r)
	if in := r.World().Inputs(); in[1].Now != sim.DownBit|sim.LeftBit {
		t.Errorf("mirrored %03x", in[1].Now)
	}
	r.Clear()
	if n := r.Lengths(); n[0] != 0 {
		t.Errorf("cleared slot has %d frames", n[0])
	}
	r.Record()
	for range MaxRecording + 5 {
		step(t, r, 0)
	}
	if r.Recording() || r.Lengths()[0] != MaxRecording {
		t.Errorf("a recording of %d frames", r.Lengths()[0])
	}
}

func TestSaveAndLoad(t *testing.T) {
	r := room(t, Default())
	if ok, _ := r.Load(); ok {
		t.Fatal("loaded what was never saved")
	}
	for range 20 {
		step(t, r, sim.RightBit)
	}
	r.Save()
	want := r.World().Hash()
	for range 50 {
		step(t, r, sim.RightBit|sim.HeavyBit)
	}
	if ok, err := r.Load(); !ok || err != nil || r.World().Hash() != want {
		t.Fatalf("%v, %v, %016x", ok, err, r.World().Hash())
	}
}

// A bot beats on the player; the bars fill up again and the round
// never ends for good.
func TestGoesOnForEver(t *testing.T) {
	for _, latency := range []int{0, 90} {
		o := Default()
		o.Dummy, o.Latency = "bot-hard", latency
		r := room(t, o)
		hit := false
		for range 60 * 40 {
			step(t, r, 0)
			hit = hit || r.World().Fighter(0).Health < r.World().Fighter(0).MaxHealth
		}
		if p := r.World().Phase(); p != sim.Live && latency == 0 || !hit {
			t.Errorf("latency %d: phase %v, hit %v", latency, p, hit)
		}
	}
}

func TestGuard(t *testing.T) {
	o := Default()
	o.Dummy = "guard"
	r := room(t, o)
	blocked := 0
	for f := range 900 {
		word := sim.RightBit
		if f%30 == 0 {
			word = sim.MediumBit
		}
		step(t, r, word)
		for _, h := range r.World().Hits() {
			if h.Blocked {
				blocked++
			} else if h.Attacker == 0 {
				t.Fatalf("frame %d: a mid attack went through the guard", f)
			}
		}
	}
	if blocked == 0 {
		t.Error("nothing was blocked")
	}
}

func TestOptionsRefuse(t *testing.T) {
	for name, change := range map[string]func(*Options){
		"dummy": func(o *Options) { o.Dummy = "dancer" }, "slot": func(o *Options) { o.Slot = 3 }, "latency": func(o *Options) { o.Latency = 401 },
		"jitter": func(o *Options) { o.Jitter = -1 }, "loss": func(o *Options) { o.Loss = 31 }, "rollback": func(o *Options) { o.Rollback = 9 },
		"delay": func(o *Options) { o.Delay = 9 }, "side": func(o *Options) { o.Side = 2 },
	} {
		o := Default()
		change(&o)
		if err := o.Valid(); !errors.Is(err, ErrOptions) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
