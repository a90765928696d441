package doctor

import (
	"fmt"
	"io"
	"net/netip"
)

// Severity is how much a finding matters. Its text form is part of the JSON.
type Severity string

// Severities, from the best. Unknown is no fault of the network: something could
// not be looked at.
const (
	OK      Severity = "ok"
	Note    Severity = "note"    // works; worth knowing
	Unknown Severity = "unknown" // could not be checked
	Warning Severity = "warning" // matches work, but worse, or not with everybody
	Error   Severity = "error"   // no match comes about
)

func (s Severity) rank() int {
	for i, x := range [...]Severity{OK, Note, Unknown, Warning, Error} {
		if s == x {
			return i
		}
	}
	return 0
}

// Finding is one thing that was looked at.
type Finding struct {
	ID       string   `json:"id"` // network, link, relay, udp, nat_ipv4, …
	Severity Severity `json:"severity"`
	Summary  string   `json:"summary"` // what is, one sentence
	Meaning  string   `json:"meaning"` // what that means for a match
	Advice   string   `json:"advice"`  // what to do; empty if nothing
	// Data holds figures and classes for programs, for example mapping and
	// filtering of a NAT after RFC 5780, or rtt_ms. Never addresses.
	Data map[string]any `json:"data,omitempty"`
	// Addresses are those the finding is about, if they may be shown.
	Addresses []netip.Addr `json:"addresses,omitempty"`
}

// Report is a whole examination.
type Report struct {
	Build    string    `json:"build"`
	Relay    string    `json:"relay,omitempty"` // the one that was asked
	Severity Severity  `json:"severity"`        // the worst; unknown counts as a note
	Findings []Finding `json:"findings"`
}

// Exit codes of a report.
const (
	exitWarning = 1
	exitRelay   = 3
	exitNoPath  = 5
)

// ExitCode is 0 where nothing is worse than a note, 1 where something was warned
// of, 3 where no relay can be reached and 5 where this machine has no network.
func (r *Report) ExitCode() int {
	code := 0
	for _, f := range r.Findings {
		switch {
		case f.Severity == Error && f.ID == "network":
			return exitNoPath
		case f.Severity == Error:
			code = exitRelay
		case f.Severity == Warning && code == 0:
			code = exitWarning
		}
	}
	return code
}

func (r *Report) add(f Finding) {
	r.Findings = append(r.Findings, f)
	s := f.Severity
	if s == Unknown {
		s = Note
	}
	if r.Severity == "" || s.rank() > r.Severity.rank() {
		r.Severity = s
	}
}

// names are how findings are headed in text.
var names = map[string]string{
	"network": "Network", "link": "Cable or Wi-Fi", "relay": "Relay", "udp": "UDP", "nat_ipv4": "NAT (IPv4)", "nat_ipv6": "NAT (IPv6)",
	"external": "Outside address", "port_mapping": "Port mapping", "double_nat": "Double NAT", "clock": "Clock",
}

// WriteText writes f as a paragraph of plain text that can be copied.
func (f *Finding) WriteText(w io.Writer) error {
	name := names[f.ID]
	if name == "" {
		name = f.ID
	}
	text := fmt.Sprintf("%-7s  %-15s  %s\n", f.Severity, name, f.Summary)
	const indent = "                          "
	for _, a := range f.Addresses {
		text += indent + a.String() + "\n"
	}
	if f.Meaning != "" {
		text += indent + f.Meaning + "\n"
	}
	if f.Advice != "" {
		text += indent + "> " + f.Advice + "\n"
	}
	_, err := io.WriteString(w, text)
	return err
}

// Verdict is the last line of the text.
func (r *Report) Verdict() string {
	switch r.Severity {
	case Error:
		return "No match with others can come about from here: see what says error."
	case Warning:
		return "Matches work from here, with the limits that say warning."
	}
	for _, f := range r.Findings {
		if f.Severity == Unknown {
			return "Nothing that could be checked stands in the way of a match; what says unknown was not."
		}
	}
	return "Nothing here stands in the way of a match."
}

// Worst is the worst finding in a sentence or two: what is and what to do. It is
// empty while nothing is worse than a note.
func (r *Report) Worst() string {
	var worst *Finding
	for i := range r.Findings {
		f := &r.Findings[i]
		if f.Severity.rank() >= Warning.rank() && (worst == nil || f.Severity.rank() > worst.Severity.rank()) {
			worst = f
		}
	}
	switch {
	case worst == nil:
		return ""
	case worst.Advice == "":
		return worst.Summary
	}
	return worst.Summary + " " + worst.Advice
}
