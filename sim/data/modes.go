package data

import "backstep/sim/fixed"

// Modes are the parts of a ruleset that only some rulesets have. What is 0 or false is not there.
type Modes struct {
	DizzyFrames int32 // a fighter whose stun is full stands dazed
	DriveBlock  int32 // drive lost for each blocked hit
	BurnoutStun int32 // further blockstun with the drive burnt out

	HeatFrames, HeatDamage int32 // length of Heat; factor of damage in it
	RageShare              int32 // percent of health at or below which a fighter is in Rage
	FatalShare             int32 // percent of health below which a fatal blow is possible
	KrushingDamage         int32 // factor

	SoulChargeFrames, SoulChargeDamage int32
	EdgeFrames, EdgeDamage             int32 // the choice of a reversal edge
	GuardCrush                         int32 // frames a fighter without guard stands dazed
	RingOut                            bool  // who is knocked over the edge has lost the round

	PinNeed, PinHurt        int32 // presses to kick out at full health, and how many more with none
	SubmitNeed              int32 // presses ahead that end a submission
	Scored                  bool  // at time over the damage dealt decides
	EnvironmentReach        fixed.Q
	EnvironmentDamage       int32
	EnvironmentShare        int32 // percent of health at or below which the environment can finish a fighter
	TiredShare, TiredDamage int32 // percent of stamina below which a fighter hits weaker, by this factor
	GutsShare, GutsDamage   int32 // percent of health at or below which it is hurt less, by this factor

}

func (r *Ruleset) parseModes(s *section) {
	r.DizzyFrames = s.optional("dizzy-frames", 0, 240, 0)
	r.DriveBlock = s.optional("drive-block", 0, 1000, 0)
	r.BurnoutStun = s.optional("burnout-stun", 0, 20, 0)
	r.HeatFrames = s.optional("heat-frames", 0, 3600, 0)
	r.HeatDamage = s.factor("heat-damage", 3*Unit, false)
	r.RageShare = s.optional("rage-share", 0, 100, 0)
	r.FatalShare = s.optional("fatal-share", 0, 100, 0)
	r.KrushingDamage = s.factor("krushing-damage", 3*Unit, false)
	r.SoulChargeFrames = s.optional("soul-charge-frames", 0, 3600, 0)
	r.SoulChargeDamage = s.factor("soul-charge-damage", 3*Unit, false)
	r.EdgeFrames = s.optional("reversal-edge-frames", 0, 120, 0)
	r.EdgeDamage = s.optional("reversal-edge-damage", 0, 500, 0)
	r.GuardCrush = s.optional("guard-crush-frames", 0, 240, 0)
	r.RingOut = s.yes("ring-out")
	r.PinNeed = s.optional("pin-need", 1, 200, 6)
	r.PinHurt = s.optional("pin-hurt", 0, 200, 20)
	r.SubmitNeed = s.optional("submission-need", 1, 200, 14)
	r.Scored = s.yes("scored")
	r.EnvironmentReach = s.decimal("environment-reach", 0, 400, false)
	r.EnvironmentDamage = s.optional("environment-damage", 0, 1000, 0)
	r.EnvironmentShare = s.optional("environment-share", 0, 100, 0)
	r.TiredShare = s.optional("tired-share", 0, 100, 0)
	r.TiredDamage = s.factor("tired-damage", Unit, false)
	r.GutsShare = s.optional("guts-share", 0, 100, 0)
	r.GutsDamage = s.factor("guts-damage", Unit, false)
	if r.HeatFrames > 0 && r.Heat.Max == 0 {
		s.fail(s.line, "heat-frames needs heat")
	}
	if r.DriveBlock > 0 && r.Drive.Max == 0 {
		s.fail(s.line, "drive-block needs drive")
	}
	if r.DizzyFrames > 0 && r.Stun.Max == 0 {
		s.fail(s.line, "dizzy-frames needs stun")
	}
	if r.GuardCrush > 0 && r.Block.Max == 0 {
		s.fail(s.line, "guard-crush-frames needs block")
	}
}
