package present

import (
	_ "embed"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// CatalogID names the feel catalogue.
const CatalogID = "GameFeel.Catalog.V2"

// ShakePath is the one path a shake table may be read from, below the data
// root, beside the simulation's tables.
const ShakePath = "balance/feel/shakes.csv"

// Limits of all shakes together.
const (
	MaxOffset  = 50.0 // stage units
	MaxDegrees = 10.0

	offsetUnit  = 25.0 // of intensity 1
	degreesUnit = 4.0
)

// Pattern is how a shake moves the picture.
type Pattern string

// The patterns.
const (
	Perlin      Pattern = "perlin"
	Spring      Pattern = "spring"
	Directional Pattern = "directional"
)

// Shake is a row of the table.
type Shake struct {
	Name          string
	Base, Reduced float64 // intensity, and its ceiling under reduced motion
	Frames        int
	Pattern       Pattern
}

// ErrCatalog is what errors of ParseShakes wrap; the text says which row and why.
var ErrCatalog = errors.New("invalid feel catalogue")

//go:embed balance/feel/shakes.csv
var shakesCSV string

// Shakes gives the embedded table.
func Shakes() []Shake {
	s, err := ParseShakes(ShakePath, shakesCSV)
	if err != nil {
		panic(err) // the file is part of the program and a test reads it
	}
	return s
}

// ParseShakes reads a table. It must hold Fatality, stronger than KO, and every
// ceiling must lie below its base.
func ParseShakes(path, text string) ([]Shake, error) {
	if path != ShakePath {
		return nil, fmt.Errorf("%w: %q is not %s", ErrCatalog, path, ShakePath)
	}
	var out []Shake
	named := map[string]Shake{}
	header := false
	for i, line := range strings.Split(text, "\n") {
		line, _, _ = strings.Cut(line, "#")
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		if !header {
			if line != "name,base,reduced,frames,pattern" {
				return nil, fmt.Errorf("%w: line %d: wrong header", ErrCatalog, i+1)
			}
			header = true
			continue
		}
		s, err := parseShake(strings.Split(line, ","))
		if err != nil {
			return nil, fmt.Errorf("%w: line %d: %v", ErrCatalog, i+1, err)
		}
		if _, twice := named[s.Name]; twice {
			return nil, fmt.Errorf("%w: line %d: %s stands twice", ErrCatalog, i+1, s.Name)
		}
		named[s.Name] = s
		out = append(out, s)
	}
	for _, need := range []string{"KO", "Fatality"} {
		if _, ok := named[need]; !ok {
			return nil, fmt.Errorf("%w: the %s shake is missing", ErrCatalog, need)
		}
	}
	if named["Fatality"].Base <= named["KO"].Base {
		return nil, fmt.Errorf("%w: Fatality must be stronger than KO", ErrCatalog)
	}
	return out, nil
}

func parseShake(f []string) (s Shake, err error) {
	if len(f) != 5 {
		return s, fmt.Errorf("%d columns, not 5", len(f))
	}
	s.Name, s.Pattern = f[0], Pattern(f[4])
	if s.Base, err = strconv.ParseFloat(f[1], 64); err != nil || !(s.Base > 0 && s.Base <= 2) {
		return s, fmt.Errorf("base %q is not in 0…2", f[1])
	}
	if s.Reduced, err = strconv.ParseFloat(f[2], 64); err != nil || !(s.Reduced >= 0 && s.Reduced < s.Base) {
		return s, fmt.Errorf("reduced %q is not below base", f[2])
	}
	if s.Frames, err = strconv.Atoi(f[3]); err != nil || s.Frames < 1 || s.Frames > 120 {
		return s, fmt.Errorf("frames %q is not in 1…120", f[3])
	}
	switch s.Pattern {
	case Perlin, Spring, Directional:
		return s, nil
	}
	return s, fmt.Errorf("pattern %q is unknown", f[4])
}

// Running is a shake under way.
type Running struct {
	Shake
	Age       float64 // frames since it began
	Direction float64 // 1 or -1: where the blow went
}

// EvaluateShakes folds all shakes under way into one offset and one turn, each
// clamped. It is a pure function of its arguments.
func EvaluateShakes(list []Running, reduced bool) (offset Point, degrees float64) {
	for _, r := range list {
		if r.Age < 0 || r.Age >= float64(r.Frames) {
			continue
		}
		power := r.Base
		if reduced {
			power = min(power, r.Reduced)
		}
		power *= 1 - r.Age/float64(r.Frames)
		var x, y, turn float64
		switch r.Pattern {
		case Perlin:
			x, y, turn = wave(r.Age, 0.9, 0), wave(r.Age, 1.1, 2), wave(r.Age, 0.7, 4)
		case Spring:
			y, turn = math.Cos(r.Age*0.9), 0.25*math.Sin(r.Age*0.9)
		case Directional:
			x, y = r.Direction*math.Cos(r.Age*1.2), 0.3*math.Sin(r.Age*1.2)
		}
		offset.X += power * offsetUnit * x
		offset.Y += power * offsetUnit * y
		degrees += power * degreesUnit * turn
	}
	if d := math.Hypot(offset.X, offset.Y); d > MaxOffset {
		offset.X *= MaxOffset / d
		offset.Y *= MaxOffset / d
	}
	return offset, max(-MaxDegrees, min(degrees, MaxDegrees))
}

// wave is smooth noise of three incommensurable sines.
func wave(t, rate, phase float64) float64 {
	return (math.Sin(t*rate+phase) + 0.6*math.Sin(t*rate*1.73+phase*2) + 0.4*math.Sin(t*rate*2.41+phase*3)) / 2
}
