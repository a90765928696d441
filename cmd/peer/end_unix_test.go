//go:build unix

package main

import (
	"os"
	"syscall"
	"testing"
	"time"
)

// begun is a duel whose match runs for so many frames, or without end for 0.
func begun(t *testing.T, args ...string) *duel {
	t.Helper()
	d := startDuel(t, startRelay(t, nil).String(), args, nil, nil)
	d.host.waitLog("direct path found")
	d.join.waitLog("direct path found")
	time.Sleep(time.Second)
	return d
}

func (p *process) signal(s syscall.Signal) {
	p.t.Helper()
	if err := p.cmd.Process.Signal(s); err != nil {
		p.t.Fatal(err)
	}
}

// broken wants the report of a match that ended early.
func broken(t *testing.T, file string, reasons ...string) {
	t.Helper()
	r := readReport(t, file)
	complete(t, r, false)
	known := false
	for _, reason := range reasons {
		known = known || r["end_reason"] == reason
	}
	if n := r["frames"].(float64); !known || n < 10 || n > 20000 || r["final_hash"] != nil || r["seed"] == nil {
		t.Errorf("end_reason %v, frames %v, final_hash %v", r["end_reason"], r["frames"], r["final_hash"])
	}
}

func TestOpponentKilled(t *testing.T) {
	t.Parallel()
	for side, name := range []string{"host stays", "joiner stays"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := begun(t, "--frames", "20000", "--timeout", "2s")
			stays, dies := d.host, d.join
			if side == 1 {
				stays, dies = d.join, d.host
			}
			dies.signal(syscall.SIGKILL)
			began := time.Now()
			stays.ends(6, "the opponent")
			if took := time.Since(began); took > 9*time.Second { // 10 s is what --timeout says by itself
				t.Errorf("the opponent was missed after %v", took)
			}
			broken(t, d.files[side], "timeout", "opponent_left")
			// What was confirmed is recorded and can be run again.
			start(t, "peer", "replay", "verify", d.records[side]).ends(0, "")
		})
	}
}

// A peer that is stopped for two seconds goes on as if nothing had been.
func TestOpponentStopped(t *testing.T) {
	t.Parallel()
	for side, name := range []string{"host", "joiner"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := begun(t, "--frames", "240")
			p := d.host
			if side == 1 {
				p = d.join
			}
			p.signal(syscall.SIGSTOP)
			time.Sleep(2 * time.Second)
			p.signal(syscall.SIGCONT)
			reports := d.end(240)
			if n, _ := field(reports[1-side], "stalls"); n.(float64) < 30 {
				t.Errorf("the other side stalled on %v ticks in two seconds", n)
			}
		})
	}
}

// A peer that is stopped for longer than the timeout finds out when it goes on.
func TestOpponentStoppedTooLong(t *testing.T) {
	t.Parallel()
	d := begun(t, "--frames", "20000", "--timeout", "1s")
	d.join.signal(syscall.SIGSTOP)
	d.host.ends(6, "the opponent")
	d.join.signal(syscall.SIGCONT)
	d.join.ends(6, "the opponent")
	for side := range d.files {
		broken(t, d.files[side], "timeout", "opponent_left")
	}
}

func TestSignals(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		signal syscall.Signal
		side   int
		code   int
	}{{"interrupt host", syscall.SIGINT, 0, 130}, {"terminate joiner", syscall.SIGTERM, 1, 143}} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			d := begun(t, "--frames", "20000")
			leaves, stays := d.host, d.join
			if tt.side == 1 {
				leaves, stays = d.join, d.host
			}
			leaves.signal(tt.signal)
			leaves.ends(tt.code, "")
			stays.ends(6, "the opponent left")
			broken(t, d.files[tt.side], "interrupted")
			broken(t, d.files[1-tt.side], "opponent_left")
		})
	}
}

// A signal also ends a peer that waits, and it still writes its report.
func TestSignalWhileWaiting(t *testing.T) {
	t.Parallel()
	d := hosted(t, startRelay(t, nil).String())
	d.host.signal(syscall.SIGINT)
	d.host.ends(130, "")
	r := readReport(t, d.files[0])
	complete(t, r, false)
	if r["end_reason"] != "interrupted" || r["frames"] != 0.0 {
		t.Errorf("end_reason %v, frames %v", r["end_reason"], r["frames"])
	}
	if _, err := os.Stat(d.records[0]); err == nil {
		t.Error("a record was written of no match")
	}
}

// `peer play` takes its second process along.
func TestSignalDuringPlay(t *testing.T) {
	t.Parallel()
	p := start(t, "peer", "play", "--headless", "--frames", "20000")
	p.waitLog("direct path found")
	p.signal(syscall.SIGTERM)
	p.ends(143, "")
}
