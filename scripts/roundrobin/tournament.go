package main

import (
	"fmt"
	"sync"
	"sync/atomic"

	"backstep/sim"
	"backstep/sim/bot"
	"backstep/sim/data"
)

// tournament is what is to be played.
type tournament struct {
	matches int
	bot     string
	rules   sim.Ruleset
	format  sim.Format
	rounds  uint8
	seed    uint64
}

// longest is more frames than a match can have; one that lasts longer is a fault of the simulation.
const longest = 120000

// score is what the matches of one pairing came to.
type score struct {
	left, right, draws int
	frames             int
	rounds, byTime     int
	perfects           int // rounds won without losing health
}

func (s *score) add(o score) {
	s.left += o.left
	s.right += o.right
	s.draws += o.draws
	s.frames += o.frames
	s.rounds += o.rounds
	s.byTime += o.byTime
	s.perfects += o.perfects
}

// team k is fighter k and the ones after it in the roster.
func (t tournament) team(k int) (team [3]sim.FighterID) {
	cast := data.Embedded().Fighters()
	for i := range t.format.Roster() {
		team[i] = cast[(k+i)%len(cast)].ID
	}
	return team
}

// play plays all matches on so many goroutines. The result does not depend on their number.
func (t tournament) play(workers int) (result, error) {
	cast := data.Embedded().Fighters()
	r := result{tournament: t, names: make([]string, len(cast)), pairs: make([][]score, len(cast))}
	type job struct{ a, b, n int }
	var jobs []job
	for a := range cast {
		r.names[a] = cast[a].Key
		r.pairs[a] = make([]score, len(cast))
		for b := range cast {
			for n := range t.matches {
				jobs = append(jobs, job{a, b, n})
			}
		}
	}
	scores := make([]score, len(jobs))
	errs := make([]error, workers)
	var next atomic.Int64
	var wg sync.WaitGroup
	for k := range workers {
		wg.Go(func() {
			for errs[k] == nil {
				i := int(next.Add(1) - 1)
				if i >= len(jobs) {
					return
				}
				j := jobs[i]
				scores[i], errs[k] = t.match(j.a, j.b, t.seed+uint64(i))
			}
		})
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return r, err
		}
	}
	for i, j := range jobs {
		r.pairs[j.a][j.b].add(scores[i])
	}
	return r, nil
}

// match plays one match of team a on side 0 and team b on side 1.
func (t tournament) match(a, b int, seed uint64) (score, error) {
	c := sim.Config{Seed: seed, Ruleset: t.rules, Format: t.format, Rounds: t.rounds, Teams: [2][3]sim.FighterID{t.team(a), t.team(b)}}
	var w sim.World
	if err := w.Reset(c); err != nil {
		return score{}, err
	}
	var bots [2]bot.Bot
	for side := range bots {
		var err error
		if bots[side], err = bot.New(t.bot, seed, side); err != nil {
			return score{}, err
		}
	}
	var s score
	var in [2]sim.Input
	for w.Phase() != sim.PostMatch {
		if s.frames == longest {
			return s, fmt.Errorf("%s against %s with seed %d does not end in %d frames", t.name(a), t.name(b), seed, longest)
		}
		for side := range in {
			in[side] = sim.Input{Now: bots[side].Next(&w), Prev: in[side].Now}
		}
		w.Step(in[:], sim.SuppressCosmetics)
		s.frames++
		for _, e := range w.Events() {
			switch e.Kind {
			case sim.EventRoundWon:
				s.rounds++
				if e.Value < 2 && unhurt(&w, int(e.Value)) {
					s.perfects++
				}
			case sim.EventTimeOver:
				s.byTime++
			}
		}
	}
	switch w.Match().MatchWinner {
	case sim.HostWins:
		s.left++
	case sim.JoinWins:
		s.right++
	default:
		s.draws++
	}
	return s, nil
}

func (t tournament) name(k int) string { return data.Embedded().Fighters()[k].Key }

func unhurt(w *sim.World, side int) bool {
	for slot := side; slot < w.Fighters(); slot += 2 {
		if f := w.Fighter(slot); f.Health < f.MaxHealth {
			return false
		}
	}
	return true
}
