package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"
)

// rudeName is what an opponent of bad manners is called, pwned so that it can be found again.
var rudeName = "pwned\x1b[31m\u202e<img src=x onerror=1>\n\x00" + strings.Repeat("\u0300", 60) + "../../x"

// rude builds a peer that sends every text as it is: nothing that is cleaned before it is sent protects the other side.
func rude(t *testing.T, name string, more map[string][2]string) string {
	t.Helper()
	changes := map[string][2]string{
		"natpunch/rendezvous/text.go": {"maxRunes, maxBytes int) string {", "maxRunes, maxBytes int) string {\n\tif maxRunes > 0 { return s }"},
		"peer/config.go": {"o.Build, o.Region = c.Build, rendezvous.CleanText(c.Region)",
			fmt.Sprintf("o.Build, o.Region = %q, %q\n\trendezvous.CleanText(\"\")", rudeName[:60], rudeName)},
		"cmd/peer/options.go": {"Name: rendezvous.CleanText(*o.name)", fmt.Sprintf("Name: rendezvous.CleanText(%q)", rudeName)},
	}
	for file, change := range more {
		changes[file] = change
	}
	return program(another(t, name, changes), "peer")
}

// plain wants text that a terminal shows as it was meant: printable lines, without marks that climb over others.
func plain(t *testing.T, what, text string) {
	t.Helper()
	if !utf8.ValidString(text) {
		t.Errorf("%s is not UTF-8", what)
	}
	marks := 0
	for i, r := range text {
		if unicode.Is(unicode.M, r) {
			marks++
		} else {
			marks = 0
		}
		if r != '\n' && unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp) || marks > 2 {
			t.Errorf("%s holds %q: %q", what, r, text[max(0, i-60):min(len(text), i+20)])
			return
		}
	}
}

// logged wants logs in which the opponent's text stands in the values of fields alone.
func logged(t *testing.T, what, format, text string) {
	t.Helper()
	plain(t, what, text)
	for line := range strings.Lines(text) {
		if format == "json" {
			var entry map[string]any
			if err := json.Unmarshal([]byte(line), &entry); err != nil {
				t.Errorf("%s: %v: %s", what, err, line)
				continue
			}
			if m, _ := entry["message"].(string); strings.Contains(m, "pwned") {
				t.Errorf("%s: the message is %q", what, m)
			}
			continue
		}
		if at := strings.Index(line, "pwned"); at >= 0 && !strings.Contains(line[:at], "=") {
			t.Errorf("%s: in the message: %q", what, line)
		}
	}
}

// names wants file names that only this program gives.
func names(t *testing.T, dir string, allowed string) (files []string) {
	t.Helper()
	form := regexp.MustCompile("^(" + allowed + ")$")
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if rel, _ := filepath.Rel(dir, path); err == nil && !d.IsDir() {
			files = append(files, path)
			if !form.MatchString(filepath.ToSlash(rel)) {
				t.Errorf("a file is called %q", rel)
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

const (
	replayName = `replays/\d{8}-\d{6}-[0-9a-f]{8}\.bsr`
	desyncName = `desyncs/\d{8}-\d{6}-[2-9B-Z]{4}-[2-9B-Z]{4}\.bsd`
)

// An opponent whose program cleans nothing says what it likes, by name, region, build and chat. The terminal, both forms of
// the logs, of peer and of relay, the report and the names of files stay plain, and the page gets plain text.
func TestRudeOpponent(t *testing.T) {
	t.Parallel()
	villain := rude(t, "rude", nil)
	for _, format := range []string{"console", "json"} {
		t.Run(format, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			r := start(t, "relay", "serve", "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0", "--state-dir", filepath.Join(dir, "relay"), "--log-level", "trace", "--log-format", format)
			addr := r.line("listening")
			scold(t, addr)
			host := start(t, "peer", "host", "--relay", addr, "--browser", "none", "--input", "bot:easy", "--frames", "240", "--report", filepath.Join(dir, "report.json"), "--record",
				filepath.Join(dir, "record.bsr"), "--data-dir", dir, "--log-level", "trace", "--log-format", format)
			honest := openTab(t, host.line("page"))
			code := host.line("lobby")
			guest := startFile(t, villain, nil, "join", code, "--browser", "none", "--data-dir", t.TempDir())
			evil := openTab(t, guest.line("page"))
			forecast := honest.screen("forecast")
			for _, key := range []string{"name", "region", "build"} {
				s, _ := forecast["opponent"].(map[string]any)[key].(string)
				plain(t, "the opponent's "+key, s)
				if !strings.Contains(s, "pwned") || len(s) > 96 || utf8.RuneCountInString(s) > 24 {
					t.Errorf("the opponent's %s is %q", key, s)
				}
			}
			evil.screen("forecast")
			for _, b := range []*tab{honest, evil} {
				b.command(`{"cmd":"accept"}`)
			}
			for _, b := range []*tab{honest, evil} {
				b.screen("select")
			}
			say := func(text string) {
				line, err := json.Marshal(map[string]string{"cmd": "chat", "text": text})
				if err != nil {
					t.Fatal(err)
				}
				evil.send(tabCommand, line)
			}
			for _, text := range []string{rudeName, "\x1b]0;pwned\a", "pwned\r\nlobby K7QM", strings.Repeat("pwned ", 66), "pwned\u2066\u200b"} {
				say(text)
			}
			say(`pwned <img src=x onerror=alert(1)> $(reboot) 'a' "b"`)
			talk := honest.wait(pageTalk, func(body []byte) bool { return bytes.Contains(body, []byte("$(reboot)")) })
			var said struct{ Lines []struct{ Text string } }
			if err := json.Unmarshal(talk, &said); err != nil || len(said.Lines) != 1 || said.Lines[0].Text != `pwned <img src=x onerror=alert(1)> $(reboot) 'a' "b"` {
				t.Errorf("what arrived is %s, %v", talk, err)
			}
			for _, b := range []*tab{honest, evil} {
				b.command(`{"cmd":"pick","ready":true}`)
			}
			honest.screen("result")
			honest.command(`{"cmd":"leave"}`)
			honest.screen("title")
			honest.command(`{"cmd":"quit"}`)
			host.ends(0, "")
			_ = guest.cmd.Process.Kill()

			logged(t, "the peer's log", format, host.logs.String())
			if !strings.Contains(host.logs.String(), "pwned") {
				t.Error("the opponent's name is not in the log, so nothing was tried")
			}
			for _, line := range host.output() {
				if strings.Contains(line, "pwned") {
					t.Errorf("stdout says %q", line)
				}
			}
			report, err := os.ReadFile(filepath.Join(dir, "report.json"))
			if err != nil || bytes.Contains(report, []byte("pwned")) {
				t.Errorf("the report holds the opponent's text, or there is none: %v", err)
			}
			files := names(t, dir, replayName+`|report\.json|record\.bsr|settings\.json|relay/[a-z.-]+`)
			if len(files) < 3 {
				t.Errorf("only %v was written", files)
			}
			_ = r.cmd.Process.Signal(os.Interrupt)
			r.code()
			logged(t, "the relay's log", format, r.logs.String())
			if strings.Contains(r.logs.String(), "pwned") && format == "console" {
				t.Logf("the relay's log: %s", r.logs.String())
			}
		})
	}
}

// scold says hostile things to a relay, over HTTP, its WebSocket and raw.
func scold(t *testing.T, addr string) {
	t.Helper()
	for _, text := range []string{
		"GET /pwned\x1b[31m HTTP/1.1\r\nHost: pwned\x1b[31m\r\n\r\n", "GET /%1b%5b31mpwned HTTP/1.1\r\nHost: x\r\nUser-Agent: pwned\x1b[2J\r\nX-Forwarded-For: pwned\u202e\r\n\r\n",
		"pwned\x1b[31m \x00\xff\xfe\r\n\r\n", "GET /lobby HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n" +
			"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nOrigin: http://pwned\x1b[31m\r\nAuthorization: Bearer pwned\u202e\r\n\r\n",
	} {
		c, err := net.Dial("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = c.Write([]byte(text))
		_ = c.SetReadDeadline(time.Now().Add(2 * time.Second))
		_, _ = c.Read(make([]byte, 512)) // an answer, or the end of the connection
		_ = c.Close()
	}
}

// Evidence of a desync with such an opponent has a name of this program's making, and reads as plain text.
func TestRudeDesync(t *testing.T) {
	t.Parallel()
	villain := rude(t, "rude-desync", map[string][2]string{
		"sim/step.go":          {"w.frame++\n", "w.frame++\n\tif w.frame == 150 { w.fighters[0].Health -= 7 }\n"},
		"peer/match/resync.go": {"Build: l.cfg.Build,", fmt.Sprintf("Build: %q,", rudeName[:60])},
	})
	dir := t.TempDir()
	addr := startRelay(t, nil).String()
	host := start(t, "peer", "host", "--relay", addr, "--headless", "--input", "bot:easy", "--frames", "300", "--seed", "4", "--data-dir", dir)
	guest := startFile(t, villain, nil, "join", host.line("lobby"), "--headless", "--input", "bot:hard", "--data-dir", t.TempDir())
	host.code()
	guest.code()
	files := names(t, dir, desyncName)
	if len(files) != 1 {
		t.Fatalf("%v was written", files)
	}
	raw, err := os.ReadFile(files[0])
	if err != nil || !bytes.Contains(raw, []byte("pwned\x1b[31m")) {
		t.Fatalf("the evidence does not hold what the opponent calls itself: %v", err)
	}
	logged(t, "the log", "console", host.logs.String())
	show := start(t, "peer", "replay", "show", files[0])
	show.ends(0, "")
	plain(t, "replay show", strings.Join(show.output(), "\n"))

	p := start(t, "peer", "join", "--browser", "none", "--data-dir", dir)
	b := openTab(t, p.line("page"))
	b.command(`{"cmd":"replays"}`)
	list := b.screen("replays")["desyncs"].([]any)
	if len(list) != 1 {
		t.Fatalf("%v is listed", list)
	}
	b.command(`{"cmd":"open","id":%q}`, list[0].(map[string]any)["id"])
	screen := b.screen("desync")
	for _, build := range screen["builds"].([]any) {
		plain(t, "a build", build.(string))
	}
	b.command(`{"cmd":"theatre","export":true}`)
	file := b.wait(pageFile, nil)
	if name := string(file[1 : 1+file[0]]); !regexp.MustCompile(`^backstep-desync-[0-9A-Z-]+\.bsd$`).MatchString(name) {
		t.Errorf("the export is called %q", name)
	}
	b.command(`{"cmd":"quit"}`)
	p.ends(0, "")
}
