package data

import (
	"strings"

	"backstep/sim/fixed"
)

// Rules names a ruleset. The order is that of the Rules.Mode tags.
type Rules uint8

// The eight rulesets (TAG-05).
const (
	MK Rules = iota
	SF
	Tekken
	WWE
	UFC
	SoulCalibur
	DefJam
	TagTeam
	RulesCount = 8
)

var rulesNames = [RulesCount]string{"mk", "sf", "tekken", "wwe", "ufc", "soulcalibur", "defjam", "tagteam"}

// String gives the name used on command lines and in reports.
func (r Rules) String() string {
	if r < RulesCount {
		return rulesNames[r]
	}
	return "unknown"
}

// RulesByName is the inverse of String.
func RulesByName(name string) (Rules, bool) {
	for i, n := range rulesNames {
		if n == name {
			return Rules(i), true
		}
	}
	return 0, false
}

// Starters are the rows of the starter proration (FDAT-15): what kind of hit began the combo.
const (
	StarterLight uint8 = iota
	StarterMedium
	StarterHeavy
	StarterSpecial
	StarterThrow
	StarterSuper
	Starters = 6
)

var starterNames = [Starters]string{"light", "medium", "heavy", "special", "throw", "super"}

// Unit is one in the tables of factors: they hold ten-thousandths.
const Unit = 10000

// Economy is a meter: its most, what a round starts with, and what it gains (or, below zero, loses) every so many frames. Max 0:
// the ruleset does without it.
type Economy struct{ Max, Start, Gain, Every int32 }

// BySize holds a number for sides of one, two and three fighters.
type BySize [3]int32

// Of gives the number for a side of so many fighters, 1…3.
func (b *BySize) Of(fighters int) int32 { return b[min(max(fighters, 1), len(b))-1] }

// bySize spreads one to three numbers over the sizes; the last one stays.
func bySize(list []int32, unit int32) (b BySize) {
	for i := range b {
		b[i] = last(list, i) * unit
	}
	return b
}

func last(list []int32, i int) int32 {
	if len(list) == 0 {
		return 1
	}
	return list[min(i, len(list)-1)]
}

// Ruleset is one balance/rulesets file. Factors are ten-thousandths; lengths, speeds and times as in the package comment.
type Ruleset struct {
	Rules     Rules
	StageHalf fixed.Q // walls at -StageHalf and +StageHalf
	MaxApart  fixed.Q // the opponents' feet are never farther apart
	StartHalf fixed.Q // each starts this far from the middle

	IntroFrames, RoundStartFrames, RoundEndFrames, MatchEndFrames int32
	RoundFrames                                                   BySize // the timer

	Gravity, Friction, BodyPush fixed.Q // of launched fighters; of pushback; most a body is pushed aside in a frame
	RecoilX, RecoilY            fixed.Q // of a fighter hit out of the air
	LaunchX, LaunchY            fixed.Q // of a launch without an impulse of its own

	DownFrames, WakeupFrames, ThrowProtect, ThrowTech int32
	DashWindow                                        int32
	TechPush                                          fixed.Q
	TechFrames                                        int32
	KaraFrames                                        int32
	RollWindow, RollFrames                            int32 // ground tech: how early the press may come, how long the roll takes; 0: none
	RollSpeed                                         fixed.Q
	WakeDelay                                         int32 // further frames a fighter may lie; 0: none
	WakeRoll, WakeAttack                              bool  // it may roll up, it may strike from the ground

	JuggleLimit                   int32
	Combo, Juggle                 []int32
	JuggleStarter                 int32 // of hits in a juggle that a launcher began
	Starter                       [Starters]int32
	CounterHit                    int32
	CounterStun                   int32
	Multiplier                    BySize
	MeterMax, HurtGain, BlockGain int32
	RecoverEvery                  int32

	Drive, Stamina, MKStamina, Hype, Heat, Stun, Block Economy

	Modes
	Nodes [NodeKinds]Node
}

func parseRuleset(file string, text []byte) (Ruleset, error) {
	var r Ruleset
	list, err := sections(file, text)
	if err != nil {
		return r, err
	}
	if len(list) == 0 || list[0].kind != "ruleset" {
		s := section{file: file, kind: "file"}
		s.fail(1, "the first section must be [ruleset NAME]")
		return r, s.err
	}
	s := &list[0]
	r.Rules = Rules(s.among(s.line, "ruleset", s.name, rulesNames[:]))
	r.parseStage(s)
	r.parseBody(s)
	r.parseScaling(s)
	r.Drive, r.Stamina, r.MKStamina = s.economy("drive"), s.economy("stamina"), s.economy("mk-stamina")
	r.Hype, r.Heat, r.Stun, r.Block = s.economy("hype"), s.economy("heat"), s.economy("stun"), s.economy("block")
	r.parseModes(s)
	if err := s.done(); err != nil {
		return r, err
	}
	for i := range list[1:] {
		n := &list[1+i]
		if n.kind != "node" {
			n.fail(n.line, "after the ruleset every section must be [node KIND]")
			return r, n.err
		}
		parseNode(n, &r.Nodes)
		if err := n.done(); err != nil {
			return r, err
		}
	}
	return r, nil
}

func (r *Ruleset) parseStage(s *section) {
	r.StageHalf = s.decimal("stage-half", 300, 2000, true)
	r.MaxApart = s.decimal("max-apart", 300, 2000, true)
	r.StartHalf = s.decimal("start-half", 50, 500, true)
	r.IntroFrames = s.integer("intro-frames", 1, 600)
	r.RoundStartFrames = s.integer("round-start-frames", 1, 600)
	r.RoundEndFrames = s.integer("round-end-frames", 60, 600)
	r.MatchEndFrames = s.integer("match-end-frames", 1, 600)
	r.RoundFrames = bySize(s.integers("round-seconds", 10, 300, 3), 60)
	if 2*r.StageHalf < r.MaxApart || r.MaxApart < 2*r.StartHalf {
		s.fail(s.line, "the stage must be at least max-apart wide, and max-apart at least twice start-half")
	}
}

func (r *Ruleset) parseBody(s *section) {
	r.Gravity = s.decimal("gravity", 0, 4, true)
	r.Friction = s.decimal("friction", 0, 8, true)
	r.BodyPush = s.decimal("body-push", 1, 32, true)
	r.RecoilX = s.decimal("recoil-x", 0, 30, true)
	r.RecoilY = s.decimal("recoil-y", 1, 30, true)
	r.LaunchX, r.LaunchY = s.impulse("launch-impulse")
	r.DownFrames = s.integer("down-frames", 1, 120)
	r.WakeupFrames = s.integer("wakeup-frames", 1, 120)
	r.ThrowProtect = s.integer("throw-protect", 0, 60)
	r.ThrowTech = s.integer("throw-tech", 1, 20)
	r.DashWindow = s.integer("dash-window", 2, 30)
	r.TechPush = s.decimal("tech-push", 0, 30, true)
	r.TechFrames = s.integer("tech-frames", 1, 60)
	r.KaraFrames = s.optional("kara-frames", 0, 5, 2)
	r.RollWindow = s.optional("ground-tech-window", 0, 30, 0)
	r.RollFrames = s.optional("roll-frames", 1, 60, 24)
	r.RollSpeed = s.decimal("roll-speed", 0, 30, false)
	r.WakeDelay = s.optional("wake-delay", 0, 60, 0)
	r.WakeRoll, r.WakeAttack = s.yes("wake-roll"), s.yes("wake-attack")
	if r.Gravity <= 0 || r.Friction <= 0 {
		s.fail(s.line, "gravity and friction must be above 0")
	}
}

// impulse reads speeds forward and up in centimetres a second.
func (s *section) impulse(key string) (x, y fixed.Q) {
	e, ok := s.one(key, true)
	if !ok {
		return 0, 0
	}
	f := strings.Fields(e.value)
	if len(f) != 2 {
		s.fail(e.line, "%s: want two speeds in centimetres a second, forward and up", key)
		return 0, 0
	}
	return fixed.Int(int(s.int(e.line, key, f[0], 0, 1800))) / 60, fixed.Int(int(s.int(e.line, key, f[1], 60, 1800))) / 60
}

func (r *Ruleset) parseScaling(s *section) {
	r.JuggleLimit = s.integer("juggle-limit", 1, 12)
	r.Combo = s.parts("combo", Unit, 1, 32, true)
	r.Juggle = s.parts("juggle", Unit, 1, 32, true)
	for i, name := range starterNames {
		r.Starter[i] = s.factor("starter-"+name, Unit, true)
	}
	r.JuggleStarter = s.factor("juggle-starter", Unit, false)
	r.CounterHit = s.factor("counter-hit", 5*Unit, true)
	r.CounterStun = s.integer("counter-stun", 0, 10)
	r.Multiplier = bySize(s.parts("multiplier", 5*Unit, 1, 3, true), 1)
	r.MeterMax = s.integer("meter-max", 0, 10000)
	r.HurtGain = s.factor("hurt-gain", 5*Unit, true)
	r.BlockGain = s.factor("block-gain", 5*Unit, true)
	r.RecoverEvery = s.integer("recover-every", 1, 600)
}

// integers reads one to most whole numbers.
func (s *section) integers(key string, lo, hi int32, most int) []int32 {
	e, ok := s.one(key, true)
	if !ok {
		return nil
	}
	f := strings.Fields(e.value)
	if len(f) > most {
		s.fail(e.line, "%s has %d values, not 1…%d", key, len(f), most)
		return nil
	}
	out := make([]int32, len(f))
	for i := range f {
		out[i] = s.int(e.line, key, f[i], lo, hi)
	}
	return out
}

// factor reads one number as ten-thousandths; without the key, if that may be, it is one.
func (s *section) factor(key string, hi int32, required bool) int32 {
	if p := s.parts(key, hi, 1, 1, required); len(p) == 1 {
		return p[0]
	}
	return Unit
}

// economy reads "MAX START GAIN EVERY".
func (s *section) economy(key string) Economy {
	e, ok := s.one(key, false)
	if !ok {
		return Economy{Every: 1}
	}
	f := strings.Fields(e.value)
	if len(f) != 4 {
		s.fail(e.line, "%s: want the most, what a round starts with, what is gained, and every how many frames", key)
		return Economy{Every: 1}
	}
	v := Economy{Max: s.int(e.line, key, f[0], 1, 10000)}
	v.Start, v.Gain = s.int(e.line, key, f[1], 0, v.Max), s.int(e.line, key, f[2], -100, 100)
	v.Every = s.int(e.line, key, f[3], 1, 600)
	return v
}
