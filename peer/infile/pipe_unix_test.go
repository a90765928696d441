//go:build unix

package infile

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// A pipe is read while somebody writes, is empty without a writer, and one whose writer is silent is given up.
func TestPipe(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	if b, err := Read(path, 10); err != nil || len(b) != 0 {
		t.Errorf("without a writer: %q, %v", b, err)
	}
	go func() { // again if the reader went between two looks
		for os.WriteFile(path, []byte("hello"), 0) != nil {
		}
	}()
	for { // until the writer is there
		b, err := Read(path, 10)
		if err != nil || len(b) > 0 && string(b) != "hello" {
			t.Fatalf("%q, %v", b, err)
		}
		if len(b) > 0 {
			break
		}
	}
	patience = 20 * time.Millisecond
	t.Cleanup(func() { patience = Patience })
	silent, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	if b, err := Read(path, 10); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("with a silent writer: %q, %v", b, err)
	}
}
