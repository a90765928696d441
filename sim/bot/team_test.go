package bot

import (
	"testing"

	"backstep/sim"
	"backstep/sim/data"
)

// bout plays a match between two bots under settings, and counts events, moves begun by key and mechanics of tag play.
func bout(t *testing.T, name string, c sim.Config, limit int) (w sim.World, events map[sim.EventKind]int, moves map[string]int, mechanics map[data.Mechanic]int) {
	t.Helper()
	if err := w.Reset(c); err != nil {
		t.Fatal(err)
	}
	a, err := New(name, c.Seed, 0)
	if err != nil {
		t.Fatal(err)
	}
	b, err := New(name, c.Seed, 1)
	if err != nil {
		t.Fatal(err)
	}
	events, moves, mechanics = map[sim.EventKind]int{}, map[string]int{}, map[data.Mechanic]int{}
	var in [2]sim.Input
	for f := 0; f < limit && w.Phase() != sim.PostMatch; f++ {
		in[0] = sim.Input{Now: a.Next(&w), Prev: in[0].Now}
		in[1] = sim.Input{Now: b.Next(&w), Prev: in[1].Now}
		w.Step(in[:], sim.Emit)
		for _, e := range w.Events() {
			events[e.Kind]++
			switch e.Kind {
			case sim.EventMove:
				k := data.Embedded().Fighter(w.Fighter(int(e.Fighter)).ID)
				moves[k.Key+" "+k.Move(data.MoveID(e.Value)).Key]++
			case sim.EventMechanic:
				mechanics[data.Mechanic(e.Value)]++
			}
		}
	}
	return w, events, moves, mechanics
}

// TAGT-01, TAGT-02, TAGT-06: bots tag, call their partners where the format has that, and use mechanics of tag play; their matches
// end in every format, most rounds by knockout.
func TestBotsTag(t *testing.T) {
	cast := data.Embedded().Fighters()
	used := map[data.Mechanic]int{}
	for _, format := range []sim.Format{sim.Format2v2, sim.Format3v3, sim.FormatTrinity} {
		tags, assists, rounds, late := 0, 0, 0, 0
		for seed := range uint64(3) {
			c := sim.Config{Seed: seed, Ruleset: data.TagTeam, Format: format, Rounds: 1}
			for k := range format.Roster() {
				c.Teams[0][k], c.Teams[1][k] = cast[(int(seed)+k)%len(cast)].ID, cast[(int(seed)+k+2)%len(cast)].ID
			}
			w, events, _, mechanics := bout(t, "hard", c, 20000)
			if w.Phase() != sim.PostMatch {
				t.Errorf("%s, seed %d: no end in 20000 frames", format, seed)
			}
			tags += events[sim.EventTag]
			assists += events[sim.EventAssist]
			rounds += events[sim.EventRoundWon]
			late += events[sim.EventTimeOver]
			for k, n := range mechanics {
				used[k] += n
			}
		}
		if late*2 > rounds {
			t.Errorf("%s: %d of %d rounds end by time", format, late, rounds)
		}
		if tags < 3 {
			t.Errorf("%s: only %d steps of tags", format, tags)
		}
		if format != sim.Format2v2 && assists == 0 {
			t.Errorf("%s: nobody calls a partner", format)
		}
	}
	if len(used) < 3 {
		t.Errorf("only %v of the mechanics of tag play", used)
	}
	t.Logf("mechanics: %v", used)
}

// Under every ruleset bots play it to the end and use what it has: its supers, its stance-button moves, its holds; Vesper changes
// her guards everywhere.
func TestBotsUseTheRules(t *testing.T) {
	for rules := range sim.Ruleset(data.RulesCount) {
		own, stances := map[string]int{}, 0
		for seed := range uint64(5) {
			c := sim.Config{Seed: seed, Ruleset: rules, Rounds: 2}
			cast := data.Embedded().Fighters()
			c.Teams[0][0], c.Teams[1][0] = cast[3].ID, cast[int(seed)%len(cast)].ID
			w, events, moves, _ := bout(t, "hard", c, 40000)
			if w.Phase() != sim.PostMatch {
				t.Errorf("%s, seed %d: no end in 40000 frames", rules, seed)
			}
			stances += events[sim.EventStance]
			for _, k := range cast {
				for id := data.MoveID(1); int(id) <= k.Moves(); id++ {
					if m := k.Move(id); m.Rules != 1<<data.RulesCount-1 && moves[k.Key+" "+m.Key] > 0 {
						own[m.Key] += moves[k.Key+" "+m.Key]
					}
				}
			}
		}
		if stances < 10 {
			t.Errorf("%s: only %d changes of stance", rules, stances)
		}
		if len(own) == 0 {
			t.Errorf("%s: no move of its own was used", rules)
		}
		t.Logf("%s: %v", rules, own)
	}
}
