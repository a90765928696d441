// Command relay is the meeting point that an operator runs: lobby, STUN and forwarding on one port.
//
//	arguments, RELAY_*, file ──> relay.Config ──> relay.New ──> listening ADDR (stdout)
//	                                                  │
//	                    SIGTERM: drain   ┌─ Run ──────┤ logs (stderr)
//	                    SIGINT: close    │            │
//	                    second: at once  └────────────┴──> exit code
//
// What a relay does is in package relay; this command is flags, configuration, signals and exit codes.
package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"syscall"

	"golang.org/x/term"

	"backstep/cmd/internal/exit"
	"backstep/cmd/internal/logs"
	"backstep/cmd/internal/settings"
	"backstep/cmd/internal/version"
	"backstep/relay"
)

// build is the build id, set by the linker.
var build string

const synopsis = `relay is the meeting point of two players: lobby, STUN and forwarding on one port.

usage: relay [serve] [flags]
       relay probe HOST:PORT [--json]`

func main() {
	ctx, stop := exit.Signals(context.Background())
	err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	if signal := (exit.Signal{}); err != nil && !errors.As(err, &signal) {
		fmt.Fprintln(os.Stderr, "relay:", strings.TrimPrefix(exit.Sentence(err), "relay: "))
	}
	os.Exit(exit.Code(err))
}

// run is the whole command; the error it returns is one sentence for the user and stands for the exit code.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	o := newOptions()
	switch err := o.set.Parse(args); {
	case errors.Is(err, settings.ErrHelp):
		return o.set.WriteUsage(stdout, synopsis)
	case err != nil:
		return err
	}
	if *o.version {
		_, err := fmt.Fprintln(stdout, version.Line("relay", build))
		return err
	}
	command := "serve"
	rest := o.set.Args()
	if len(rest) > 0 {
		command, rest = rest[0], rest[1:]
	}
	switch {
	case command == "probe":
		return probeRelay(ctx, o, rest, stdout)
	case command != "serve":
		return settings.Usagef("unknown command %q: relay --help lists the commands", command)
	case len(rest) > 0:
		return settings.Usagef("relay serve takes no argument %q: give addresses with --listen", rest[0])
	}
	if err := o.set.Only("serve", o.serve...); err != nil {
		return err
	}
	if *o.printConfig {
		return o.set.WriteConfig(stdout)
	}
	log, err := logs.New(stderr, *o.logLevel, *o.logFormat, isTerminal(stderr))
	if err != nil {
		return settings.Usagef("%v", err)
	}
	config := o.config()
	config.Log = log
	return serve(ctx, config, stdout)
}

// serve runs a relay until ctx is cancelled.
func serve(ctx context.Context, config relay.Config, stdout io.Writer) error {
	server, err := relay.New(config)
	switch {
	case errors.Is(err, relay.ErrConfig), errors.Is(err, relay.ErrBudget):
		return exit.With(exit.Usage, err)
	case errors.Is(err, relay.ErrListen):
		return fmt.Errorf("%w; stop what uses the address or give another one with --listen", err)
	case err != nil:
		return err
	}
	// A worker that waits for datagrams keeps one of Go's processors for a while; the lobby must not wait for it. Only a number
	// that New has accepted gets here: every processor costs memory.
	workers := cmp.Or(config.Workers, runtime.GOMAXPROCS(0))
	runtime.GOMAXPROCS(max(runtime.GOMAXPROCS(0), workers+1))
	for _, addr := range server.Addrs() {
		if _, err := fmt.Fprintln(stdout, "listening", addr); err != nil {
			return errors.Join(err, server.Close())
		}
	}
	// An operator at the keyboard does not want to wait for matches to end; a supervisor that sends SIGTERM does.
	defer context.AfterFunc(ctx, func() {
		if interrupted(ctx) {
			server.Close()
		}
	})()
	if err := server.Run(ctx); err != nil {
		return err
	}
	return context.Cause(ctx)
}

func interrupted(ctx context.Context) bool {
	var signal exit.Signal
	return errors.As(context.Cause(ctx), &signal) && signal.Signal != syscall.SIGTERM
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}
