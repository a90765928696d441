//go:build linux

package natlab

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"testing"

	// The programs under test, so that a cached result is not taken for one of other sources.
	_ "backstep/peer"
	_ "backstep/relay"
)

const trace = "testdata/melee_14_20s.csv.gz"

// programs are built once.
var programs struct {
	once sync.Once
	dir  string
	Programs
	err error
}

func TestMain(m *testing.M) {
	code := m.Run()
	if programs.dir != "" {
		os.RemoveAll(programs.dir)
	}
	os.Exit(code)
}

// needLab skips a test where no lab can be made, and sweeps what killed runs left.
func needLab(t *testing.T) {
	t.Helper()
	if os.Getenv("BACKSTEP_NETNS") != "1" {
		t.Skip("needs network namespaces: set BACKSTEP_NETNS=1 as root")
	}
	if os.Geteuid() != 0 {
		t.Fatal("BACKSTEP_NETNS=1, but this is not root")
	}
	swept.Do(func() { sweepError = Sweep(context.Background()) })
	if sweepError != nil {
		t.Fatal(sweepError)
	}
}

var (
	swept      sync.Once
	sweepError error
)

// needShellLab is needLab for tests of the lab itself. None of our own programs runs in them, so the race detector has nothing
// to see.
func needShellLab(t *testing.T) {
	t.Helper()
	if raceDetector {
		t.Skip("runs without the race detector")
	}
	needLab(t)
}

// needPrograms builds the programs; under the race detector they carry it too.
func needPrograms(t *testing.T) Programs {
	t.Helper()
	p := &programs
	p.once.Do(func() {
		if p.dir, p.err = os.MkdirTemp("", "natlab"); p.err == nil {
			p.Programs, p.err = Build(t.Context(), p.dir, raceDetector)
		}
	})
	if p.err != nil {
		t.Fatal(p.err)
	}
	return p.Programs
}

// newLab makes a lab that goes with the test, and sets its routers.
func newLab(t *testing.T, a, b string) *Lab {
	t.Helper()
	return newLabs(t, [2]string{a, b})[0]
}

// newLabs makes several at a time.
func newLabs(t *testing.T, kinds ...[2]string) []*Lab {
	t.Helper()
	labs, errs := make([]*Lab, len(kinds)), make([]error, len(kinds))
	var group sync.WaitGroup
	for i, k := range kinds {
		group.Go(func() {
			if labs[i], errs[i] = Up(t.Context()); errs[i] == nil {
				errs[i] = labs[i].NAT(t.Context(), k[0], k[1])
			}
		})
	}
	group.Wait()
	t.Cleanup(func() {
		for _, l := range labs {
			if l == nil {
				continue
			}
			if err := l.Down(); err != nil {
				t.Error(err)
			}
		}
	})
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	return labs
}

// mustDo runs a command of natlab.sh.
func mustDo(t *testing.T, l *Lab, args ...string) {
	t.Helper()
	if err := l.Do(t.Context(), args...); err != nil {
		t.Fatal(fmt.Errorf("%v: %w", args, err))
	}
}
