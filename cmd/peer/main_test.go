package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"testing"

	"go.uber.org/goleak"
)

// scratch holds what the tests of this package build.
var scratch string

// TestMain lets more matches run side by side than there are processors: a match sleeps nearly all of its time. It fails
// if a goroutine is left over, which the matches within this process must not do.
func TestMain(m *testing.M) {
	flag.Parse()
	if f := flag.Lookup("test.parallel"); f.Value.String() == fmt.Sprint(runtime.GOMAXPROCS(0)) {
		_ = flag.Set("test.parallel", "12")
	}
	dir, err := os.MkdirTemp("", "peer-test-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	scratch = dir
	code := m.Run()
	if code == 0 {
		if err := goleak.Find(); err != nil {
			fmt.Fprintln(os.Stderr, "left over:", err)
			code = 1
		}
	}
	_ = os.RemoveAll(dir)
	os.Exit(code)
}

// binaries builds both programs once and returns their directory.
var binaries = sync.OnceValues(func() (string, error) { return builds("real", []string{"./cmd/peer", "./cmd/relay"}) })

// builds makes programs without the race detector, and otherwise with the flags of the tests, so that what these have compiled
// is used again.
func builds(name string, programs []string, flags ...string) (string, error) {
	dir := filepath.Join(scratch, name) + string(filepath.Separator)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	args := append([]string{"build", "-buildvcs=false", "-ldflags", "-s -w -X main.build=" + name, "-o", dir}, flags...)
	cmd := exec.Command("go", append(args, programs...)...)
	cmd.Dir = filepath.Join("..", "..")
	cmd.Env = clean(os.Environ())
	if racing {
		cmd.Env = append(cmd.Env, "CGO_ENABLED=0") // as make builds and tests without the detector
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build: %w: %s", err, out)
	}
	return dir, nil
}
