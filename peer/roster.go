package peer

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"backstep/peer/infile"
	"backstep/peer/match"
	"backstep/sim/data"
)

// maxRoster is more than a roster file may be long.
const maxRoster = 1 << 18

// CheckRoster reads one fighter file, checks it as the game would and, if it is sound, prints what is in it: the fighter, then a
// line for each move. A file that is refused or cannot be read gives a Failure with exit code 2 whose text names line and reason.
func CheckRoster(path string, w io.Writer) error {
	text, err := infile.Read(path, maxRoster)
	if err != nil {
		return fail(exitUsage, match.EndError, err, "the roster file cannot be read: %v", err)
	}
	name := filepath.Base(path)
	k, err := data.Check(name, text)
	if err == nil {
		err = fits(name, k)
	}
	if err != nil {
		return fail(exitUsage, match.EndError, err, "%v", err)
	}
	_, err = io.WriteString(w, describe(k))
	return err
}

// fits checks a fighter against the file it is in and the rest of the roster.
func fits(name string, k *data.Fighter) error {
	if name != k.Key+".txt" {
		return fmt.Errorf("%w: %s: the fighter in it is %s, so the file must be called %s.txt", data.ErrInvalid, name, k.Key, k.Key)
	}
	if other := data.Embedded().Fighter(k.ID); other != nil && other.Key != k.Key {
		return fmt.Errorf("%w: %s: id %d already belongs to %s", data.ErrInvalid, name, k.ID, other.Key)
	}
	return nil
}

// describe lists a fighter as a table of frame data.
func describe(k *data.Fighter) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s is sound: %s (id %d), %d health, %d moves\n%s\n", k.Key, k.Name, k.ID, k.Health, k.Moves(), k.Plan)
	for i, s := range k.Stances {
		fmt.Fprintf(&b, "stance %d: %s, %d frames after %d of entry, %d to leave\n", i+1, s.Name, s.Duration, s.Entry, s.Recovery)
	}
	fmt.Fprintf(&b, "\n%-14s %-22s %-18s %7s %6s %8s %6s %6s %8s  %s\n", "move", "name", "command", "startup", "active", "recovery", "damage", "on hit", "on block", "rules")
	for id := data.MoveID(1); int(id) <= k.Moves(); id++ {
		m := k.Move(id)
		damage, onHit, onBlock := "-", "-", "-"
		if !m.Hitless() {
			damage = fmt.Sprint(m.Damage)
			switch {
			case m.Guard == data.Grab:
				onHit, onBlock = "throw", "throw"
			case m.From == data.Air || m.Shot.Spawn != 0:
				onHit, onBlock = fmt.Sprintf("%df", m.Hitstun), fmt.Sprintf("%df", m.Blockstun)
			default:
				onBlock = fmt.Sprintf("%+d", m.OnBlock)
				if onHit = fmt.Sprintf("%+d", m.OnHit); m.Reaction != data.Stagger {
					onHit = "down"
				}
			}
		}
		fmt.Fprintf(&b, "%-14s %-22s %-18s %7d %6d %8d %6s %6s %8s  %s\n", m.Key, m.Name, command(k, m), m.Startup, m.Active, m.Recovery, damage, onHit, onBlock, rulesOf(m))
	}
	return b.String()
}

// command writes how a move is done.
func command(k *data.Fighter, m *data.Move) string {
	if m.Family == data.AssistCall {
		return "a partner's call"
	}
	c := strings.TrimSpace([...]string{"", "forward", "back", "down"}[m.Direction] + " " +
		[...]string{"light", "medium", "heavy", "special", "throw", "assist", "stance", "super"}[m.Button])
	switch m.From {
	case data.Air:
		c += ", air"
	case data.Rise:
		c += ", rising"
	}
	if m.In != 0 {
		c = k.Stances[m.In-1].Name + ": " + c
	}
	return c
}

// rulesOf names the rulesets a move belongs to.
func rulesOf(m *data.Move) string {
	var names []string
	for r := range data.Rules(data.RulesCount) {
		if m.Under(r) {
			names = append(names, r.String())
		}
	}
	if len(names) == data.RulesCount {
		return "all"
	}
	return strings.Join(names, " ")
}
