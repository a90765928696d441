package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

// plantLimit is how long a planted bug may stay unfound.
const plantLimit = time.Minute

var errNotFound = errors.New("not found")

// plantAll plants every *.patch of a folder in a copy of the module at root, one at a time, runs the soak there, and writes how long
// it took to find it. The bugs never stand in the module itself, not even behind a switch.
func plantAll(w io.Writer, root, folder string, n int) error {
	patches, err := filepath.Glob(filepath.Join(folder, "*.patch"))
	if err != nil {
		return err
	}
	if len(patches) == 0 {
		return fmt.Errorf("no *.patch in %s", folder)
	}
	missed := 0
	for _, p := range patches {
		found, err := plant(root, p, n)
		name := strings.TrimSuffix(filepath.Base(p), ".patch")
		switch {
		case errors.Is(err, errNotFound):
			missed++
			fmt.Fprintf(w, "%-20s NOT FOUND in %.1f s\n", name, found.took.Seconds())
		case err != nil:
			return fmt.Errorf("%s: %w", p, err)
		default:
			fmt.Fprintf(w, "%-20s found in %.1f s: %s\n%20s repeated by %s\n", name, found.took.Seconds(), found.line, "", found.repeat)
		}
	}
	if missed > 0 {
		return fmt.Errorf("%d of %d planted bugs were not found", missed, len(patches))
	}
	return nil
}

// finding is what the soak said about a planted bug.
type finding struct {
	line   string        // of its output
	repeat string        // the command that showed the bug again
	took   time.Duration // without compilation
}

var (
	failedLine = regexp.MustCompile(`(?m)^FAILED (.*)$`)
	repeatLine = regexp.MustCompile(`(?m)^repeat it: (go run \./scripts/matchsoak (.*))$`)
)

// plant runs the soak on a copy of the module with the bug, and then the command it prints.
func plant(root, patch string, n int) (f finding, err error) {
	dir, err := os.MkdirTemp("", "matchsoak")
	if err != nil {
		return f, err
	}
	defer os.RemoveAll(dir)
	for _, part := range []string{"go.mod", "go.sum", "ackbits", "fec", "rollback", "peer/impair", "peer/infile", "scripts/flight", "scripts/matchsoak"} {
		if err := copyTree(filepath.Join(dir, part), filepath.Join(root, part)); err != nil {
			return f, err
		}
	}
	if patch, err = filepath.Abs(patch); err != nil {
		return f, err
	}
	if out, err := command(dir, "git", "apply", patch).CombinedOutput(); err != nil {
		return f, fmt.Errorf("the patch does not apply any more: %w\n%s", err, out)
	}
	if out, err := command(dir, "go", "build", "-trimpath", "-o", program(dir), "./scripts/matchsoak").CombinedOutput(); err != nil {
		return f, fmt.Errorf("the module with the bug does not build: %w\n%s", err, out)
	}
	start := time.Now()
	out, failed, err := run(dir, "-n", fmt.Sprint(n))
	f.took = time.Since(start)
	if err != nil {
		return f, err
	}
	line, repeat := failedLine.FindSubmatch(out), repeatLine.FindSubmatch(out)
	if !failed || line == nil || repeat == nil {
		return f, errNotFound
	}
	f.line, f.repeat = string(line[1]), string(repeat[1])
	if out, failed, err = run(dir, strings.Fields(string(repeat[2]))...); err == nil && !failed {
		err = fmt.Errorf("%s does not show the bug again:\n%s", f.repeat, out)
	}
	return f, err
}

func program(dir string) string { return filepath.Join(dir, "matchsoak.bin") }

// run runs the soak of a copy. failed says that it found something; being too slow is not an error.
func run(dir string, args ...string) (out []byte, failed bool, err error) {
	ctx, stop := context.WithTimeout(context.Background(), plantLimit)
	defer stop()
	out, err = exec.CommandContext(ctx, program(dir), args...).Output()
	var exit *exec.ExitError
	switch {
	case err == nil, ctx.Err() != nil:
		return out, false, nil
	case errors.As(err, &exit) && exit.ExitCode() == 1:
		return out, true, nil
	}
	return out, false, fmt.Errorf("%w\n%s", err, out)
}

// command runs in the copy, which belongs to no repository and no workspace.
func command(dir, name string, args ...string) *exec.Cmd {
	c := exec.Command(name, args...)
	c.Dir = dir
	c.Env = append(os.Environ(), "GIT_CEILING_DIRECTORIES="+filepath.Dir(dir), "GOWORK=off", "GOFLAGS=-mod=mod -buildvcs=false")
	return c
}

func copyTree(to, from string) error {
	return filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		target := filepath.Join(to, rel)
		if d.IsDir() {
			return os.MkdirAll(target, 0o755)
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
			return err
		}
		return os.WriteFile(target, b, 0o644)
	})
}
