// Command pagebench measures what the page costs a match: the time of the match
// loop's ticks without a page, with a page nobody opened, with a tab that reads,
// and with one that never does; where Chromium and scripts/pagetest are installed
// also with real tabs that draw, are hidden, frozen by the browser, or crashed;
// and there the time from a key to the frame that shows it. It needs bin/peer
// (make build).
//
//	go run ./scripts/pagebench [-frames 1200] [-presses 300] [-peer bin/peer]
//
// The line "worst" is the largest p99 over that without a page. The exit code is
// 1 if a match did not play all its frames.
package main

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/coder/websocket"
)

// cases in the order of the table; tab says what is done with the page.
var cases = []struct {
	name string
	tab  func(ctx context.Context, url string) error
}{
	{"without a page", nil},
	{"page, no tab", func(context.Context, string) error { return nil }},
	{"tab that reads", func(ctx context.Context, url string) error { return attend(ctx, url, true) }},
	{"tab that never reads", func(ctx context.Context, url string) error { return attend(ctx, url, false) }},
	{"Chromium, draws", real("draws")},
	{"Chromium, hidden", real("hidden")},
	{"Chromium, frozen", real("frozen")},
	{"Chromium, crashed", real("crashed")},
}

// realFrom is the first case that needs Chromium.
const realFrom = 4

// real is a tab of Chromium in some condition, until the match is over.
func real(how string) func(context.Context, string) error {
	return func(ctx context.Context, url string) error {
		cmd := exec.CommandContext(ctx, "node", "tab.js", url, how)
		cmd.Dir, cmd.Stderr = pagetest, os.Stderr
		in, err := cmd.StdinPipe() // its end ends the tab
		if err != nil {
			return err
		}
		cmd.Cancel, cmd.WaitDelay = in.Close, 10*time.Second
		out, err := cmd.Output()
		if text := strings.TrimSpace(string(out)); err != nil && !strings.HasPrefix(text, how) {
			return fmt.Errorf("the tab ended too early: %q, %w", text, err)
		}
		return nil
	}
}

const pagetest = "scripts/pagetest"

// chromium tells whether real tabs can be had here.
func chromium() bool {
	for _, f := range []string{cmp.Or(os.Getenv("CHROMIUM"), "/usr/bin/chromium"), filepath.Join(pagetest, "node_modules/playwright-core")} {
		if _, err := os.Stat(f); err != nil {
			return false
		}
	}
	_, err := exec.LookPath("node")
	return err == nil
}

// report is what is read of a match report.
type report struct {
	Frames int `json:"frames"`
	Tick   struct {
		P50 int64 `json:"p50"`
		P99 int64 `json:"p99"`
		Max int64 `json:"max"`
	} `json:"tick_us"`
	Stalls int64 `json:"stalls"`
}

func main() {
	frames := flag.Int("frames", 1200, "frames of each match")
	presses := flag.Int("presses", 300, "keys to press, each way of drawing; 0 for none")
	peer := flag.String("peer", "bin/peer", "the program")
	flag.Parse()
	err := run(*peer, *frames, os.Stdout)
	if err == nil && chromium() && *presses > 0 {
		cmd := exec.Command("node", "latency.js", strconv.Itoa(*presses))
		cmd.Dir, cmd.Stdout, cmd.Stderr = pagetest, os.Stdout, os.Stderr
		err = cmd.Run()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(peer string, frames int, w io.Writer) error {
	dir, err := os.MkdirTemp("", "pagebench")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	fmt.Fprintf(w, "%-22s %8s %8s %8s %8s %7s\n", "tick, µs", "frames", "p50", "p99", "max", "stalls")
	var base, worst int64
	list := cases
	if !chromium() {
		list = cases[:realFrom]
		fmt.Fprintln(os.Stderr, "no Chromium, node or "+pagetest+"/node_modules here (make pagetest installs them): without real tabs")
	}
	for i, c := range list {
		r, err := play(peer, filepath.Join(dir, strconv.Itoa(i)), frames, c.tab)
		if err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
		fmt.Fprintf(w, "%-22s %8d %8d %8d %8d %7d\n", c.name, r.Frames, r.Tick.P50, r.Tick.P99, r.Tick.Max, r.Stalls)
		if i == 0 {
			base = r.Tick.P99
		}
		worst = max(worst, r.Tick.P99-base)
	}
	_, err = fmt.Fprintf(w, "worst: p99 %+d µs beside the match without a page\n", worst)
	return err
}

// play runs one match against the machine and gives its report.
func play(peer, dir string, frames int, tab func(context.Context, string) error) (report, error) {
	var r report
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return r, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Duration(frames)*time.Second/60+time.Minute)
	defer cancel()
	file := filepath.Join(dir, "report.json")
	args := []string{"play", "--input", "bot:hard:1", "--frames", strconv.Itoa(frames), "--report", file, "--data-dir", dir, "--log-level", "error"}
	if tab == nil {
		args = append(args, "--headless")
	} else {
		args = append(args, "--browser", "none")
	}
	cmd := exec.CommandContext(ctx, peer, args...)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return r, err
	}
	if err := cmd.Start(); err != nil {
		return r, err
	}
	tctx, stop := context.WithCancel(ctx)
	go func() { // the report is there once the match has ended; the program ends when its tab is gone
		for tctx.Err() == nil {
			if _, err := os.Stat(file); err == nil {
				stop()
			}
			time.Sleep(50 * time.Millisecond)
		}
	}()
	tabbed := make(chan error, 1)
	tabs := 0
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if url, ok := strings.CutPrefix(lines.Text(), "page "); ok && tab != nil {
			tabs++
			go func() { tabbed <- tab(tctx, url) }()
		}
	}
	err = cmd.Wait()
	stop()
	for range tabs {
		if terr := <-tabbed; err == nil {
			err = terr
		}
	}
	if err != nil {
		return r, err
	}
	b, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(b, &r)
	}
	if err == nil && r.Frames != frames {
		err = fmt.Errorf("%d frames were played, not %d", r.Frames, frames)
	}
	return r, err
}

// attend is a tab that opens the page and, if it reads, takes everything until
// the result; one that does not stays connected until the program lets it go.
func attend(ctx context.Context, url string, reads bool) error {
	base, token, _ := strings.Cut(url, "/#")
	c, _, err := websocket.Dial(ctx, strings.Replace(base, "http", "ws", 1)+"/ws",
		&websocket.DialOptions{HTTPHeader: map[string][]string{"Origin": {base}}, Subprotocols: []string{"backstep.page.1"}})
	if err != nil {
		return err
	}
	defer c.CloseNow()
	c.SetReadLimit(1 << 20)
	hello := append([]byte{1}, fmt.Sprintf(`{"token":%q,"tab":"00112233445566aa","mode":"play"}`, token)...)
	if err := c.Write(ctx, websocket.MessageBinary, hello); err != nil {
		return err
	}
	if !reads {
		<-ctx.Done()
		return nil
	}
	for {
		_, b, err := c.Read(ctx)
		if err != nil || len(b) > 0 && b[0] == 2 && strings.Contains(string(b), `"screen":"result"`) {
			return nil // the match is over, or the program went
		}
	}
}
