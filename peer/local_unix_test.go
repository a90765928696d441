//go:build unix

package peer

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The second process says that its opponent left when this side did: nothing failed. Whatever else it ends with is told.
func TestOpponentProcessEnds(t *testing.T) {
	for code, want := range map[int]string{0: "", exitOpponent: "", exitInternal: "it broke", exitDesync: "it broke"} {
		exe := filepath.Join(t.TempDir(), "peer")
		if err := os.WriteFile(exe, fmt.Appendf(nil, "#!/bin/sh\necho it broke >&2\nexit %d\n", code), 0o700); err != nil {
			t.Fatal(err)
		}
		lobby := make(chan string, 1)
		lobby <- "BCDF-GHJK"
		err := opponentProcess(t.Context(), exe, lobby, "info", "easy", true)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("exit code %d: %v", code, err)
		}
	}
}
