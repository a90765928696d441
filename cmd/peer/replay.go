package main

import (
	"fmt"

	"backstep/cmd/internal/settings"
	"backstep/peer"
)

// replay verifies or prints a record.
func replay(o *options, rest []string, s streams) error {
	if len(rest) != 2 || rest[0] != "verify" && rest[0] != "show" {
		return settings.Usagef("usage: peer replay verify FILE, or peer replay show FILE")
	}
	if rest[0] == "show" {
		return peer.ShowReplay(rest[1], s.out)
	}
	v, err := peer.VerifyReplay(rest[1])
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(s.out, "verified %d frames, %d hashes, final %016x\n", v.Frames, v.Hashes, v.Final)
	return err
}
