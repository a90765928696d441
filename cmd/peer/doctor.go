package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"backstep/cmd/internal/exit"
	"backstep/cmd/internal/settings"
	"backstep/cmd/internal/version"
	"backstep/peer/doctor"
)

// doctorFlags are those of peer doctor, beside the ones that are for reading settings.
var doctorFlags = []string{"json", "show-addresses", "relay", "no-portmap"}

// examine is peer doctor [--json] [--show-addresses]. Text comes finding by finding, JSON at the end.
func examine(ctx context.Context, o *options, args []string, s streams) error {
	if err := o.set.Only("doctor", doctorFlags...); err != nil {
		return err
	}
	if len(args) > 0 {
		return settings.Usagef("peer doctor takes no argument %q; name a relay with --relay HOST", args[0])
	}
	relays, err := relays(*o.relay)
	if err != nil {
		return settings.Usagef("%v", err)
	}
	var broken error
	report, err := doctor.Run(ctx, doctor.Config{
		Relays: relays, ShowAddresses: *o.addresses, NoPortMap: *o.noPortMap, Build: version.Build(build),
	}, func(f doctor.Finding) {
		if !*o.json && broken == nil {
			broken = f.WriteText(s.out)
		}
	})
	switch {
	case err != nil:
		return err
	case broken != nil:
		return broken
	case *o.json:
		e := json.NewEncoder(s.out)
		e.SetIndent("", "  ")
		if err := e.Encode(report); err != nil {
			return err
		}
	default:
		if _, err := fmt.Fprintln(s.out, report.Verdict()); err != nil {
			return err
		}
	}
	if code := report.ExitCode(); code != exit.OK {
		return exit.With(code, errors.New(report.Worst()))
	}
	return nil
}
