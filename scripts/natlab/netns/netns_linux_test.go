package netns

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sys/unix"
)

// inode identifies the namespace of a thread.
func inode(t *testing.T, path string) uint64 {
	t.Helper()
	var s unix.Stat_t
	if err := unix.Stat(path, &s); err != nil {
		t.Fatal(err)
	}
	return s.Ino
}

// f runs inside, errors come back, and no thread that serves others stays there: not even the first one.
func TestDo(t *testing.T) {
	if os.Getenv("BACKSTEP_NETNS") != "1" {
		t.Skip("needs network namespaces: set BACKSTEP_NETNS=1 as root")
	}
	name := fmt.Sprintf("nst%d", os.Getpid())
	if out, err := exec.Command("ip", "netns", "add", name).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	t.Cleanup(func() {
		if out, err := exec.Command("ip", "netns", "del", name).CombinedOutput(); err != nil {
			t.Errorf("%v: %s", err, out)
		}
	})
	outside, inside := inode(t, "/proc/self/ns/net"), inode(t, "/run/netns/"+name)
	if outside == inside {
		t.Fatal("one namespace")
	}
	var group sync.WaitGroup
	for range 50 {
		group.Go(func() {
			var got unix.Stat_t
			if err := Do(name, func() error { return unix.Stat("/proc/thread-self/ns/net", &got) }); err != nil || got.Ino != inside {
				t.Errorf("f runs in %d, want %d: %v", got.Ino, inside, err)
			}
		})
	}
	group.Wait()
	if now := inode(t, "/proc/self/ns/net"); now != outside {
		t.Error("the first thread of the process stays inside")
	}
	failed := errors.New("failed")
	if err := Do(name, func() error { return failed }); err != failed {
		t.Errorf("got %v", err)
	}
	if err := Do("", func() error { return failed }); err != failed {
		t.Errorf("got %v", err)
	}
	if err := Do(name+"x", func() error { return nil }); err == nil || !strings.Contains(err.Error(), name+"x") {
		t.Errorf("a namespace that does not exist: %v", err)
	}
}
