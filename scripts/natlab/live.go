//go:build linux

package natlab

import (
	"context"
	"fmt"
	"path/filepath"
	"sync"
	"syscall"
	"time"
)

// Live is a match that runs, for what happens to it meanwhile. Its methods may be called by any goroutine, those of the relay by
// one at a time.
type Live struct {
	lab          *Lab
	program, dir string
	ipv6         bool
	listen       []string // instead of the usual addresses
	starts       int
	relay        *process

	mu      sync.Mutex
	players map[string]*process
}

func (v *Live) startRelay(ctx context.Context) error {
	v.starts++
	listen := v.listen
	if listen == nil {
		listen = []string{RelayAddr.String() + ":3478", RelayAddr.String() + ":443"}
	}
	if v.ipv6 {
		listen = append(listen, "["+RelayAddr6.String()+"]:3478")
	}
	args := []string{"--admin", "", "--state-dir", v.dir, "--log-level", "warn"}
	for _, a := range listen {
		args = append(args, "--listen", a)
	}
	relay, err := start(v.lab.Command(ctx, "pub", v.program, args...), filepath.Join(v.dir, fmt.Sprintf("relay%d.log", v.starts)))
	if err != nil {
		return fmt.Errorf("natlab: relay: %w", err)
	}
	v.relay = relay
	if _, err := relay.line(ctx, "listening "); err != nil {
		return fmt.Errorf("natlab: relay: %w", err)
	}
	return nil
}

func (v *Live) stopRelay() {
	if v.relay != nil {
		v.relay.stop()
	}
}

// KillRelay ends the relay without a word.
func (v *Live) KillRelay() {
	_ = v.relay.cmd.Process.Kill() // it may have ended
	<-v.relay.ended
}

// RestartRelay kills the relay and starts it again after down, with the secret it had.
func (v *Live) RestartRelay(ctx context.Context, down time.Duration) error {
	v.KillRelay()
	if err := pause(ctx, down); err != nil {
		return err
	}
	return v.startRelay(ctx)
}

// Sleep stops a player, host or join, as a computer that is put to sleep, and wakes it.
func (v *Live) Sleep(ctx context.Context, player string, d time.Duration) error {
	p, err := v.player(player)
	if err != nil {
		return err
	}
	if err := p.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		return err
	}
	err = pause(ctx, d)
	if e := p.cmd.Process.Signal(syscall.SIGCONT); err == nil {
		err = e
	}
	return err
}

func (v *Live) player(name string) (*process, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if p := v.players[name]; p != nil {
		return p, nil
	}
	return nil, fmt.Errorf("natlab: %s does not run", name)
}

func (v *Live) add(name string, p *process) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.players[name] = p
}

func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
