package present

import (
	"backstep/sim"
	"backstep/sim/data"
)

// Fighter is what is drawn of a fighter.
type Fighter struct {
	X, Y, VX, VY                   sim.Fixed
	Health, MaxHealth, Recoverable int32
	Meter, MaxMeter                int32
	ActionFrame, ActionLength      int32 // frames, from 1; length 0: open
	ComboDamage                    int32
	Hitstop, Hitlag                int16
	Mechanics                      sim.Mechanics
	ID                             sim.FighterID
	Facing                         int8
	Action                         sim.Action
	Move                           data.MoveID
	Contact                        sim.Contact
	Bits                           Bits
	ComboHits, JuggleHits          uint8
	Partner, CancelOpen            uint8
	Word                           uint16 // input of the frame
	Gauges                         Gauges
	Code                           Code
}

// Gauges are the meters that only some rulesets have, in 255ths of their most,
// but Armor, which counts hits, and Resolve, which is per cent.
type Gauges struct {
	Drive, Stun, Stamina, Heat, Hype, Resolve, Armor uint8
	Place                                            sim.Place
	Block                                            uint8 // the guard, per cent where it can break
}

func gaugesOf(f *sim.Fighter) Gauges {
	share := func(v, most int32) uint8 {
		if most <= 0 {
			return 0
		}
		return uint8(int64(max(0, min(v, most))) * 255 / int64(most))
	}
	small := func(v int32) uint8 { return uint8(max(0, min(v, 255))) }
	return Gauges{Drive: share(f.Drive, f.MaxDrive), Stun: share(f.Stun, f.MaxStun), Stamina: share(f.Stamina, f.MaxStamina),
		Heat: share(f.Vitals.Heat, f.MaxHeat), Hype: share(f.Hype, f.MaxHype), Resolve: small(f.Resolve), Armor: small(f.Armor),
		Place: f.Place, Block: small(f.Block)}
}

// Bits are small facts about a fighter.
type Bits uint8

// The bits.
const (
	InAir Bits = 1 << iota
	IsLow
	InRage
	HasArmor
	OnStage
	ThrowSafe
	BurntOut
)

// Shot is what is drawn of a projectile.
type Shot struct {
	X, Y, VX, VY sim.Fixed
	Life         int32
	Owner        uint8 // slot
	Move         data.MoveID
	Durability   uint8
	Facing       int8
}

// MaxShots is the most shots on a stage.
const MaxShots = sim.MaxFighters * sim.Shots

// NoScene is Scene.Node outside of one.
const NoScene = 255

// Scene is what a node that some rules inject into a match shows: a pin, a
// submission, a fall off the stage, the points of a round.
type Scene struct {
	Node          uint8 // data.NodeKind, NoScene for none
	Frames        int16 // left
	Struggle      int16 // presses of the one held minus those of the one holding
	Owner, Target uint8 // slots of who holds and who is held
	Fallen        uint8 // bits of the sides that fell
	Score         [2]uint16
}

func sceneOf(m *sim.Match) Scene {
	s := Scene{Node: NoScene, Struggle: m.Struggle, Owner: m.Owner, Target: m.Target, Fallen: m.Fallen}
	for k, left := range m.Nodes {
		if left > s.Frames {
			s.Node, s.Frames = uint8(k), left
		}
	}
	for side, points := range m.Score {
		s.Score[side] = uint16(max(0, min(points, 1<<16-1)))
	}
	return s
}

// State is one frame as it is drawn. It is a value without pointers.
type State struct {
	Frame       int32
	Timer       int32 // frames left of the round
	PhaseFrames int32
	Phase       sim.Phase
	Round       uint8
	Wins        [2]uint8
	RoundWinner sim.Winner
	MatchWinner sim.Winner
	SlowMotion  uint8
	Freeze      uint8
	Scene       Scene
	Count       uint8 // fighters
	Active      uint8 // bit per slot
	Point       [2]uint8
	ShotCount   uint8
	Fighters    [sim.MaxFighters]Fighter
	Shots       [MaxShots]Shot
}

// Take makes s a copy of what w shows. It reads w only and does not allocate.
func (s *State) Take(w *sim.World) {
	m := w.Match()
	*s = State{
		Frame: w.Frame(), Timer: m.Timer, PhaseFrames: m.PhaseFrames, Phase: m.Phase, Round: m.Round, Wins: m.Wins,
		RoundWinner: m.RoundWinner, MatchWinner: m.MatchWinner, SlowMotion: m.SlowMotion, Freeze: m.FinisherFreeze,
		Scene: sceneOf(&m),
		Count: uint8(w.Fighters()), Point: [2]uint8{uint8(w.Point(0)), uint8(w.Point(1))},
	}
	in := w.Inputs()
	for slot := range w.Fighters() {
		f := w.Fighter(slot)
		if w.Active(slot) {
			s.Active |= 1 << slot
		}
		s.Fighters[slot] = take(&f, w.Active(slot), in[sim.Side(slot)].Now)
		for i := range f.Shots {
			if p := &f.Shots[i]; p.Life > 0 {
				s.Shots[s.ShotCount] = Shot{p.X, p.Y, p.VX, p.VY, p.Life, uint8(slot), p.Move, p.Durability, p.Facing}
				s.ShotCount++
			}
		}
	}
}

func take(f *sim.Fighter, active bool, word uint16) Fighter {
	out := Fighter{
		X: f.X, Y: f.Y, VX: f.VX, VY: f.VY, Health: f.Health, MaxHealth: f.MaxHealth, Recoverable: f.RecoverableHealth,
		Meter: f.Meter, MaxMeter: f.MaxMeter, ActionFrame: f.AnimationFrame, ActionLength: f.Duration, ComboDamage: f.ComboDamage,
		Hitstop: f.HitstopFrames, Hitlag: f.HitlagFrames, Mechanics: f.Mechanics, ID: f.ID, Facing: f.Facing,
		Action: f.Action, Move: f.Move, Contact: f.Contact, ComboHits: f.ComboHits, JuggleHits: f.JuggleHits,
		Partner: f.Partner, CancelOpen: f.CancelOpen, Word: word, Code: codeOf(f), Gauges: gaugesOf(f),
	}
	for _, b := range [...]struct {
		set bool
		bit Bits
	}{
		{f.Air != 0, InAir}, {f.Low != 0, IsLow}, {f.Mechanics.Rage != 0, InRage}, {f.Armor != 0, HasArmor},
		{active, OnStage}, {f.ThrowProtect != 0, ThrowSafe}, {f.Burnout != 0, BurntOut},
	} {
		if b.set {
			out.Bits |= b.bit
		}
	}
	return out
}
