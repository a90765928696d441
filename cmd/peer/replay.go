package main

import (
	"fmt"

	"backstep/cmd/internal/settings"
	"backstep/peer"
)

// replay verifies a record.
func replay(o *options, rest []string, s streams) error {
	if len(rest) > 0 && rest[0] == "show" {
		return settings.Usagef("showing a record (peer replay show) is not in this version; peer replay verify checks it")
	}
	if len(rest) != 2 || rest[0] != "verify" {
		return settings.Usagef("usage: peer replay verify FILE")
	}
	v, err := peer.VerifyReplay(rest[1])
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(s.out, "verified %d frames, %d hashes, final %016x\n", v.Frames, v.Hashes, v.Final)
	return err
}
