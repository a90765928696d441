// Command pagebench measures what the page costs a match: the time of the match
// loop's ticks without a page, with a page nobody opened, with a tab that reads,
// and with one that never does. It needs bin/peer (make build).
//
//	go run ./scripts/pagebench [-frames 1200] [-peer bin/peer]
//
// The line "worst" is the largest p99 over that without a page. The exit code is
// 1 if a match did not play all its frames.
package main

import (
	"bufio"
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
	peer := flag.String("peer", "bin/peer", "the program")
	flag.Parse()
	if err := run(*peer, *frames, os.Stdout); err != nil {
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
	for i, c := range cases {
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
