package sim

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"time"

	"backstep/sim/data"
)

// playedHash plays a tape of words and folds the hash of every frame.
func playedHash(t *testing.T) uint64 {
	t.Helper()
	w := newWorld(t, 77, "sable", "tarn")
	h := uint64(0)
	for _, in := range tape(77, 3000) {
		w.Step(in[:], Emit)
		h = h*1099511628211 ^ w.Hash()
	}
	return h
}

const childName = "BACKSTEP_SIM_HASH_CHILD"

// HASH-05: another process, with memory, maps and goroutines of its own, comes to the same hash on every frame.
func TestHashAcrossProcesses(t *testing.T) {
	want := playedHash(t)
	if os.Getenv(childName) != "" {
		fmt.Printf("hash %016x\n", want)
		return
	}
	if runtime.GOOS == "js" {
		t.Skip("a page starts no process")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.CommandContext(t.Context(), self, "-test.run=^TestHashAcrossProcesses$")
	c.Env = append(os.Environ(), childName+"=1")
	out, err := c.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Skipf("this machine cannot start what it is running: %v", err)
	}
	if line := fmt.Sprintf("hash %016x\n", want); err != nil || !strings.Contains(string(out), line) {
		t.Fatalf("%v, want %q in\n%s", err, line, out)
	}
}

// SIM-29: sixteen steps of a 3v3 with their saves, the most a display frame is asked for, fit into it. The best of some runs counts,
// so that a busy machine does not decide.
func TestWorstCaseFitsAFrame(t *testing.T) {
	g := newRing(t, data.TagTeam, Format3v3, 100)
	in := busyTape(8, 400)
	best := time.Hour
	for run := range 20 {
		var ring [16]World
		begin := time.Now()
		for i := range ring {
			g.w.step(g.r, in[run*16+i][:], SuppressCosmetics)
			ring[i] = g.w
		}
		best = min(best, time.Since(begin))
	}
	if best > 16_700*time.Microsecond {
		t.Fatalf("sixteen frames take %v", best)
	}
	t.Logf("sixteen frames take %v", best)
}
