// Command peer is what a player runs: it finds the opponent by a lobby code, fights and reports.
//
//	arguments, BACKSTEP_*, file ──> peer.Config ──> peer.Run ──> exit code
//	                                    │             │
//	          relay.New as a function ──┘             └── lobby CODE (stdout), logs and HUD (stderr)
//
// What a peer does is in package peer; this command is flags, configuration, signals and exit codes, and it hands the
// relay to the peer, which does not know it.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"golang.org/x/term"

	"backstep/cmd/internal/exit"
	"backstep/cmd/internal/logs"
	"backstep/cmd/internal/settings"
	"backstep/cmd/internal/version"
	"backstep/peer"
)

// build is the build id, set by the linker.
var build string

const synopsis = `peer finds an opponent by a lobby code and plays.

usage: peer                          the page with its title screen
       peer play                     against the machine, at once, on the page
       peer host [flags]             prints a lobby code, waits, plays
       peer join [CODE] [flags]      plays against the host of that code
       peer train                    the training room, offline
       peer doctor [--json] [--show-addresses]
                                     looks at the network and says what it means
       peer replay verify FILE       simulates a record again and compares every hash
       peer replay show FILE         prints its header, hashes and inputs
       peer data check FILE          checks a roster file and prints its frame data`

// io of the process, for tests.
type streams struct {
	in       io.Reader
	out, err io.Writer
	terminal bool // err is one
}

func main() {
	ctx, stop := exit.Signals(context.Background())
	s := streams{os.Stdin, os.Stdout, os.Stderr, term.IsTerminal(int(os.Stderr.Fd()))}
	err := run(ctx, os.Args[1:], s)
	stop()
	if signal := (exit.Signal{}); err != nil && !errors.As(err, &signal) {
		fmt.Fprintln(os.Stderr, "peer:", sentence(err))
	}
	os.Exit(exit.Code(err))
}

// sentence is an error as one line that is safe to print.
func sentence(err error) string { return exit.Sentence(err) }

// later are the commands of the contract that this version does not have.
var later = map[string]string{
	"watch": "watching a match",
}

// run is the whole command; its error is one sentence and stands for the exit code.
func run(ctx context.Context, args []string, s streams) error {
	o := newOptions()
	switch err := o.set.Parse(args); {
	case errors.Is(err, settings.ErrHelp):
		return o.set.WriteUsage(s.out, synopsis)
	case err != nil:
		return err
	}
	if *o.version {
		_, err := fmt.Fprintln(s.out, version.Line("peer", build))
		return err
	}
	if *o.printConfig {
		return o.set.WriteConfig(s.out)
	}
	rest := o.set.Args()
	command := string(peer.StartTitle)
	if len(rest) > 0 {
		command, rest = rest[0], rest[1:]
	}
	if what, ok := later[command]; ok {
		return settings.Usagef("%s (peer %s) is not in this version", what, command)
	}
	if command == "doctor" {
		return examine(ctx, o, rest, s)
	}
	if *o.json {
		return settings.Usagef("--json is for peer doctor")
	}
	switch command {
	case "replay":
		return replay(o, rest, s)
	case "data":
		return data(rest, s)
	case string(peer.StartTitle), "play", "host", "join", "train":
		return match(ctx, o, command, rest, s)
	}
	return settings.Usagef("unknown command %q: peer --help lists the commands", command)
}

func match(ctx context.Context, o *options, command string, rest []string, s streams) error {
	log, err := logs.New(s.err, *o.logLevel, *o.logFormat, s.terminal)
	if err != nil {
		return settings.Usagef("%v", err)
	}
	c, err := o.config(command, log, s)
	if err != nil {
		return err
	}
	switch command {
	case "play", "train":
		if len(rest) > 0 {
			return settings.Usagef("peer %s takes no argument %q", command, rest[0])
		}
	case "host":
		if len(rest) > 0 {
			return settings.Usagef("peer host takes no argument %q; the code is made by the relay", rest[0])
		}
	case "join":
		if len(rest) == 0 && c.Page != nil {
			break // the page asks for it
		}
		if c.Code, err = code(rest, s); err != nil {
			return err
		}
		if c.Relays, err = o.joinRelays(c.Code); err != nil {
			return err
		}
	}
	switch {
	case c.Page != nil:
		return peer.RunPage(ctx, c, peer.Start(command))
	case command == string(peer.StartTitle):
		return settings.Usagef("say what to do: peer play, peer host, peer join CODE or peer replay verify FILE; peer --help lists the flags")
	case command == "train":
		return settings.Usagef("the training room needs the page: leave --headless away")
	case command == "play":
		exe, err := os.Executable()
		if err != nil {
			return fmt.Errorf("this program's own file is not known: %w", err)
		}
		return peer.Play(ctx, c, exe)
	}
	return peer.Run(ctx, c)
}
