// Command golden writes the corpus of golden matches, sim/testdata/golden, which tests only read.
//
//	go run ./scripts/golden -reason 'what changed the game' [-dir sim/testdata/golden]
//
//	recorded play ┐
//	model of play ├─> inputs ──> golden.Make: play twice ──> manifest ──> 200 files, all or none
//	bots          ┘                              └─ differs ──> nothing is written
//
// The corpus follows from the program alone: the same program writes the same files. If they are there already, nothing is
// done. If they differ, the game has changed: that needs a reason, which is added to the table in the folder's README.md. Every
// match is played twice before anything is written, and one that does not come out the same stops everything.
package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"backstep/sim"
	"backstep/sim/golden"
)

func main() {
	dir := flag.String("dir", "sim/testdata/golden", "folder of the corpus")
	reason := flag.String("reason", os.Getenv("REASON"), "what changed the game, for the table in README.md (also from REASON)")
	flag.Parse()
	files, err := build()
	line := ""
	if err == nil {
		line, err = write(*dir, files, *reason)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "golden:", err)
		os.Exit(1)
	}
	fmt.Println(line)
}

var errReason = errors.New("the game has changed: say why with -reason or REASON, in one line without a |")

// write brings the folder up to date and says what it did.
func write(dir string, files []file, reason string) (string, error) {
	sum := sha256.New()
	size := 0
	same := true
	for _, f := range files {
		sum.Write(f.text)
		size += len(f.text)
		old, err := os.ReadFile(filepath.Join(dir, f.name))
		same = same && err == nil && bytes.Equal(old, f.text)
	}
	there, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil {
		return "", err
	}
	digest := hex.EncodeToString(sum.Sum(nil))[:16]
	if same && len(there) == len(files) {
		return fmt.Sprintf("unchanged: %d matches, %d KB, corpus %s", len(files), size/1024, digest), nil
	}
	if reason = strings.TrimSpace(reason); reason == "" || strings.ContainsAny(reason, "|\r\n") {
		return "", errReason
	}
	page := filepath.Join(dir, "README.md")
	text, err := os.ReadFile(page)
	if err != nil {
		return "", fmt.Errorf("the table of changes: %w", err)
	}
	for _, name := range there {
		if err := os.Remove(name); err != nil {
			return "", err
		}
	}
	for _, f := range files {
		if err := os.WriteFile(filepath.Join(dir, f.name), f.text, 0o644); err != nil {
			return "", err
		}
	}
	row := fmt.Sprintf("| `%s` | %d | `%016x` | %s |\n", digest, sim.Version, sim.DataHash(), reason)
	if err := os.WriteFile(page, append(text, row...), 0o644); err != nil {
		return "", err
	}
	return fmt.Sprintf("written: %d matches, %d KB, corpus %s", len(files), size/1024, digest), nil
}

// file is one manifest to be written.
type file struct {
	name string
	text []byte
}

// build makes the whole corpus in memory.
func build() ([]file, error) {
	s, err := openSources()
	if err != nil {
		return nil, err
	}
	var files []file
	for _, p := range plans() {
		source, words, err := s.inputs(p)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", p.name, err)
		}
		m, err := golden.Make(p.name, source, p.config, words)
		if err != nil {
			return nil, err
		}
		text, err := m.Append(nil)
		if err != nil {
			return nil, err
		}
		if _, err := golden.Parse(text); err != nil {
			return nil, err
		}
		files = append(files, file{p.name + ".json", text})
	}
	return files, nil
}
