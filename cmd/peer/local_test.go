package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"backstep/fec"
	"backstep/natpunch"
	"backstep/natpunch/rendezvous"
	"backstep/peer"
	"backstep/peer/impair"
	"backstep/peer/report"
	"backstep/peer/source"
	"backstep/rollback/quality"
	"backstep/sim"
)

func hex(h uint64) string { return fmt.Sprintf("%016x", h) }

// offline is the hash after so many frames of the two columns of the trace, without any network.
func offline(t *testing.T, seed uint64, frames int) uint64 {
	t.Helper()
	var words [2]*source.Trace
	for side, column := range []string{"w1", "w2"} {
		var err error
		if words[side], err = source.ReadTrace(traceFile(t), column); err != nil {
			t.Fatal(err)
		}
	}
	c := sim.DefaultConfig()
	c.Seed = seed
	var w sim.World
	if err := w.Reset(c); err != nil {
		t.Fatal(err)
	}
	in := make([]sim.Input, 2)
	for f := range frames {
		for side := range in {
			in[side] = sim.Input{Now: words[side].Next(int32(f), nil), Prev: in[side].Now}
		}
		w.Step(in, sim.SuppressCosmetics)
	}
	return w.Hash()
}

func show[T any](v *T) string {
	if v == nil {
		return "null"
	}
	return fmt.Sprint(*v)
}

// codeWriter is the stdout of a host within this process.
type codeWriter struct{ code chan string }

func (w codeWriter) Write(b []byte) (int, error) {
	w.code <- strings.TrimSpace(strings.TrimPrefix(string(b), "lobby "))
	return len(b), nil
}

// local plays two peers in this process over real sockets and a relay of the host's, and returns their reports.
func local(t *testing.T, frames int32, change func(side int, c *peer.Config)) [2]report.Report {
	t.Helper()
	dir := t.TempDir()
	config := func(side int) peer.Config {
		d := sim.DefaultConfig()
		c := peer.Config{
			Input: fmt.Sprintf("trace:%s:w%d", traceFile(t), side+1), Frames: frames,
			ReportFile: filepath.Join(dir, fmt.Sprint(side, ".json")), RecordFile: filepath.Join(dir, fmt.Sprint(side, ".bsr")),
			Paths: natpunch.AllowAuto, Window: 8, Mode: quality.Rollback, Ruleset: d.Ruleset, Format: d.Format, Rounds: d.Rounds, Team: d.Teams[side],
			Timeout: 15 * time.Second, Wait: time.Minute, Build: "test", Log: zerolog.Nop(),
		}
		if change != nil {
			change(side, &c)
		}
		return c
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*patience)
	defer cancel()
	var errs [2]chan error
	for side := range errs {
		errs[side] = make(chan error, 1)
	}
	host, seed := config(0), uint64(7)
	stdout := codeWriter{make(chan string, 4)}
	host.Host, host.Seed, host.Stdout = true, &seed, stdout
	host.Embed = func(ctx context.Context, _ string) (peer.Embedded, error) {
		return embed(zerolog.Nop())(ctx, ":0") // the usual port may be in use on this machine
	}
	go func() { errs[0] <- peer.Run(ctx, host) }()
	join := config(1)
	select {
	case text := <-stdout.code:
		code, err := rendezvous.ParseCode(text)
		if err != nil {
			t.Fatal(err)
		}
		join.Code, join.Relays = code, code.Relays
	case err := <-errs[0]:
		t.Fatalf("no code; host: %v", err)
	}
	go func() { errs[1] <- peer.Run(ctx, join) }()
	var out [2]report.Report
	for side := range errs {
		if err := <-errs[side]; err != nil {
			t.Errorf("side %d: %v", side, err)
		}
		b, err := os.ReadFile(filepath.Join(dir, fmt.Sprint(side, ".json")))
		if err != nil {
			t.Fatal(err)
		}
		// The pairs of the report are arrays and only written by it, never read.
		var loose map[string]json.RawMessage
		if err := json.Unmarshal(b, &loose); err != nil {
			t.Fatal(err)
		}
		delete(loose, "hashes_every_600")
		delete(loose, "path_changes")
		if b, err = json.Marshal(loose); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(b, &out[side]); err != nil {
			t.Fatal(err)
		}
		v, err := peer.VerifyReplay(filepath.Join(dir, fmt.Sprint(side, ".bsr")))
		if err != nil || v.Frames != int(frames) {
			t.Errorf("side %d: replay of %d frames: %v", side, v.Frames, err)
		}
	}
	if t.Failed() {
		t.FailNow()
	}
	a, errA := os.ReadFile(filepath.Join(dir, "0.bsr"))
	b, errB := os.ReadFile(filepath.Join(dir, "1.bsr"))
	if errA != nil || errB != nil || !bytes.Equal(a, b) {
		t.Errorf("the records differ: %v %v", errA, errB)
	}
	want := report.Hex(offline(t, 7, int(frames)))
	for side, r := range out {
		if r.FinalHash == nil || *r.FinalHash != want || r.Frames != int(frames) || r.ConfirmedFrames != int(frames) ||
			r.EndReason != "frames" || r.Desyncs != 0 {
			t.Errorf("side %d: hash %v (offline %v), %d frames, %d confirmed, end %s, %d desyncs",
				side, r.FinalHash, want, r.Frames, r.ConfirmedFrames, r.EndReason, r.Desyncs)
		}
	}
	return out
}

// found wants the direct path; a machine that is too busy to send for a while may have gone back to the relay, and says so.
func found(t *testing.T, path, reason string) {
	t.Helper()
	if path != "lan" && !(path == "relay" && strings.Contains(reason, "fell silent")) {
		t.Errorf("path %s: %s", path, reason)
	}
}

// Two local peers in one process: real sockets, real DTLS, a real relay. Both end in the state of the two traces without
// a network, on a clean line and on a bad one.
func TestLocalPeers(t *testing.T) {
	const frames = 400
	t.Run("clean", func(t *testing.T) {
		t.Parallel()
		for side, r := range local(t, frames, nil) {
			// A flight of the handshake that a busy machine repeated counts as forged when it comes too late.
			if *r.Packets.Forged > 10 || *r.Packets.Malformed != 0 {
				t.Errorf("side %d: forged %d, malformed %d on a clean line", side, *r.Packets.Forged, *r.Packets.Malformed)
			}
			found(t, show(r.Path), show(r.PathReason))
		}
	})
	t.Run("tunnel", func(t *testing.T) {
		t.Parallel()
		for side, r := range local(t, frames, func(side int, c *peer.Config) {
			if side == 1 {
				c.Paths = natpunch.AllowTunnel
			}
		}) {
			if show(r.Path) != "tunnel" || show(r.LocalCandidate) != "relay" || !strings.HasPrefix(show(r.PathReason), "relayed over TCP, as --path asks") {
				t.Errorf("side %d: %s, %s, %s", side, show(r.Path), show(r.LocalCandidate), show(r.PathReason))
			}
		}
	})
	// MODE-01, LOCK-23, LOCK-27, S-01: one side asks for delay mode, so both play it, and say so. Nothing is rolled back, and each
	// waits for what comes late.
	t.Run("delay", func(t *testing.T) {
		t.Parallel()
		out := local(t, frames, func(side int, c *peer.Config) {
			c.Impair, _ = impair.Parse(fmt.Sprintf("delay=30ms,jitter=5ms,loss=3%%,seed=%d", side+1))
			if side == 0 {
				c.Mode = quality.Delay
			}
		})
		for side, r := range out {
			if *r.Quality.Mode != "delay" || *r.Rollbacks != 0 || *r.ResimulatedFrames != 0 {
				t.Errorf("side %d: %s, %d rollbacks, %d frames resimulated", side, *r.Quality.Mode, *r.Rollbacks, *r.ResimulatedFrames)
			}
		}
	})
	t.Run("hybrid", func(t *testing.T) {
		t.Parallel()
		for side, r := range local(t, frames, func(side int, c *peer.Config) { c.Mode = quality.Hybrid }) {
			if *r.Quality.Mode != "hybrid" {
				t.Errorf("side %d: %s", side, *r.Quality.Mode)
			}
		}
	})
	t.Run("impaired", func(t *testing.T) {
		t.Parallel()
		out := local(t, frames, func(side int, c *peer.Config) {
			var err error
			c.Impair, err = impair.Parse(fmt.Sprintf("delay=40ms,jitter=5ms,loss=10%%,dup=1%%,reorder=1%%,corrupt=1%%,seed=%d", side+1))
			if err != nil {
				t.Fatal(err)
			}
			c.FEC = fec.XOR
			c.Paths = natpunch.AllowAuto &^ natpunch.AllowTunnel // TCP is never damaged
		})
		damaged := int64(0)
		for side, r := range out {
			if *r.Rollbacks == 0 || *r.FEC.Recovered == 0 || *r.FEC.ParitySent == 0 || *r.LossPct < 1 || *r.RTTMs.P50 < 70 {
				t.Errorf("side %d: %d rollbacks, fec %d of %d, loss %v %%, rtt %v", side,
					*r.Rollbacks, *r.FEC.Recovered, *r.FEC.ParitySent, *r.LossPct, *r.RTTMs.P50)
			}
			damaged += *r.Packets.Forged + *r.Packets.Malformed
		}
		if damaged == 0 {
			t.Error("a hundredth of the datagrams was damaged and none was counted")
		}
	})
	t.Run("relay and delay", func(t *testing.T) {
		t.Parallel()
		out := local(t, 200, func(side int, c *peer.Config) {
			c.Paths, c.Delay, c.Window = natpunch.AllowRelay, 2*side, 1+side
		})
		for side, r := range out {
			if show(r.Path) != "relay" || show(r.LocalCandidate) != "relay" || r.DirectMs != nil {
				t.Errorf("side %d: path %s, candidate %s, direct after %s ms", side, show(r.Path), show(r.LocalCandidate), show(r.DirectMs))
			}
		}
	})
}
