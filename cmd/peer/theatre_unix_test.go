//go:build unix

package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Files that a player opens in the theatre come over the page's WebSocket: each that is none is one sentence, and the next
// one is looked at as if nothing had been.
func TestHostileUploads(t *testing.T) {
	t.Parallel()
	data, files := t.TempDir(), t.TempDir()
	uploads := map[string][]byte{}
	for name, make := range hostile(t) {
		path := filepath.Join(files, strings.ReplaceAll(name, " ", "-"))
		make(path)
		if info, err := os.Lstat(path); err != nil || !info.Mode().IsRegular() || info.Size() > 100<<10 {
			continue // no browser gives such a thing away as a file of up to 120 KiB
		}
		raw, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		uploads[name] = raw
	}
	p := start(t, "peer", "join", "--browser", "none", "--data-dir", data)
	b := openTab(t, p.line("page"))
	b.screen("title")
	for name, raw := range uploads {
		b.send(tabUpload, raw)
		if said := b.notice(); !sentenceFits(said) {
			t.Errorf("%s: %q", name, said)
		}
		b.screen("replays")
		b.command(`{"cmd":"title"}`)
		b.screen("title")
	}
	b.send(tabUpload, cleanMatch(t, 120))
	if s := b.screen("theatre"); s["frames"] != 120.0 || s["id"] != "" {
		t.Errorf("an honest file gives %v", s)
	}
	b.command(`{"cmd":"theatre","export":true}`)
	if f := string(b.wait(pageFile, nil)); !strings.HasPrefix(f[1:], "backstep-opened.bsr") {
		t.Errorf("the export is called %.30q", f)
	}
	b.command(`{"cmd":"quit"}`)
	p.ends(0, "")
	if mb := peakMemory(p); mb > mostMemory && !racing {
		t.Errorf("%d MB", mb)
	}
}

// The list of replays shows what lies in the directory without fear of it, and names that lead out of it are of no replay.
func TestHostileArchive(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	for _, dir := range []string{"replays", "desyncs"} {
		if err := os.Mkdir(filepath.Join(data, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	n, regular := 0, 0
	for name, make := range hostile(t) {
		n++
		id := "20260102-1504" + string(rune('0'+n/10)) + string(rune('0'+n%10)) + "-0123abcd"
		path := filepath.Join(data, "replays", id+".bsr")
		make(path)
		make(filepath.Join(data, "replays", "<img src=x onerror=alert(1)> "+name+".bsr"))
		make(filepath.Join(data, "desyncs", id[:16]+"BCDF-GHJK.bsd"))
		if info, err := os.Lstat(path); err == nil && info.Mode().IsRegular() {
			regular++
		}
	}
	outside := filepath.Join(data, "settings.json")
	if err := os.WriteFile(outside, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	before := listing(t, data)
	p := start(t, "peer", "join", "--browser", "none", "--data-dir", data)
	b := openTab(t, p.line("page"))
	b.command(`{"cmd":"replays"}`)
	list := b.screen("replays")["list"].([]any)
	if len(list) != regular {
		t.Errorf("%d of %d files are listed", len(list), regular)
	}
	for _, e := range list {
		if s, _ := e.(map[string]any)["sentence"].(string); !sentenceFits(s) {
			t.Errorf("%v: %q", e.(map[string]any)["id"], s)
		}
	}
	ids := []string{"../settings", "../settings.json", "../../etc/passwd", "/etc/passwd", "", "20260102-150400-0123abcd/../x", "..\x00", "C:\\x", "20260102-150405-<img>"}
	for i := range n + 1 { // directories, pipes and what is huge, endless or not there are among them
		id := "20260102-1504" + string(rune('0'+i/10)) + string(rune('0'+i%10))
		ids = append(ids, id+"-0123abcd", id+"-BCDF-GHJK")
	}
	for _, id := range ids {
		name, err := json.Marshal(id)
		if err != nil {
			t.Fatal(err)
		}
		b.command(`{"cmd":"open","id":%s}`, name)
		if said := b.notice(); !sentenceFits(said) {
			t.Errorf("open %q: %q", id, said)
		}
	}
	for _, cmd := range []string{"delete", "export"} {
		b.command(`{"cmd":%q,"id":"../settings"}`, cmd)
		if said := b.notice(); said != "No replay has this name." {
			t.Errorf("%s: %q", cmd, said)
		}
	}
	if after := listing(t, data); after != before {
		t.Errorf("there was %s, and is %s", before, after)
	}
	b.command(`{"cmd":"title"}`)
	b.screen("title")
	b.command(`{"cmd":"quit"}`)
	p.ends(0, "")
	if mb := peakMemory(p); mb > mostMemory && !racing {
		t.Errorf("%d MB", mb)
	}
}
