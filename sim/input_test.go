package sim

import (
	"testing"

	"backstep/sim/data"
)

// Opposite directions are neutral, reserved bits are nothing.
func TestClean(t *testing.T) {
	for _, c := range []struct{ in, want uint16 }{
		{LeftBit | RightBit, 0}, {UpBit | DownBit, 0}, {LeftBit | RightBit | DownBit, DownBit}, {0xf000, 0}, {0xffff, 0x0ff0},
		{UpBit | LeftBit | LightBit, UpBit | LeftBit | LightBit},
	} {
		if got := Clean(c.in); got != c.want {
			t.Errorf("Clean(%#x) = %#x, want %#x", c.in, got, c.want)
		}
	}
	d := newDuel(t, "sable", "tarn", 300)
	x := d.f(0).X
	if d.run(10, LeftBit|RightBit|UpBit|DownBit, 0); d.f(0).X != x || d.f(0).Action != Idle {
		t.Fatalf("everything held at once: %s", d.f(0).Action)
	}
}

// ABIL-05, ABIL-09, ABIL-10: a press counts for six frames, its own among them, by the fighter's own clock.
func TestInputBuffer(t *testing.T) {
	for early := 0; early <= 8; early++ {
		d := newDuel(t, "sable", "tarn", 300)
		m := d.attack(0, "5l", 0)
		d.until(60, 0, 0, "the last frames", func() bool { return d.f(0).AnimationFrame == m.Total-int32(early) })
		d.step(MediumBit, 0)
		for range early {
			d.step(0, 0)
		}
		started := d.f(0).Action == Attack && d.f(0).Move == data.Embedded().FighterByKey("sable").MoveByKey("5m").ID
		if want := early < BufferFrames; started != want {
			t.Errorf("pressed %d frames before it could be used: started %v, want %v", early, started, want)
		}
	}
}

// Presses during hitstop wait for its end, however long it is.
func TestBufferStandsStillInHitstop(t *testing.T) {
	d := newDuel(t, "sable", "tarn", 300)
	d.f(0).HitstopFrames = 20
	clock := d.f(0).Clock
	d.step(HeavyBit, 0)
	d.run(19, 0, 0)
	if d.f(0).Action == Attack || d.f(0).Clock != clock {
		t.Fatal("it acted in hitstop")
	}
	if d.step(0, 0); d.f(0).Action != Attack {
		t.Fatal("the press is lost")
	}
}

// Holding a button gives one move, not one after another.
func TestHeldButtonIsOnePress(t *testing.T) {
	d := newDuel(t, "sable", "tarn", 300)
	moves := 0
	for range 120 {
		d.step(LightBit, 0)
		for _, e := range d.w.Events() {
			if e.Kind == EventMove {
				moves++
			}
		}
	}
	if moves != 1 {
		t.Fatalf("%d moves from one press", moves)
	}
}

// The raw words of earlier frames are not in the state: only Prev tells a press from a hold.
func TestEdgesComeFromPrev(t *testing.T) {
	w := newDuel(t, "sable", "tarn", 300).w
	a, b := w, w
	a.Step([]Input{{Now: LightBit, Prev: 0}, {}}, Emit)
	b.Step([]Input{{Now: LightBit, Prev: LightBit}, {}}, Emit)
	if a.fighters[0].Action != Attack || b.fighters[0].Action != Idle {
		t.Fatalf("%s, %s", a.fighters[0].Action, b.fighters[0].Action)
	}
}

// Two taps of a direction within the window are a dash; slower ones, or others between, are not.
func TestDash(t *testing.T) {
	window := int(data.Embedded().Ruleset(data.SF).DashWindow)
	for _, c := range []struct {
		first, second uint16
		gap           int
		want          Action
	}{
		{RightBit, RightBit, 3, DashForward}, {LeftBit, LeftBit, 3, DashBack}, {RightBit, LeftBit, 3, WalkBack},
		{RightBit, RightBit, window - 2, DashForward}, {RightBit, RightBit, window + 2, WalkForward},
	} {
		d := newDuel(t, "sable", "tarn", 300)
		d.step(c.first, 0)
		d.run(c.gap, 0, 0)
		d.step(c.second, 0)
		if d.f(0).Action != c.want {
			t.Errorf("%#x, %d frames, %#x: %s, want %s", c.first, c.gap, c.second, d.f(0).Action, c.want)
		}
	}
}

// ABIL-11, ABIL-20: a cancel window opens on contact only, tells what into and since when, and takes only what the move lists.
func TestCancels(t *testing.T) {
	sable := data.Embedded().FighterByKey("sable")
	d := newDuel(t, "sable", "tarn", 70)
	d.attack(0, "5m", 0)
	d.until(20, 0, 0, "the hit", func() bool { n, _ := d.hits(); return n > 0 })
	into, since, open := d.f(0).CancelWindow()
	if !open || since != d.w.Frame() || into != sable.MoveByKey("5m").CancelInto {
		t.Fatalf("window %v since %d into %#x", open, since, into)
	}
	if e := d.w.Events(); e[len(e)-1].Kind != EventCancelOpen {
		t.Fatalf("no event: %+v", e)
	}
	d.step(LightBit, 0)
	d.until(10, 0, 0, "the end of hitstop", func() bool { return d.f(0).HitstopFrames == 0 })
	if d.step(0, 0); d.f(0).Move != sable.MoveByKey("5m").ID {
		t.Fatal("medium was cancelled into light")
	}
	if d.step(HeavyBit, 0); d.f(0).Move != sable.MoveByKey("5h").ID || d.f(0).AnimationFrame != 1 {
		t.Fatalf("medium into heavy: move %d, frame %d", d.f(0).Move, d.f(0).AnimationFrame)
	}
	if _, _, open := d.f(0).CancelWindow(); open {
		t.Fatal("the new move begins with an open window")
	}
	d = newDuel(t, "sable", "tarn", 300)
	m := d.attack(0, "5m", 0)
	d.run(int(m.Startup), 0, 0)
	if d.step(HeavyBit, 0); d.f(0).Move != m.ID {
		t.Fatal("a move that touched nothing was cancelled")
	}
}

// SIM-17: who moved toward the opponent is recorded.
func TestApproachIsRecorded(t *testing.T) {
	d := newDuel(t, "sable", "tarn", 400)
	for _, c := range []struct {
		word uint16
		want uint8
	}{{RightBit, 1}, {LeftBit, 0}, {0, 0}, {UpBit | RightBit, 1}} {
		if d.step(c.word, 0); d.f(0).Approached != c.want {
			t.Errorf("%#x: %d", c.word, d.f(0).Approached)
		}
	}
	d = newDuel(t, "sable", "tarn", 400)
	d.run(25, LeftBit, 0)
	if d.f(0).RetreatFrames != 25 {
		t.Fatalf("retreated %d frames", d.f(0).RetreatFrames)
	}
	if d.step(RightBit, 0); d.f(0).RetreatFrames != 0 {
		t.Fatal("coming closer ends a retreat")
	}
}

// Speeds, jumps and bodies are those of the file.
func TestMovement(t *testing.T) {
	k := data.Embedded().FighterByKey("sable")
	d := newDuel(t, "sable", "tarn", 400)
	x := d.f(0).X
	if d.run(10, RightBit, 0); d.f(0).X-x != 10*k.WalkForward {
		t.Errorf("walked %d in 10 frames", (d.f(0).X - x).Whole())
	}
	x = d.f(0).X
	if d.run(10, LeftBit, 0); x-d.f(0).X != 10*k.WalkBack {
		t.Errorf("walked back %d in 10 frames", (x - d.f(0).X).Whole())
	}
	d = newDuel(t, "sable", "tarn", 400)
	x = d.f(0).X
	d.step(UpBit|RightBit, 0)
	air := d.until(10, 0, 0, "leaving the ground", func() bool { return d.f(0).Air == 1 })
	if air != int(k.PreJump) {
		t.Errorf("left the ground after %d frames, want %d", air, k.PreJump)
	}
	top := Fixed(0)
	d.until(80, 0, 0, "landing", func() bool { top = max(top, d.f(0).Y); return d.f(0).Action == Landing })
	if top < Fixed(100<<16) || top > Fixed(250<<16) || d.f(0).X <= x {
		t.Errorf("jumped %d high, %d far", top.Whole(), (d.f(0).X - x).Whole())
	}
	d = newDuel(t, "sable", "tarn", 100)
	d.run(80, RightBit, 0)
	gap := d.f(1).X - d.f(0).X
	if bodies := k.BodyHalf + data.Embedded().FighterByKey("tarn").BodyHalf; gap < bodies-2 {
		t.Errorf("walked into the opponent: %d apart, bodies take %d", gap.Whole(), bodies.Whole())
	}
	// A fighter that jumps over the other turns round on landing.
	d = newDuel(t, "sable", "tarn", 70)
	d.until(120, UpBit|RightBit, 0, "the other side", func() bool { return d.f(0).X > d.f(1).X && d.f(0).Air == 0 })
	if d.run(6, 0, 0); d.f(0).Facing != -1 || d.f(1).Facing != 1 {
		t.Errorf("facing %d and %d", d.f(0).Facing, d.f(1).Facing)
	}
}
