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
	c.teams(r, w)
	c.within("frame", int64(w.frame), -1, mostFrame)
	c.within("draws", int64(w.drawn), MaxFighters, 1<<31)
	c.match(r, w)
	for i := range int(w.count) {
		if c.err != nil {
			break
		}
		c.fighter(r, w, i)
	}
	return c.err
}

func (c *check) match(r *data.Roster, w *World) {
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
	rules := r.Ruleset(w.ruleset)
	for k, n := range m.Nodes {
		c.within("node", int64(n), 0, int64(rules.Nodes[k].Frames))
	}
	c.within("score", int64(max(m.Score[0], m.Score[1])), 0, 1<<20)
	c.within("score", int64(min(m.Score[0], m.Score[1])), 0, 1<<20)
	c.within("struggle", int64(m.Struggle), -600, 600)
	c.within("fallen", int64(m.Fallen), 0, 3)
	held := m.Nodes[data.WWEPin] > 0 || m.Nodes[data.WWESubmission] > 0
	tied := held || m.Nodes[data.DJEnvironmentFinisherPrompt] > 0
	c.that(max(m.Owner, m.Target) < w.count && tied == (m.Owner != m.Target), "slots %d and %d in a struggle", m.Owner, m.Target)
	c.that(tied || (m.Owner == 0 && m.Target == 0), "a struggle nobody is in")
	c.that(!tied || Side(int(m.Owner)) != Side(int(m.Target)), "a struggle within a team")
	c.that(m.Phase == FinisherWindow || m.Nodes[data.MKFinisherWindow] == 0 || m.Phase == MatchEnd, "a finisher window in %s", m.Phase)
}

// teams checks who is where.
func (c *check) teams(r *data.Roster, w *World) {
	tuning := &r.Team
	for side := range w.teams {
		t := &w.teams[side]
		p := int(w.point[side])
		c.that(p < int(w.count) && Side(p) == side, "point %d of side %d", p, side)
		c.that(t.Phase < TagPhases && t.Why <= afterKnockout && t.To < w.count, "tag phase %d for %d to %d", t.Phase, t.Why, t.To)
		c.that(t.Phase == TagIdle || Side(int(t.To)) == side, "a tag to slot %d of the other side", t.To)
		c.that(t.Phase != TagIdle || (t.To == 0 && t.Timer == 0 && t.Why == 0), "remains of a tag")
		c.within("tag timer", int64(t.Timer), 0, 120)
		c.within("assist cooldown", int64(t.AssistCooldown), 0, int64(tuning.Mechanics[data.AssistCalled].Cooldown))
		c.within("x-factor", int64(t.XFactor), 0, int64(tuning.Mechanics[data.XFactorPandora].Frames))
		c.within("cross assault", int64(t.Cross), 0, int64(tuning.Mechanics[data.CrossAssault].Frames))
		c.within("baroque", int64(t.Baroque), 0, int64(tuning.Mechanics[data.BaroqueDuoCancel].Frames))
		c.that(t.XFactorUsed <= 1 && t.AnchorUsed <= 1, "a flag of a team is neither 0 nor 1")
		c.that(w.count > 2 || *t == Team{}, "tag play in %s", w.format)
	}
	if c.err != nil {
		return
	}
	for i := range MaxFighters {
		if i >= int(w.count) {
			c.that(!w.Active(i), "nobody in slot %d is on the stage", i)
			continue
		}
		f := &w.fighters[i]
		c.that(f.Place < places && w.Active(i) == (f.Place != Bench), "slot %d is on the stage and off it", i)
		c.that((f.Place == OnPoint) == (int(w.point[Side(i)]) == i), "slot %d leads and does not", i)
	}
}

func (c *check) fighter(r *data.Roster, w *World, slot int) {
	f, k, rules := &w.fighters[slot], r.Fighter(w.fighters[slot].ID), r.Ruleset(w.ruleset)
	c.within("position", int64(f.X.Abs()), 0, int64(rules.StageHalf))
	c.within("height", int64(f.Y), 0, int64(2000<<16))
	c.within("speed", int64(max(f.VX.Abs(), f.VY.Abs(), f.Push.Abs())), 0, mostSpeed)
	c.vitals(k, rules, f)
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
	for _, flag := range [...]uint8{f.Air, f.Low, f.AirUsed, f.PushesBack, f.Approached, f.Lay, f.Hard, f.Launcher, f.RageSpent, f.Burnout, f.Mechanics.Rage} {
		c.that(flag <= 1, "a flag is neither 0 nor 1")
	}
	c.within("choice", int64(f.Choice), 0, 3)
	c.that(f.Choice == 0 || f.Action == Prompted, "a choice nobody asked for")
	c.within("tech timer", int64(f.TechTimer), -techLock, int64(max(1, rules.RollWindow)))
	c.within("roll direction", int64(f.RollDir), -1, 1)
	c.within("lying", int64(f.Lie), 0, 120)
	c.within("lock", int64(f.Lock), 0, int64(r.Team.Mechanics[data.Snapback].Frames))
	c.within("regeneration", int64(f.Regen), 0, regenUnit-1)
	st := f.Mechanics.StanceKind
	c.that(int(st) <= len(k.Stances) && (st == 0 || f.Action.Neutral() || f.Action == Attack), "stance %d in action %s", st, f.Action)
	c.within("jump direction", int64(f.JumpDir), -1, 1)
	c.within("tap direction", int64(f.TapDir), -1, 1)
	c.that((f.TapDir == 0) == (f.TapTimer == 0), "half a tap")
	c.within("tap timer", int64(f.TapTimer), 0, 30)
	c.that(f.ComboStarter < data.Starters, "combo starter %d", f.ComboStarter)
	holds := f.Action.grips()
	c.that(f.Partner < w.count && (holds || f.Partner == 0) && (!holds || Side(int(f.Partner)) != Side(slot)), "partner %d", f.Partner)
	c.that(f.Air == 1 || (f.Y == 0 && f.Action != Airborne && f.Action != Launched && f.Action != Recoil), "on the ground and in the air at once")
	c.that(f.Air == 0 || f.Action == Airborne || f.Action == Launched || f.Action == Recoil || f.Action == Attack, "action %s in the air", f.Action)
	m := &w.match
	c.that((f.Action != Pinning || int(m.Owner) == slot) && (f.Action != Pinned || int(m.Target) == slot), "action %s of slot %d outside a struggle", f.Action, slot)
	c.that(f.Place != Bench || (f.Action == Idle && f.Air == 0 && f.HitstopFrames == 0 && f.HitlagFrames == 0), "action %s off the stage", f.Action)
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

// vitals checks the attributes.
func (c *check) vitals(k *data.Fighter, rules *data.Ruleset, f *Fighter) {
	for _, m := range [...]struct {
		at         Attribute
		most, want int32
	}{{AttrMaxHealth, f.MaxHealth, k.Health}, {AttrMaxSuperMeter, f.MaxSuperMeter, rules.MeterMax}, {AttrMaxMeter, f.MaxMeter, rules.MeterMax},
		{AttrMaxDrive, f.MaxDrive, rules.Drive.Max}, {AttrMaxStamina, f.MaxStamina, rules.Stamina.Max}, {AttrMaxMKStamina, f.MaxMKStamina, rules.MKStamina.Max},
		{AttrMaxHype, f.MaxHype, rules.Hype.Max}, {AttrMaxHeat, f.MaxHeat, rules.Heat.Max}, {AttrMaxStun, f.MaxStun, rules.Stun.Max}} {
		c.that(m.most == m.want, "%s %d, not %d", m.at, m.most, m.want)
	}
	c.that(f.Meter == f.SuperMeter, "meter %d beside super meter %d", f.Meter, f.SuperMeter)
	c.within("guard", int64(f.Block), 0, int64(rules.Block.Max))
	if c.err != nil {
		return
	}
	for a := range Attribute(Attributes) {
		if v, most := f.Attribute(a), f.most(a); v < 0 || v > most {
			c.that(false, "%s %d is outside 0…%d", a, v, most)
		}
	}
}

func (c *check) move(k *data.Fighter, f *Fighter) {
	m := k.Move(f.Move)
	switch f.Action {
	case Attack:
		c.that(m != nil && (m.From == data.Air) == (f.Air == 1), "attack with move %d", f.Move)
		if m != nil {
			c.that(f.CancelOpen&^m.CancelInto == 0 && f.Armor <= int32(m.ArmorHits) && f.Duration == m.Total, "attack does not fit move %s", m.Key)
		}
	case Throwing:
		c.that(m != nil && m.Guard == data.Grab, "throw with move %d", f.Move)
		c.that(f.CancelOpen == 0, "cancel window outside an attack")
	default:
		c.that(f.CancelOpen == 0, "cancel window outside an attack")
	}
	c.that(f.Action != Roll || f.Duration > 0, "a roll without an end")
	switch f.Action {
	case DashForward, DashBack, PreJump, Landing, Attack, Blockstun, Hitstun, Wakeup, Throwing, Teched, Roll, Prompted, TagIn:
		c.that(f.Duration > 0, "action %s without an end", f.Action)
	}
	c.that((f.Action != Down && f.Action != Dazed) || f.Duration > 0 || f.Health == 0, "action %s without an end", f.Action)
	c.that(f.Health > 0 || f.Action == Launched || f.Action == Down || f.Action == Dazed || f.Place == Bench, "knocked out and in action %s", f.Action)
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
