package data

import (
	"fmt"
	"strings"
)

// Canonical paths of the tables of tag play.
const (
	MechanicsPath = "balance/tag/mechanics.csv"
	PairsPath     = "balance/tag/tag_cancel_dhc_matrix.csv"
	TuningPath    = "balance/tag/tuning.csv"
	MusicPath     = "balance/tag/team_theme_music.csv"
)

// Mechanic names one of the seven mechanics of tag play (TAGT-02).
type Mechanic uint8

// The mechanics, in order of name.
const (
	AssistCalled Mechanic = iota
	BaroqueDuoCancel
	CrossAssault
	DelayedHyperCombo
	Snapback
	TagCancel
	XFactorPandora
	MechanicKinds = 7
)

var mechanicNames = [MechanicKinds]string{"AssistCall", "BaroqueDuoCancel", "CrossAssault", "DelayedHyperCombo", "Snapback", "TagCancel", "XFactorPandora"}

// String gives the name used in tables.
func (k Mechanic) String() string {
	if k < MechanicKinds {
		return mechanicNames[k]
	}
	return "unknown"
}

// MechanicByName is the inverse of String.
func MechanicByName(name string) (Mechanic, bool) {
	i := indexOf(mechanicNames[:], name)
	return Mechanic(max(i, 0)), i >= 0
}

// MechanicRow is one row of the table of mechanics. What a column means for a mechanic, the comment above the table says.
type MechanicRow struct {
	Cooldown, Frames, Meter int32
	Health                  int32 // percent
	Damage, Speed           int32 // percent
}

// Team is all that tag play is tuned by.
type Team struct {
	Mechanics [MechanicKinds]MechanicRow
	Tuning
	pairs []Pair
	music []TeamMusic
}

// Tuning holds lengths of tag play in frames, and health for every thousand of it that a fighter off the stage gets back in 120 frames.
type Tuning struct {
	AssistLeave, DownEntry, Regen, TagIn, TagOut int32
}

// Pair is one row of the pairing table. From or To 0 stands for any fighter.
type Pair struct {
	From, To  FighterID
	TagCancel bool
	DHC       bool
	CrossIP   bool // fighters of different houses may pair
	Cinematic bool // a super with a cinematic may be joined
}

func parseMechanics(file string, text []byte) ([MechanicKinds]MechanicRow, error) {
	var out [MechanicKinds]MechanicRow
	table, lines, err := rows(file, text, "name,cooldown,frames,meter,health_percent,damage_percent,speed_percent")
	if err != nil {
		return out, err
	}
	if len(table) != MechanicKinds {
		return out, fmt.Errorf("%w: %s: %d rows, not %d", ErrInvalid, file, len(table), MechanicKinds)
	}
	for i, f := range table {
		if f[0] != mechanicNames[i] {
			return out, fmt.Errorf("%w: %s:%d: %s where %s belongs", ErrInvalid, file, lines[i], f[0], mechanicNames[i])
		}
		r := &out[i]
		for c, at := range [...]*int32{&r.Cooldown, &r.Frames, &r.Meter, &r.Health, &r.Damage, &r.Speed} {
			if *at, err = cell(file, lines[i], f[0], f[c+1], 0, [...]int32{3600, 3600, 10000, 100, 300, 200}[c]); err != nil {
				return out, err
			}
		}
		if r.Damage < 1 || r.Speed < 50 {
			return out, fmt.Errorf("%w: %s:%d: %s: damage must be at least 1 and speed at least 50 percent", ErrInvalid, file, lines[i], f[0])
		}
	}
	return out, nil
}

func parseTuning(file string, text []byte) (Tuning, error) {
	var t Tuning
	table, lines, err := rows(file, text, "name,value")
	if err != nil {
		return t, err
	}
	want := [...]string{"AssistLeave", "DownEntry", "OffscreenRegenPer120", "TagIn", "TagOut"}
	at := [...]*int32{&t.AssistLeave, &t.DownEntry, &t.Regen, &t.TagIn, &t.TagOut}
	if len(table) != len(want) {
		return t, fmt.Errorf("%w: %s: %d rows, not %d", ErrInvalid, file, len(table), len(want))
	}
	for i, name := range want {
		if table[i][0] != name {
			return t, fmt.Errorf("%w: %s:%d: %s where %s belongs", ErrInvalid, file, lines[i], table[i][0], name)
		}
		if *at[i], err = cell(file, lines[i], name, table[i][1], 1, 120); err != nil {
			return t, err
		}
	}
	return t, nil
}

// parsePairs reads the pairing table. Its names must be those of fighters.
func (r *Roster) parsePairs(file string, text []byte) error {
	table, lines, err := rows(file, text, "pair,tag_cancel,dhc,cross_ip,cinematic")
	if err != nil {
		return err
	}
	all := false
	for i, f := range table {
		from, to, ok := strings.Cut(f[0], ">")
		var p Pair
		for k, name := range [...]string{from, to} {
			if name == "any" {
				continue
			}
			who := r.FighterByKey(name)
			if who == nil || !ok {
				return fmt.Errorf("%w: %s:%d: %q is not two fighters, or any, joined by >", ErrInvalid, file, lines[i], f[0])
			}
			*[...]*FighterID{&p.From, &p.To}[k] = who.ID
		}
		for k, at := range [...]*bool{&p.TagCancel, &p.DHC, &p.CrossIP, &p.Cinematic} {
			if *at = f[k+1] == "yes"; !*at && f[k+1] != "no" {
				return fmt.Errorf("%w: %s:%d: %q is neither yes nor no", ErrInvalid, file, lines[i], f[k+1])
			}
		}
		all = all || (p.From == 0 && p.To == 0)
		r.Team.pairs = append(r.Team.pairs, p)
	}
	if !all {
		return fmt.Errorf("%w: %s: the row any>any is missing", ErrInvalid, file)
	}
	return nil
}

// Pair gives the row for two fighters: the one for both, else for the first, else for the second, else for any two.
func (t *Team) Pair(from, to FighterID) Pair {
	best, rank := Pair{}, -1
	for _, p := range t.pairs {
		if (p.From != 0 && p.From != from) || (p.To != 0 && p.To != to) {
			continue
		}
		n := 0
		if p.From != 0 {
			n += 2
		}
		if p.To != 0 {
			n++
		}
		if n > rank {
			best, rank = p, n
		}
	}
	return best
}

// Pairs gives the number of rows of the pairing table. There is always one for any two fighters.
func (t *Team) Pairs() int { return len(t.pairs) }
