// Command dist builds the release archives.
//
//	go run ./scripts/dist -build ID -out dist linux/amd64 windows/amd64 …
//
//	target ──> peer, relay (static, no cgo) ──┐
//	           LICENSE, README.md ────────────┴─> backstep-ID-os-arch.tar.gz (.zip for windows) ──> SHA256SUMS
//
// The same tree, toolchain and id give the same bytes: times inside the archives are SOURCE_DATE_EPOCH, or the time of
// the commit, or the beginning of 1980.
package main

import (
	"crypto/sha256"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

func main() {
	build := flag.String("build", "", "build id to link in")
	out := flag.String("out", "dist", "directory for the archives")
	flag.Parse()
	if err := run(*build, *out, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "dist:", err)
		os.Exit(1)
	}
}

func run(build, out string, targets []string) error {
	if len(targets) == 0 {
		return fmt.Errorf("no targets: name them as os/arch")
	}
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	stamp := timestamp()
	var sums strings.Builder
	for _, target := range targets {
		goos, arch, ok := strings.Cut(target, "/")
		if !ok {
			return fmt.Errorf("target %q is not os/arch", target)
		}
		name, err := archive(build, out, goos, arch, stamp)
		if err != nil {
			return fmt.Errorf("%s: %w", target, err)
		}
		b, err := os.ReadFile(filepath.Join(out, name))
		if err != nil {
			return err
		}
		fmt.Fprintf(&sums, "%x  %s\n", sha256.Sum256(b), name)
		fmt.Println(filepath.Join(out, name))
	}
	return os.WriteFile(filepath.Join(out, "SHA256SUMS"), []byte(sums.String()), 0o644)
}

// archive builds both programs for one target and packs them; it returns the name of the archive in out.
func archive(build, out, goos, arch string, stamp time.Time) (string, error) {
	work, err := os.MkdirTemp("", "dist")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(work)
	suffix := ""
	if goos == "windows" {
		suffix = ".exe"
	}
	entries := []entry{{"LICENSE", "LICENSE", 0o644}, {"README.md", "README.md", 0o644}}
	for _, program := range []string{"peer", "relay"} {
		binary := filepath.Join(work, program+suffix)
		cmd := exec.Command("go", "build", "-trimpath", "-buildvcs=false",
			"-ldflags", "-s -w -X main.build="+build, "-o", binary, "./cmd/"+program)
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+goos, "GOARCH="+arch)
		cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr
		if err := cmd.Run(); err != nil {
			return "", fmt.Errorf("build %s: %w", program, err)
		}
		entries = append(entries, entry{program + suffix, binary, 0o755})
	}
	base := strings.Join([]string{"backstep", fileSafe(build), goos, arch}, "-")
	name, pack := base+".tar.gz", tarGz
	if goos == "windows" {
		name, pack = base+".zip", zipped
	}
	f, err := os.Create(filepath.Join(out, name))
	if err != nil {
		return "", err
	}
	if err := pack(f, base, entries, stamp); err != nil {
		f.Close()
		return "", err
	}
	return name, f.Close()
}

// fileSafe makes a build id usable in a file name.
func fileSafe(build string) string {
	if build == "" {
		return "unknown"
	}
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("._-", r) {
			return r
		}
		return '_'
	}, build)
}

func timestamp() time.Time {
	text := os.Getenv("SOURCE_DATE_EPOCH")
	if text == "" {
		out, _ := exec.Command("git", "-c", "safe.directory=*", "log", "-1", "--format=%ct").Output()
		text = strings.TrimSpace(string(out))
	}
	if seconds, err := strconv.ParseInt(text, 10, 64); err == nil {
		return time.Unix(seconds, 0).UTC()
	}
	return time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC)
}
