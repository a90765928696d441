package match

import (
	"errors"
	"math/rand/v2"
	"testing"

	"backstep/rollback"
	"backstep/sim"
	"backstep/sim/data"
)

func worldTest(t *testing.T, g rollback.Game[World, uint16], rules sim.Ruleset, format sim.Format, depth int) *rollback.SyncTest[World, uint16] {
	t.Helper()
	c := sim.DefaultConfig()
	c.Seed, c.Ruleset, c.Format = 99, rules, format
	for side := range c.Teams {
		for i := range format.Roster() {
			c.Teams[side][i] = data.Embedded().Fighters()[(side*2+i)%len(data.Embedded().Fighters())].ID
		}
	}
	w := new(World)
	if err := w.Reset(c); err != nil {
		t.Fatal(err)
	}
	st, err := rollback.NewSyncTest(rollback.SyncConfig[World, uint16]{
		Game: g, Initial: w, Players: 2, Depth: depth, Seed: 3,
		Append: func(b []byte, w *World) []byte { return w.AppendState(b) },
		Parse:  func(w *World, b []byte) error { return w.ParseState(b) },
	})
	if err != nil {
		t.Fatal(err)
	}
	return st
}

// pressed gives random words that are held for some frames.
func pressed(seed uint64) func(int32, int) uint16 {
	rng := rand.New(rand.NewPCG(seed, 4))
	var held [2]uint16
	return func(_ int32, player int) uint16 {
		if rng.IntN(6) == 0 {
			held[player] = uint16(rng.Uint32()) & 0xfff
		}
		return held[player]
	}
}

// bevy_ggrs#108, Ruling "prediction": the game that ships passes the sync test under every ruleset, alone and in teams; whatever it
// says of inputs that make no difference, of states that are equal and of events holds.
func TestWorldPassesSyncTest(t *testing.T) {
	const frames = 700
	for rules := range sim.Ruleset(data.RulesCount) {
		format := sim.Format1v1
		if rules%3 == 2 {
			format = sim.Format3v3
		}
		if err := worldTest(t, game{}, rules, format, 3+int(rules)).Run(frames, pressed(uint64(rules))); err != nil {
			t.Errorf("%v: %v", rules, err)
		}
	}
}

// unsaved is the game with a counter that no snapshot holds.
type unsaved struct {
	game
	hits *int32
}

func (g unsaved) Step(w *World, in []rollback.Input[uint16], p rollback.Policy) {
	g.game.Step(w, in, p)
	if len(w.Events()) > 0 {
		if *g.hits++; *g.hits%40 == 0 {
			words := [2]sim.Input{{Now: sim.LightBit}, {}}
			w.Step(words[:], sim.SuppressCosmetics)
		}
	}
}

// scattered presses a button that depends on the order of a map.
type scattered struct {
	game
	held map[uint16]bool
}

func (g scattered) Step(w *World, in []rollback.Input[uint16], p rollback.Policy) {
	for word := range g.held {
		in = []rollback.Input[uint16]{{Now: word, Prev: in[0].Prev}, in[1]}
		break
	}
	g.game.Step(w, in, p)
}

// idle claims that the second player's hands never matter.
type idle struct{ game }

func (g idle) Equivalent(w *World, player int, old, new rollback.Input[uint16]) bool {
	return player == 1 || g.game.Equivalent(w, player, old, new)
}

// The same faults in the game that ships are found.
func TestSyncTestFindsFaultsInWorld(t *testing.T) {
	held := map[uint16]bool{}
	for i := range uint16(12) {
		held[1<<i] = true
	}
	for name, c := range map[string]struct {
		game rollback.Game[World, uint16]
		want rollback.SyncFault
	}{
		"a counter that is not saved": {unsaved{hits: new(int32)}, rollback.SyncStep},
		"the order of a map":          {scattered{held: held}, rollback.SyncStep},
		"an input that does matter":   {idle{}, rollback.SyncEquivalent},
	} {
		err := worldTest(t, c.game, 0, sim.Format1v1, 8).Run(1200, pressed(7))
		var e *rollback.SyncError
		if !errors.As(err, &e) || e.Fault != c.want || e.Different == 0 {
			t.Errorf("%s: found %v", name, err)
		}
	}
}
