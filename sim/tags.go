package sim

import (
	"hash/crc32"

	"backstep/sim/data"
)

// Names of the stance tags a fighter's state carries when its stance has none of its own.
const (
	TagStanding   = "State.Stance.Standing"
	TagCrouching  = "State.Stance.Crouching"
	TagAirborne   = "State.Stance.Airborne"
	TagGrounded   = "State.Stance.Grounded"
	TagInvincible = "State.Stance.Invincible"
)

var (
	tagStanding   = NameHash(TagStanding)
	tagCrouching  = NameHash(TagCrouching)
	tagAirborne   = NameHash(TagAirborne)
	tagGrounded   = NameHash(TagGrounded)
	tagInvincible = NameHash(TagInvincible)
)

// NameHash is how names enter the state: CRC-32 (IEEE) of their bytes, the same in every process.
func NameHash(name string) uint32 { return crc32.ChecksumIEEE([]byte(name)) }

// stanceTag gives the stance of a fighter as its tag.
func (s *stepper) stanceTag(i int) uint32 {
	f := &s.w.fighters[i]
	switch {
	case s.refuses(i) != 0:
		return tagInvincible
	case f.Action == Down:
		return tagGrounded
	case f.Air != 0:
		return tagAirborne
	case f.Mechanics.StanceKind != 0:
		return s.kind(i).Stances[f.Mechanics.StanceKind-1].Hash
	case f.Low != 0:
		return tagCrouching
	}
	return tagStanding
}

// tags gives the tags under State that a fighter has now, as ability filters read them.
func (s *stepper) tags(i int) data.TagMask {
	f := &s.w.fighters[i]
	marks := &s.roster.Marks
	var has data.TagMask
	set := func(m data.Mark, on bool) {
		if on {
			has |= marks[m]
		}
	}
	set(data.MarkAirborne, f.Air != 0)
	set(data.MarkCrouching, f.Air == 0 && f.Low != 0)
	set(data.MarkStanding, f.Air == 0 && f.Low == 0 && f.Action != Down && f.Action != Pinned)
	set(data.MarkGrounded, f.Action == Down)
	set(data.MarkInvincible, s.refuses(i) != 0)
	set(data.MarkJuggled, f.Action == Launched && f.JuggleHits > 0)
	set(data.MarkAttacking, f.Action == Attack)
	set(data.MarkBlocking, f.Action == Blockstun)
	set(data.MarkBlockstun, f.Action == Blockstun)
	set(data.MarkWalking, f.Action == WalkForward || f.Action == WalkBack)
	set(data.MarkRunning, f.Action == DashForward)
	set(data.MarkPinned, f.Action == Pinned)
	set(data.MarkPinning, f.Action == Pinning)
	set(data.MarkKiCharge, f.Mechanics.KiCharge > 0)
	set(data.MarkArmored, f.Armor > 0)
	set(data.MarkBurnout, f.Burnout != 0)
	set(data.MarkDazed, f.Action == Dazed)
	set(data.MarkGrabbed, f.Action == Thrown)
	set(data.MarkHeat, f.Mechanics.Heat > 0)
	set(data.MarkHitstun, f.Action == Hitstun)
	set(data.MarkKnockedOut, f.Health == 0)
	set(data.MarkLaunched, f.Action == Launched)
	set(data.MarkPowerCrush, f.Mechanics.PowerCrush > 0)
	set(data.MarkRage, f.Mechanics.Rage != 0)
	set(data.MarkReversalEdge, f.Mechanics.ReversalEdge > 0)
	set(data.MarkSoulCharge, f.Mechanics.SoulCharge > 0)
	set(data.MarkXFactor, s.w.teams[Side(i)].XFactor > 0)
	if k := f.Mechanics.StanceKind; k != 0 {
		has |= s.kind(i).Stances[k-1].Mark
	}
	return has
}
