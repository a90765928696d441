package setup

import (
	"fmt"

	"backstep/rollback/quality"
)

// Match is what both sides play. It is the same on both.
type Match struct {
	Seed         uint64
	Ruleset      uint8
	Format       uint8
	Rounds       uint8
	Ranked       bool
	Mode         quality.Mode      // the more careful one of the two offers
	Teams        [2][maxTeam]uint8 // host, joiner
	Host, Joiner Offer
}

// Compare checks whether two offers can play together, own being the offer of
// the side that asks. The error is ErrIncompatible with one sentence that
// says which side is older or which setting stands against the host's.
func Compare(own, other Offer, host bool) error {
	if err := version("wire protocol", own.Wire, other.Wire); err != nil {
		return err
	}
	if err := version("simulation", own.Sim, other.Sim); err != nil {
		return err
	}
	if own.DataHash != other.DataHash {
		return fmt.Errorf("%w: the game data differs (%016x here, %016x there) although the versions are the same; both must use the same build or the same data file",
			ErrIncompatible, own.DataHash, other.DataHash)
	}
	h, j := own, other
	if !host {
		h, j = other, own
	}
	for _, s := range []struct {
		bit        Setting
		name       string
		host, join any
	}{
		{SetRuleset, "ruleset", h.Ruleset, j.Ruleset},
		{SetFormat, "format", h.Format, j.Format},
		{SetRounds, "rounds", h.Rounds, j.Rounds},
		{SetRanked, "ranked", h.Ranked, j.Ranked},
	} {
		if j.Explicit&s.bit != 0 && s.host != s.join {
			return fmt.Errorf("%w: the joiner asks for another %s (%v) than the host (%v); the host's counts, so the joiner must leave that setting out",
				ErrIncompatible, s.name, s.join, s.host)
		}
	}
	if h.Seeded && h.Ranked {
		return fmt.Errorf("%w: a ranked match cannot have a seed fixed by the host", ErrIncompatible)
	}
	return nil
}

func version(what string, own, other uint16) error {
	switch {
	case own < other:
		return fmt.Errorf("%w: this side is older (%s version %d, the opponent has %d); update this program", ErrIncompatible, what, own, other)
	case own > other:
		return fmt.Errorf("%w: the opponent is older (%s version %d, this side has %d); the opponent must update", ErrIncompatible, what, other, own)
	}
	return nil
}
