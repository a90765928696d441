package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

// target is one architecture and what runs its programs.
type target struct {
	name     string
	env      []string
	runner   []string // tried in order, nothing for this machine
	inSubset bool
	whole    bool // all tests in the subset too
	optional bool // the subset goes on without it
	race     bool
	command  string // the runner that was found
}

func targets() []target {
	linux := func(arch string) []string { return []string{"GOOS=linux", "GOARCH=" + arch, "CGO_ENABLED=0"} }
	return []target{
		{name: "amd64", env: linux("amd64"), race: true},
		{name: "386", env: linux("386"), inSubset: true, whole: true},
		{name: "arm64", env: linux("arm64"), runner: []string{"qemu-aarch64", "qemu-aarch64-static"}, inSubset: true},
		{name: "riscv64", env: linux("riscv64"), runner: []string{"qemu-riscv64", "qemu-riscv64-static"}},
		{name: "s390x", env: linux("s390x"), runner: []string{"qemu-s390x", "qemu-s390x-static"}, inSubset: true},
		{name: "wasm", env: []string{"GOOS=js", "GOARCH=wasm", "CGO_ENABLED=0"}, runner: []string{"node"}, inSubset: true, optional: true},
	}
}

// choose picks the targets that are asked for and looks for their runners.
func choose(all []target, subset bool, only string) (todo []target, skipped []string, err error) {
	wanted := map[string]bool{}
	for name := range strings.SplitSeq(only, ",") {
		if name != "" {
			wanted[name] = true
		}
	}
	some := len(wanted) > 0
	for _, t := range all {
		asked := !some || wanted[t.name]
		delete(wanted, t.name)
		if subset && !t.inSubset || !asked {
			continue
		}
		for _, r := range t.runner {
			if path, err := exec.LookPath(r); err == nil && t.command == "" {
				t.command = path
			}
		}
		switch {
		case len(t.runner) == 0 || t.command != "":
			todo = append(todo, t)
		case subset && t.optional:
			skipped = append(skipped, fmt.Sprintf("%-8s not run: there is no %s", t.name, t.runner[0]))
		default:
			return nil, nil, fmt.Errorf("%s needs %s, which is not there (Debian: apt-get install qemu-user nodejs)", t.name, t.runner[0])
		}
	}
	for name := range wanted {
		return nil, nil, fmt.Errorf("there is no target %q", name)
	}
	return todo, skipped, nil
}

// pkg is a package with tests.
type pkg struct{ path, dir string }

const corpus = "backstep/sim/golden"

// list gives the packages of sim and rollback that have tests.
func list() ([]pkg, error) {
	out, err := exec.Command("go", "list", "-f", "{{if or .TestGoFiles .XTestGoFiles}}{{.ImportPath}}\t{{.Dir}}{{end}}", "./sim/...", "./rollback/...").Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	var all []pkg
	for line := range strings.Lines(string(out)) {
		path, dir, ok := strings.Cut(strings.TrimSpace(line), "\t")
		if ok {
			all = append(all, pkg{path, dir})
		}
	}
	if len(all) < 5 {
		return nil, fmt.Errorf("only %d packages with tests in sim and rollback", len(all))
	}
	return all, nil
}

// row is what a target came to.
type row struct {
	target, runner  string
	packages, tests int
	race            bool
	seconds         float64
	digest          string
	failed          []string // package and the end of its output
}

const heading = "target   run by        packages  tests  seconds  corpus"

func (r row) line() string {
	name := r.runner
	if r.race {
		name += " +race"
	}
	digest := r.digest
	if len(r.failed) > 0 {
		digest = fmt.Sprintf("%d FAILED", len(r.failed))
	}
	return fmt.Sprintf("%-8s %-13s %8d %6d %8.1f  %s", r.target, name, r.packages, r.tests, r.seconds, digest)
}

var (
	digestLine = regexp.MustCompile(`corpus digest ([0-9a-f]{16})`)
	testLine   = regexp.MustCompile(`(?m)^=== RUN `)
)

// test builds and runs the tests of the packages, only the corpus if corpusOnly. The digest is the one the corpus test logs.
func (t target) test(dir string, packages []pkg, corpusOnly bool) (row, error) {
	r := row{target: t.name, runner: "itself"}
	if t.command != "" {
		r.runner = filepath.Base(t.command)
	}
	args := []string{"test", "-c"}
	env := t.env
	if t.race {
		if _, err := exec.LookPath("gcc"); err == nil {
			r.race = true
			args, env = append(args, "-race"), append(env[:len(env):len(env)], "CGO_ENABLED=1")
		}
	}
	began := time.Now()
	for _, p := range packages {
		if corpusOnly && p.path != corpus {
			continue
		}
		binary := filepath.Join(dir, t.name+"-"+strings.ReplaceAll(p.path, "/", "-")+".test")
		build := exec.Command("go", append(args[:len(args):len(args)], "-o", binary, p.path)...)
		build.Env = append(os.Environ(), env...)
		if out, err := build.CombinedOutput(); err != nil {
			return r, fmt.Errorf("building %s for %s: %w\n%s", p.path, t.name, err, out)
		}
		out, err := t.run(binary, p.dir, corpusOnly)
		os.Remove(binary)
		r.packages++
		r.tests += len(testLine.FindAll(out, -1))
		if m := digestLine.FindSubmatch(out); m != nil {
			r.digest = string(m[1])
		}
		if err != nil {
			r.failed = append(r.failed, fmt.Sprintf("%s on %s: %v\n%s", p.path, t.name, err, tail(out)))
		}
	}
	r.seconds = time.Since(began).Seconds()
	return r, nil
}

func (t target) run(binary, dir string, corpusOnly bool) ([]byte, error) {
	args := []string{binary, "-test.v", "-test.timeout=60m"}
	if corpusOnly {
		args = append(args, "-test.run=^TestCorpus$")
	}
	if t.name == "wasm" {
		out, err := exec.Command("go", "env", "GOROOT").Output()
		if err != nil {
			return nil, fmt.Errorf("go env GOROOT: %w", err)
		}
		lib := filepath.Join(strings.TrimSpace(string(out)), "lib", "wasm")
		args = append([]string{"--stack-size=8192", filepath.Join(lib, "wasm_exec_node.js")}, args...)
	}
	if t.command != "" {
		args = append([]string{t.command}, args...)
	}
	c := exec.Command(args[0], args[1:]...)
	c.Dir = dir
	// No more of the environment than is needed: wasm's loader has room for 12 KB of it, and on wasm GOMAXPROCS must not be set.
	c.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + os.Getenv("HOME"), "TMPDIR=" + os.TempDir()}
	out, err := c.CombinedOutput()
	if err == nil && !strings.Contains(string(out), "PASS") {
		err = errors.New("it ended without PASS")
	}
	return out, err
}

// tail gives the last lines that are not about tests that passed.
func tail(out []byte) string {
	var keep []string
	for line := range strings.Lines(string(out)) {
		if !strings.HasPrefix(line, "=== ") && !strings.Contains(line, "--- PASS") {
			keep = append(keep, line)
		}
	}
	return strings.Join(keep[max(0, len(keep)-30):], "")
}
