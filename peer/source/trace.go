package source

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"backstep/peer/infile"
	"backstep/sim"
)

const (
	maxTraceBytes = 32 << 20  // decompressed
	maxTraceRows  = 1_080_000 // five hours at 60 Hz
)

// Trace is one column of recorded words. It is immutable once read and may be
// shared.
type Trace struct{ words []uint16 }

// Next returns the word of the frame; the trace repeats from its start.
func (t *Trace) Next(frame int32, _ *sim.World) uint16 {
	return t.words[int(max(frame, 0))%len(t.words)]
}

// Len is the number of recorded frames.
func (t *Trace) Len() int { return len(t.words) }

// ReadTrace reads a column of a trace file, gzipped or not.
func ReadTrace(path, column string) (*Trace, error) {
	f, err := infile.Open(path)
	if err != nil {
		return nil, fmt.Errorf("%w: %v", ErrSource, err)
	}
	defer f.Close()
	t, err := readTrace(f, column)
	if err != nil {
		return nil, fmt.Errorf("%w: %s: %v", ErrSource, path, err)
	}
	return t, nil
}

// readTrace reads a column of a trace, gzipped or not. It stops with an error past
// five hours of frames, 32 MiB or a line of 64 KiB, so a hostile file cannot fill
// memory.
func readTrace(r io.Reader, column string) (*Trace, error) {
	lines, err := infile.Table(r, maxTraceBytes)
	if err != nil {
		return nil, err
	}
	rows := csv.NewReader(lines)
	rows.Comment = '#'
	rows.ReuseRecord = true
	header, err := rows.Read()
	if err != nil {
		if errors.Is(err, io.EOF) {
			return nil, errors.New("it has no header row")
		}
		return nil, err
	}
	col := slices.Index(header, column)
	if col < 0 {
		return nil, fmt.Errorf("it has no column %q, only %.200q", column, strings.Join(header, ","))
	}
	t := &Trace{}
	for {
		row, err := rows.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		w, err := strconv.ParseUint(row[col], 16, 16)
		line, _ := rows.FieldPos(col)
		if err != nil {
			return nil, fmt.Errorf("line %d: %q is not a hexadecimal word", line, row[col])
		}
		if w>>(maxBit+1) != 0 {
			return nil, fmt.Errorf("line %d: word %s has a bit above %d", line, row[col], maxBit)
		}
		if len(t.words) == maxTraceRows {
			return nil, fmt.Errorf("it has more than %d rows", maxTraceRows)
		}
		t.words = append(t.words, uint16(w))
	}
	if len(t.words) == 0 {
		return nil, errors.New("it has no data row")
	}
	return t, nil
}
