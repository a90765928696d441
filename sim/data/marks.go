package data

import "fmt"

// Mark is a tag under State that the simulation sets by itself.
type Mark uint8

// The marks.
const (
	MarkStanding Mark = iota
	MarkCrouching
	MarkAirborne
	MarkGrounded
	MarkInvincible
	MarkJuggled
	MarkAttacking
	MarkBlocking
	MarkWalking
	MarkRunning
	MarkPinned
	MarkPinning
	MarkKiCharge
	MarkArmored
	MarkBlockstun
	MarkBurnout
	MarkDazed
	MarkGrabbed
	MarkHeat
	MarkHitstun
	MarkKnockedOut
	MarkLaunched
	MarkPowerCrush
	MarkRage
	MarkReversalEdge
	MarkSoulCharge
	MarkXFactor
	MarkCount = 27
)

var markNames = [MarkCount]string{"Stance.Standing", "Stance.Crouching", "Stance.Airborne", "Stance.Grounded", "Stance.Invincible", "Stance.Juggled",
	"Stance.Attacking", "Stance.Blocking", "Stance.Walking", "Stance.Running", "Stance.Pinned", "Stance.Pinning", "Stance.Tekken.KiCharge",
	"Status.Armored", "Status.Blockstun", "Status.Burnout", "Status.Dazed", "Status.Grabbed", "Status.Heat", "Status.Hitstun",
	"Status.KnockedOut", "Status.Launched", "Status.PowerCrush", "Status.Rage", "Status.ReversalEdge", "Status.SoulCharge", "Status.XFactor"}

// marks looks up the marks in the table.
func (t *Tags) marks() (out [MarkCount]TagMask, err error) {
	for i, n := range markNames {
		if out[i] = t.State("State." + n); out[i] == 0 {
			return out, fmt.Errorf("%w: %s: State.%s is missing", ErrInvalid, TagsPath, n)
		}
	}
	return out, nil
}
