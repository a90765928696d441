package sim

import "backstep/sim/data"

// slowMotionStep: during slow motion the fighters move on every third frame and stand in hitstop on the others.
const slowMotionStep = 3

// startRound puts every fighter on its mark. Meter and generators go on; health, positions and everything else begin anew.
func (w *World) startRound(r *data.Roster) {
	rules := r.Ruleset(w.ruleset)
	for slot := range int(w.count) {
		f := &w.fighters[slot]
		k := r.Fighter(f.ID)
		facing := int8(1 - 2*Side(slot))
		*f = Fighter{ID: f.ID, RNGCursor: f.RNGCursor, Meter: f.Meter, MaxMeter: f.MaxMeter,
			Health: k.Health, MaxHealth: k.Health, Facing: facing, X: -rules.StartHalf * Fixed(facing), StanceTag: tagStanding}
	}
	w.match.Timer = rules.RoundFrames
	w.match.RoundWinner = NoWinner
	w.match.SlowMotion, w.match.FinisherFreeze = 0, 0
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
		m.Timer--
		s.judgeRound()
	case RoundEnd:
		s.slow()
		if m.PhaseFrames >= s.rules.RoundEndFrames {
			s.nextRound()
		}
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
	case m.Timer <= 0:
		s.event(-1, EventTimeOver, 0)
		a, b := s.share(0), s.share(1)
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
	for i := range int(s.w.count) {
		f := &s.w.fighters[i]
		f.HitstopFrames = max(f.HitstopFrames, 1)
	}
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
	s.phase(MatchEnd)
	s.event(-1, EventMatchWon, int32(m.MatchWinner)-1)
}
