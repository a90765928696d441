package data

import (
	"strings"

	"backstep/sim/fixed"
)

// maxMoves bounds a fighter's moves, so that a MoveID fits a byte with room.
const maxMoves = 64

func parseFighter(file string, text []byte, feel []Hitstop, tags *Tags) (*Fighter, error) {
	list, err := sections(file, text)
	if err != nil {
		return nil, err
	}
	if len(list) == 0 || list[0].kind != "fighter" || list[0].name == "" {
		s := section{file: file, kind: "file"}
		s.fail(1, "the first section must be [fighter NAME]")
		return nil, s.err
	}
	s := &list[0]
	f := &Fighter{Key: s.name}
	f.ID = FighterID(s.integer("id", 1, 255))
	f.Name = s.text("name", 40)
	f.Plan = s.text("plan", 200)
	f.House = "Backstep"
	if s.stands("house") {
		f.House = s.text("house", 40)
	}
	f.Health = s.optional("health", 1, 2000, 1000)
	f.WalkForward = s.decimal("walk-forward", 0, 30, true)
	f.WalkBack = s.decimal("walk-back", 0, 30, true)
	f.DashForward, f.DashForwardFrames = s.dash("dash-forward")
	f.DashBack, f.DashBackFrames = s.dash("dash-back")
	f.PreJump = s.integer("pre-jump", 1, 20)
	f.Land = s.integer("land", 1, 20)
	f.JumpX = s.decimal("jump-x", 0, 30, true)
	f.JumpY = s.decimal("jump-y", 1, 30, true)
	f.Gravity = s.decimal("gravity", 0, 4, true)
	f.BodyHalf = s.decimal("body-half", 5, 100, true)
	f.StandHeight = s.decimal("stand-height", 20, 300, true)
	f.CrouchHeight = s.decimal("crouch-height", 20, 300, true)
	f.StandBox, f.CrouchBox, f.AirBox = s.posture("stand-box"), s.posture("crouch-box"), s.posture("air-box")
	f.Stances = s.stances(tags)
	if f.Gravity <= 0 || f.WalkForward <= 0 || f.WalkBack <= 0 {
		s.fail(s.line, "gravity and walking speeds must be above 0")
	}
	if err := s.done(); err != nil {
		return nil, err
	}
	if len(list)-1 > maxMoves {
		s.fail(s.line, "%d moves, more than %d", len(list)-1, maxMoves)
		return nil, s.err
	}
	refs := &book{feel: feel, tags: tags, stances: f.Stances}
	for i := range list[1:] {
		s := &list[1+i]
		if s.kind != "move" || s.name == "" {
			s.fail(s.line, "after the fighter every section must be [move KEY]")
			return nil, s.err
		}
		if i > 0 && f.moves[i-1].Key >= s.name {
			s.fail(s.line, "it must stand before %s (moves are sorted by key, each once)", f.moves[i-1].Key)
			return nil, s.err
		}
		m := parseMove(s, refs)
		m.ID = MoveID(i + 1)
		if err := s.done(); err != nil {
			return nil, err
		}
		if !m.HasCompleteFrameData() {
			s.fail(s.line, "the frame data is not complete")
			return nil, s.err
		}
		f.moves = append(f.moves, m)
		if f.bind(s, &m); s.err != nil {
			return nil, s.err
		}
	}
	f.fill()
	if f.commands[SF][0][Ground][Light][Neutral] == 0 || f.commands[SF][0][Ground][Throw][Neutral] == 0 {
		s.fail(s.line, "a fighter needs at least a light move and a throw from the ground, both without a direction")
		return nil, s.err
	}
	f.Assist = f.commands[SF][0][Ground][Medium][Neutral]
	for i := range f.moves {
		if f.moves[i].Family == AssistCall {
			f.Assist = f.moves[i].ID
			break
		}
	}
	return f, nil
}

const everyRule = 1<<RulesCount - 1

// bind enters a move at its command under each of its rulesets. A move for some rulesets only stands before one for all.
func (f *Fighter) bind(s *section, m *Move) {
	if m.Family == AssistCall {
		return // a partner calls it
	}
	for r := range Rules(RulesCount) {
		if !m.Under(r) {
			continue
		}
		at := &f.commands[r][m.In][m.From][m.Button][m.Direction]
		if other := f.Move(*at); other != nil {
			if (other.Rules == everyRule) == (m.Rules == everyRule) {
				s.fail(s.line, "%s already has that button and direction", other.Key)
				return
			}
			if m.Rules == everyRule {
				continue
			}
		}
		*at = m.ID
	}
}

// fill lets a button with a direction that has no move of its own give the button's move without one.
func (f *Fighter) fill() {
	for r := range f.commands {
		for st := range f.commands[r] {
			for from := range f.commands[r][st] {
				for b := range f.commands[r][st][from] {
					row := &f.commands[r][st][from][b]
					for d := 1; d < Directions; d++ {
						if row[d] == 0 {
							row[d] = row[Neutral]
						}
					}
				}
			}
		}
	}
}

// dash reads "SPEED FRAMES".
func (s *section) dash(key string) (speed fixed.Q, frames int32) {
	e, ok := s.one(key, true)
	if !ok {
		return 0, 1
	}
	f := strings.Fields(e.value)
	if len(f) != 2 {
		s.fail(e.line, "%s: want a speed and a number of frames", key)
		return 0, 1
	}
	return s.fix(e.line, key, f[0], 0, 30), s.int(e.line, key, f[1], 1, 60)
}

func (s *section) posture(key string) Box {
	e, ok := s.one(key, true)
	if !ok {
		return Box{}
	}
	return s.box(e, strings.Fields(e.value))
}
