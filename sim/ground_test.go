package sim

import (
	"testing"

	"backstep/sim/data"
)

// knocked lays the point of side 1 on its back after the launch of a move.
func knocked(t *testing.T, rules Ruleset, key string) *ring {
	t.Helper()
	g := newRing(t, rules, Format1v1, 80)
	g.attack(key, 0)
	g.until(60, 0, 0, "the launch", func() bool { return g.p(1).Action == Launched })
	return g
}

// FDAT-14: a press shortly before the fall turns it into a roll, one that comes too early does not, nor does a hard knockdown.
func TestGroundTech(t *testing.T) {
	window := int(kit(t).Ruleset(data.SF).RollWindow)
	g := knocked(t, data.SF, "2h")
	flight := g.until(200, 0, 0, "the fall", func() bool { return g.p(1).Action == Down })
	for _, c := range []struct {
		before int
		word   uint16
		dir    int8
		want   Action
	}{{1, LightBit, 0, Roll}, {window, HeavyBit | RightBit, 1, Roll}, {window - 2, MediumBit | LeftBit, -1, Roll}, {window + 8, LightBit, 0, Down}, {3, SpecialBit, 0, Down}} {
		g := knocked(t, data.SF, "2h")
		g.run(flight-c.before, 0, 0)
		g.step(0, c.word)
		g.until(60, 0, 0, "the ground", func() bool { return g.p(1).Air == 0 })
		if g.p(1).Action != c.want || (c.want == Roll && g.p(1).RollDir != c.dir) {
			t.Errorf("%#x %d frames before the fall: %s to %d", c.word, c.before, g.p(1).Action, g.p(1).RollDir)
		}
		if c.want != Roll {
			continue
		}
		x := g.p(1).X
		g.until(60, 0, 0, "the end of the roll", func() bool { return g.p(1).Action.Neutral() })
		if d := (g.p(1).X - x).Sign(); d != int(c.dir) {
			t.Errorf("rolled %d, want %d", d, c.dir)
		}
	}
	h := knocked(t, data.SF, "6h")
	for h.p(1).Action == Launched {
		h.step(0, LightBit)
		h.step(0, 0)
	}
	if h.p(1).Action != Down {
		t.Errorf("a hard knockdown was teched: %s", h.p(1).Action)
	}
}

// FDAT-14: on its last frame on the ground a fighter gets up plainly, rolls, lies on once, or strikes, by what is held or buffered.
func TestWakeUpOptions(t *testing.T) {
	for _, c := range []struct {
		name  string
		rules Ruleset
		word  uint16
		want  Action
	}{{"nothing", data.SF, 0, Wakeup}, {"back", data.SF, RightBit, Roll}, {"forward", data.SF, LeftBit, Roll}, {"down", data.SF, DownBit, Down},
		{"a button without get-up attacks", data.SF, MediumBit, Wakeup}, {"a button", data.MK, MediumBit, Attack}, {"a button", data.Tekken, MediumBit, Attack}} {
		g := knocked(t, c.rules, "6h")
		if g.p(1).Action != Down {
			g.until(200, 0, 0, "lying", func() bool { return g.p(1).Action == Down })
		}
		f := g.p(1)
		g.until(60, 0, 0, "the last frame", func() bool { return f.AnimationFrame == f.Duration-1 })
		g.step(0, c.word)
		g.step(0, c.word)
		if f.Action != c.want {
			t.Errorf("%s under %s: %s", c.name, c.rules, f.Action)
		}
		if c.want == Down {
			if f.Lay != 1 || f.Duration != g.r.Ruleset(c.rules).DownFrames+g.r.Ruleset(c.rules).WakeDelay {
				t.Errorf("lies %d frames", f.Duration)
			}
			g.until(60, 0, DownBit, "getting up", func() bool { return f.Action == Wakeup })
		}
		if c.want == Attack && g.r.Fighter(1).Move(f.Move).Key != "r-sweep" {
			t.Errorf("move %d", f.Move)
		}
	}
}

// A roll is safe from strikes and shots, not from throws.
func TestRollIsThrowable(t *testing.T) {
	g := newRing(t, data.SF, Format1v1, 70)
	s := newStepper(&g.w, g.r)
	s.roll(1, 0)
	if s.refuses(1) != data.AgainstStrike|data.AgainstProjectile || !s.grabbable(1) {
		t.Fatalf("a roll refuses %#x", s.refuses(1))
	}
}
