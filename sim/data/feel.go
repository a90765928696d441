package data

import (
	"fmt"
	"strconv"
	"strings"
)

// Canonical paths of the feel tables (FEEL-23).
const (
	HitstopPath = "balance/feel/hitstop_curves.csv"
	TimingPath  = "balance/feel/timing.csv"
)

// Hitstop is one row of the hitstop table. All lengths are frames, 0…30; CounterHit is 2…3 (FEEL-02).
// RollbackExcluded is true in every row (FEEL-04): frozen frames do not count against the rollback budget.
type Hitstop struct {
	Name               string
	Attacker, Defender int32
	Hitlag             int32 // further freeze of the defender alone, after Defender
	CounterHit         int32 // added to Attacker and Defender on a counter-hit
	Block              int32 // freeze of both sides on block
	RollbackExcluded   bool
}

const hitstopHeader = "name,attacker,defender,hitlag,counter_hit,block,rollback_excluded"

// rows cuts a CSV without quoting into rows, skipping comments and empty lines, and checks header and order of the first column.
func rows(file string, text []byte, header string) ([][]string, []int, error) {
	if len(text) > maxFile {
		return nil, nil, fmt.Errorf("%w: %s: %d bytes, more than %d", ErrInvalid, file, len(text), maxFile)
	}
	var out [][]string
	var lines []int
	columns := strings.Count(header, ",") + 1
	line, seen := 0, false
	for raw := range strings.SplitSeq(string(text), "\n") {
		line++
		body, _, _ := strings.Cut(raw, "#")
		body = strings.TrimSpace(body)
		if body == "" {
			continue
		}
		if !seen {
			if body != header {
				return nil, nil, fmt.Errorf("%w: %s:%d: the header must be %s", ErrInvalid, file, line, header)
			}
			seen = true
			continue
		}
		f := strings.Split(body, ",")
		if len(f) != columns {
			return nil, nil, fmt.Errorf("%w: %s:%d: %d columns, not %d", ErrInvalid, file, line, len(f), columns)
		}
		if n := len(out); n > 0 && out[n-1][0] >= f[0] {
			return nil, nil, fmt.Errorf("%w: %s:%d: %s must stand before %s (rows are sorted, each name once)", ErrInvalid, file, line, f[0], out[n-1][0])
		}
		out, lines = append(out, f), append(lines, line)
	}
	if len(out) == 0 {
		return nil, nil, fmt.Errorf("%w: %s: no rows", ErrInvalid, file)
	}
	return out, lines, nil
}

func cell(file string, line int, column, value string, lo, hi int32) (int32, error) {
	n, err := strconv.ParseInt(value, 10, 32)
	if err != nil || int32(n) < lo || int32(n) > hi {
		return 0, fmt.Errorf("%w: %s:%d: %s: %q is not a whole number in %d…%d", ErrInvalid, file, line, column, value, lo, hi)
	}
	return int32(n), nil
}

func parseHitstop(file string, text []byte) ([]Hitstop, error) {
	table, lines, err := rows(file, text, hitstopHeader)
	if err != nil {
		return nil, err
	}
	names := strings.Split(hitstopHeader, ",")
	out := make([]Hitstop, len(table))
	for i, f := range table {
		var n [6]int32
		for c := 1; c <= 5; c++ {
			lo, hi := int32(0), int32(30)
			if c == 4 {
				lo, hi = 2, 3
			}
			if n[c], err = cell(file, lines[i], names[c], f[c], lo, hi); err != nil {
				return nil, err
			}
		}
		if f[6] != "true" {
			return nil, fmt.Errorf("%w: %s:%d: rollback_excluded must be true: frozen frames never count against the rollback budget", ErrInvalid, file, lines[i])
		}
		out[i] = Hitstop{Name: f[0], Attacker: n[1], Defender: n[2], Hitlag: n[3], CounterHit: n[4], Block: n[5], RollbackExcluded: true}
	}
	return out, nil
}

// Timing holds the lengths of feel that are not tied to a hit, in frames.
type Timing struct {
	FinisherFreeze, KOSlowMotion, RageArtFreeze int32
}

func parseTiming(file string, text []byte) (Timing, error) {
	var t Timing
	table, lines, err := rows(file, text, "name,frames")
	if err != nil {
		return t, err
	}
	want := []struct {
		name string
		at   *int32
	}{{"FinisherFreeze", &t.FinisherFreeze}, {"KOSlowMotion", &t.KOSlowMotion}, {"RageArtFreeze", &t.RageArtFreeze}}
	if len(table) != len(want) {
		return t, fmt.Errorf("%w: %s: %d rows, not %d", ErrInvalid, file, len(table), len(want))
	}
	for i, w := range want {
		if table[i][0] != w.name {
			return t, fmt.Errorf("%w: %s:%d: %s where %s belongs", ErrInvalid, file, lines[i], table[i][0], w.name)
		}
		if *w.at, err = cell(file, lines[i], w.name, table[i][1], 1, 240); err != nil {
			return t, err
		}
	}
	return t, nil
}
