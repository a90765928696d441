package sim

import (
	"errors"
	"fmt"

	"backstep/sim/data"
)

// refusal says why a fighter cannot begin a move now.
type refusal uint8

const (
	allowed refusal = iota
	notUnderRules
	notHere
	noMeter
	noDrive
	burntOut
	noStamina
	noMKStamina
	noHype
	noHeat
	notInHeat
	notInRage
	rageLocked
	notCharged
	tooHealthy
	usedUp
	shotOut
	noGround
	sourceLacks
	sourceBlocks
	targetLacks
	targetBlocks
	refusals
)

var refusalText = [refusals]string{"", "it does not belong to these rules", "it does not run inside a rollback match", "not enough super meter",
	"not enough drive", "the drive is burnt out", "not enough stamina", "not enough stamina for an escape", "not enough hype", "not enough heat",
	"the fighter is not in Heat", "the fighter is not in Rage", "Rage has only just begun", "the soul is not charged",
	"health is not low enough", "it has been used in this round", "a shot is still under way", "these rules have no pins or submissions",
	"the fighter lacks a state it requires", "a state of the fighter forbids it", "the opponent lacks a state it requires",
	"a state of the opponent forbids it"}

// ErrRefused means that a fighter cannot do what was asked. The text around it says why.
var ErrRefused = errors.New("refused")

// refusal tells whether a fighter has all that a move asks for.
func (s *stepper) refusal(i int, m *data.Move) refusal {
	f := &s.w.fighters[i]
	switch {
	case !m.Under(s.w.ruleset):
		return notUnderRules
	case m.Network != data.DeterministicRollback:
		return notHere
	case f.SuperMeter < m.Cost:
		return noMeter
	case m.Shot.Spawn != 0 && f.Shots[0].Life != 0:
		return shotOut
	case m.Grounding() && !s.hasContest(m):
		return noGround
	}
	if m.Costs != (data.Costs{}) {
		if r := s.lacks(f, &m.Costs); r != allowed {
			return r
		}
	}
	if m.Needs != (data.Needs{}) {
		if r := s.needs(i, m); r != allowed {
			return r
		}
	}
	if m.SourceRequires|m.SourceBlocks != 0 {
		switch has := s.tags(i); {
		case has&m.SourceRequires != m.SourceRequires:
			return sourceLacks
		case has&m.SourceBlocks != 0:
			return sourceBlocks
		}
	}
	if m.TargetRequires|m.TargetBlocks != 0 {
		switch has := s.tags(s.foe(i)); {
		case has&m.TargetRequires != m.TargetRequires:
			return targetLacks
		case has&m.TargetBlocks != 0:
			return targetBlocks
		}
	}
	return allowed
}

func (s *stepper) lacks(f *Fighter, c *data.Costs) refusal {
	switch {
	case c.Drive > 0 && f.Burnout != 0:
		return burntOut
	case f.Drive < c.Drive:
		return noDrive
	case f.Stamina < c.Stamina:
		return noStamina
	case f.MKStamina < c.MKStamina:
		return noMKStamina
	case f.Hype < c.Hype:
		return noHype
	case f.Heat < c.Heat:
		return noHeat
	}
	return allowed
}

func (s *stepper) needs(i int, m *data.Move) refusal {
	f := &s.w.fighters[i]
	n := &m.Needs
	switch {
	case n.Heat && f.Mechanics.Heat == 0:
		return notInHeat
	case n.Rage && f.Mechanics.Rage == 0:
		return notInRage
	case n.Rage && s.w.match.Nodes[data.TekkenRageActivationLockout] > 0:
		return rageLocked
	case n.SoulCharge && f.Mechanics.SoulCharge == 0:
		return notCharged
	case n.LowHealth && f.Health*100 >= f.MaxHealth*s.rules.FatalShare:
		return tooHealthy
	case n.Once && f.Used>>(m.ID&63)&1 != 0:
		return usedUp
	}
	return allowed
}

// CanActivate tells whether the fighter in a slot has the meters, health, states and rules that a move asks for; if not, the error
// wraps ErrRefused and says what is missing. Whether it is free to act, or in the range of a cancel, is not asked. It allocates
// only for an error.
func (w *World) CanActivate(slot int, id data.MoveID) error {
	r := data.Embedded()
	return w.canActivate(r, slot, id)
}

func (w *World) canActivate(r *data.Roster, slot int, id data.MoveID) error {
	if slot < 0 || slot >= int(w.count) {
		return fmt.Errorf("%w: there is no fighter in slot %d", ErrRefused, slot)
	}
	m := r.Fighter(w.fighters[slot].ID).Move(id)
	if m == nil {
		return fmt.Errorf("%w: %s has no move %d", ErrRefused, r.Fighter(w.fighters[slot].ID).Name, id)
	}
	s := newStepper(w, r)
	if why := s.refusal(slot, m); why != allowed {
		return fmt.Errorf("%w: %s: %s", ErrRefused, m.Name, refusalText[why])
	}
	return nil
}
