package main

import (
	"testing"

	"backstep/sim"
	"backstep/sim/data"
)

// SIM-01, ATTR-03, HITB-04: under every ruleset random play keeps every state in range; two of five moves come up even in the few
// frames of a test, and none that does not belong.
func TestSoak(t *testing.T) {
	for rules := range sim.Ruleset(data.RulesCount) {
		s := &soak{rules: rules, seed: 3}
		if err := s.run(frames); err != nil {
			t.Errorf("%s: %v", rules, err)
		}
		if s.checked != s.frames || s.frames < frames {
			t.Errorf("%s: %d of %d frames checked in %d matches", rules, s.checked, s.frames, s.matches)
		}
		if n := s.wanted(); frames >= 30000 && len(s.missing())*5 > n*3 {
			t.Errorf("%s: %d of %d moves never begun", rules, len(s.missing()), n)
		}
		for _, k := range data.Embedded().Fighters() {
			for id := data.MoveID(1); int(id) <= k.Moves(); id++ {
				if m := k.Move(id); s.begun[k.ID][id] && !s.belongs(k, m) && m.Family != data.AssistCall {
					t.Errorf("%s: %s %s does not belong to these rules", rules, k.Key, m.Key)
				}
			}
		}
	}
}
