package peer

import (
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"backstep/peer/match"
	"backstep/rollback/desync"
	"backstep/sim"
)

// bundle is the evidence of a frame that the guest got wrong, or the host.
func bundle(t *testing.T, wrong int) *desync.Evidence {
	t.Helper()
	w := new(match.World)
	if err := w.Reset(sim.DefaultConfig()); err != nil {
		t.Fatal(err)
	}
	e := &desync.Evidence{Host: true, Builds: [2]string{"a", "b"}, First: 0, Words: make([][]uint32, 2)}
	e.Game = binary.LittleEndian.AppendUint64(sim.AppendConfig(nil, w.Config()), sim.DataHash())
	var in [2]sim.Input
	for f := range int32(30) {
		for p := range in {
			in[p] = sim.Input{Now: uint16(f>>2) & 0xff << p, Prev: in[p].Now}
			e.Words[p] = append(e.Words[p], uint32(in[p].Now))
		}
		e.Before = w.AppendState(nil)
		w.Step(in[:], sim.Emit)
		e.Frame, e.Agreed = f, f-1
	}
	for i := range e.States {
		e.States[i] = w.AppendState(nil)
		if i == wrong {
			e.States[i][300]++
		}
		e.Hashes[i] = uint64(i)
	}
	return e
}

// S-04: the file of a desync says where it began, in which bytes, and who was right.
func TestEvidenceIsJudged(t *testing.T) {
	for wrong, want := range map[int]Verdict{0: GuestRight, 1: HostRight} {
		e := bundle(t, wrong)
		if v := Judge(e); v != want {
			t.Errorf("side %d was wrong: %v", wrong, v)
		}
		c := Config{DataDir: t.TempDir(), Log: zerolog.Nop()}
		c.evidence(e)
		files, _ := filepath.Glob(filepath.Join(c.DataDir, "desyncs", "*-"+e.Code()+".bsd"))
		if len(files) != 1 {
			t.Fatalf("files %v", files)
		}
		var out strings.Builder
		if err := ShowReplay(files[0], &out); err != nil {
			t.Fatal(err)
		}
		for _, line := range []string{"desync " + e.Code(), "frame 29", "agreed 28", "differ 300..300 ", "stepped again here: " + want.String(), "input 1 from frame 0: 000"} {
			if !strings.Contains(out.String(), line) {
				t.Errorf("no %q in\n%s", line, out.String())
			}
		}
		b, err := os.ReadFile(files[0])
		if err != nil {
			t.Fatal(err)
		}
		b[40]++
		if err := os.WriteFile(files[0], b, 0o600); err != nil {
			t.Fatal(err)
		}
		var f *Failure
		if err := ShowReplay(files[0], &out); !errors.As(err, &f) || f.ExitCode() != exitUsage {
			t.Errorf("a damaged file: %v", err)
		}
	}
	both := bundle(t, 1)
	both.States[0][301]++
	if v := Judge(both); v != Neither {
		t.Errorf("both wrong: %v", v)
	}
	gone := bundle(t, 1)
	gone.Before = nil
	if v := Judge(gone); v != Unknown {
		t.Errorf("without the state before: %v", v)
	}
}
