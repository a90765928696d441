package sim

import (
	"testing"

	"backstep/sim/data"
)

// ABIL-15, ABIL-16, FDAT-23: every move of the roster begins under every ruleset it belongs to, once the fighter has what it asks
// for: its stance, its meters, its health, an opponent who lies or is beaten.
func TestRosterActivates(t *testing.T) {
	r := data.Embedded()
	begun := map[Ruleset]int{}
	for _, k := range r.Fighters() {
		for id := data.MoveID(1); int(id) <= k.Moves(); id++ {
			m := k.Move(id)
			for rules := range Ruleset(data.RulesCount) {
				if k.CommandIn(rules, m.In, m.From, m.Button, m.Direction) != id || (m.From == data.Rise && !r.Ruleset(rules).WakeAttack) {
					continue
				}
				begun[rules]++
				if got := beginUnder(t, rules, k, m); got != id {
					t.Errorf("%s %s under %s: move %d begins instead", k.Key, m.Key, rules, got)
				}
			}
		}
	}
	for rules := range Ruleset(data.RulesCount) {
		if n := len(r.Fighters()) * 16; begun[rules] < n {
			t.Errorf("%s: only %d moves, want at least %d", rules, begun[rules], n)
		}
	}
}

// beginUnder arranges what a move asks for, gives its command and tells which move is running then.
func beginUnder(t *testing.T, rules Ruleset, k *data.Fighter, m *data.Move) data.MoveID {
	t.Helper()
	c := DefaultConfig()
	c.Ruleset = rules
	c.Teams = [2][3]FighterID{{k.ID}, {k.ID}}
	var w World
	if err := w.Reset(c); err != nil {
		t.Fatal(err)
	}
	for w.Phase() != Live {
		w.Step(nil, Emit)
	}
	f, foe := &w.fighters[0], &w.fighters[1]
	step := func(word uint16) { w.Step([]Input{{Now: word}, {}}, Emit) }
	f.SuperMeter, f.Meter, f.Hype, f.Heat = f.MaxSuperMeter, f.MaxMeter, f.MaxHype, f.MaxHeat
	if m.Needs.Rage {
		f.Health = f.MaxHealth / 5
		for range 40 { // past the lockout
			step(0)
		}
	}
	if m.Needs.LowHealth {
		f.Health = f.MaxHealth * 29 / 100
	}
	if m.Needs.Heat {
		f.Mechanics.Heat = 100
	}
	if m.In != 0 {
		f.Mechanics.StanceKind, f.Mechanics.StanceDuration = m.In, 50
	}
	if m.Grounding() {
		foe.Action, foe.Duration = Down, 60
	}
	if m.TargetRequires != 0 { // only the beaten are finished
		foe.Health, foe.Action = 0, Dazed
		w.match.Phase, w.match.RoundWinner, w.match.MatchWinner = FinisherWindow, HostWins, HostWins
		w.match.Nodes[data.MKFinisherWindow] = 100
	}
	switch m.From {
	case data.Air:
		step(UpBit)
		for i := 0; f.Action != Airborne && i < 20; i++ {
			step(0)
		}
	case data.Rise:
		f.Action, f.AnimationFrame, f.Duration = Down, 20, 20
	}
	step(command(m, 1))
	return f.Move
}
