package settings

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

type fixture struct {
	*Set
	listen *[]string
	frames *int
	stun   *bool
	wait   *time.Duration
	token  *string
	path   *string
}

func newFixture(t *testing.T) fixture {
	t.Helper()
	s := New("prog", "RELAY")
	f := fixture{
		Set:    s,
		listen: s.List("listen", []string{":3478"}, "address to listen on"),
		frames: s.Flags.Int("frames", 0, "frames to play"),
		stun:   s.Flags.Bool("stun-only", false, "answer STUN only"),
		wait:   s.Flags.Duration("wait", 15*time.Minute, "how long to wait"),
		token:  s.Flags.String("relay-token", "", "token"),
		path:   s.Flags.String("path", "auto", "paths"),
	}
	s.Flags.Bool("version", false, "print the version")
	s.LineOnly("version")
	s.Secret("relay-token")
	s.File("config", "", "configuration file")
	return f
}

func writeFile(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "prog.conf")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestFlagsStandAnywhere(t *testing.T) {
	for _, line := range []string{
		"join K7QM-3XTD --frames 60 --stun-only",
		"--frames 60 --stun-only join K7QM-3XTD",
		"-frames=60 join -stun-only K7QM-3XTD",
		"join --stun-only=true --frames=60 K7QM-3XTD",
		"join -stun-only -frames 60 -- K7QM-3XTD",
	} {
		f := newFixture(t)
		if err := f.Parse(strings.Fields(line)); err != nil {
			t.Errorf("%s: %v", line, err)
			continue
		}
		if !slices.Equal(f.Args(), []string{"join", "K7QM-3XTD"}) || *f.frames != 60 || !*f.stun {
			t.Errorf("%s: args %q frames %d stun-only %v", line, f.Args(), *f.frames, *f.stun)
		}
	}
}

func TestArgumentsThatLookLikeFlags(t *testing.T) {
	f := newFixture(t)
	if err := f.Parse([]string{"-", "--frames", "-3", "--", "--frames", "x"}); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(f.Args(), []string{"-", "--frames", "x"}) || *f.frames != -3 {
		t.Errorf("args %q frames %d", f.Args(), *f.frames)
	}
}

func TestRepeatableFlag(t *testing.T) {
	f := newFixture(t)
	if err := f.Parse([]string{"--listen", ":1", "-listen=:2,:3"}); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(*f.listen, []string{":1", ":2", ":3"}) {
		t.Errorf("listen %q", *f.listen)
	}
}

func TestPrecedence(t *testing.T) {
	file := writeFile(t, "frames 1\nwait 1m\npath direct\nlisten :10\nlisten :11\n")
	t.Setenv("RELAY_FRAMES", "2")
	t.Setenv("RELAY_WAIT", "2m")
	t.Setenv("RELAY_VERSION", "1.2.3") // somebody else's variable
	t.Setenv("RELAY_PATH", "")
	f := newFixture(t)
	if err := f.Parse([]string{"--frames", "3", "--config", file}); err != nil {
		t.Fatal(err)
	}
	if *f.frames != 3 || *f.wait != 2*time.Minute || *f.path != "direct" || !slices.Equal(*f.listen, []string{":10", ":11"}) {
		t.Errorf("frames %d wait %v path %q listen %q", *f.frames, *f.wait, *f.path, *f.listen)
	}
	for name, want := range map[string]string{
		"frames": "flag", "wait": "env RELAY_WAIT", "path": "file " + file + ":3",
		"listen": "file " + file + ":5", "stun-only": "default",
	} {
		if got := f.Source(name).String(); got != want {
			t.Errorf("source of %s: %q, want %q", name, got, want)
		}
	}
	if !f.Given("wait") || f.Given("stun-only") || f.FileUsed() != file {
		t.Errorf("given wait %v stun-only %v, file %q", f.Given("wait"), f.Given("stun-only"), f.FileUsed())
	}
}

func TestRepeatedInLowerPlaceDoesNotAdd(t *testing.T) {
	t.Setenv("RELAY_LISTEN", ":5,:6")
	f := newFixture(t)
	if err := f.Parse(nil); err != nil || !slices.Equal(*f.listen, []string{":5", ":6"}) {
		t.Errorf("environment: listen %q, %v", *f.listen, err)
	}
	f = newFixture(t)
	if err := f.Parse([]string{"--listen", ":7"}); err != nil || !slices.Equal(*f.listen, []string{":7"}) {
		t.Errorf("flag above environment: listen %q, %v", *f.listen, err)
	}
}

// A flag that begins with the prefix is reachable with and without the repetition; the full name wins.
func TestPrefixIsNotRepeated(t *testing.T) {
	t.Setenv("RELAY_TOKEN", "short")
	f := newFixture(t)
	if err := f.Parse(nil); err != nil || *f.token != "short" || f.Source("relay-token").String() != "env RELAY_TOKEN" {
		t.Errorf("token %q from %s, %v", *f.token, f.Source("relay-token"), err)
	}
	t.Setenv("RELAY_RELAY_TOKEN", "full")
	f = newFixture(t)
	if err := f.Parse(nil); err != nil || *f.token != "full" || f.Source("relay-token").String() != "env RELAY_RELAY_TOKEN" {
		t.Errorf("token %q from %s, %v", *f.token, f.Source("relay-token"), err)
	}
}

func TestFileForms(t *testing.T) {
	file := writeFile(t, "\ufeff# a comment\n\n  frames=7 # seven\nwait = 3s\npath \"a # b\" # quoted\nstun-only\nrelay-token a#b\r\n")
	f := newFixture(t)
	if err := f.Parse([]string{"--config", file}); err != nil {
		t.Fatal(err)
	}
	if *f.frames != 7 || *f.wait != 3*time.Second || *f.path != "a # b" || !*f.stun || *f.token != "a#b" {
		t.Errorf("frames %d wait %v path %q stun-only %v token %q", *f.frames, *f.wait, *f.path, *f.stun, *f.token)
	}
}

func TestUsageErrors(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "nothing.conf")
	tests := []struct {
		name, line, file string
		env              map[string]string
		want             []string
	}{
		{name: "unknown flag", line: "--bogus=1", want: []string{"unknown flag --bogus", "prog --help"}},
		{name: "unknown short flag", line: "-x", want: []string{"unknown flag -x"}},
		{name: "no value", line: "join --frames", want: []string{"--frames needs a value", "frames to play"}},
		{name: "bad int", line: "--frames 1x", want: []string{`--frames "1x"`, "whole number"}},
		{name: "out of range", line: "--frames 99999999999999999999", want: []string{"--frames", "out of range (it takes a whole number)"}},
		{name: "bad bool", line: "--stun-only=perhaps", want: []string{`--stun-only "perhaps"`, "true or false"}},
		{name: "bad duration", line: "--wait 5", want: []string{`--wait "5"`, "a time such as"}},
		{name: "empty entry", line: "--listen :1,,:2", want: []string{"--listen", "an entry is empty"}},
		{name: "bad variable", env: map[string]string{"RELAY_FRAMES": "many"}, want: []string{"frames", "RELAY_FRAMES"}},
		{name: "missing file", line: "--config " + missing, want: []string{"cannot read the configuration file", missing}},
		{name: "unknown key", file: "frames 1\nframse 2\n", want: []string{`unknown key "framse"`, "prog.conf:2"}},
		{name: "unknown key although all is set elsewhere", line: "--frames 1", file: "nope\n", want: []string{`unknown key "nope"`, "prog.conf:1"}},
		{name: "twice", file: "frames 1\n\nframes 2\n", want: []string{"prog.conf:3", `"frames"`, "line 1"}},
		{name: "bad value in file", file: "frames x\n", want: []string{"prog.conf:1", `frames "x"`, "whole number"}},
		{name: "request in file", file: "version true\n", want: []string{"prog.conf:1", `"version"`, "only as a flag"}},
		{name: "file in file", file: "config x\n", want: []string{"prog.conf:1", `"config"`, "only as a flag"}},
		{name: "open quote", file: "path \"x\n", want: []string{"prog.conf:1", "closed quoted string"}},
		{name: "behind quote", file: "path \"x\" y\n", want: []string{"prog.conf:1", "behind the quoted value"}},
		{name: "key without value", file: "frames\n", want: []string{"prog.conf:1", "frames"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for k, v := range tt.env {
				t.Setenv(k, v)
			}
			args := strings.Fields(tt.line)
			if tt.file != "" {
				args = append(args, "--config", writeFile(t, tt.file))
			}
			err := newFixture(t).Parse(args)
			var usage *UsageError
			if !errors.As(err, &usage) || usage.ExitCode() != 2 {
				t.Fatalf("error %v (%T), want a *UsageError", err, err)
			}
			for _, want := range tt.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%q does not contain %q", err, want)
				}
			}
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("more than one line: %q", err)
			}
		})
	}
}

func TestDefaultFileMayBeMissing(t *testing.T) {
	for _, exists := range []bool{false, true} {
		path := filepath.Join(t.TempDir(), "default.conf")
		if exists {
			if err := os.WriteFile(path, []byte("frames 9\n"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		s := New("prog", "BACKSTEP")
		frames := s.Flags.Int("frames", 1, "")
		s.File("config", path, "")
		want := map[bool]int{false: 1, true: 9}[exists]
		if err := s.Parse(nil); err != nil || *frames != want {
			t.Errorf("file exists %v: frames %d, want %d, %v", exists, *frames, want, err)
		}
	}
}

func TestVariableNamesTheFile(t *testing.T) {
	t.Setenv("RELAY_CONFIG", writeFile(t, "frames 4\n"))
	f := newFixture(t)
	if err := f.Parse(nil); err != nil || *f.frames != 4 || f.Source("config").String() != "env RELAY_CONFIG" {
		t.Errorf("frames %d, file from %s, %v", *f.frames, f.Source("config"), err)
	}
}

func TestHelp(t *testing.T) {
	for _, arg := range []string{"-h", "--help", "-help"} {
		if err := newFixture(t).Parse([]string{"join", arg}); !errors.Is(err, ErrHelp) {
			t.Errorf("%s: %v", arg, err)
		}
	}
	var b strings.Builder
	if err := newFixture(t).WriteUsage(&b, "usage: prog [serve]"); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"usage: prog [serve]", "--listen value", "(repeatable) [default :3478]", "--frames int", "--stun-only ", "RELAY_"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("usage lacks %q:\n%s", want, b.String())
		}
	}
}

func TestOnly(t *testing.T) {
	t.Setenv("RELAY_WAIT", "1s")
	f := newFixture(t)
	if err := f.Parse([]string{"host", "--frames", "1", "--version"}); err != nil {
		t.Fatal(err)
	}
	if err := f.Only("host", "frames"); err != nil {
		t.Errorf("host takes frames: %v", err)
	}
	err := f.Only("doctor", "json")
	var usage *UsageError
	if !errors.As(err, &usage) || !strings.Contains(err.Error(), `--frames does not belong to "prog doctor"`) {
		t.Errorf("doctor takes no frames: %v", err)
	}
}

func TestWriteConfig(t *testing.T) {
	file := writeFile(t, "path \"lan, direct\"\n")
	t.Setenv("RELAY_RELAY_TOKEN", "hunter2")
	f := newFixture(t)
	if err := f.Parse([]string{"--stun-only", "--config", file}); err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if err := f.WriteConfig(&b); err != nil {
		t.Fatal(err)
	}
	want := "frames = 0  # default\nlisten = :3478  # default\npath = \"lan, direct\"  # file " + file + ":1\n" +
		"relay-token = ********  # env RELAY_RELAY_TOKEN\nstun-only = true  # flag\nwait = 15m0s  # default\n# file: " + file + "\n"
	if b.String() != want {
		t.Errorf("got\n%swant\n%s", b.String(), want)
	}

	again := newFixture(t)
	if err := again.Parse([]string{"--config", writeFile(t, b.String())}); err != nil {
		t.Fatalf("the printed configuration cannot be read back: %v", err)
	}
	if *again.path != "lan, direct" || !*again.stun || *again.wait != 15*time.Minute {
		t.Errorf("read back: path %q stun-only %v wait %v", *again.path, *again.stun, *again.wait)
	}
}

// Values that a secret has never reach an error sentence.
func TestSecretsStayOutOfErrors(t *testing.T) {
	s := New("prog", "RELAY")
	s.Flags.Int("pin", 0, "")
	s.Secret("pin")
	s.File("config", "", "")
	err := s.Parse([]string{"--pin", "12x4"})
	if err == nil || strings.Contains(err.Error(), "12x4") {
		t.Errorf("flag: %v", err)
	}
	err = s.Parse([]string{"--config", writeFile(t, "pin 12x4\n")})
	if err == nil || strings.Contains(err.Error(), "12x4") {
		t.Errorf("file: %v", err)
	}
}

func FuzzConfigFile(f *testing.F) {
	f.Add("frames 1\nlisten :1\nlisten = :2 # two\n")
	f.Add("path \"a\\\"b\"\nstun-only\n")
	f.Add("\ufeff# x\n=\n \"\n")
	path := filepath.Join(f.TempDir(), "prog.conf")
	f.Fuzz(func(t *testing.T, text string) {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		first := newFixture(t)
		if first.Parse([]string{"--config", path}) != nil || *first.token != "" {
			return
		}
		var b strings.Builder
		if err := first.WriteConfig(&b); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
			t.Fatal(err)
		}
		second := newFixture(t)
		if err := second.Parse([]string{"--config", path}); err != nil {
			t.Fatalf("printed configuration refused: %v\n%s", err, b.String())
		}
		if *first.path != *second.path || *first.frames != *second.frames || !slices.Equal(*first.listen, *second.listen) ||
			*first.wait != *second.wait || *first.stun != *second.stun {
			t.Errorf("read back differently:\n%s", b.String())
		}
	})
}
