package sim

import "backstep/sim/data"

// TagPhase is a phase of the handshake in which one fighter of a team leaves the stage and another comes (TAGT-21).
//
//	Idle ─> OutRequested ─┬─> OutMontageStarted ─┬─> InMontageStarted ─> Completed ─┐
//	  ^                   └──> Rejected <────────┘                                  │
//	  └──── the next request starts from Idle, Rejected or Completed ───────────────┘
type TagPhase uint8

// The phases.
const (
	TagIdle TagPhase = iota
	TagOutRequested
	TagOutMontageStarted
	TagInMontageStarted
	TagCompleted
	TagRejected
	TagPhases = 6
)

var tagPhaseNames = [TagPhases]string{"Idle", "TagOutRequested", "TagOutMontageStarted", "TagInMontageStarted", "Completed", "Rejected"}

// String gives the name for logs and pages.
func (p TagPhase) String() string {
	if p < TagPhases {
		return tagPhaseNames[p]
	}
	return "unknown"
}

var legalTag = [TagPhases]uint8{
	TagIdle:              1 << TagOutRequested,
	TagOutRequested:      1<<TagOutMontageStarted | 1<<TagRejected,
	TagOutMontageStarted: 1<<TagInMontageStarted | 1<<TagRejected,
	TagInMontageStarted:  1 << TagCompleted,
	TagCompleted:         1 << TagOutRequested,
	TagRejected:          1 << TagOutRequested,
}

// CanTag tells whether a step of the handshake is legal.
func CanTag(from, to TagPhase) bool {
	return from < TagPhases && to < TagPhases && legalTag[from]>>to&1 != 0
}

// Team is what a side has of tag play. Times are frames left.
type Team struct {
	AssistCooldown int16
	XFactor        int16 // more damage and speed
	Cross          int16 // two fighters under the same hands
	Baroque        int16
	Timer          int16 // of the phase
	Phase          TagPhase
	Why            data.Mechanic // what the change is part of
	To             uint8         // slot of who comes
	XFactorUsed    uint8         // once a match
	AnchorUsed     uint8         // once a match
}

// Transition takes a step of the handshake if it is legal and reports whether it did.
func (t *Team) Transition(to TagPhase) bool {
	if !CanTag(t.Phase, to) {
		return false
	}
	t.Phase = to
	return true
}

// Catalog is what there is of tag play (TAGT-20).
type Catalog struct {
	Formats, Mechanics, Queues []string
	MechanicsReady             bool // every mechanic has its row
	PairsReady                 bool // any two fighters have a row
}

// TagCatalog lists the formats of tag play, its mechanics and the queues a relay offers for it.
func TagCatalog() Catalog {
	c := Catalog{Queues: []string{"RankedTagTeam", "TagCoop", "CrewBattle"}, MechanicsReady: true}
	for f := Format2v2; f < formats; f++ {
		c.Formats = append(c.Formats, f.String())
	}
	team := &data.Embedded().Team
	for k := data.Mechanic(0); k < data.MechanicKinds; k++ {
		c.Mechanics = append(c.Mechanics, k.String())
		c.MechanicsReady = c.MechanicsReady && team.Mechanics[k].Damage > 0
	}
	c.PairsReady = team.Pairs() > 0
	return c
}

// What a change of fighters can be part of besides a mechanic: a plain tag, or the point being out.
const (
	plainTag      = data.AssistCalled // an assist changes nobody, so its number is free
	afterKnockout = data.Mechanic(data.MechanicKinds)
)
