//go:build unix

package main

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/binary"
	"hash/crc32"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"backstep/rollback/desync"
	"backstep/sim"
	simreplay "backstep/sim/replay"
)

// mostMemory is what reading any file may take, in MB; a peer that plays has 30, and one with a replay open 75. On a busy machine
// more piles up until the collector gets a turn. What these files claim to hold is gigabytes.
const mostMemory = 200

// cleanMatch is a replay of so many frames without a press.
func cleanMatch(t *testing.T, frames int) []byte {
	t.Helper()
	r, err := simreplay.NewRecorder("b", sim.DefaultConfig(), 2)
	if err != nil {
		t.Fatal(err)
	}
	for range frames {
		if err := r.Add([]uint16{0, 0}); err != nil {
			t.Fatal(err)
		}
	}
	b, err := r.Append(nil)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// Where the fields of a replay lie whose build is one byte; see package replay.
const (
	atSim     = 5
	atConfig  = atSim + 2 + 8
	atRuleset = atConfig + 8
	atPlayers = atConfig + sim.ConfigSize + 2
	atFrames  = atPlayers + 1
	atRaw     = atFrames + 4
	atPacked  = atRaw + 4
)

// forgedReplay changes a replay and gives it the digest of an honest one.
func forgedReplay(b []byte, change func(b []byte) []byte) []byte {
	b = change(bytes.Clone(b[:len(b)-sha256.Size]))
	digest := sha256.Sum256(b)
	return append(b, digest[:]...)
}

// forgedEvidence likewise.
func forgedEvidence(b []byte, change func(b []byte) []byte) []byte {
	b = change(bytes.Clone(b[:len(b)-4]))
	return binary.LittleEndian.AppendUint32(b, crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli)))
}

func put32(at int, v uint32) func([]byte) []byte {
	return func(b []byte) []byte { binary.LittleEndian.PutUint32(b[at:], v); return b }
}

func put8(at int, v byte) func([]byte) []byte {
	return func(b []byte) []byte { b[at] = v; return b }
}

// gzipBomb unpacks to so many MB of one byte, with a beginning before it.
func gzipBomb(t *testing.T, head, fill string, megabytes int) []byte {
	t.Helper()
	var out bytes.Buffer
	z, err := gzip.NewWriterLevel(&out, gzip.BestSpeed)
	if err != nil {
		t.Fatal(err)
	}
	_, _ = z.Write([]byte(head))
	block := []byte(strings.Repeat(fill, 1<<20/len(fill)))
	for range megabytes {
		_, _ = z.Write(block)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// evidence is a small file of a desync.
func evidence() []byte {
	return desync.AppendEvidence(nil, &desync.Evidence{Frame: 5, Agreed: 4, Builds: [2]string{"a\x1b[31m\u202e", "b"}, Game: []byte("12345678"),
		Before: []byte("x"), States: [2][]byte{[]byte("y"), []byte("z")}, Words: [][]uint32{{1, 2, 3}, {1, 2, 3}}})
}

// hostile are files nobody should have to be afraid of: by name, what makes them at a path.
func hostile(t *testing.T) map[string]func(path string) {
	file := func(b []byte) func(string) {
		return func(path string) {
			if err := os.WriteFile(path, b, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	rng := rand.New(rand.NewPCG(4, 9))
	noise := make([]byte, 100_000)
	for i := range noise {
		noise[i] = byte(rng.Uint32())
	}
	honest, proof := cleanMatch(t, 700), evidence()
	one := cleanMatch(t, 1)
	files := map[string]func(string){
		"nothing there": func(string) {},
		"empty":         file(nil),
		"noise":         file(noise),
		"directory": func(path string) {
			if err := os.Mkdir(path, 0o700); err != nil {
				t.Fatal(err)
			}
		},
		"pipe without an end": func(path string) {
			if err := syscall.Mkfifo(path, 0o600); err != nil {
				t.Fatal(err)
			}
		},
		"huge": func(path string) { // takes no room on the disk
			f, err := os.Create(path)
			if err == nil {
				err = f.Truncate(1 << 40)
			}
			if err != nil {
				t.Fatal(err)
			}
			_ = f.Close()
		},
		"endless": func(path string) {
			if err := os.Symlink("/dev/zero", path); err != nil {
				t.Fatal(err)
			}
		},
		"gzip bomb":                    file(gzipBomb(t, "w1\n", "\x00", 600)),
		"gzip bomb of rows":            file(gzipBomb(t, "w1\n", "000\n", 600)),
		"gzip bomb of columns":         file(gzipBomb(t, "", "a,", 600)),
		"gzip bomb in quotes":          file(gzipBomb(t, "w1\n\"", "0\n", 600)),
		"replay cut":                   file(honest[:len(honest)/2]),
		"replay and more":              file(append(bytes.Clone(honest), 0)),
		"replay of 2^31 frames":        file(forgedReplay(one, put32(atFrames, 1<<31))),
		"replay of 54000 frames":       file(forgedReplay(one, put32(atFrames, 54000))),
		"replay unpacks to 4 GB":       file(forgedReplay(one, put32(atRaw, 1<<32-1))),
		"replay packed in 4 GB":        file(forgedReplay(one, put32(atPacked, 1<<32-1))),
		"replay of 255 players":        file(forgedReplay(one, put8(atPlayers, 255))),
		"replay of an unknown ruleset": file(forgedReplay(one, put8(atRuleset, 255))),
		"replay of all odd settings":   file(forgedReplay(one, func(b []byte) []byte { copy(b[atConfig:], bytes.Repeat([]byte{0xAA}, sim.ConfigSize)); return b })),
		"replay with a coloured build": file(forgedReplay(one, put8(atPlayers-1, 0x1b))),
		"evidence cut":                 file(proof[:len(proof)-9]),
		"evidence of a 4 GB state":     file(forgedEvidence(proof, put32(32, 1<<32-1))),
		"evidence of 255 players":      file(forgedEvidence(proof, put8(6, 255))),
		"evidence with odd flags":      file(forgedEvidence(proof, put8(5, 0xF0))),
		"evidence of frame -1":         file(forgedEvidence(proof, put32(8, 1<<32-1))),
	}
	if runtime.GOOS == "linux" {
		files["unreadable"] = func(path string) { // to everybody, root too
			if err := os.Symlink("/proc/self/mem", path); err != nil {
				t.Fatal(err)
			}
		}
	}
	return files
}

// Whatever is given as a file ends with one sentence and exit code 2, soon, in bounded memory, and is left as it was.
func TestHostileFiles(t *testing.T) {
	t.Parallel()
	host := func(args ...string) []string {
		return append([]string{"host", "--headless", "--relay", "127.0.0.1:1", "--input"}, args...)
	}
	commands := map[string]func(path string) []string{
		"show":   func(p string) []string { return []string{"replay", "show", p} },
		"verify": func(p string) []string { return []string{"replay", "verify", p} },
		"roster": func(p string) []string { return []string{"data", "check", p} },
		"trace":  func(p string) []string { return host("trace:" + p + ":w1") },
		"impair": func(p string) []string { return host("bot:easy", "--impair", "trace="+p) },
		"config": func(p string) []string { return host("bot:easy", "--config", p) },
	}
	// A configuration without a line is one: what is wrong then is the relay.
	sound := map[string]bool{"config empty": true}
	for name, make := range hostile(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			path := filepath.Join(dir, "..", filepath.Base(dir), "x\x1b[31m\n\u202ey.bsr")
			make(path)
			before := listing(t, dir)
			for command, args := range commands {
				p := start(t, "peer", args(path)...)
				if sound[command+" "+name] {
					p.ends(3, "relay")
					continue
				}
				p.ends(2, "")
				if said := p.said(); strings.ContainsAny(said, "\x1b\u202e") || strings.Count(p.logs.String(), "\n") != 1 || len(said) > 1000 {
					t.Errorf("%s: not one plain sentence: %q", command, p.logs.String())
				}
				if out := p.output(); len(out) != 0 {
					t.Errorf("%s: stdout says %q", command, out)
				}
				if mb := peakMemory(p); mb > mostMemory && !racing {
					t.Errorf("%s: %d MB", command, mb)
				}
			}
			if after := listing(t, dir); after != before {
				t.Errorf("there was %s, and is %s", before, after)
			}
		})
	}
}

// peakMemory is the most memory a process that has ended had, in MB.
func peakMemory(p *process) int {
	usage := p.cmd.ProcessState.SysUsage().(*syscall.Rusage)
	kb := int64(usage.Maxrss)
	if runtime.GOOS == "darwin" {
		kb /= 1024
	}
	return int(kb / 1024)
}

// listing names what is in a directory and below, with sizes.
func listing(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.Walk(dir, func(path string, info os.FileInfo, err error) error {
		if err == nil {
			b.WriteString(strings.TrimPrefix(path, dir) + " " + info.Mode().String())
			if info.Mode().IsRegular() {
				b.WriteString(" " + info.ModTime().String())
			}
			b.WriteByte('\n')
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}
