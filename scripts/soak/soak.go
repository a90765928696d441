package main

import (
	"fmt"

	"backstep/sim"
	"backstep/sim/data"
)

// longest is how many frames in a row a fighter may be unable to act in a running round.
const longest = 900

// soak is random play under one ruleset.
type soak struct {
	rules           sim.Ruleset
	seed            uint64
	frames, matches int
	checked         int
	begun           [256][256]bool // by fighter and move
	w, again        sim.World
	busy            [sim.MaxFighters]int
	chance          sim.SplitMix64
	word            [2]uint16
	mood            [2]uint16 // buttons a player uses for a while, so that meters are saved up too
	moodLeft        [2]int
	left            [2]int
	buf             []byte
	lastFrame       int32
}

// run plays so many frames, one match after the other.
func (s *soak) run(frames int) error {
	s.chance.State = s.seed ^ uint64(s.rules)<<32
	in := [2]sim.Input{}
	for s.frames < frames {
		if s.w.Fighters() == 0 || s.w.Phase() == sim.PostMatch {
			if err := s.next(); err != nil {
				return err
			}
			in = [2]sim.Input{}
		}
		for p := range in {
			in[p] = sim.Input{Now: s.press(p), Prev: in[p].Now}
		}
		s.w.Step(in[:], sim.SuppressCosmetics)
		s.frames++
		if err := s.check(); err != nil {
			return fmt.Errorf("match %d (%+v), frame %d: %w", s.matches, s.w.Config(), s.w.Frame(), err)
		}
	}
	return nil
}

// next begins a match: three of four are duels, the others go round the formats of teams.
func (s *soak) next() error {
	cast := data.Embedded().Fighters()
	c := sim.Config{Seed: s.chance.Next(), Ruleset: s.rules, Rounds: 1 + uint8(s.matches%5)}
	if s.matches%4 == 3 {
		c.Format = sim.Format2v2 + sim.Format(s.matches/4%3)
	}
	for side := range c.Teams {
		for k := range c.Format.Roster() {
			c.Teams[side][k] = cast[s.chance.Next()%uint64(len(cast))].ID
		}
	}
	s.matches++
	s.lastFrame = -1
	clear(s.busy[:])
	return s.w.Reset(c)
}

// press gives the word of a player: for some frames a direction, often toward the opponent, and one or two buttons. In every other
// match it saves its meter until it is full.
func (s *soak) press(player int) uint16 {
	if s.left[player]--; s.left[player] > 0 {
		return s.word[player]
	}
	v := s.chance.Next()
	s.left[player] = 1 + int(v>>40%14)
	if s.moodLeft[player]--; s.moodLeft[player] <= 0 {
		m := s.chance.Next()
		s.moodLeft[player] = 100 + int(m>>32%900)
		s.mood[player] = 0xf | uint16(m|m>>8)&0xff<<4
	}
	word := uint16(v) & 0xf
	if v>>4&3 == 0 {
		ahead := sim.RightBit
		if me, foe := s.w.Fighter(s.w.Point(player)), s.w.Fighter(s.w.Point(player^1)); me.X > foe.X {
			ahead = sim.LeftBit
		}
		word = ahead
	}
	if v>>8&3 != 0 {
		word |= sim.LightBit << (v >> 16 & 7)
	}
	if v>>24&15 == 0 {
		if want, ok := s.curious(player, v>>28); ok {
			s.word[player], s.left[player] = want, 2
			return want
		}
	}
	if v>>10&7 == 0 {
		word |= sim.LightBit << (v >> 20 & 7)
	}
	word &= s.mood[player]
	if me := s.w.Fighter(s.w.Point(player)); s.matches>>player&1 != 0 && me.SuperMeter < me.MaxSuperMeter {
		word &^= sim.SuperBit // a saver: the dearest super is begun by nobody else
	}
	s.word[player] = word
	return word
}

// curious gives the command of a move that was never begun and could be now, so that what costs much or asks for much comes up too.
func (s *soak) curious(player int, chance uint64) (uint16, bool) {
	slot := s.w.Point(player)
	me := s.w.Fighter(slot)
	k := data.Embedded().Fighter(me.ID)
	for n := range k.Moves() {
		id := data.MoveID(1 + (int(chance%64)+n)%k.Moves())
		m := k.Move(id)
		if s.begun[k.ID][id] || !s.belongs(k, m) || m.Family == data.AssistCall || m.Button == data.Assist && s.w.Fighters() > 2 {
			continue
		}
		if s.w.CanActivate(slot, id) == nil {
			return command(m, &me), true
		}
	}
	return 0, false
}

// command gives the word of a move.
func command(m *data.Move, me *sim.Fighter) uint16 {
	word := sim.LightBit << m.Button
	ahead := sim.RightBit
	if me.Facing < 0 {
		ahead = sim.LeftBit
	}
	switch m.Direction {
	case data.Forward:
		word |= ahead
	case data.Back:
		word |= ahead ^ (sim.LeftBit | sim.RightBit)
	case data.Down:
		word |= sim.DownBit
	}
	return word
}

func (s *soak) check() error {
	w := &s.w
	if w.Frame() != s.lastFrame+1 {
		return fmt.Errorf("the frame number was %d before", s.lastFrame)
	}
	s.lastFrame = w.Frame()
	if n := w.Dropped(); n > 0 {
		return fmt.Errorf("%d events had no room", n)
	}
	s.buf = w.AppendState(s.buf[:0])
	if err := s.again.ParseState(s.buf); err != nil {
		return err
	}
	if !s.again.Equal(w) {
		return fmt.Errorf("the state is another after it was written and read")
	}
	s.checked++
	for _, e := range w.Events() {
		if e.Kind == sim.EventMove || e.Kind == sim.EventTaunt || e.Kind == sim.EventAssist {
			s.begun[w.Fighter(int(e.Fighter)).ID][uint8(e.Value)] = true
		}
	}
	for side := range 2 {
		slot := w.Point(side)
		f := w.Fighter(slot)
		s.busy[slot]++
		acts := f.Action.Neutral() || f.Action == sim.Airborne && f.AirUsed == 0 || f.Action == sim.Attack && f.MoveStart == w.Frame()
		if w.Phase() != sim.Live || !w.Obeys(side) || acts {
			s.busy[slot] = 0
		}
		if s.busy[slot] > longest {
			return fmt.Errorf("slot %d has not been able to act for %d frames: %s", slot, s.busy[slot], f.Action)
		}
	}
	return nil
}

// belongs tells whether a move can be begun under the ruleset at all.
func (s *soak) belongs(k *data.Fighter, m *data.Move) bool {
	if m.Family == data.AssistCall {
		return k.Assist == m.ID
	}
	if m.From == data.Rise && !data.Embedded().Ruleset(s.rules).WakeAttack {
		return false
	}
	return k.CommandIn(s.rules, m.In, m.From, m.Button, m.Direction) == m.ID
}

func (s *soak) wanted() int {
	n := 0
	for _, k := range data.Embedded().Fighters() {
		for id := data.MoveID(1); int(id) <= k.Moves(); id++ {
			if s.belongs(k, k.Move(id)) {
				n++
			}
		}
	}
	return n
}

// missing names the moves that belong to the ruleset and were never begun.
func (s *soak) missing() []string {
	var out []string
	for _, k := range data.Embedded().Fighters() {
		for id := data.MoveID(1); int(id) <= k.Moves(); id++ {
			if m := k.Move(id); s.belongs(k, m) && !s.begun[k.ID][id] {
				out = append(out, k.Key+" "+m.Key)
			}
		}
	}
	return out
}
