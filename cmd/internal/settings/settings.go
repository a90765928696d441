// Package settings reads the settings of a command: flag over environment over file over default.
//
//	command line ─┐
//	PREFIX_NAME ──┼─> flag.FlagSet ──> values, each with its Source
//	config file ──┘        ▲
//	                       └── defaults
//
// Every setting is a flag of the standard flag package; github.com/peterbourgon/ff fills from the environment and the
// file what the command line left open. This package adds what neither does: flags before and after arguments,
// repeatable flags, unknown keys reported with file and line, and the source of each value for --print-config.
//
// Errors that the user can mend by typing something else are of type *UsageError, which stands for exit code 2.
package settings

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/peterbourgon/ff/v3"
)

// ErrHelp is returned by Parse if the arguments ask for help with -h or --help.
var ErrHelp = flag.ErrHelp

// UsageError is a mistake in what the user gave: one sentence that says what is wrong and what to do.
type UsageError struct{ text string }

// Usagef builds a UsageError like fmt.Sprintf builds a string.
func Usagef(format string, args ...any) error { return &UsageError{fmt.Sprintf(format, args...)} }

func (e *UsageError) Error() string { return e.text }

// ExitCode is 2, the code both commands use for wrong usage.
func (e *UsageError) ExitCode() int { return 2 }

// Set is the settings of one command. Define the flags on Flags (or with List), then call Parse once.
type Set struct {
	// Flags holds the flags; define them on it before Parse. It prints nothing by itself.
	Flags *flag.FlagSet

	program     string
	prefix      string
	lists       map[string]bool
	secrets     map[string]bool
	lineOnly    map[string]bool
	fileFlag    string
	defaultFile string
	sources     map[string]Source
	args        []string
	usedFile    string
}

// New returns an empty Set. program is the name that error sentences use; envPrefix is the beginning of the names of
// its environment variables, without the underscore: prefix RELAY makes RELAY_LOG_LEVEL the variable of log-level.
func New(program, envPrefix string) *Set {
	fs := flag.NewFlagSet(program, flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	fs.Usage = func() {}
	return &Set{
		Flags:    fs,
		program:  program,
		prefix:   envPrefix,
		lists:    map[string]bool{},
		secrets:  map[string]bool{},
		lineOnly: map[string]bool{},
		sources:  map[string]Source{},
	}
}

// List defines a repeatable flag. Each occurrence adds to the list, the first one replaces value; one occurrence may
// also carry several entries separated by commas, which is how an environment variable lists them.
func (s *Set) List(name string, value []string, usage string) *[]string {
	l := &list{values: value}
	s.Flags.Var(l, name, usage)
	s.lists[name] = true
	return &l.values
}

// Secret marks flags whose values are never shown.
func (s *Set) Secret(names ...string) { mark(s.secrets, names) }

// LineOnly marks flags that only the command line can give: neither the environment nor a file sets them. It is meant
// for requests such as --version, and keeps an unrelated variable such as RELAY_VERSION from being one.
func (s *Set) LineOnly(names ...string) { mark(s.lineOnly, names) }

func mark(set map[string]bool, names []string) {
	for _, n := range names {
		set[n] = true
	}
}

// File defines the flag that names the configuration file. If it is not given, fallback is read instead, if that file
// exists; an empty fallback means no file. A file that was asked for by name must exist.
func (s *Set) File(name, fallback, usage string) {
	s.Flags.String(name, "", usage)
	s.fileFlag, s.defaultFile = name, fallback
}

// Parse reads the command line without the program name, then the environment, then the file. It returns ErrHelp, a
// *UsageError, or nil. After it, the flags hold their values, Args the arguments and Source where each value is from.
func (s *Set) Parse(args []string) error {
	if err := s.parseLine(args); err != nil {
		return err
	}
	if err := s.parseEnv(); err != nil {
		return err
	}
	return s.parseFile()
}

// Args is what the command line holds besides flags, in order.
func (s *Set) Args() []string { return s.args }

// parseLine sets the flags of the command line and collects the arguments between them.
func (s *Set) parseLine(args []string) error {
	for i := 0; i < len(args); i++ {
		arg := args[i]
		if arg == "--" {
			s.args = append(s.args, args[i+1:]...)
			return nil
		}
		if len(arg) < 2 || arg[0] != '-' {
			s.args = append(s.args, arg)
			continue
		}
		name, value, hasValue := strings.Cut(strings.TrimPrefix(arg[1:], "-"), "=")
		f := s.Flags.Lookup(name)
		switch {
		case f == nil && (name == "h" || name == "help"):
			return ErrHelp
		case f == nil:
			return Usagef("unknown flag %s: %s --help lists the flags", strings.SplitN(arg, "=", 2)[0], s.program)
		case hasValue:
		case isBool(f):
			value = "true"
		case i+1 == len(args):
			_, usage := flag.UnquoteUsage(f)
			return Usagef("--%s needs a value: %s", name, usage)
		default:
			i++
			value = args[i]
		}
		if err := s.Flags.Set(name, value); err != nil {
			return s.valueError(f, "--"+name, s.shown(name, value), err)
		}
		s.sources[name] = Source{Kind: Flag}
	}
	return nil
}

// parseEnv lets ff set from the environment what the command line left open.
func (s *Set) parseEnv() error {
	view := flag.NewFlagSet(s.program, flag.ContinueOnError)
	names := map[string]string{}
	s.Flags.VisitAll(func(f *flag.Flag) {
		if s.sources[f.Name].Kind == Flag || s.lineOnly[f.Name] {
			return
		}
		name := f.Name
		if os.Getenv(s.envName(name)) == "" {
			name = s.shortName(name)
		}
		if names[name] == "" && view.Lookup(name) == nil {
			names[name] = f.Name
			view.Var(f.Value, name, f.Usage)
		}
	})
	err := ff.Parse(view, nil, ff.WithEnvVarPrefix(s.prefix))
	if inner := errors.Unwrap(err); inner != nil {
		return Usagef("%v", inner)
	}
	if err != nil {
		return Usagef("%v", err)
	}
	view.Visit(func(f *flag.Flag) {
		s.sources[names[f.Name]] = Source{Kind: Env, Where: s.envName(f.Name)}
	})
	return nil
}

// envName is the variable that ff reads for the flag name.
func (s *Set) envName(name string) string {
	return strings.ToUpper(s.prefix + "_" + strings.NewReplacer("-", "_", ".", "_", "/", "_").Replace(name))
}

// shortName drops the prefix from a flag that begins with it: relay-token is RELAY_TOKEN as well as RELAY_RELAY_TOKEN.
func (s *Set) shortName(name string) string {
	short := strings.TrimPrefix(name, strings.ToLower(s.prefix)+"-")
	if short != name && s.Flags.Lookup(short) != nil {
		return name
	}
	return short
}

func (s *Set) valueError(f *flag.Flag, where, value string, err error) error {
	kind, _ := flag.UnquoteUsage(f)
	switch {
	case isBool(f):
		kind = "true or false"
	case kind == "int", kind == "uint":
		kind = "a whole number"
	case kind == "duration":
		kind = "a time such as 10s or 15m"
	}
	switch err.Error() {
	case "parse error":
		return Usagef("%s %q: it takes %s", where, value, kind)
	case "value out of range":
		return Usagef("%s %q: out of range (it takes %s)", where, value, kind)
	}
	return Usagef("%s %q: %v", where, value, err)
}

func isBool(f *flag.Flag) bool {
	b, ok := f.Value.(interface{ IsBoolFlag() bool })
	return ok && b.IsBoolFlag()
}
