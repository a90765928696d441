package relay

import (
	"bytes"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"backstep/natpunch/rendezvous"
)

// ErrSecret is wrapped when the secret file exists and is not one. It is never overwritten.
var ErrSecret = errors.New("relay: damaged secret file")

const (
	secretFile   = "relay.secret"
	secretHeader = "backstep-relay-secret 1\n"
	secretSize   = len(secretHeader) + 64 + 1 // header, 64 hex digits, newline
)

// secret is what registration keys are derived from, and the public name that follows from it.
type secret struct {
	key [32]byte
	id  rendezvous.RelayID
}

func newSecret(key [32]byte) secret {
	h := hmac.New(sha256.New, key[:])
	h.Write([]byte("backstep relay id 1"))
	return secret{key: key, id: rendezvous.RelayID(h.Sum(nil)[:16])}
}

func randomSecret() secret {
	var key [32]byte
	rand.Read(key[:])
	return newSecret(key)
}

// DefaultStateDir returns the directory in which a relay run by this user keeps its secret: $STATE_DIRECTORY (systemd),
// $XDG_STATE_HOME/backstep or ~/.local/state/backstep, %LocalAppData%\backstep on Windows, ~/Library/Application
// Support/backstep on macOS. Empty if there is none.
func DefaultStateDir() string {
	if d := os.Getenv("STATE_DIRECTORY"); d != "" {
		return filepath.SplitList(d)[0]
	}
	if runtime.GOOS == "windows" || runtime.GOOS == "darwin" {
		base := os.Getenv("LocalAppData")
		if runtime.GOOS == "darwin" {
			base, _ = os.UserConfigDir()
		}
		if base == "" {
			return ""
		}
		return filepath.Join(base, "backstep")
	}
	if d := os.Getenv("XDG_STATE_HOME"); filepath.IsAbs(d) {
		return filepath.Join(d, "backstep")
	}
	home, err := os.UserHomeDir()
	if err != nil || !filepath.IsAbs(home) {
		return ""
	}
	return filepath.Join(home, ".local", "state", "backstep")
}

// loadSecret reads the secret of dir or makes one. warning says in a sentence what an operator should know: that the secret
// is not on disk, or that the file was readable by others. A damaged file is an error, because replacing it would silently
// cut off running matches.
func loadSecret(dir string) (s secret, warning string, err error) {
	if dir == "" {
		return randomSecret(), "", nil
	}
	name := filepath.Join(dir, secretFile)
	s, warning, err = readSecret(name)
	switch {
	case err == nil, errors.Is(err, ErrSecret):
		return s, warning, err
	case !errors.Is(err, fs.ErrNotExist):
		return randomSecret(), inMemory(err), nil
	}
	s = randomSecret()
	switch err := writeSecret(dir, name, s); {
	case err == nil:
		return s, "", nil
	case errors.Is(err, fs.ErrExist):
		// Another relay was faster; both must agree.
		return readSecret(name)
	default:
		return s, inMemory(err), nil
	}
}

func inMemory(err error) string {
	return fmt.Sprintf("the relay secret is in memory only, running matches will not survive a restart: %v", err)
}

func readSecret(name string) (s secret, warning string, err error) {
	info, err := os.Stat(name)
	if err != nil {
		return s, "", err
	}
	if !info.Mode().IsRegular() || info.Size() != int64(secretSize) {
		return s, "", damaged(name)
	}
	b, err := os.ReadFile(name)
	if err != nil {
		return s, "", err
	}
	var key [32]byte
	if len(b) != secretSize || !bytes.HasPrefix(b, []byte(secretHeader)) || b[secretSize-1] != '\n' {
		return s, "", damaged(name)
	}
	if _, err := hex.Decode(key[:], b[len(secretHeader):secretSize-1]); err != nil || key == [32]byte{} {
		return s, "", damaged(name)
	}
	if runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 {
		warning = fmt.Sprintf("%s was readable by others (mode %04o); it is 0600 now, delete it if somebody may have read it",
			name, info.Mode().Perm())
		if err := os.Chmod(name, 0o600); err != nil {
			warning = fmt.Sprintf("%s is readable by others (mode %04o) and cannot be changed: %v", name, info.Mode().Perm(), err)
		}
	}
	return newSecret(key), warning, nil
}

func damaged(name string) error {
	return fmt.Errorf("%w: %s; restore it from a copy, or delete it (which ends running matches)", ErrSecret, name)
}

// writeSecret writes a temporary file beside the target, syncs it and links it to its name, so that the name never shows a
// part of a secret and an existing one is never replaced.
func writeSecret(dir, name string, s secret) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, secretFile+".*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	err = errors.Join(
		f.Chmod(0o600),
		writeAll(f, secretHeader+hex.EncodeToString(s.key[:])+"\n"),
		f.Sync(),
		f.Close(),
	)
	if err != nil {
		return err
	}
	err = os.Link(f.Name(), name)
	if err == nil || errors.Is(err, fs.ErrExist) {
		return err
	}
	return os.Rename(f.Name(), name) // a file system without links
}

func writeAll(f *os.File, s string) error {
	_, err := f.WriteString(s)
	return err
}
