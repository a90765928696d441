package relay

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

func TestSecretSurvives(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "b")
	first, warning, err := loadSecret(dir)
	if err != nil || warning != "" {
		t.Fatal(warning, err)
	}
	second, warning, err := loadSecret(dir)
	if err != nil || warning != "" || first != second {
		t.Fatal("the second start has another secret", warning, err)
	}
	if info, _ := os.Stat(filepath.Join(dir, secretFile)); runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Fatalf("mode %v", info.Mode())
	}
	files, _ := os.ReadDir(dir)
	if len(files) != 1 {
		t.Fatalf("%d files left in the state directory", len(files))
	}
	other, _, _ := loadSecret(t.TempDir())
	if other.key == first.key || other.id == first.id {
		t.Fatal("two relays share a secret")
	}
	if bytes.Contains(first.id[:], first.key[:8]) {
		t.Fatal("the public name shows the secret")
	}
}

func TestSecretDamagedIsKept(t *testing.T) {
	good := secretHeader + strings.Repeat("ab", 32) + "\n"
	for name, text := range map[string]string{
		"empty": "", "short": good[:40], "long": good + "x", "header": "B" + good[1:], "hex": good[:30] + "g" + good[31:],
		"zero": secretHeader + strings.Repeat("00", 32) + "\n", "no newline": good[:len(good)-1] + " ",
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			file := filepath.Join(dir, secretFile)
			if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			if _, _, err := loadSecret(dir); !errors.Is(err, ErrSecret) || !strings.Contains(err.Error(), file) {
				t.Fatalf("error %v", err)
			}
			if b, _ := os.ReadFile(file); string(b) != text {
				t.Fatal("the file was changed")
			}
		})
	}
}

func TestSecretReadableByOthers(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no mode bits")
	}
	dir := t.TempDir()
	file := filepath.Join(dir, secretFile)
	os.WriteFile(file, []byte(secretHeader+strings.Repeat("ab", 32)+"\n"), 0o644)
	if _, warning, err := loadSecret(dir); err != nil || !strings.Contains(warning, "0644") {
		t.Fatal(warning, err)
	}
	if info, _ := os.Stat(file); info.Mode().Perm() != 0o600 {
		t.Fatalf("mode is still %v", info.Mode())
	}
}

func TestSecretInMemory(t *testing.T) {
	blocked := filepath.Join(t.TempDir(), "file")
	os.WriteFile(blocked, nil, 0o600)
	s, warning, err := loadSecret(filepath.Join(blocked, "dir")) // a file is in the way, for root too
	if err != nil || s.key == [32]byte{} || !strings.Contains(warning, "in memory only") {
		t.Fatal(warning, err)
	}
	if s, warning, err := loadSecret(""); err != nil || warning != "" || s.key == [32]byte{} {
		t.Fatal("a relay without a state directory", warning, err)
	}
}

func TestDefaultStateDir(t *testing.T) {
	t.Setenv("STATE_DIRECTORY", "/var/lib/backstep:/var/lib/other")
	if runtime.GOOS == "linux" && DefaultStateDir() != "/var/lib/backstep" {
		t.Fatal(DefaultStateDir())
	}
	t.Setenv("STATE_DIRECTORY", "")
	t.Setenv("XDG_STATE_HOME", "/x")
	if runtime.GOOS == "linux" && DefaultStateDir() != "/x/backstep" {
		t.Fatal(DefaultStateDir())
	}
}
