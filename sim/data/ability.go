package data

// Family is the combat family of a move (ABIL-14).
type Family uint8

// The twelve combat families.
const (
	Strike Family = iota
	ThrowFamily
	GroundedSpecial
	AirSpecial
	ProjectileFamily
	AssistCall
	SuperFamily
	GrappleClinch
	GrappleTakedown
	GrapplePin
	GrappleSubmission
	CinematicFinisher
	Families = 12
)

// Kind is the concrete kind of a move (ABIL-15): the six basic families, the plain super, nine supers of rulesets, four
// grapples and the finisher.
type Kind uint8

// The kinds. The first seven are the first seven families.
const (
	KindStrike Kind = iota
	KindThrow
	KindGroundedSpecial
	KindAirSpecial
	KindProjectile
	KindAssistCall
	KindSuper
	SFDriveImpact
	SFCriticalArt1
	SFCriticalArt2
	SFCriticalArt3
	TekkenRageArt
	MKXRay
	MKFatalBlow
	SCCriticalEdge
	DJBlazin
	KindClinch
	KindTakedown
	KindPin
	KindSubmission
	KindFinisher
	Kinds = 21
)

var kindNames = [Kinds]string{"strike", "throw", "grounded-special", "air-special", "projectile", "assist-call", "super",
	"sf-drive-impact", "sf-critical-art-1", "sf-critical-art-2", "sf-critical-art-3", "tekken-rage-art", "mk-x-ray", "mk-fatal-blow",
	"sc-critical-edge", "dj-blazin", "grapple-clinch", "grapple-takedown", "grapple-pin", "grapple-submission", "cinematic-finisher"}

// String gives the name used in data files.
func (k Kind) String() string {
	if k < Kinds {
		return kindNames[k]
	}
	return "unknown"
}

// kindOf gives the kind a move of a family has when its file names none.
func kindOf(f Family) Kind {
	if f <= SuperFamily {
		return Kind(f)
	}
	return KindClinch + Kind(f-GrappleClinch)
}

// Family gives the family a kind belongs to.
func (k Kind) Family() Family {
	switch {
	case k <= KindSuper:
		return Family(k)
	case k < KindClinch:
		return SuperFamily
	}
	return GrappleClinch + Family(k-KindClinch)
}

// Rules gives the ruleset a kind belongs to, and whether it belongs to one alone.
func (k Kind) Rules() (Rules, bool) {
	switch k {
	case SFDriveImpact, SFCriticalArt1, SFCriticalArt2, SFCriticalArt3:
		return SF, true
	case TekkenRageArt:
		return Tekken, true
	case MKXRay, MKFatalBlow:
		return MK, true
	case SCCriticalEdge:
		return SoulCalibur, true
	case DJBlazin:
		return DefJam, true
	}
	return 0, false
}

// NetworkMode says where an ability runs (ABIL-04).
type NetworkMode uint8

// The five network modes. Only DeterministicRollback touches the state of a rollback match.
const (
	DeterministicRollback NetworkMode = iota
	LocalPredicted
	ServerOnly
	ServerInitiated
	ClientCosmetic
	NetworkModes = 5
)

var networkNames = [NetworkModes]string{"deterministic-rollback", "local-predicted", "server-only", "server-initiated", "client-cosmetic"}

// ShouldRunDuringReplay tells whether what the move shows belongs into a replay: a cosmetic-only move is stripped there. What it
// does to the state happens all the same, so that the hashes stay equal (ABIL-13).
func (m *Move) ShouldRunDuringReplay(playback bool) bool { return !playback || !m.Cosmetic }
