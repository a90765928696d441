package sim

import "backstep/sim/data"

// EventKind says what an event reports.
type EventKind uint8

// The kinds of events.
const (
	EventPhase        EventKind = iota // Value: the new phase
	EventRound                         // Value: number of the round, from 0
	EventKO                            // the fighter is out
	EventTimeOver                      //
	EventRoundWon                      // Value: side, 2 for a draw
	EventMatchWon                      // Value: side, 2 for a draw
	EventJump                          //
	EventLand                          //
	EventDash                          // Value: 1 forward, -1 back
	EventMove                          // Value: move
	EventHit                           // the defender; Value: damage
	EventCounterHit                    // the defender; Value: damage
	EventBlock                         // the defender; Value: chip
	EventArmor                         // the defender; Value: damage
	EventGrab                          // the thrower
	EventTech                          // a fighter that broke a throw, or met one
	EventFall                          // a launched fighter reaches the ground
	EventWakeup                        //
	EventShot                          // Value: move
	EventClash                         // the owner of a shot that met another
	EventCancelOpen                    // Value: bits of what is open
	EventCancelShut                    //
	EventFlash                         // Value: frames everybody stands still
	EventGroundTech                    // Value: direction
	EventStance                        // Value: the stance, 0 for leaving one
	EventTaunt                         // Value: move; nothing but a show
	EventDazed                         // Value: frames
	EventGuardCrush                    // Value: frames
	EventBurnout                       // the drive is burnt out
	EventHeat                          // Value: frames
	EventRage                          //
	EventSoulCharge                    //
	EventReversalEdge                  // Value: frames to choose
	EventNode                          // Value: an injected node begins
	EventNodeEnd                       // Value: an injected node ends
	EventRingOut                       // the fighter is knocked over the edge
	EventCount                         // Value: one, two, three
	EventKickOut                       // Value: presses it took
	EventTapOut                        //
	EventEscape                        // out of a submission
	EventEnvironment                   // the fighter; Value: damage
	EventFinisher                      // the loser; Value: move
	EventTag                           // the point; Value: phase of the handshake
	EventAssist                        // who was called; Value: move
	EventMechanic                      // Value: mechanic of tag play
	eventKinds
)

var eventNames = [eventKinds]string{"phase", "round", "ko", "time over", "round won", "match won", "jump", "land", "dash", "move", "hit",
	"counter-hit", "block", "armor", "grab", "tech", "fall", "wakeup", "shot", "clash", "cancel open", "cancel shut", "flash", "ground tech",
	"stance", "taunt", "dazed", "guard crush", "burnout", "heat", "rage", "soul charge", "reversal edge", "node", "node end", "ring out",
	"count", "kick-out", "tap-out", "escape", "environment", "finisher", "tag", "assist", "mechanic"}

// String gives a name for logs and pages.
func (k EventKind) String() string {
	if k < eventKinds {
		return eventNames[k]
	}
	return "unknown"
}

// NoFighter stands for the match in Event.Fighter and Draw.Unit.
const NoFighter = 0xff

// Cosmetic tells whether the event is nothing but a show, so that a replay may leave it out (ABIL-13).
func (k EventKind) Cosmetic() bool { return k == EventTaunt }

// Event is one thing that happened in a frame. Its identity is (Frame, Fighter, Kind, Serial); Serial counts events that share the rest.
// X and Y are where, in whole centimetres.
type Event struct {
	Frame   int32
	Value   int32
	X, Y    int16
	Fighter uint8
	Kind    EventKind
	Serial  uint8
	Variant uint8 // free choice for the eye and ear, from the fighter's generator
}

// ID is the identity in one number: frame in the upper 32 bits, then fighter, kind and serial a byte each.
func (e Event) ID() uint64 {
	return uint64(uint32(e.Frame))<<32 | uint64(e.Fighter)<<16 | uint64(e.Kind)<<8 | uint64(e.Serial)
}

// HitConfirmed is the only thing hit detection hands on to hitstop, camera, sound and rumble. Lengths are frames.
type HitConfirmed struct {
	Frame                            int32
	Damage                           int32
	Hitstun                          int32 // of a hit on the ground; blockstun if Blocked
	AttackerHitstop, DefenderHitstop int16
	DefenderHitlag                   int16
	KrushingBlowFreeze               int16
	Attacker, Defender               uint8 // slots
	AttackerID, DefenderID           FighterID
	Move                             data.MoveID
	Reaction                         data.Reaction
	CounterHit, Blocked              bool
	Armored, Shot                    bool
	KrushingBlow                     bool
	KrushingBlowSequence             uint8
}

// Names gives the names of attacker, defender and move.
func (h HitConfirmed) Names() (attacker, defender, move string) {
	r := data.Embedded()
	if f := r.Fighter(h.DefenderID); f != nil {
		defender = f.Name
	}
	if f := r.Fighter(h.AttackerID); f != nil {
		attacker = f.Name
		if m := f.Move(h.Move); m != nil {
			move = m.Name
		}
	}
	return attacker, defender, move
}

// PresentEvent is made once by every step and says what a presentation may do with the frame.
type PresentEvent struct {
	Frame                  int32
	Policy                 Policy
	Phase                  Phase
	AudioMuted             bool
	ParticlesSuppressed    bool
	PresentationSuppressed bool
	SimulationOnly         bool
	Rumble, Montage        uint8              // ids of the newest hit, of the newest move
	Health                 [MaxFighters]int32 // of every fighter, on the stage or off it
}

// Bounds of what one step reports. Events beyond theirs are counted, not kept.
const (
	MaxEvents  = 24
	MaxHits    = 4
	MaxChanges = 12
)

// outputs is the report of the last step.
type outputs struct {
	present PresentEvent
	draw    [MaxFighters]Draw
	events  [MaxEvents]Event
	hits    [MaxHits]HitConfirmed
	change  [MaxChanges]AttributeChange
	inputs  [2]Input
	changes uint8
	draws   uint8
	n       uint8
	hit     uint8
	dropped uint8
}

// Events gives the events of the last step, at most MaxEvents. The slice points into w: it is good until w is stepped or assigned.
func (w *World) Events() []Event { return w.out.events[:w.out.n] }

// Hits gives the hits of the last step, at most MaxHits, likewise.
func (w *World) Hits() []HitConfirmed { return w.out.hits[:w.out.hit] }

// Draws gives the match-level draws of the last step, or of Reset, likewise.
func (w *World) Draws() []Draw { return w.out.draw[:w.out.draws] }

// Changes gives the changes of attributes of the last step that a move, a hit or an effect made, at most MaxChanges, likewise (ATTR-04).
func (w *World) Changes() []AttributeChange { return w.out.change[:w.out.changes] }

// Present gives the present event of the last step.
func (w *World) Present() PresentEvent { return w.out.present }

// Inputs gives the words of the last step by player, as they came.
func (w *World) Inputs() [2]Input { return w.out.inputs }

// Dropped gives the number of events of the last step that had no room.
func (w *World) Dropped() int { return int(w.out.dropped) }

// AppendEventIDs appends the ids of the events of the last step to dst.
func (w *World) AppendEventIDs(dst []uint64) []uint64 {
	for _, e := range w.Events() {
		dst = append(dst, e.ID())
	}
	return dst
}

func (s *stepper) event(slot int, kind EventKind, value int32) {
	e := Event{Frame: s.frame, Value: value, Fighter: NoFighter, Kind: kind}
	if slot >= 0 {
		f := &s.w.fighters[slot]
		e.Fighter, e.X, e.Y, e.Variant = uint8(slot), int16(f.X.Whole()), int16(f.Y.Whole()), uint8(f.RNGCursor>>24)
	}
	o := &s.w.out
	for _, other := range o.events[:o.n] {
		if other.Fighter == e.Fighter && other.Kind == kind {
			e.Serial++
		}
	}
	if int(o.n) == len(o.events) {
		o.dropped++
		return
	}
	o.events[o.n] = e
	o.n++
}

// present makes the one present event of the step.
func (s *stepper) present(p Policy) {
	quiet := p != Emit
	e := PresentEvent{Frame: s.frame, Policy: p, Phase: s.w.match.Phase,
		AudioMuted: quiet, ParticlesSuppressed: quiet, PresentationSuppressed: quiet, SimulationOnly: quiet}
	o := &s.w.out
	if o.hit > 0 {
		h := &o.hits[o.hit-1]
		if m := s.kind(int(h.Attacker)).Move(h.Move); m != nil {
			e.Rumble = m.Rumble
		}
	}
	for i := range int(s.w.count) {
		f := &s.w.fighters[i]
		e.Health[i] = f.Health
		if f.Move != 0 && f.MoveStart == s.frame {
			e.Montage = s.move(i).Montage
		}
	}
	o.present = e
}
