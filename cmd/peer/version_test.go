package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"backstep/rollback/wire"
	"backstep/sim"
)

// another builds the peer with changed source files.
func another(t *testing.T, name string, changes map[string][2]string) string {
	t.Helper()
	replace := map[string]string{}
	for file, change := range changes {
		path, err := filepath.Abs(filepath.Join("..", "..", filepath.FromSlash(file)))
		if err != nil {
			t.Fatal(err)
		}
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		text := strings.Replace(string(b), change[0], change[1], 1)
		if text == string(b) {
			t.Fatalf("%s has no %q", file, change[0])
		}
		replace[path] = filepath.Join(t.TempDir(), filepath.Base(file))
		if err := os.WriteFile(replace[path], []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	b, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		t.Fatal(err)
	}
	overlay := filepath.Join(t.TempDir(), "overlay.json")
	if err := os.WriteFile(overlay, b, 0o600); err != nil {
		t.Fatal(err)
	}
	dir, err := builds(name, []string{"./cmd/peer"}, "-overlay", overlay)
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// Programs of different versions refuse each other, and both sides say which of them is the older one.
func TestVersions(t *testing.T) {
	t.Parallel()
	current, err := binaries()
	if err != nil {
		t.Fatal(err)
	}
	next := func(v int) [2]string {
		return [2]string{fmt.Sprintf("Version = %d", v), fmt.Sprintf("Version = %d", v+1)}
	}
	nextWire, nextSim := next(wire.Version), next(sim.Version)
	otherData := [2]string{"health = 1050", "health = 1051"}
	for _, tt := range []struct {
		name       string
		changes    map[string][2]string
		newer, old string // what the two sides say
	}{
		{"wire", map[string][2]string{"rollback/wire/packet.go": nextWire}, "the opponent is older (wire", "this side is older (wire"},
		{"sim", map[string][2]string{"sim/config.go": nextSim}, "the opponent is older (sim", "this side is older (sim"},
		{"data", map[string][2]string{"sim/data/roster/tarn.txt": otherData}, "game data", "game data"},
		// An ordinary update changes rules and data, and the rules say who is older.
		{"update", map[string][2]string{"sim/config.go": nextSim, "sim/data/roster/tarn.txt": otherData}, "the opponent is older (sim", "this side is older (sim"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			next := another(t, tt.name, tt.changes)
			for _, newHost := range []bool{true, false} {
				hostDir, joinDir, hostSays, joinSays := current, next, tt.old, tt.newer
				if newHost {
					hostDir, joinDir, hostSays, joinSays = next, current, tt.newer, tt.old
				}
				addr := startRelay(t, nil).String()
				host := startFile(t, program(hostDir, "peer"), nil, "host", "--headless", "--input", "bot:easy", "--relay", addr)
				join := startFile(t, program(joinDir, "peer"), nil, "join", host.line("lobby"), "--headless", "--input", "bot:easy")
				host.ends(8, hostSays)
				join.ends(8, joinSays)
			}
		})
	}
	t.Run("replay", func(t *testing.T) {
		d := startDuel(t, startRelay(t, nil).String(), []string{"--frames", "60"}, nil, nil)
		d.end(60)
		startFile(t, program(filepath.Join(scratch, "sim"), "peer"), nil, "replay", "verify", d.records[0]).ends(8, "older")
	})
}
