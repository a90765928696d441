package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// `peer play` serves the page, plays against the machine in a second process and keeps the replay, which can be checked and shown.
func TestPlayOnThePage(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p := start(t, "peer", "play", "--browser", "none", "--frames", "90", "--data-dir", dir)
	if line := p.line("page"); !strings.HasPrefix(line, "http://127.0.0.1:") || !strings.Contains(line, "/#") {
		t.Errorf("page line %q", line)
	}
	p.ends(0, "")
	files, err := filepath.Glob(filepath.Join(dir, "replays", "*.bsr"))
	if err != nil || len(files) != 1 {
		t.Fatalf("%v, %v", files, err)
	}
	start(t, "peer", "replay", "verify", files[0]).ends(0, "")
	show := start(t, "peer", "replay", "show", files[0])
	show.ends(0, "")
	text := strings.Join(show.output(), "\n")
	for _, want := range []string{"frames 90", "ruleset sf", "team 0 ", "team 1 ", "hash 0 ", "hash 89 ", "input 0 "} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing in\n%s", want, text)
		}
	}
}

// `peer` alone serves the page with its title screen and waits there.
func TestTitleOnThePage(t *testing.T) {
	t.Parallel()
	p := start(t, "peer", "--browser", "none", "--data-dir", t.TempDir())
	if line := p.line("page"); !strings.Contains(line, "/#") {
		t.Errorf("page line %q", line)
	}
	select {
	case <-p.ended:
		t.Errorf("it ended: %s", p.logs.String())
	case <-time.After(300 * time.Millisecond):
	}
}

func TestPageMistakes(t *testing.T) {
	t.Parallel()
	notReplay := filepath.Join(t.TempDir(), "x.bsr")
	if err := os.WriteFile(notReplay, []byte("BSRP"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		args []string
		want string
	}{
		{[]string{"play", "--browser", "none", "--page-addr", "0.0.0.0:0"}, "loopback"},
		{[]string{"host", "--browser", "none", "--rematch"}, "--headless"},
		{[]string{"train", "--headless", "--input", "bot:easy"}, "needs the page"},
		{[]string{"train", "now"}, "takes no argument"},
		{[]string{"host", "--headless", "--input", "bot:easy", "--delay", "many"}, "a number of frames or auto"},
		{[]string{"replay", "show"}, "replay show FILE"},
		{[]string{"replay", "show", notReplay}, "x.bsr"},
	} {
		args := append(tt.args, "--data-dir", t.TempDir())
		start(t, "peer", args...).ends(2, tt.want)
	}
}

// Who leaves a fight against the machine is back at the title, and nothing failed.
func TestLeaveTheMachine(t *testing.T) {
	t.Parallel()
	p := start(t, "peer", "play", "--browser", "none", "--data-dir", t.TempDir())
	b := openTab(t, p.line("page"))
	for range 3 {
		b.screen("fight")
		b.wait(pageSnapshot, func([]byte) bool { return b.shots > 20 })
		b.shots = 0
		b.command(`{"cmd":"leave"}`)
		b.wait(pageScreen, func(s []byte) bool { // whatever comes after the fight
			return !strings.Contains(string(s), `"screen":"fight"`)
		})
		b.screen("title")
		b.command(`{"cmd":"play"}`)
	}
	b.screen("fight")
	b.command(`{"cmd":"leave"}`)
	b.screen("title")
	b.command(`{"cmd":"quit"}`)
	p.ends(0, "")
	if logs := p.logs.String(); strings.Contains(logs, "failed") {
		t.Error("something failed")
	}
}
