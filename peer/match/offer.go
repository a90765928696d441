package match

import (
	"backstep/peer/setup"
	"backstep/rollback/quality"
	"backstep/rollback/wire"
	"backstep/sim"
)

// Offer is what a player of this build says about itself to begin with: its
// versions, the rules of c, the fighters c gives to side, rollback mode, and a
// match that goes on until it is decided.
func Offer(c sim.Config, side int) setup.Offer {
	o := setup.Offer{
		Wire: wire.Version, Sim: sim.Version, DataHash: sim.DataHash(), Mode: quality.Rollback,
		Ruleset: uint8(c.Ruleset), Format: uint8(c.Format), Rounds: c.Rounds,
	}
	for i, id := range c.Teams[side] {
		o.Team[i] = uint8(id)
	}
	return o
}
