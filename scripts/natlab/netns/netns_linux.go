// Package netns runs a function inside a network namespace. What it opens there stays there:
//
//	caller ──> a thread of its own ── setns ── f opens sockets ──> they are used from anywhere
//	                                   └─ the thread ends with f and serves nothing else
package netns

import (
	"fmt"
	"path/filepath"
	"runtime"

	"golang.org/x/sys/unix"
)

// Do runs f inside the namespace that "ip netns" knows by name, and returns its error. An empty name is the caller's own
// namespace. Goroutines that f starts are outside. It needs root.
func Do(name string, f func() error) error {
	if name == "" {
		return f()
	}
	result := make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		if unix.Gettid() == unix.Getpid() {
			// The first thread stands for the whole process in /proc and cannot end before it. While this goroutine keeps it,
			// another one has to run elsewhere.
			defer runtime.UnlockOSThread()
			result <- Do(name, f)
			return
		}
		// Never unlocked, so that the thread ends with this goroutine and is not used again.
		ns, err := unix.Open(filepath.Join("/run/netns", name), unix.O_RDONLY|unix.O_CLOEXEC, 0)
		if err == nil {
			err = unix.Setns(ns, unix.CLONE_NEWNET)
			unix.Close(ns)
		}
		if err != nil {
			result <- fmt.Errorf("network namespace %s: %w", name, err)
			return
		}
		result <- f()
	}()
	return <-result
}
