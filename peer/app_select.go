package peer

import (
	"context"
	"strings"

	"backstep/peer/lounge"
	"backstep/peer/page"
	"backstep/sim"
)

// pick is the choice of fighters before a match; against the machine there is
// none. It returns when both sides are ready.
func (a *app) pick(ctx context.Context, m *company) error {
	c := &m.c
	began := now()
	if m.sparring {
		m.lounge.Set(lounge.Ready)
	} else if m.lounge.Own() != lounge.Ready {
		m.lounge.Set(lounge.Choosing)
	}
	screen := func() *page.Screen {
		if m.sparring {
			return starting("The machine is getting ready.", began, c.Timeout.Microseconds())
		}
		opponent := m.opponent()
		s := &page.Select{Kind: "match", Side: c.side(), Ruleset: c.Ruleset.String(), Format: c.Format.String(), Rounds: int(m.hostOffer.Rounds),
			Size: c.Format.Roster(), Opponent: &opponent, Match: m.match,
			You: page.Picked{Team: teamNames(c.Team), Ready: m.lounge.Own() == lounge.Ready}}
		s.They.Ready = m.lounge.Other() == lounge.Ready
		out := &page.Screen{Select: s}
		if s.You.Ready {
			out.Wait = wait("your opponent is still choosing", began, 0)
		}
		return out
	}
	command := func(cmd page.Command) error {
		switch cmd.Cmd {
		case "cancel", "leave", "title":
			return errCancelled
		case "pick":
			if m.sparring {
				return nil
			}
			if len(cmd.Team) > 0 {
				team, ok := a.team(c, cmd.Team)
				if !ok {
					return nil // nobody is ready with fighters that were not picked
				}
				c.Team = team
			}
			if cmd.Ready != nil && *cmd.Ready {
				m.lounge.Set(lounge.Ready)
			} else if cmd.Ready != nil {
				m.lounge.Set(lounge.Choosing)
			}
		}
		return nil
	}
	done := func() (bool, error) {
		if err := m.lounge.Err(); err != nil {
			return false, errOf(err)
		}
		return m.lounge.Begun(), nil
	}
	return a.stay(ctx, m, screen, command, done)
}

// team reads the fighters a player picked; those that do not fit the format
// are refused with a notice.
func (a *app) team(c *Config, names []string) (team [3]sim.FighterID, ok bool) {
	if len(names) == 0 {
		return team, false
	}
	team, err := sim.ParseTeam(strings.Join(names, ","))
	if err == nil {
		w := c.world()
		w.Teams = [2][3]sim.FighterID{team, team}
		err = w.Valid()
	}
	if err != nil {
		a.page.Notice("warn", sentence(err.Error()))
		return team, false
	}
	return team, true
}
