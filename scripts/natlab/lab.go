//go:build linux

package natlab

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// Addresses of every lab.
var (
	RelayAddr  = netip.MustParseAddr("198.51.100.10")
	RelayAddr2 = netip.MustParseAddr("198.51.100.11")
	RouterA    = netip.MustParseAddr("198.51.100.1")
	RouterB    = netip.MustParseAddr("198.51.100.2")
	CarrierNAT = netip.MustParseAddr("198.51.100.3")
	HostA      = netip.MustParseAddr("10.1.0.2")
	HostA2     = netip.MustParseAddr("10.1.0.3")
	HostB      = netip.MustParseAddr("10.2.0.2")
	RelayAddr6 = netip.MustParseAddr("2001:db8::10") // after natlab.sh ipv6, as is the name
)

// RelayName stands for both addresses of the relay.
const (
	RelayName = "relay.test"
)

// Internet are the interfaces of namespace net on which every packet of the internet comes in.
var Internet = []string{"p-pub", "p-ra", "p-rb", "p-cg"}

// Lab is one network of namespaces. Its methods may be called by any goroutine, but not two that change the same router.
type Lab struct {
	prefix string
	env    []string
}

// Script is where natlab.sh lies: beside this file in the source tree.
func Script() (string, error) {
	_, file, _, ok := runtime.Caller(0)
	script := filepath.Join(filepath.Dir(file), "natlab.sh")
	if _, err := os.Stat(script); !ok || err != nil {
		return "", errors.New("natlab: natlab.sh is not where it was built; run from the source tree, without -trimpath")
	}
	return script, nil
}

// Prefixes carry the process that owns the lab, so that what a killed process left behind is recognised, and a letter that no
// other lab of this process has.
var (
	letters struct {
		sync.Mutex
		taken ['z' - 'a' + 1]bool
	}
	ownPrefix = regexp.MustCompile(`^bs(\d+)[a-z]$`)
)

func takeLetter() (byte, error) {
	letters.Lock()
	defer letters.Unlock()
	for i, taken := range letters.taken {
		if !taken {
			letters.taken[i] = true
			return 'a' + byte(i), nil
		}
	}
	return 0, fmt.Errorf("natlab: one process has %d labs already", len(letters.taken))
}

func (l *Lab) freeLetter() {
	letters.Lock()
	defer letters.Unlock()
	letters.taken[l.prefix[len(l.prefix)-1]-'a'] = false
}

// Up makes a lab with a prefix of its own. env is added to the environment of natlab.sh.
func Up(ctx context.Context, env ...string) (*Lab, error) {
	letter, err := takeLetter()
	if err != nil {
		return nil, err
	}
	l := &Lab{prefix: fmt.Sprintf("bs%d%c", os.Getpid(), letter), env: env}
	if err := l.Do(ctx, "up"); err != nil {
		// It may have been stopped half way.
		return nil, errors.Join(err, l.Down())
	}
	return l, nil
}

// Do runs one command of natlab.sh.
func (l *Lab) Do(ctx context.Context, args ...string) error {
	script, err := Script()
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, "bash", append([]string{script}, args...)...)
	cmd.Env = append(append(os.Environ(), "NL="+l.prefix), l.env...)
	cmd.WaitDelay = time.Second // a delay box it starts goes on and may keep its stderr open
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := cmd.Run(); err != nil && !errors.Is(err, exec.ErrWaitDelay) {
		return fmt.Errorf("natlab %s: %w: %s", strings.Join(args, " "), err, strings.TrimSpace(stderr.String()))
	}
	return nil
}

// Down removes the lab and ends what runs in it. It is called once.
func (l *Lab) Down() error {
	// Not the context of what is over; a machine that is busy takes its time.
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	defer cancel()
	defer l.freeLetter()
	return l.Do(ctx, "down")
}

// Namespace is the full name of a node: pub net ra rb cg a a2 b.
func (l *Lab) Namespace(node string) string { return l.prefix + "-" + node }

// Command is a program that runs on a node. When ctx ends it gets SIGINT, and SIGKILL five seconds later.
func (l *Lab) Command(ctx context.Context, node, program string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "ip", append([]string{"netns", "exec", l.Namespace(node), program}, args...)...)
	// "ip netns exec" becomes the program, so the signal reaches it.
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGINT) }
	cmd.WaitDelay = 5 * time.Second
	return cmd
}

// Sweep removes the labs of processes that are no more.
func Sweep(ctx context.Context) error {
	out, err := exec.CommandContext(ctx, "ip", "netns", "list").Output()
	if err != nil {
		return fmt.Errorf("natlab: ip netns list: %w", err)
	}
	var stale []string
	for line := range strings.Lines(string(out)) {
		prefix, _, _ := strings.Cut(strings.Fields(line + " -")[0], "-")
		m := ownPrefix.FindStringSubmatch(prefix)
		if m == nil || slices.Contains(stale, prefix) {
			continue
		}
		pid, err := strconv.Atoi(m[1])
		if err == nil && errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
			stale = append(stale, prefix)
		}
	}
	for _, prefix := range stale {
		err = errors.Join(err, (&Lab{prefix: prefix}).Do(ctx, "down"))
	}
	return err
}

// NAT sets the kinds of both routers.
func (l *Lab) NAT(ctx context.Context, a, b string) error {
	return errors.Join(l.Do(ctx, "nat", "a", a), l.Do(ctx, "nat", "b", b))
}
