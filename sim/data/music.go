package data

import (
	"fmt"
	"slices"
	"strings"
)

// TeamMusic is one row of the table of team music (TAGT-16).
type TeamMusic struct {
	Team  []FighterID // in ascending order; empty: every team without a row of its own
	Music uint8       // number for a presentation, 1…255
}

// parseMusic reads the table of team music. Its names must be those of fighters, and the row any must be there.
func (r *Roster) parseMusic(file string, text []byte) error {
	table, lines, err := rows(file, text, "team,music")
	if err != nil {
		return err
	}
	for i, f := range table {
		var row TeamMusic
		if f[0] != "any" {
			for _, name := range strings.Split(f[0], "+") {
				who := r.FighterByKey(name)
				if who == nil || slices.Contains(row.Team, who.ID) {
					return fmt.Errorf("%w: %s:%d: %q is not any, or different fighters joined by +", ErrInvalid, file, lines[i], f[0])
				}
				row.Team = append(row.Team, who.ID)
			}
			slices.Sort(row.Team)
		}
		if slices.ContainsFunc(r.Team.music, func(m TeamMusic) bool { return slices.Equal(m.Team, row.Team) }) {
			return fmt.Errorf("%w: %s:%d: %s has a row already", ErrInvalid, file, lines[i], f[0])
		}
		n, err := cell(file, lines[i], f[0], f[1], 1, 255)
		if err != nil {
			return err
		}
		row.Music = uint8(n)
		r.Team.music = append(r.Team.music, row)
	}
	if !slices.ContainsFunc(r.Team.music, func(m TeamMusic) bool { return len(m.Team) == 0 }) {
		return fmt.Errorf("%w: %s: the row any is missing", ErrInvalid, file)
	}
	return nil
}

// Music gives the number of the music of a team, whatever the order of its fighters. Zeros are no fighters; who stands in it twice
// counts once.
func (t *Team) Music(team [3]FighterID) uint8 {
	slices.Sort(team[:])
	var whole uint8
	for _, row := range t.music {
		if len(row.Team) == 0 {
			whole = row.Music
			continue
		}
		n, last := 0, FighterID(0)
		same := true
		for _, id := range team {
			if id == 0 || id == last {
				continue
			}
			last = id
			same = same && n < len(row.Team) && row.Team[n] == id
			n++
		}
		if same && n == len(row.Team) {
			return row.Music
		}
	}
	return whole
}
