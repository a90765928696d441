package sim

import "hash/crc32"

// Names of the stance tags a fighter's state carries.
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
	case f.Low != 0:
		return tagCrouching
	}
	return tagStanding
}
