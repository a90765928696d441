package sim

import "testing"

// Practice changes nothing before the fight, gives back what a match takes, and leaves fighters in a combo alone.
func TestPractice(t *testing.T) {
	var w World
	if err := w.Reset(DefaultConfig()); err != nil {
		t.Fatal(err)
	}
	before := w.Hash()
	if w.Practice(); w.Hash() != before {
		t.Fatal("Practice changed a world before the fight")
	}
	for w.Phase() != Live {
		w.Step([]Input{{}, {}}, Emit)
	}
	for range 30 {
		w.Step([]Input{{}, {}}, Emit)
	}
	whole := w.match.Timer
	w.fighters[0].Health, w.fighters[1].Health = 10, 20
	w.fighters[1].Action = Hitstun
	w.Practice()
	switch {
	case w.match.Timer <= whole:
		t.Error("the timer went on")
	case w.fighters[0].Health != w.fighters[0].MaxHealth:
		t.Error("a free fighter did not get its health back")
	case w.fighters[1].Health != 20:
		t.Error("a fighter in hitstun got its health back")
	case w.fighters[0].Meter != w.fighters[0].MaxMeter:
		t.Error("the meter is not full")
	}
}
