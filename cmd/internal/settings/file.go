package settings

import (
	"bufio"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"unicode"

	"github.com/peterbourgon/ff/v3"
)

// FileUsed is the path of the configuration file that was read, empty if there was none.
func (s *Set) FileUsed() string { return s.usedFile }

// parseFile lets ff set from the file what command line and environment left open.
func (s *Set) parseFile() error {
	if s.fileFlag == "" {
		return nil
	}
	path, asked := s.Flags.Lookup(s.fileFlag).Value.String(), true
	if path == "" {
		path, asked = s.defaultFile, false
	}
	if path == "" {
		return nil
	}
	switch info, err := os.Stat(path); {
	case !asked && errors.Is(err, fs.ErrNotExist):
		return nil
	case err == nil && info.Mode()&(fs.ModeNamedPipe|fs.ModeSocket) != 0:
		return Usagef("cannot read the configuration file: %s is a pipe or socket, not a file", path)
	}
	view := flag.NewFlagSet(s.program, flag.ContinueOnError)
	s.Flags.VisitAll(func(f *flag.Flag) {
		if s.sources[f.Name].Kind == Default && !s.lineOnly[f.Name] && f.Name != s.fileFlag {
			view.Var(f.Value, f.Name, f.Usage)
		}
	})
	lines := map[string]int{}
	parser := func(r io.Reader, set func(name, value string) error) error {
		return s.readFile(r, path, lines, view, set)
	}
	err := ff.Parse(view, nil, ff.WithConfigFile(path), ff.WithConfigFileParser(parser))
	var usage *UsageError
	switch {
	case errors.As(err, &usage):
		return usage
	case err != nil:
		return Usagef("cannot read the configuration file: %v", err)
	}
	s.usedFile = path
	view.Visit(func(f *flag.Flag) {
		s.sources[f.Name] = Source{Kind: File, Where: fmt.Sprintf("%s:%d", path, lines[f.Name])}
	})
	return nil
}

// readFile reads lines of the form "key value" or "key = value". Empty lines and lines that begin with # are skipped,
// a # behind white space begins a comment, and a value in double quotes is unquoted like a Go string. A key alone sets
// a flag that takes no value.
func (s *Set) readFile(r io.Reader, path string, lines map[string]int, view *flag.FlagSet, set func(name, value string) error) error {
	limited := &io.LimitedReader{R: r, N: maxFile}
	scan := bufio.NewScanner(limited)
	for n := 1; scan.Scan(); n++ {
		line := strings.TrimSpace(scan.Text())
		if n == 1 {
			line = strings.TrimPrefix(line, "\ufeff")
		}
		if line == "" || line[0] == '#' {
			continue
		}
		where := fmt.Sprintf("%s:%d", path, n)
		key, value, err := splitLine(line)
		if err != nil {
			return Usagef("%s: %v", where, err)
		}
		f := s.Flags.Lookup(key)
		switch {
		case f == nil:
			return Usagef("%s: unknown key %q: %s --help lists the flags, which are the keys", where, key, s.program)
		case s.lineOnly[key] || key == s.fileFlag:
			return Usagef("%s: %q cannot be set in a file, only as a flag", where, key)
		case lines[key] != 0 && !s.lists[key]:
			return Usagef("%s: %q was set on line %d already", where, key, lines[key])
		case value == "" && isBool(f):
			value = "true"
		}
		lines[key] = n
		if view.Lookup(key) == nil {
			continue // flag or environment won
		}
		if err := set(key, value); err != nil {
			return s.valueError(f, where+": "+key, s.shown(key, value), errors.Unwrap(err))
		}
	}
	if err := scan.Err(); errors.Is(err, bufio.ErrTooLong) {
		return Usagef("%s: a line is longer than %d kB, which none of a configuration file is", path, bufio.MaxScanTokenSize>>10)
	} else if err != nil {
		return Usagef("%s: %v", path, err)
	}
	if limited.N == 0 {
		return Usagef("%s: longer than %d kB, which no configuration file is", path, maxFile>>10)
	}
	return nil
}

// maxFile is more bytes than a configuration file has.
const maxFile = 1 << 20

// splitLine takes a trimmed, non-empty line apart.
func splitLine(line string) (key, value string, err error) {
	end := strings.IndexFunc(line, func(r rune) bool { return r == '=' || unicode.IsSpace(r) })
	if end < 0 {
		return line, "", nil
	}
	key = line[:end]
	value = strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(line[end:]), "="))
	if strings.HasPrefix(value, `"`) {
		quoted, err := strconv.QuotedPrefix(value)
		if err != nil {
			return key, "", fmt.Errorf("the value of %q is not a closed quoted string", key)
		}
		rest := strings.TrimSpace(value[len(quoted):])
		if rest != "" && rest[0] != '#' {
			return key, "", fmt.Errorf("there is text behind the quoted value of %q", key)
		}
		value, err = strconv.Unquote(quoted)
		return key, value, err
	}
	if value == "" || value[0] == '#' {
		return key, "", nil
	}
	for i, r := range value {
		if r == '#' && unicode.IsSpace(rune(value[i-1])) {
			return key, strings.TrimSpace(value[:i]), nil
		}
	}
	return key, value, nil
}
