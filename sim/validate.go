package sim

import (
	"fmt"

	"backstep/sim/data"
)

// check collects the first thing that is wrong.
type check struct{ err error }

func (c *check) that(ok bool, format string, args ...any) {
	if !ok && c.err == nil {
		c.err = fmt.Errorf("%w: %s", ErrState, fmt.Sprintf(format, args...))
	}
}

// within asks for lo <= v <= hi.
func (c *check) within(name string, v, lo, hi int64) {
	if v < lo || v > hi {
		c.that(false, "%s %d is outside %d…%d", name, v, lo, hi)
	}
}

// Bounds no reachable state leaves.
const (
	mostTimer = 36000
	mostSpeed = int64(64 << 16)
	mostFrame = int64(1 << 30) // some 200 days, far from where int32 ends
)

// valid tells whether a decoded state is one that Step can go on from: every index in range, every number bounded. A world that
// was never Reset is valid only if it is entirely zero.
func (w *World) valid(r *data.Roster) error {
	if w.count == 0 {
		if w.state != (state{}) {
			return fmt.Errorf("%w: no fighters, but a match", ErrState)
		}
		return nil
	}
	if err := w.Config().valid(r); err != nil {
		return fmt.Errorf("%w: %w", ErrState, err)
	}
	var c check
	c.that(int(w.count) == 2*w.format.Roster(), "%d fighters in %s", w.count, w.format)
	c.that(w.active == 0b11 && w.point == [2]uint8{0, 1}, "not the fighters on the stage that %s has", w.format)
	c.within("frame", int64(w.frame), -1, mostFrame)
	c.within("draws", int64(w.drawn), MaxFighters, 1<<31)
	c.match(w)
	for i := range int(w.count) {
		if c.err != nil {
			break
		}
		c.fighter(r, w, i)
	}
	return c.err
}

func (c *check) match(w *World) {
	m := &w.match
	c.within("phase", int64(m.Phase), int64(Intro), Phases-1)
	c.within("last phase", int64(max(m.Last.From, m.Last.To)), 0, Phases-1)
	c.within("frames in the phase", int64(m.PhaseFrames), 0, mostFrame)
	c.within("timer", int64(m.Timer), 0, mostTimer)
	c.within("round", int64(m.Round), 0, 2*MaxRounds)
	c.within("rounds won", int64(max(m.Wins[0], m.Wins[1])), 0, int64(w.rounds))
	c.within("winner", int64(max(m.RoundWinner, m.MatchWinner)), 0, int64(winners)-1)
	c.within("slow motion", int64(m.SlowMotion), 0, 240)
	c.within("finisher freeze", int64(m.FinisherFreeze), 0, 240)
}

func (c *check) fighter(r *data.Roster, w *World, slot int) {
	f, k, rules := &w.fighters[slot], r.Fighter(w.fighters[slot].ID), r.Ruleset(w.ruleset)
	c.within("position", int64(f.X.Abs()), 0, int64(rules.StageHalf))
	c.within("height", int64(f.Y), 0, int64(2000<<16))
	c.within("speed", int64(max(f.VX.Abs(), f.VY.Abs(), f.Push.Abs())), 0, mostSpeed)
	c.within("largest health", int64(f.MaxHealth), int64(k.Health), int64(k.Health))
	c.within("health", int64(f.Health), 0, int64(f.MaxHealth))
	c.within("recoverable health", int64(f.Recoverable), 0, int64(f.MaxHealth-f.Health))
	c.within("largest meter", int64(f.MaxMeter), int64(rules.MeterMax), int64(rules.MeterMax))
	c.within("meter", int64(f.Meter), 0, int64(f.MaxMeter))
	c.within("combo damage", int64(f.ComboDamage), 0, 1<<20)
	c.within("animation frame", int64(f.AnimationFrame), 0, mostFrame)
	c.within("duration", int64(f.Duration), 0, 600)
	c.within("start of the move", int64(f.MoveStart), 0, mostFrame)
	c.within("start of the cancel window", int64(f.CancelFrame), 0, mostFrame)
	c.within("clock", int64(f.Clock), 0, mostFrame)
	c.within("hitstop", int64(f.HitstopFrames), 0, 255)
	c.within("hitlag", int64(f.HitlagFrames), 0, 255)
	c.within("recovery timer", int64(f.RecoverTimer), 0, 600)
	c.within("retreat", int64(f.RetreatFrames), 0, 32000)
	for _, e := range f.Buffer {
		c.that(e&^entryBits == 0, "input buffer entry %#04x", e)
	}
	c.that(f.Facing == 1 || f.Facing == -1, "facing %d", f.Facing)
	c.that(f.Action < actions && f.Contact < contacts, "action %d, contact %d", f.Action, f.Contact)
	c.that(f.Air <= 1 && f.Low <= 1 && f.AirUsed <= 1 && f.PushesBack <= 1 && f.Approached <= 1 && f.Mechanics.Rage <= 1, "a flag is neither 0 nor 1")
	c.within("jump direction", int64(f.JumpDir), -1, 1)
	c.within("tap direction", int64(f.TapDir), -1, 1)
	c.that((f.TapDir == 0) == (f.TapTimer == 0), "half a tap")
	c.within("tap timer", int64(f.TapTimer), 0, 30)
	c.that(f.ComboStarter < data.Starters, "combo starter %d", f.ComboStarter)
	holds := f.Action == Throwing || f.Action == Thrown
	c.that(f.Partner < w.count && (holds || f.Partner == 0) && (!holds || Side(int(f.Partner)) != Side(slot)), "partner %d", f.Partner)
	c.that(f.Air == 1 || (f.Y == 0 && f.Action != Airborne && f.Action != Launched && f.Action != Recoil), "on the ground and in the air at once")
	c.that(f.Air == 0 || f.Action == Airborne || f.Action == Launched || f.Action == Recoil || f.Action == Attack, "action %s in the air", f.Action)
	c.that(f.Move == 0 || f.Action == Attack || f.Action == Throwing, "move %d in action %s", f.Move, f.Action)
	for _, t := range [...]int16{f.Mechanics.AirJuggle, f.Mechanics.Heat, f.Mechanics.SoulCharge, f.Mechanics.CriticalEdge, f.Mechanics.ReversalEdge,
		f.Mechanics.KiCharge, f.Mechanics.PowerCrush, f.Mechanics.StanceEntry, f.Mechanics.StanceRecovery, f.Mechanics.StanceDuration} {
		c.within("mechanic", int64(t), 0, 32000)
	}
	c.move(k, f)
	for i := range f.Shots {
		c.shot(k, rules, &f.Shots[i])
	}
	zero := false
	for _, key := range f.Registry {
		c.that(key == 0 || (key&hitKey != 0 && !zero), "hit registry")
		zero = zero || key == 0
	}
}

func (c *check) move(k *data.Fighter, f *Fighter) {
	m := k.Move(f.Move)
	switch f.Action {
	case Attack:
		c.that(m != nil && (m.From == data.Air) == (f.Air == 1), "attack with move %d", f.Move)
		if m != nil {
			c.that(f.CancelOpen&^m.CancelInto == 0 && f.ArmorLeft <= m.ArmorHits && f.Duration == m.Total, "attack does not fit move %s", m.Key)
		}
	case Throwing:
		c.that(m != nil && m.Guard == data.Grab, "throw with move %d", f.Move)
		c.that(f.CancelOpen == 0, "cancel window outside an attack")
	default:
		c.that(f.CancelOpen == 0, "cancel window outside an attack")
	}
	fixedLength := f.Action >= DashForward && f.Action != Airborne && f.Action != Recoil && f.Action != Launched && f.Action != Thrown &&
		f.Action != Victory && f.Action != Down
	c.that(!fixedLength || f.Duration > 0, "action %s without an end", f.Action)
	c.that(f.Action != Down || f.Duration > 0 || f.Health == 0, "down without an end")
	c.that(f.Health > 0 || f.Action == Launched || f.Action == Down, "knocked out and in action %s", f.Action)
}

func (c *check) shot(k *data.Fighter, rules *data.Ruleset, p *Projectile) {
	if p.Life == 0 {
		c.that(*p == Projectile{}, "remains of a shot")
		return
	}
	m := k.Move(p.Move)
	if m == nil || m.Shot.Spawn == 0 {
		c.that(false, "shot of move %d", p.Move)
		return
	}
	c.within("life of a shot", int64(p.Life), 1, int64(m.Shot.Life))
	c.within("durability of a shot", int64(p.Durability), 1, int64(m.Shot.Durability))
	c.within("pause of a shot", int64(p.Pause), 0, shotPause)
	c.within("place of a shot", int64(p.X.Abs()), 0, int64(rules.StageHalf+rules.MaxApart)+int64(600<<16))
	c.within("height of a shot", int64(p.Y), -int64(600<<16), int64(4000<<16))
	c.within("speed of a shot", int64(max(p.VX.Abs(), p.VY.Abs())), 0, mostSpeed)
	c.that(p.Facing == 1 || p.Facing == -1, "shot faces %d", p.Facing)
}
