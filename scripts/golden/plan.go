package main

import (
	"fmt"

	"backstep/sim"
	"backstep/sim/data"
)

// kind is where the inputs of a match come from.
type kind int

const (
	recorded kind = iota
	model
	bots
)

var kindNames = [...]string{"recorded", "model", "bots"}

// plan is one match of the corpus before it is played.
type plan struct {
	name   string
	kind   kind
	serial int // among its kind
	config sim.Config
	frames int  // unless whole
	whole  bool // to the end of the match
}

// size is the number of matches; of ten, four are recorded play, three the model's and three the bots'.
const size = 200

// Lengths in frames. A whole match is cut at mostFrames.
const (
	leastFrames = 600
	stepFrames  = 40
	mostFrames  = 20000
	afterwards  = 30 // frames of PostMatch
)

// plans lists the corpus: the settings of each kind go round all rulesets and formats this version can play.
func plans() []plan {
	stages := playable()
	var out []plan
	var count [len(kindNames)]int
	for i := range size {
		p := plan{kind: bots}
		switch n := i % 10; {
		case n < 4:
			p.kind = recorded
		case n < 7:
			p.kind = model
		}
		p.serial = count[p.kind]
		count[p.kind]++
		p.config = stages[p.serial%len(stages)]
		p.config.Seed = (&sim.SplitMix64{State: uint64(i)}).Next()
		p.config.Rounds = uint8(1 + p.serial/3%3)
		cast(&p.config, i)
		p.frames = leastFrames + stepFrames*(i*7%16)
		if p.kind == bots && p.serial%5 == 0 {
			p.whole, p.config.Rounds = true, uint8(1+p.serial/5%2)
		}
		p.name = fmt.Sprintf("%03d-%s-%s-%s", i, kindNames[p.kind], p.config.Ruleset, p.config.Format)
		out = append(out, p)
	}
	return out
}

// playable gives every ruleset with every format that this version accepts.
func playable() []sim.Config {
	var out []sim.Config
	for r := range sim.Ruleset(data.RulesCount) {
		for f := sim.Format1v1; f <= sim.FormatTrinity; f++ {
			c := sim.Config{Ruleset: r, Format: f, Rounds: 2}
			cast(&c, 0)
			if c.Valid() == nil {
				out = append(out, c)
			}
		}
	}
	return out
}

// cast fills the teams, differently for each i, so that all pairings come up.
func cast(c *sim.Config, i int) {
	roster := data.Embedded().Fighters()
	n := len(roster)
	for k := range c.Format.Roster() {
		c.Teams[0][k] = roster[(i+k)%n].ID
		c.Teams[1][k] = roster[(i+i/n+1+k)%n].ID
	}
}
