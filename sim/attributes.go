package sim

// Vitals is the first of the six attribute sets: 23 meters, current values beside their most (ATTR-02). Whole points.
type Vitals struct {
	Health, MaxHealth         int32
	RecoverableHealth         int32 // comes back while the fighter is free, gone with the next hit
	Stun, MaxStun             int32
	Stamina, MaxStamina       int32
	MKStamina, MaxMKStamina   int32
	Hype, MaxHype             int32
	SuperMeter, MaxSuperMeter int32
	Drive, MaxDrive           int32
	Heat, MaxHeat             int32
	Armor                     int32 // hits the move can still take
	Resolve                   int32 // percent: what is left to kick out with
	Block                     int32 // the guard, where it can break
	Stunmeter                 int32 // Stun in percent of MaxStun
	Meter, MaxMeter           int32 // older name of the super meter, always equal to it
}

// Combat holds factors in ten-thousandths.
type Combat struct {
	MeleeDamageMul, CounterHitMul int16
	JuggleScaling                 int16 // of the last hit taken in the air
	ChipMul, DefenseMul           int16
}

// MMA holds the stamina of limbs in percent, the skill to change positions in ten-thousandths, and frames of holding the top.
type MMA struct{ LimbStaminaHead, LimbStaminaTorso, LimbStaminaLegs, TransitionSkill, TopPosition int16 }

// Movement holds factors in ten-thousandths.
type Movement struct{ WalkMul, DashMul, JumpMul int16 }

// Weapon holds factors in ten-thousandths: of damage and of chip.
type Weapon struct{ Power, Chip int16 }

// Wrestling holds the damage of limbs in points.
type Wrestling struct{ LimbDamageHead, LimbDamageTorso, LimbDamageLegs int16 }

// Attribute names one field of the six sets.
type Attribute uint8

// The attributes: 23 of Vitals, then Combat, MMA, Movement, Weapon and Wrestling.
const (
	AttrHealth Attribute = iota
	AttrMaxHealth
	AttrRecoverableHealth
	AttrStun
	AttrMaxStun
	AttrStamina
	AttrMaxStamina
	AttrMKStamina
	AttrMaxMKStamina
	AttrHype
	AttrMaxHype
	AttrSuperMeter
	AttrMaxSuperMeter
	AttrDrive
	AttrMaxDrive
	AttrHeat
	AttrMaxHeat
	AttrArmor
	AttrResolve
	AttrBlock
	AttrStunmeter
	AttrMeter
	AttrMaxMeter
	AttrMeleeDamageMul
	AttrCounterHitMul
	AttrJuggleScaling
	AttrChipMul
	AttrDefenseMul
	AttrLimbStaminaHead
	AttrLimbStaminaTorso
	AttrLimbStaminaLegs
	AttrTransitionSkill
	AttrTopPosition
	AttrWalkMul
	AttrDashMul
	AttrJumpMul
	AttrWeaponPower
	AttrWeaponChip
	AttrLimbDamageHead
	AttrLimbDamageTorso
	AttrLimbDamageLegs
	Attributes = 41

	vitalsCount = 23
)

var attributeNames = [Attributes]string{"Health", "MaxHealth", "RecoverableHealth", "Stun", "MaxStun", "Stamina", "MaxStamina", "MKStamina",
	"MaxMKStamina", "Hype", "MaxHype", "SuperMeter", "MaxSuperMeter", "Drive", "MaxDrive", "Heat", "MaxHeat", "Armor", "Resolve", "Block",
	"Stunmeter", "Meter", "MaxMeter", "MeleeDamageMul", "CounterHitMul", "JuggleScaling", "ChipMul", "DefenseMul", "LimbStaminaHead",
	"LimbStaminaTorso", "LimbStaminaLegs", "TransitionSkill", "TopPosition", "WalkMul", "DashMul", "JumpMul", "WeaponPower", "WeaponChip",
	"LimbDamageHead", "LimbDamageTorso", "LimbDamageLegs"}

// String gives the name for logs and pages.
func (a Attribute) String() string {
	if a < Attributes {
		return attributeNames[a]
	}
	return "unknown"
}

// Set gives the name of the set an attribute belongs to.
func (a Attribute) Set() string {
	switch {
	case a < vitalsCount:
		return "Vitals"
	case a < AttrLimbStaminaHead:
		return "Combat"
	case a < AttrWalkMul:
		return "MMA"
	case a < AttrWeaponPower:
		return "Movement"
	case a < AttrLimbDamageHead:
		return "Weapon"
	}
	return "Wrestling"
}

// vital points at a field of Vitals.
func (v *Vitals) vital(a Attribute) *int32 {
	switch a {
	case AttrHealth:
		return &v.Health
	case AttrMaxHealth:
		return &v.MaxHealth
	case AttrRecoverableHealth:
		return &v.RecoverableHealth
	case AttrStun:
		return &v.Stun
	case AttrMaxStun:
		return &v.MaxStun
	case AttrStamina:
		return &v.Stamina
	case AttrMaxStamina:
		return &v.MaxStamina
	case AttrMKStamina:
		return &v.MKStamina
	case AttrMaxMKStamina:
		return &v.MaxMKStamina
	case AttrHype:
		return &v.Hype
	case AttrMaxHype:
		return &v.MaxHype
	case AttrSuperMeter:
		return &v.SuperMeter
	case AttrMaxSuperMeter:
		return &v.MaxSuperMeter
	case AttrDrive:
		return &v.Drive
	case AttrMaxDrive:
		return &v.MaxDrive
	case AttrHeat:
		return &v.Heat
	case AttrMaxHeat:
		return &v.MaxHeat
	case AttrArmor:
		return &v.Armor
	case AttrResolve:
		return &v.Resolve
	case AttrBlock:
		return &v.Block
	case AttrStunmeter:
		return &v.Stunmeter
	case AttrMeter:
		return &v.Meter
	}
	return &v.MaxMeter
}

// small points at a field of the other sets.
func (f *Fighter) small(a Attribute) *int16 {
	switch a {
	case AttrMeleeDamageMul:
		return &f.Combat.MeleeDamageMul
	case AttrCounterHitMul:
		return &f.Combat.CounterHitMul
	case AttrJuggleScaling:
		return &f.Combat.JuggleScaling
	case AttrChipMul:
		return &f.Combat.ChipMul
	case AttrDefenseMul:
		return &f.Combat.DefenseMul
	case AttrLimbStaminaHead:
		return &f.MMA.LimbStaminaHead
	case AttrLimbStaminaTorso:
		return &f.MMA.LimbStaminaTorso
	case AttrLimbStaminaLegs:
		return &f.MMA.LimbStaminaLegs
	case AttrTransitionSkill:
		return &f.MMA.TransitionSkill
	case AttrTopPosition:
		return &f.MMA.TopPosition
	case AttrWalkMul:
		return &f.Movement.WalkMul
	case AttrDashMul:
		return &f.Movement.DashMul
	case AttrJumpMul:
		return &f.Movement.JumpMul
	case AttrWeaponPower:
		return &f.Weapon.Power
	case AttrWeaponChip:
		return &f.Weapon.Chip
	case AttrLimbDamageHead:
		return &f.Wrestling.LimbDamageHead
	case AttrLimbDamageTorso:
		return &f.Wrestling.LimbDamageTorso
	}
	return &f.Wrestling.LimbDamageLegs
}

// Attribute gives the value of an attribute.
func (f *Fighter) Attribute(a Attribute) int32 {
	switch {
	case a < vitalsCount:
		return *f.vital(a)
	case a < Attributes:
		return int32(*f.small(a))
	}
	return 0
}

// Limits of attributes without a field for their most.
const (
	mostFactor = 30000
	mostLimb   = 10000
	mostArmor  = 9
	mostBlock  = 10000
	mostTop    = 3600
)

// most gives the largest value an attribute may have now.
func (f *Fighter) most(a Attribute) int32 {
	switch a {
	case AttrHealth:
		return f.MaxHealth
	case AttrRecoverableHealth:
		return f.MaxHealth - f.Health
	case AttrStun:
		return f.MaxStun
	case AttrStamina:
		return f.MaxStamina
	case AttrMKStamina:
		return f.MaxMKStamina
	case AttrHype:
		return f.MaxHype
	case AttrSuperMeter:
		return f.MaxSuperMeter
	case AttrDrive:
		return f.MaxDrive
	case AttrHeat:
		return f.MaxHeat
	case AttrMeter:
		return f.MaxMeter
	case AttrArmor:
		return mostArmor
	case AttrBlock:
		return mostBlock
	case AttrResolve, AttrStunmeter, AttrLimbStaminaHead, AttrLimbStaminaTorso, AttrLimbStaminaLegs:
		return 100
	case AttrTransitionSkill, AttrLimbDamageHead, AttrLimbDamageTorso, AttrLimbDamageLegs:
		return mostLimb
	case AttrTopPosition:
		return mostTop
	}
	if a < vitalsCount {
		return 1 << 20
	}
	return mostFactor
}

// change adds to an attribute, keeps it between 0 and its most, and gives what it was and what it is (ATTR-03).
func (f *Fighter) change(a Attribute, by int32) (before, after int32) {
	if a < vitalsCount {
		at := f.vital(a)
		before = *at
		after = max(0, min(f.most(a), before+by))
		*at = after
		return before, after
	}
	at := f.small(a)
	before = int32(*at)
	after = max(0, min(f.most(a), before+by))
	*at = int16(after)
	return before, after
}
