package sim

import (
	"testing"

	"backstep/sim/data"
)

// FDAT-19 in part: shots fly, can be blocked, clash, and each fighter has one at a time.
func TestShots(t *testing.T) {
	d := newDuel(t, "tarn", "tarn", 500)
	m := d.attack(0, "6s", 0)
	d.until(30, 0, 0, "the shot", func() bool { return d.f(0).Shots[0].Life > 0 })
	d.until(60, 0, 0, "the end of the move", func() bool { return d.f(0).Action.Neutral() })
	if d.f(0).Shots[0].Life == 0 {
		t.Fatal("the shot is gone already")
	}
	if d.step(SpecialBit, 0); d.f(0).Action == Attack {
		t.Fatal("a second shot while the first flies")
	}
	d.until(120, 0, 0, "the hit", func() bool { n, _ := d.hits(); return n > 0 })
	if h := d.w.Hits()[0]; !h.Shot || h.Damage != m.Damage || d.f(0).HitstopFrames != 0 || d.f(1).HitstopFrames == 0 || d.f(0).Shots[0].Life != 0 {
		t.Fatalf("%+v, hitstop %d %d", h, d.f(0).HitstopFrames, d.f(1).HitstopFrames)
	}
	d = newDuel(t, "tarn", "tarn", 500)
	d.step(SpecialBit, SpecialBit)
	clash := 0
	for range 100 {
		d.step(0, 0)
		for _, e := range d.w.Events() {
			if e.Kind == EventClash {
				clash++
			}
		}
	}
	if clash != 2 || d.f(0).Shots[0].Life != 0 || d.f(1).Shots[0].Life != 0 || d.f(0).Health != d.f(0).MaxHealth {
		t.Fatalf("%d clashes", clash)
	}
	d = newDuel(t, "tarn", "sable", 400)
	d.attack(0, "6s", 0)
	d.until(90, 0, RightBit, "the block", func() bool { _, b := d.hits(); return b > 0 })
	if d.f(1).RecoverableHealth != 6 {
		t.Fatalf("chip of a shot: %d", d.f(1).RecoverableHealth)
	}
}

// A shot that survives a touch waits before the next one.
func TestShotDurability(t *testing.T) {
	d := newDuel(t, "tarn", "sable", 500)
	shot := data.Embedded().FighterByKey("tarn").MoveByKey("5s")
	d.f(0).Shots[0] = Projectile{X: d.f(1).X, Y: Fixed(62 << 16), Life: 60, Move: shot.ID, Durability: 3, Facing: 1}
	var at []int32
	for range 40 {
		d.w.Step(nil, Emit)
		if len(d.w.Hits()) > 0 {
			at = append(at, d.w.Frame())
		}
	}
	if len(at) != 3 || at[1]-at[0] != shotPause || at[2]-at[1] != shotPause || d.f(0).Shots[0].Life != 0 {
		t.Fatalf("touches on frames %v", at)
	}
}

// FDAT-18: armour takes a hit without being interrupted; a super freezes the opponent.
func TestArmorAndFlash(t *testing.T) {
	d := newDuel(t, "sable", "tarn", 70)
	d.attack(1, "4s", 0)
	d.run(4, 0, 0)
	d.attack(0, "5l", 0)
	d.until(12, 0, 0, "the armoured hit", func() bool { return len(d.w.Hits()) > 0 })
	if h := d.w.Hits()[0]; !h.Armored || d.f(1).Action != Attack || d.f(1).Armor != 0 || d.f(1).Health != d.f(1).MaxHealth-h.Damage {
		t.Fatalf("%+v, %s", h, d.f(1).Action)
	}
	d = newDuel(t, "sable", "tarn", 300)
	d.f(0).SuperMeter = 2000
	m := d.attack(0, "super-2", 0)
	if d.f(1).HitstopFrames != int16(m.Freeze)-1 || d.f(0).HitstopFrames != int16(m.Freeze)-1 || !d.w.Free() {
		t.Fatalf("everybody stands still for %d and %d more frames, want %d", d.f(0).HitstopFrames, d.f(1).HitstopFrames, m.Freeze-1)
	}
	if d.run(int(m.Freeze), 0, 0); d.f(0).AnimationFrame != 1 {
		t.Fatalf("the super is on frame %d after the flash", d.f(0).AnimationFrame)
	}
}
