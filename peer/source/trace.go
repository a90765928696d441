package source

import (
	"bufio"
	"compress/gzip"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"backstep/sim"
)

const (
	maxTraceBytes = 64 << 20  // decompressed
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
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("%w: %v", ErrSource, err)
	}
	defer f.Close()
	br := bufio.NewReader(f)
	var r io.Reader = br
	if head, _ := br.Peek(2); len(head) == 2 && head[0] == 0x1f && head[1] == 0x8b {
		if r, err = gzip.NewReader(br); err != nil {
			return nil, fmt.Errorf("%w: %s is damaged: %v", ErrSource, path, err)
		}
	}
	t, err := ParseTrace(r, column)
	if err != nil {
		return nil, fmt.Errorf("%w: %s: %v", ErrSource, path, err)
	}
	return t, nil
}

// ParseTrace reads a column of an uncompressed trace. It stops with an error
// past five hours of frames or 64 MiB, so a hostile file cannot fill memory.
func ParseTrace(r io.Reader, column string) (*Trace, error) {
	limited := &io.LimitedReader{R: r, N: maxTraceBytes + 1}
	rows := csv.NewReader(limited)
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
	if limited.N <= 0 {
		return nil, fmt.Errorf("it is larger than %d MiB", maxTraceBytes>>20)
	}
	if len(t.words) == 0 {
		return nil, errors.New("it has no data row")
	}
	return t, nil
}
