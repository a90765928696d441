package sim

import "backstep/sim/data"

// slowMotionStep: during slow motion the fighters move on every third frame and stand in hitstop on the others.
const slowMotionStep = 3

// startRound puts every fighter on its mark. Super meter, hype and generators go on; health, positions and everything else begin
// anew. The first of each team is on the stage.
func (w *World) startRound(r *data.Roster) {
	rules := r.Ruleset(w.ruleset)
	w.active, w.point = 0b11, [2]uint8{0, 1}
	for slot := range int(w.count) {
		f := &w.fighters[slot]
		k := r.Fighter(f.ID)
		facing := int8(1 - 2*Side(slot))
		meter, hype, cursor := f.SuperMeter, f.Hype, f.RNGCursor
		*f = Fighter{ID: f.ID, RNGCursor: cursor, Facing: facing, X: -rules.StartHalf * Fixed(facing), StanceTag: tagStanding}
		f.Vitals = Vitals{Health: k.Health, MaxHealth: k.Health, SuperMeter: meter, MaxSuperMeter: rules.MeterMax, Meter: meter, MaxMeter: rules.MeterMax,
			Stun: rules.Stun.Start, MaxStun: rules.Stun.Max, Stamina: rules.Stamina.Start, MaxStamina: rules.Stamina.Max,
			MKStamina: rules.MKStamina.Start, MaxMKStamina: rules.MKStamina.Max, Hype: max(hype, rules.Hype.Start), MaxHype: rules.Hype.Max,
			Drive: rules.Drive.Start, MaxDrive: rules.Drive.Max, Heat: rules.Heat.Start, MaxHeat: rules.Heat.Max, Resolve: 100, Block: rules.Block.Start}
		f.Combat = Combat{MeleeDamageMul: data.Unit, CounterHitMul: int16(rules.CounterHit), JuggleScaling: data.Unit, ChipMul: data.Unit, DefenseMul: data.Unit}
		f.MMA = MMA{LimbStaminaHead: 100, LimbStaminaTorso: 100, LimbStaminaLegs: 100}
		f.Movement = Movement{WalkMul: data.Unit, DashMul: data.Unit, JumpMul: data.Unit}
		f.Weapon = Weapon{Power: data.Unit, Chip: data.Unit}
		if slot < 2 {
			f.Place = OnPoint
		}
	}
	for side := range w.teams {
		w.teams[side] = Team{XFactorUsed: w.teams[side].XFactorUsed, AnchorUsed: w.teams[side].AnchorUsed}
	}
	m := &w.match
	m.Timer = rules.RoundFrames.Of(w.format.Roster())
	m.RoundWinner = NoWinner
	m.SlowMotion, m.FinisherFreeze = 0, 0
	m.Nodes = [data.NodeKinds]int16{}
	m.Score = [2]int32{}
	m.Owner, m.Target, m.Struggle, m.Fallen = 0, 0, 0, 0
}

// advanceMatch runs timer, knockouts, rounds and phases for one frame.
func (s *stepper) advanceMatch() {
	m := &s.w.match
	m.PhaseFrames++
	switch m.Phase {
	case Intro:
		if m.PhaseFrames >= s.rules.IntroFrames {
			s.phase(RoundStart)
			s.beginRound()
		}
	case RoundStart:
		if m.PhaseFrames >= s.rules.RoundStartFrames {
			s.phase(Live)
		}
	case Live:
		m.Timer = max(0, m.Timer-1) // a fall over the edge outlasts it
		s.judgeRound()
	case RoundEnd:
		s.slow()
		if m.PhaseFrames >= s.rules.RoundEndFrames {
			s.nextRound()
		}
	case FinisherWindow:
		s.inFinisherWindow()
	case MatchEnd:
		if m.PhaseFrames >= s.rules.MatchEndFrames {
			s.phase(PostMatch)
		}
	}
}

func (s *stepper) phase(to Phase) {
	if s.w.match.Transition(to) {
		s.event(-1, EventPhase, int32(to))
	}
}

// beginRound announces a round. The draw lets a presentation vary; both sides see the same.
func (s *stepper) beginRound() {
	v := s.w.draw(s.frame, NoFighter, DrawRound)
	s.event(-1, EventRound, int32(s.w.match.Round))
	s.w.out.events[s.w.out.n-1].Variant = uint8(v >> 56)
}

// out tells whether the whole team of a side is knocked out.
func (s *stepper) teamOut(side int) bool {
	for i := side; i < int(s.w.count); i += 2 {
		if s.w.fighters[i].Health > 0 {
			return false
		}
	}
	return true
}

// share gives the health of a side in 1/65536 of its most, so that fighters of different health compare fairly at time over.
func (s *stepper) share(side int) int64 {
	var have, most int64
	for i := side; i < int(s.w.count); i += 2 {
		have += int64(s.w.fighters[i].Health)
		most += int64(s.w.fighters[i].MaxHealth)
	}
	return have << 16 / max(1, most)
}

// judgeRound ends the round when a team is out or the time is.
func (s *stepper) judgeRound() {
	m := &s.w.match
	out := [2]bool{s.teamOut(0), s.teamOut(1)}
	for side := range out {
		if out[side] {
			s.event(int(s.w.point[side]), EventKO, 0)
		}
	}
	switch {
	case out[0] && out[1]:
		s.endRound(DrawGame)
	case out[0]:
		s.endRound(JoinWins)
	case out[1]:
		s.endRound(HostWins)
	case m.Timer <= 0 && m.Fallen == 0:
		s.event(-1, EventTimeOver, 0)
		a, b := s.share(0), s.share(1)
		if s.rules.Scored {
			a, b = int64(m.Score[0]), int64(m.Score[1])
		}
		switch {
		case a > b:
			s.endRound(HostWins)
		case a < b:
			s.endRound(JoinWins)
		default:
			s.endRound(DrawGame)
		}
		return
	default:
		return
	}
	m.SlowMotion = uint8(s.roster.Timing.KOSlowMotion)
	s.beginNode(data.SFKOReplay)
}

// endRound counts a round. A drawn one counts for both, so that a match of draws ends too.
func (s *stepper) endRound(who Winner) {
	m := &s.w.match
	m.RoundWinner = who
	if who == HostWins || who == DrawGame {
		m.Wins[0]++
	}
	if who == JoinWins || who == DrawGame {
		m.Wins[1]++
	}
	s.phase(RoundEnd)
	s.event(-1, EventRoundWon, int32(who)-1)
	s.beginNode(data.UFCRoundEndScorecard)
	for i := range int(s.w.count) {
		f := &s.w.fighters[i]
		f.Shots = [Shots]Projectile{}
		f.Buffer = [BufferFrames]uint16{}
	}
}

// slow runs the slow motion: on two of three frames every fighter is held in hitstop.
func (s *stepper) slow() {
	m := &s.w.match
	if m.SlowMotion == 0 {
		return
	}
	m.SlowMotion--
	if m.SlowMotion%slowMotionStep == 0 {
		return
	}
	s.holdAll(1)
}

// nextRound starts another round or ends the match.
func (s *stepper) nextRound() {
	m := &s.w.match
	a, b := m.Wins[0] >= s.w.rounds, m.Wins[1] >= s.w.rounds
	switch {
	case a && b:
		m.MatchWinner = DrawGame
	case a:
		m.MatchWinner = HostWins
	case b:
		m.MatchWinner = JoinWins
	default:
		m.Round++
		s.phase(RoundStart)
		s.w.startRound(s.roster)
		s.beginRound()
		return
	}
	s.event(-1, EventMatchWon, int32(m.MatchWinner)-1)
	if m.RoundWinner == m.MatchWinner && s.openFinisherWindow() {
		return
	}
	s.phase(MatchEnd)
}

// openFinisherWindow lets the winner finish the loser where the rules have that: the loser stands dazed, the winner is free.
func (s *stepper) openFinisherWindow() bool {
	m := &s.w.match
	if m.MatchWinner != HostWins && m.MatchWinner != JoinWins {
		return false
	}
	if s.rules.Nodes[data.MKFinisherWindow].Frames == 0 {
		return false
	}
	side := int(m.MatchWinner) - 1
	win, lose := int(s.w.point[side]), int(s.w.point[side^1])
	if s.w.fighters[lose].Health > 0 {
		return false
	}
	s.phase(FinisherWindow)
	s.beginNode(data.MKFinisherWindow)
	for _, i := range [...]int{win, lose} {
		f := &s.w.fighters[i]
		s.neutral(i)
		f.Y, f.Push, f.HitstopFrames, f.HitlagFrames = 0, 0, 0, 0
		f.Mechanics = Mechanics{}
	}
	s.become(lose, Dazed, 0)
	return true
}

// inFinisherWindow ends the window with its node, and holds everybody after a finisher.
func (s *stepper) inFinisherWindow() {
	m := &s.w.match
	if m.FinisherFreeze > 0 {
		m.FinisherFreeze--
		s.holdAll(1)
		return
	}
	if m.Nodes[data.MKFinisherWindow] == 0 {
		s.phase(MatchEnd)
	}
}
