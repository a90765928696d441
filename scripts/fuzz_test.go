// Package scripts tests the shell scripts that stand in this directory.
package scripts

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// The go command as fuzz.sh sees it: two targets, of which the first ends with what the test says.
const fakeGo = `#!/bin/sh
case "$*" in
*-list*)
	printf 'FuzzA\nFuzzB\nok  \tx/p\t0.1s\n?   \tx/q\t[no test files]\n'
	exit
	;;
*'-fuzz ^FuzzB$'*) echo "ok x/p ran $*" ;;
*)
	cat "$OUTPUT"
	exit "$CODE"
	;;
esac
`

const (
	began = `fuzz: elapsed: 0s, gathering baseline coverage: 0/6 completed
fuzz: elapsed: 0s, gathering baseline coverage: 6/6 completed, now fuzzing with 1 workers
fuzz: elapsed: 3s, execs: 23205 (7724/sec), new interesting: 0 (total: 6)
`
	ended = `--- FAIL: FuzzA (22.17s)
    context deadline exceeded
FAIL
exit status 1
FAIL	x/p	22.191s
`
)

// A failure stops the run and is reported, whatever it is; only the end of the time is none.
func TestFuzzScript(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the script is for a POSIX shell, which Windows has not")
	}
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	fake, output := filepath.Join(dir, "go"), filepath.Join(dir, "output")
	if err := os.WriteFile(fake, []byte(fakeGo), 0o700); err != nil {
		t.Fatal(err)
	}
	run := func(code, out string, args ...string) (string, error) {
		if err := os.WriteFile(output, []byte(out), 0o600); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(sh, append([]string{"fuzz.sh"}, args...)...)
		cmd.Env = append(os.Environ(), "GO="+fake, "OUTPUT="+output, "CODE="+code)
		b, err := cmd.CombinedOutput()
		return string(b), err
	}
	for _, c := range []struct {
		name, code, output string
		passes             bool
	}{
		{"success", "0", began + "PASS\nok  \tx/p\t22.2s\n", true},
		{"the time was over", "1", began + ended, true},
		{"the time was over before it began", "1", ended, false},
		{"another target's", "1", began + strings.ReplaceAll(ended, "FuzzA", "FuzzAB"), false},
		{"an input failed", "1", began + "fuzz: minimizing 31-byte failing input file\n--- FAIL: FuzzA (0.40s)\n" +
			"    --- FAIL: FuzzA (0.00s)\n        a_test.go:3: wrong\n    \n    Failing input written to testdata/fuzz/FuzzA/0123\nFAIL\n", false},
		{"an input failed with these words", "1", began + "--- FAIL: FuzzA (0.40s)\n    --- FAIL: FuzzA (0.00s)\n" +
			"        a_test.go:3: context deadline exceeded\n    \n    Failing input written to testdata/fuzz/FuzzA/0123\nFAIL\n", false},
		{"an input was saved", "1", began + strings.Replace(ended, "exceeded\n", "exceeded\n    Failing input written to testdata/fuzz/FuzzA/0123\n", 1), false},
		{"a seed failed", "1", "failure while testing seed corpus entry: FuzzA/seed#0\n" + began + ended, false},
		{"the worker hung", "1", began + "--- FAIL: FuzzA (9.00s)\n    fuzzing process hung or terminated unexpectedly: exit status 2\nFAIL\n", false},
		{"it does not compile", "2", "# x/p\na_test.go:3:1: syntax error\nFAIL\tx/p [build failed]\n", false},
		{"nothing was said", "1", "", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			out, err := run(c.code, c.output, "3s")
			if (err == nil) != c.passes {
				t.Errorf("%v:\n%s", err, out)
			}
			if went := strings.Contains(out, "ok x/p ran"); went != c.passes {
				t.Errorf("the second target ran: %v\n%s", went, out)
			}
			if c.passes && !strings.Contains(out, "-fuzztime 3s") {
				t.Errorf("not for the time asked for:\n%s", out)
			}
		})
	}
	if out, err := run("1", "", "3s", "p FuzzB$"); err != nil || strings.Contains(out, "FuzzA") {
		t.Errorf("chosen: %v\n%s", err, out)
	}
	if out, err := run("0", "", "3s", "nowhere"); err == nil {
		t.Errorf("no target is no success:\n%s", out)
	}
}
