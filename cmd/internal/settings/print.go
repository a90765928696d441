package settings

import (
	"flag"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// Kind is the place a value came from.
type Kind uint8

// The places, in rising order of precedence.
const (
	Default Kind = iota
	File
	Env
	Flag
)

func (k Kind) String() string {
	return [...]string{Default: "default", File: "file", Env: "env", Flag: "flag"}[k]
}

// Source says where a value came from. Where is the variable's name for Env and path:line for File.
type Source struct {
	Kind  Kind
	Where string
}

func (s Source) String() string {
	if s.Where == "" {
		return s.Kind.String()
	}
	return s.Kind.String() + " " + s.Where
}

// Source is where the value of the flag name came from.
func (s *Set) Source(name string) Source { return s.sources[name] }

// Given reports whether the flag name has a value from anywhere but its default.
func (s *Set) Given(name string) bool { return s.sources[name].Kind != Default }

// Only returns a *UsageError if the command line holds a flag that command does not have. allowed are the names it
// has, beside those marked with LineOnly and the one that names the file. Settings from environment and file are not
// looked at: they are shared by all commands of a program.
func (s *Set) Only(command string, allowed ...string) error {
	var err error
	s.Flags.VisitAll(func(f *flag.Flag) {
		if err != nil || s.sources[f.Name].Kind != Flag || s.lineOnly[f.Name] || f.Name == s.fileFlag ||
			slices.Contains(allowed, f.Name) {
			return
		}
		err = Usagef("--%s does not belong to %q: %s --help lists what does", f.Name, s.program+" "+command, s.program)
	})
	return err
}

// WriteConfig writes every setting as "name = value  # source", sorted by name, the values of secrets masked. Apart
// from masked values the text is a configuration file that gives the same settings.
func (s *Set) WriteConfig(w io.Writer) error {
	var err error
	s.Flags.VisitAll(func(f *flag.Flag) {
		if err != nil || s.lineOnly[f.Name] || f.Name == s.fileFlag {
			return
		}
		_, err = fmt.Fprintf(w, "%s = %s  # %s\n", f.Name, quoted(s.shown(f.Name, f.Value.String())), s.Source(f.Name))
	})
	if err == nil && s.usedFile != "" {
		_, err = fmt.Fprintf(w, "# file: %s\n", s.usedFile)
	}
	return err
}

// shown is value, or a mask of fixed length if name is a secret that has one.
func (s *Set) shown(name, value string) string {
	if s.secrets[name] && value != "" {
		return "********"
	}
	return value
}

func quoted(value string) string {
	if value == "" || strings.ContainsAny(value, "#\"= \t") || strconv.Quote(value) != `"`+value+`"` {
		return strconv.Quote(value)
	}
	return value
}

// WriteUsage writes synopsis and a line for each flag: name, kind of value, meaning, default and environment variable.
func (s *Set) WriteUsage(w io.Writer, synopsis string) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n\nFlags (before or after arguments, with one or two dashes):\n", strings.TrimSpace(synopsis))
	s.Flags.VisitAll(func(f *flag.Flag) {
		kind, usage := flag.UnquoteUsage(f)
		if s.lists[f.Name] {
			usage += " (repeatable)"
		}
		head := strings.TrimSpace("--" + f.Name + " " + kind)
		fmt.Fprintf(&b, "  %-24s %s", head, usage)
		if f.DefValue != "" && f.DefValue != "false" && f.DefValue != "0" && !s.secrets[f.Name] {
			fmt.Fprintf(&b, " [default %s]", f.DefValue)
		}
		b.WriteByte('\n')
	})
	fmt.Fprintf(&b, "\nEach flag but those that ask for something can also stand in the environment (%s_…, as in %s)\n"+
		"or in a file of lines \"flag value\". A flag wins over the environment, the environment over the file.\n",
		s.prefix, s.envName("log-level"))
	_, err := io.WriteString(w, b.String())
	return err
}
