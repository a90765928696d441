package impair

import (
	"bufio"
	"fmt"
	"io"
	"sort"
	"strconv"
	"strings"
	"time"

	"backstep/peer/infile"
)

// maxTraceBytes bounds a trace file after decompression: an hour at 1 kHz.
const maxTraceBytes = 64 << 20

// Trace is a recorded network: one-way delay and loss over time. It is
// immutable once read and repeats from its start.
type Trace struct {
	at    []time.Duration
	delay []time.Duration
	lost  []bool
	span  time.Duration
}

// ReadTrace reads a file of t_ms,one_way_delay_ms,lost rows, gzipped or not.
// A lost row needs no delay.
func ReadTrace(path string) (*Trace, error) {
	f, err := infile.Open(path)
	if err != nil {
		return nil, fmt.Errorf("%w: %v", ErrSpec, err)
	}
	defer f.Close()
	var t *Trace
	r, err := infile.Table(f, maxTraceBytes)
	if err == nil {
		t, err = parseTrace(r)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %s: %v", ErrSpec, path, err)
	}
	return t, nil
}

func parseTrace(r io.Reader) (*Trace, error) {
	t := &Trace{}
	sc := bufio.NewScanner(r)
	sc.Buffer(nil, 1<<17) // more than a line of a table may have
	header := true
	for line := 1; sc.Scan(); line++ {
		text := strings.TrimSpace(sc.Text())
		if text == "" || text[0] == '#' {
			continue
		}
		if header {
			if text != "t_ms,one_way_delay_ms,lost" {
				return nil, fmt.Errorf("line %d: the header must be t_ms,one_way_delay_ms,lost", line)
			}
			header = false
			continue
		}
		if err := t.row(text); err != nil {
			return nil, fmt.Errorf("line %d: %v", line, err)
		}
	}
	if err := sc.Err(); err != nil {
		return nil, err
	}
	if len(t.at) < 2 {
		return nil, fmt.Errorf("it has %d rows, two are the least", len(t.at))
	}
	// The last row holds for as long as the one before it did.
	n := len(t.at)
	t.span = t.at[n-1] - t.at[0] + (t.at[n-1] - t.at[n-2])
	return t, nil
}

func (t *Trace) row(text string) error {
	col := strings.Split(text, ",")
	if len(col) != 3 {
		return fmt.Errorf("%d columns instead of 3", len(col))
	}
	at, err1 := strconv.ParseFloat(col[0], 64)
	delay, err2 := 0.0, error(nil)
	if col[1] != "" || col[2] != "1" {
		delay, err2 = strconv.ParseFloat(col[1], 64)
	}
	if err1 != nil || err2 != nil || !(at >= 0 && at < 1e9) || !(delay >= 0 && delay <= 60000) || (col[2] != "0" && col[2] != "1") {
		return fmt.Errorf("%q is not a time, a delay up to 60000 ms (or none in a lost row) and 0 or 1", text)
	}
	when := time.Duration(at * float64(time.Millisecond))
	if n := len(t.at); n > 0 && when <= t.at[n-1] {
		return fmt.Errorf("time %s does not rise", col[0])
	}
	t.at = append(t.at, when)
	t.delay = append(t.delay, time.Duration(delay*float64(time.Millisecond)))
	t.lost = append(t.lost, col[2] == "1")
	return nil
}

// At returns what the nearest earlier row says for the time since the start.
func (t *Trace) At(since time.Duration) (delay time.Duration, lost bool) {
	when := t.at[0] + since%t.span
	i := sort.Search(len(t.at), func(i int) bool { return t.at[i] > when }) - 1
	return t.delay[i], t.lost[i]
}
