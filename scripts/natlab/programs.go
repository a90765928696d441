//go:build linux

package natlab

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// Programs are the two binaries, and what a delayed line needs.
type Programs struct {
	Peer, Relay, Wandelay string
}

// Build compiles them into dir. With race they carry the race detector, which needs a C compiler.
func Build(ctx context.Context, dir string, race bool) (Programs, error) {
	script, err := Script()
	if err != nil {
		return Programs{}, err
	}
	root := filepath.Dir(filepath.Dir(filepath.Dir(script)))
	args := []string{"build", "-buildvcs=false", "-o", dir + string(filepath.Separator)}
	cgo := "CGO_ENABLED=0"
	if race {
		args, cgo = append(args, "-race"), "CGO_ENABLED=1"
	}
	cmd := exec.CommandContext(ctx, "go", append(args, "./cmd/peer", "./cmd/relay", "./scripts/natlab/wandelay")...)
	cmd.Dir, cmd.Env = root, append(os.Environ(), cgo)
	if out, err := cmd.CombinedOutput(); err != nil {
		return Programs{}, fmt.Errorf("natlab: go build: %w\n%s", err, out)
	}
	return Programs{filepath.Join(dir, "peer"), filepath.Join(dir, "relay"), filepath.Join(dir, "wandelay")}, nil
}
