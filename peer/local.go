package peer

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"backstep/peer/match"
)

// Play runs a match on this machine: a relay on loopback in this process, the
// opponent as a second process of the program exe, and this side. It ends
// when the match does.
func Play(ctx context.Context, c Config, exe string) error {
	if c.Embed == nil {
		return fail(exitInternal, match.EndError, nil, "this program has no relay to play on")
	}
	if err := c.checkFiles(); err != nil {
		return err
	}
	e, err := c.Embed(ctx, "127.0.0.1:0")
	if err != nil {
		return fail(exitInternal, match.EndError, err, "no relay could be started on this machine: %v", err)
	}
	defer e.Close()
	c.Host = true
	c.Relays = []string{fmt.Sprintf("127.0.0.1:%d", e.Port)}

	codes := &codeReader{out: c.Stdout, code: make(chan string, 1)}
	c.Stdout = codes
	ended := make(chan error, 1)
	octx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() { ended <- opponentProcess(octx, exe, codes.code, c.Log.GetLevel().String(), "hard", false) }()
	err = Run(ctx, c)
	cancel()
	if other := <-ended; err == nil && other != nil {
		return fail(exitInternal, match.EndError, other, "the opponent's process failed: %v", other)
	}
	return err
}

// goodbyeTime is how long the second process may take to end after the match.
const goodbyeTime = 5 * time.Second

// sparringName is what the machine is called.
const sparringName = "Sparring"

// opponentProcess joins with a bot once the code is known, and waits for the
// end.
func opponentProcess(ctx context.Context, exe string, code <-chan string, level, bot string, rematch bool) error {
	var c string
	select {
	case c = <-code:
	case <-ctx.Done():
		return nil
	}
	// The context of the match must not kill the process: it says goodbye.
	run, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	args := []string{"join", c, "--headless", "--input", "bot:" + bot + ":2", "--name", sparringName, "--log-level", level}
	if rematch {
		args = append(args, "--rematch")
	}
	cmd := exec.CommandContext(run, exe, args...)
	// The player's settings are not the opponent's: it would write its report over theirs.
	cmd.Env = slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(strings.ToUpper(v), "BACKSTEP_") })
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		return err
	}
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	var err error
	select {
	case err = <-done:
	case <-ctx.Done():
		select {
		case err = <-done:
		case <-time.After(goodbyeTime):
			stop()
			err = <-done
		}
	}
	var exit *exec.ExitError
	switch {
	case err == nil, errors.As(err, &exit) && exit.ExitCode() == exitOpponent:
		return nil // it was this side that left
	}
	return fmt.Errorf("%w: %s", err, strings.TrimSpace(stderr.String()))
}

// codeReader passes lines on and picks the lobby code out of them.
type codeReader struct {
	out  io.Writer
	code chan string
}

func (r *codeReader) Write(b []byte) (int, error) {
	if code, ok := strings.CutPrefix(strings.TrimSpace(string(b)), "lobby "); ok {
		select {
		case r.code <- code:
		default:
		}
	}
	if r.out == nil {
		return len(b), nil
	}
	return r.out.Write(b)
}
