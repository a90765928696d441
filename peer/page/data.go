package page

import (
	"encoding/json"
	"fmt"

	"backstep/peer/present"
	"backstep/sim"
	"backstep/sim/bot"
	"backstep/sim/data"
)

type object = map[string]any

// staticData is /data.json: what never changes while the program runs.
func staticData(build string) ([]byte, error) {
	r := data.Embedded()
	d := object{
		"protocol": Protocol, "build": build, "data_hash": fmt.Sprintf("%016x", r.Hash()), "hz": sim.SimulationHz,
		"buttons": []string{"up", "down", "left", "right", "light", "medium", "heavy", "special", "throw", "assist", "stance", "super"},
		"phases":  enum(int(sim.Phases), func(i int) string { return sim.Phase(i).String() }),
		"actions": enum(256, func(i int) string { return sim.Action(i).String() }),
		"events":  enum(256, func(i int) string { return sim.EventKind(i).String() }),
		"nodes":   enum(data.NodeKinds, func(i int) string { return data.NodeKind(i).String() }),
		"codes":   present.Names(), "bots": bot.Names(), "formats": playableFormats(),
		"timing": object{"finisher_freeze": r.Timing.FinisherFreeze, "ko_slow_motion": r.Timing.KOSlowMotion, "rage_art_freeze": r.Timing.RageArtFreeze},
		"feel":   feelData(),
	}
	stages, rulesets := object{}, []string{}
	for id := data.Rules(0); id < data.RulesCount; id++ {
		if rules := r.Ruleset(id); rules != nil {
			rulesets = append(rulesets, id.String())
			stages[id.String()] = object{"half": cm(rules.StageHalf), "ring_out": rules.RingOut, "apart": cm(rules.MaxApart),
				"round_frames": rules.RoundFrames, "meter_max": rules.MeterMax}
		}
	}
	d["rulesets"], d["stage"] = rulesets, stages
	hitstops := []object{}
	for _, h := range r.Hitstops {
		hitstops = append(hitstops, object{"name": h.Name, "attacker": h.Attacker, "defender": h.Defender, "hitlag": h.Hitlag,
			"counter_hit": h.CounterHit, "block": h.Block})
	}
	d["hitstop"] = hitstops
	fighters := []object{}
	for _, f := range r.Fighters() {
		fighters = append(fighters, fighterData(f))
	}
	d["fighters"] = fighters
	return json.Marshal(d)
}

// enum lists names until the first unknown one.
func enum(most int, name func(int) string) []string {
	var out []string
	for i := range most {
		n := name(i)
		if n == "unknown" {
			break
		}
		out = append(out, n)
	}
	return out
}

func playableFormats() []string {
	var out []string
	for _, name := range []string{"1v1", "2v2", "3v3", "trinity"} {
		f, err := sim.ParseFormat(name)
		c := sim.DefaultConfig()
		c.Format = f
		for side := range c.Teams {
			for k := range f.Roster() {
				c.Teams[side][k] = c.Teams[side][0]
			}
		}
		if err == nil && c.Valid() == nil {
			out = append(out, name)
		}
	}
	return out
}

func feelData() object {
	shakes := []object{}
	for _, s := range present.Shakes() {
		shakes = append(shakes, object{"name": s.Name, "base": s.Base, "reduced": s.Reduced, "frames": s.Frames, "pattern": s.Pattern})
	}
	return object{"id": present.CatalogID, "shakes": shakes, "max_offset": present.MaxOffset, "max_degrees": present.MaxDegrees}
}

func cm(q sim.Fixed) float64 { return float64(q) / (1 << 16) }

func boxData(b data.Box) [4]float64 { return [4]float64{cm(b.X), cm(b.Y), cm(b.HW), cm(b.HH)} }

func spanData(s data.Span) [2]int32 { return [2]int32{s.Start, s.End} }

func fighterData(f *data.Fighter) object {
	moves := []object{}
	for id := 1; id <= f.Moves(); id++ {
		moves = append(moves, moveData(f.Move(data.MoveID(id))))
	}
	return object{
		"id": f.ID, "key": f.Key, "name": f.Name, "plan": f.Plan, "health": f.Health,
		"stand": boxData(f.StandBox), "crouch": boxData(f.CrouchBox), "air": boxData(f.AirBox),
		"stand_height": cm(f.StandHeight), "crouch_height": cm(f.CrouchHeight), "body_half": cm(f.BodyHalf),
		"walk": [2]float64{cm(f.WalkForward), cm(f.WalkBack)}, "moves": moves,
	}
}

var (
	buttonNames    = [data.Buttons]string{"light", "medium", "heavy", "special", "throw", "assist", "stance", "super"}
	directionNames = [data.Directions]string{"neutral", "forward", "back", "down"}
	familyNames    = [data.Families]string{"strike", "throw", "grounded-special", "air-special", "projectile", "assist-call", "super",
		"grapple-clinch", "grapple-takedown", "grapple-pin", "grapple-submission", "cinematic-finisher"}
	guardNames    = [...]string{"mid", "high", "low", "unblockable", "grab"}
	reactionNames = [...]string{"stagger", "launch", "knockdown"}
	fromNames     = [data.Froms]string{"ground", "air", "rise"}
	whenNames     = [...]string{"on-contact", "on-hit", "on-block", "always"}
)

func buttonsOf(bits uint8) []string {
	out := []string{}
	for b, name := range buttonNames {
		if bits>>b&1 != 0 {
			out = append(out, name)
		}
	}
	return out
}

func moveData(m *data.Move) object {
	hits, hurts, into := []object{}, []object{}, []string{}
	for _, h := range m.Hits {
		hits = append(hits, object{"frames": spanData(h.Span), "box": boxData(h.Box), "damage": h.Damage})
	}
	for _, h := range m.Hurts {
		hurts = append(hurts, object{"frames": spanData(h.Span), "box": boxData(h.Box)})
	}
	into = append(into, buttonsOf(m.CancelInto)...)
	cancels, rules := []object{}, []string{}
	for _, c := range m.Cancels {
		cancels = append(cancels, object{"frames": spanData(c.Span), "into": buttonsOf(c.Into), "when": whenNames[int(c.When)%len(whenNames)]})
	}
	for id := range data.Rules(data.RulesCount) {
		if m.Rules>>id&1 != 0 {
			rules = append(rules, id.String())
		}
	}
	var onHit, shot any
	if m.Reaction == data.Stagger && m.Guard != data.Grab && m.From == data.Ground && m.Shot.Spawn == 0 {
		onHit = m.OnHit
	}
	if p := m.Shot; p.Spawn != 0 {
		shot = object{"frame": p.Spawn, "box": boxData(p.Box), "speed": [2]float64{cm(p.VX), cm(p.VY)}, "life": p.Life}
	}
	return object{
		"id": m.ID, "key": m.Key, "name": m.Name, "button": buttonNames[m.Button%data.Buttons], "direction": directionNames[m.Direction%data.Directions],
		"from": fromNames[int(m.From)%len(fromNames)], "family": familyNames[m.Family%data.Families],
		"startup": m.Startup, "active": m.Active, "recovery": m.Recovery, "total": m.Total, "damage": m.Damage, "chip": m.Chip,
		"guard": guardNames[int(m.Guard)%len(guardNames)], "reaction": reactionNames[int(m.Reaction)%len(reactionNames)],
		"on_hit": onHit, "on_block": m.OnBlock, "cost": m.Cost, "gain": m.Gain, "feel": m.Feel.Name,
		"cancels": cancels, "cancels_into": into, "rules": rules, "stance": m.In, "invincible": spanData(m.Invincible), "armor": spanData(m.Armor),
		"hits": hits, "hurts": hurts, "shot": shot,
	}
}
