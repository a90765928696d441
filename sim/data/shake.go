package data

import (
	"fmt"
	"strings"
)

// ShakePath is the canonical path of the camera shakes (FEEL-23), CatalogID the name of the catalog of feel (FEEL-12).
const (
	ShakePath = "balance/feel/camera_shake.csv"
	CatalogID = "GameFeel.Catalog.V2"
)

// Shake is a curve of camera shake, in ten-thousandths: its intensity and the most of it where motion is to be reduced.
type Shake struct {
	Name          string
	Base, Reduced int32
}

// Shakes is the number of curves.
const Shakes = 9

func parseShakes(file string, text []byte) ([]Shake, error) {
	if err := FeelPath(file); err != nil {
		return nil, err
	}
	table, lines, err := rows(file, text, "name,base,reduced_motion")
	if err != nil {
		return nil, err
	}
	if len(table) != Shakes {
		return nil, fmt.Errorf("%w: %s: %d curves, not %d", ErrInvalid, file, len(table), Shakes)
	}
	out := make([]Shake, len(table))
	fatality, ko := int32(0), int32(0)
	for i, f := range table {
		out[i].Name = f[0]
		if out[i].Base, err = cell(file, lines[i], "base", f[1], 1, 5*Unit); err != nil {
			return nil, err
		}
		if out[i].Reduced, err = cell(file, lines[i], "reduced_motion", f[2], 0, out[i].Base-1); err != nil {
			return nil, err
		}
		switch f[0] {
		case "Fatality":
			fatality = out[i].Base
		case "KO":
			ko = out[i].Base
		}
	}
	if fatality == 0 {
		return nil, fmt.Errorf("%w: %s: the shake Fatality is missing", ErrInvalid, file)
	}
	if fatality <= ko {
		return nil, fmt.Errorf("%w: %s: the shake Fatality must be stronger than KO", ErrInvalid, file)
	}
	return out, nil
}

// FeelPath tells whether a path is one a table of feel may stand at: a CSV below balance/feel.
func FeelPath(path string) error {
	if !strings.HasPrefix(path, "balance/feel/") || !strings.HasSuffix(path, ".csv") || strings.Contains(path, "..") {
		return fmt.Errorf("%w: %s: tables of feel are balance/feel/NAME.csv", ErrInvalid, path)
	}
	return nil
}

// Most a camera is moved by all shakes together: centimetres and degrees (FEEL-21).
const (
	MostShakeOffset   = 50
	MostShakeRotation = 10
)

// FoldShakes adds up shakes that run at once, given as offsets in centimetres and rotations in degrees, and limits the sum.
func FoldShakes(offsets, rotations []int32) (offset, rotation int32) {
	var o, r int64
	for _, x := range offsets {
		o += int64(x)
	}
	for _, x := range rotations {
		r += int64(x)
	}
	return int32(max(-MostShakeOffset, min(MostShakeOffset, o))), int32(max(-MostShakeRotation, min(MostShakeRotation, r)))
}
