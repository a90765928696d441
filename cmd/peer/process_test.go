package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"backstep/relay"
)

// patience bounds every wait for something that should come at once, on a machine that does much else.
const patience = 40 * time.Second

// clean takes settings of the programs out of an environment.
func clean(env []string) []string {
	var out []string
	for _, kv := range env {
		if !strings.HasPrefix(kv, "BACKSTEP_") && !strings.HasPrefix(kv, "RELAY_") {
			out = append(out, kv)
		}
	}
	return out
}

// process is a program of ours that runs.
type process struct {
	t     *testing.T
	cmd   *exec.Cmd
	lines chan string // of stdout, as they come
	ended chan struct{}

	mu   sync.Mutex
	seen []string // all lines of stdout
	logs lockedBuffer
}

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// program is the path of a binary in a directory of binaries.
func program(dir, name string) string {
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	return filepath.Join(dir, name)
}

// start runs the binary of the real build.
func start(t *testing.T, name string, args ...string) *process {
	t.Helper()
	dir, err := binaries()
	if err != nil {
		t.Fatal(err)
	}
	return startFile(t, program(dir, name), nil, args...)
}

func startFile(t *testing.T, file string, env []string, args ...string) *process {
	t.Helper()
	p := &process{t: t, cmd: exec.Command(file, args...), lines: make(chan string, 64), ended: make(chan struct{})}
	p.cmd.Env = append(clean(os.Environ()), env...)
	p.cmd.Stderr = &p.logs
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(p.ended)
		for s := bufio.NewScanner(out); s.Scan(); {
			p.mu.Lock()
			p.seen = append(p.seen, s.Text())
			p.mu.Unlock()
			p.lines <- s.Text()
		}
		_ = p.cmd.Wait() // its exit code is looked at
	}()
	t.Cleanup(func() {
		select {
		case <-p.ended:
		default:
			_ = p.cmd.Process.Kill()
			<-p.ended
		}
		if s := p.logs.String(); strings.Contains(s, "panic:") || strings.Contains(s, "goroutine ") || strings.Contains(s, "DATA RACE") {
			t.Errorf("%v crashed:\n%s", args, s)
		}
		if t.Failed() {
			t.Logf("%v ended with %d\nstdout: %q\nstderr:\n%s", args, p.cmd.ProcessState.ExitCode(), p.output(), p.logs.String())
		}
	})
	return p
}

// line waits for the next line of stdout and returns what follows the word it must begin with.
func (p *process) line(word string) string {
	p.t.Helper()
	select {
	case l := <-p.lines:
		rest, ok := strings.CutPrefix(l, word+" ")
		if !ok {
			p.t.Fatalf("stdout says %q instead of %s", l, word)
		}
		return rest
	case <-p.ended:
		p.t.Fatalf("the program ended without a %s line: %s", word, p.logs.String())
	case <-time.After(patience):
		p.t.Fatalf("no %s line", word)
	}
	return ""
}

// code waits for the end and returns the exit code.
func (p *process) code() int {
	p.t.Helper()
	select {
	case <-p.ended:
	case <-time.After(patience):
		p.t.Fatalf("%v does not end", p.cmd.Args[1:])
	}
	return p.cmd.ProcessState.ExitCode()
}

// ends wants an exit code and, when it is not 0, one sentence that contains want.
func (p *process) ends(code int, want string) {
	p.t.Helper()
	if got := p.code(); got != code {
		p.t.Errorf("exit code %d, want %d", got, code)
	}
	if said := p.said(); !strings.Contains(said, want) || (code > 0 && code < 128) != (said != "") {
		p.t.Errorf("it says %q, which should contain %q", said, want)
	}
}

// said is the sentence of a failure, without the program's name.
func (p *process) said() string {
	var said []string
	for l := range strings.Lines(p.logs.String()) {
		if s, ok := strings.CutPrefix(strings.TrimSpace(l), "peer: "); ok {
			said = append(said, s)
		}
	}
	if len(said) > 1 {
		p.t.Errorf("more than one sentence: %q", said)
	}
	return strings.Join(said, "")
}

// waitLog waits until stderr contains the text.
func (p *process) waitLog(text string) {
	p.t.Helper()
	for end := time.Now().Add(patience); !strings.Contains(p.logs.String(), text); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			p.t.Fatalf("%q is not in the logs", text)
		}
	}
}

func (p *process) output() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]string(nil), p.seen...)
}

// startRelay is newRelay when only the address matters.
func startRelay(t *testing.T, change func(c *relay.Config)) netip.AddrPort {
	t.Helper()
	return newRelay(t, change).Addrs()[0]
}

// newRelay runs a relay within this process. Each test has its own, for a relay limits what comes from one source.
func newRelay(t *testing.T, change func(c *relay.Config)) *relay.Server {
	t.Helper()
	c := relay.Config{Listen: []string{"127.0.0.1:0"}, DrainLimit: -1, Log: zerolog.Nop()}
	if change != nil {
		change(&c)
	}
	s, err := relay.New(c)
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- s.Run(t.Context()) }()
	t.Cleanup(func() {
		_ = s.Close()
		if err := <-ended; err != nil {
			t.Errorf("relay: %v", err)
		}
	})
	return s
}

// traceFile is a recorded pair of players.
func traceFile(t *testing.T) string {
	t.Helper()
	f, err := filepath.Abs(filepath.Join("testdata", "duel.csv.gz"))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// duel is two peers as processes.
type duel struct {
	t          *testing.T
	relay      string
	host, join *process
	code       string
	files      [2]string // reports
	records    [2]string
}

// startDuel runs a host on the trace and, once its code is out, a joiner. Both get the common arguments.
func startDuel(t *testing.T, relay string, common, host, join []string) *duel {
	t.Helper()
	d := hosted(t, relay, append(append([]string{}, common...), host...)...)
	d.joins(append(append([]string{}, common...), join...)...)
	return d
}

// hosted runs a host and reads its code.
func hosted(t *testing.T, relay string, args ...string) *duel {
	t.Helper()
	d := &duel{t: t, relay: relay}
	dir := t.TempDir()
	for side, name := range []string{"host", "join"} {
		d.files[side], d.records[side] = filepath.Join(dir, name+".json"), filepath.Join(dir, name+".bsr")
	}
	d.host = start(t, "peer", append(append([]string{"host"}, d.side(0, "w1")...), args...)...)
	d.code = d.host.line("lobby")
	return d
}

func (d *duel) side(side int, column string) []string {
	args := []string{"--headless", "--input", "trace:" + traceFile(d.t) + ":" + column, "--report", d.files[side], "--record", d.records[side]}
	if side == 0 {
		args = append(args, "--relay", d.relay, "--seed", "7")
	}
	return args
}

func (d *duel) joins(args ...string) {
	d.t.Helper()
	d.join = start(d.t, "peer", append(append([]string{"join", d.code}, d.side(1, "w2")...), args...)...)
}

// end waits for both with exit code 0 and wants the offline state on both sides; it returns the reports.
func (d *duel) end(frames int) (reports [2]map[string]any) {
	d.t.Helper()
	d.host.ends(0, "")
	d.join.ends(0, "")
	if d.t.Failed() {
		d.t.FailNow()
	}
	return d.same(frames)
}

// same wants complete reports of so many frames with the offline state in them.
func (d *duel) same(frames int) (reports [2]map[string]any) {
	d.t.Helper()
	want := hex(offline(d.t, 7, frames))
	for side, file := range d.files {
		r := readReport(d.t, file)
		reports[side] = r
		if r["final_hash"] != want || r["frames"] != float64(frames) || r["confirmed_frames"] != float64(frames) ||
			r["end_reason"] != "frames" || r["desyncs"] != 0.0 {
			d.t.Errorf("side %d: final_hash %v (offline %s), frames %v, confirmed %v, end %v, desyncs %v", side,
				r["final_hash"], want, r["frames"], r["confirmed_frames"], r["end_reason"], r["desyncs"])
		}
	}
	return reports
}

func readReport(t *testing.T, file string) map[string]any {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var r map[string]any
	if err := json.Unmarshal(b, &r); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	return r
}
