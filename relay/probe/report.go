package probe

import (
	"fmt"
	"io"
	"time"
)

// Status is how a check went.
type Status string

const (
	OK   Status = "ok"
	Note Status = "note" // works, but somebody should know
	Fail Status = "fail" // players are cut off or the relay breaks its own rules
	Skip Status = "skip" // could not be tried
)

// Check is one step.
type Check struct {
	Name   string   `json:"name"`
	Status Status   `json:"status"`
	Text   string   `json:"text"`         // one sentence or two
	Millis *float64 `json:"ms,omitempty"` // a round trip, where there was one
}

// Report is what a probe found.
type Report struct {
	Relay  string  `json:"relay"`  // HOST:PORT as asked
	Usable bool    `json:"usable"` // no check failed
	Checks []Check `json:"checks"`
}

// WriteText writes a line for each check and one for the whole.
func (r *Report) WriteText(w io.Writer) error {
	for _, c := range r.Checks {
		if _, err := fmt.Fprintf(w, "%-4s  %-9s  %s\n", c.Status, c.Name, c.Text); err != nil {
			return err
		}
	}
	verdict := "Players can use " + r.Relay + " from here."
	if !r.Usable {
		verdict = "Players cannot use " + r.Relay + " from here as they should."
	}
	_, err := fmt.Fprintln(w, verdict)
	return err
}

func (r *Report) add(name string, s Status, rtt time.Duration, format string, args ...any) {
	c := Check{Name: name, Status: s, Text: fmt.Sprintf(format, args...)}
	if rtt > 0 {
		ms := float64(rtt.Microseconds()) / 1000
		c.Millis = &ms
	}
	r.Checks = append(r.Checks, c)
}

// short writes a time as people say it.
func short(d time.Duration) string {
	if d < 100*time.Microsecond {
		return "less than 0.1 ms"
	}
	if d < 10*time.Millisecond {
		return fmt.Sprintf("%.1f ms", float64(d.Microseconds())/1000)
	}
	return fmt.Sprintf("%d ms", d.Milliseconds())
}
