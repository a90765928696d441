package data

import "backstep/sim/fixed"

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

// Ruleset is one balance/rulesets file. Factors are ten-thousandths; lengths, speeds and times as in the package comment.
type Ruleset struct {
	Rules     Rules
	StageHalf fixed.Q // walls at -StageHalf and +StageHalf
	MaxApart  fixed.Q // the opponents' feet are never farther apart
	StartHalf fixed.Q // each starts this far from the middle

	IntroFrames, RoundStartFrames, RoundEndFrames, MatchEndFrames int32
	RoundFrames                                                   int32 // the timer

	Gravity, Friction, BodyPush fixed.Q // of launched fighters; of pushback; most a body is pushed aside in a frame
	RecoilX, RecoilY            fixed.Q // of a fighter hit out of the air

	DownFrames, WakeupFrames, ThrowProtect, ThrowTech int32
	DashWindow                                        int32
	TechPush                                          fixed.Q
	TechFrames                                        int32

	JuggleLimit                   int32
	Combo, Juggle                 []int32
	Starter                       [Starters]int32
	CounterHit                    int32
	CounterStun                   int32
	Multiplier                    int32
	MeterMax, HurtGain, BlockGain int32
	RecoverEvery                  int32
}

func parseRuleset(file string, text []byte) (Ruleset, error) {
	var r Ruleset
	list, err := sections(file, text)
	if err != nil {
		return r, err
	}
	if len(list) != 1 || list[0].kind != "ruleset" {
		s := section{file: file, kind: "file"}
		s.fail(1, "there must be exactly one section, [ruleset NAME]")
		return r, s.err
	}
	s := &list[0]
	r.Rules = Rules(s.among(s.line, "ruleset", s.name, rulesNames[:]))
	r.StageHalf = s.decimal("stage-half", 300, 2000, true)
	r.MaxApart = s.decimal("max-apart", 300, 2000, true)
	r.StartHalf = s.decimal("start-half", 50, 500, true)
	r.IntroFrames = s.integer("intro-frames", 1, 600)
	r.RoundStartFrames = s.integer("round-start-frames", 1, 600)
	r.RoundEndFrames = s.integer("round-end-frames", 60, 600)
	r.MatchEndFrames = s.integer("match-end-frames", 1, 600)
	r.RoundFrames = 60 * s.integer("round-seconds", 10, 300)
	r.Gravity = s.decimal("gravity", 0, 4, true)
	r.Friction = s.decimal("friction", 0, 8, true)
	r.BodyPush = s.decimal("body-push", 1, 32, true)
	r.RecoilX = s.decimal("recoil-x", 0, 30, true)
	r.RecoilY = s.decimal("recoil-y", 1, 30, true)
	r.DownFrames = s.integer("down-frames", 1, 120)
	r.WakeupFrames = s.integer("wakeup-frames", 1, 120)
	r.ThrowProtect = s.integer("throw-protect", 0, 60)
	r.ThrowTech = s.integer("throw-tech", 1, 20)
	r.DashWindow = s.integer("dash-window", 2, 30)
	r.TechPush = s.decimal("tech-push", 0, 30, true)
	r.TechFrames = s.integer("tech-frames", 1, 60)
	r.JuggleLimit = s.integer("juggle-limit", 1, 12)
	r.Combo = s.parts("combo", Unit, 1, 32, true)
	r.Juggle = s.parts("juggle", Unit, 1, 32, true)
	for i, name := range starterNames {
		if p := s.parts("starter-"+name, Unit, 1, 1, true); len(p) == 1 {
			r.Starter[i] = p[0]
		}
	}
	one := func(key string) int32 {
		p := s.parts(key, 5*Unit, 1, 1, true)
		if len(p) != 1 {
			return Unit
		}
		return p[0]
	}
	r.CounterHit = one("counter-hit")
	r.CounterStun = s.integer("counter-stun", 0, 10)
	r.Multiplier = one("multiplier")
	r.MeterMax = s.integer("meter-max", 0, 10000)
	r.HurtGain = one("hurt-gain")
	r.BlockGain = one("block-gain")
	r.RecoverEvery = s.integer("recover-every", 1, 600)
	if r.Gravity <= 0 || r.Friction <= 0 {
		s.fail(s.line, "gravity and friction must be above 0")
	}
	if 2*r.StageHalf < r.MaxApart || r.MaxApart < 2*r.StartHalf {
		s.fail(s.line, "the stage must be at least max-apart wide, and max-apart at least twice start-half")
	}
	return r, s.done()
}
