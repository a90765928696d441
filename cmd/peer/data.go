package main

import (
	"backstep/cmd/internal/settings"
	"backstep/peer"
)

// data checks a roster file.
func data(rest []string, s streams) error {
	if len(rest) != 2 || rest[0] != "check" {
		return settings.Usagef("usage: peer data check FILE")
	}
	return peer.CheckRoster(rest[1], s.out)
}
