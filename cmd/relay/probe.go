package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"backstep/cmd/internal/exit"
	"backstep/cmd/internal/settings"
	"backstep/relay/probe"
)

// probeRelay is relay probe HOST:PORT [--json].
func probeRelay(ctx context.Context, o *options, args []string, stdout io.Writer) error {
	if err := o.set.Only("probe", o.probe...); err != nil {
		return err
	}
	if len(args) != 1 {
		return settings.Usagef("relay probe wants one relay: relay probe HOST:PORT")
	}
	report, err := probe.Run(ctx, probe.Config{Address: args[0], Token: *o.token})
	switch {
	case errors.Is(err, probe.ErrAddress):
		return settings.Usagef("%q is not a relay: give HOST or HOST:PORT", args[0])
	case err != nil:
		return err
	case ctx.Err() != nil:
		return context.Cause(ctx)
	}
	if *o.json {
		e := json.NewEncoder(stdout)
		e.SetIndent("", "  ")
		err = e.Encode(report)
	} else {
		err = report.WriteText(stdout)
	}
	if err == nil && !report.Usable {
		err = exit.With(exit.Internal, fmt.Errorf("the relay at %s is not usable from here: see the checks that failed", report.Relay))
	}
	return err
}
