package portmap

import (
	"context"
	"net/netip"
	"sync"

	"backstep/natpunch/gateway"
)

// Answer is what a router says to one protocol.
type Answer struct {
	Protocol string     // PCP, NAT-PMP or UPnP
	Outside  netip.Addr // the router's own outside address; invalid if Err is set
	Err      error      // ErrSilent, ErrVersion, ErrRefused or what the network says
}

// Look asks the router for its outside address by every protocol at once and
// leaves nothing behind: PCP has no such question, so a mapping of port is made
// and removed. It takes about 4 s at most, less if ctx ends. port should be that
// of a socket the caller holds, so that nobody else has a mapping for it.
func Look(ctx context.Context, r gateway.Route, port uint16) []Answer {
	lines := protocolsOf(r)
	all := append(lines[0], lines[1]...)
	out := make([]Answer, len(all))
	var group sync.WaitGroup
	for i, p := range all {
		group.Go(func() {
			out[i].Protocol = p.name()
			out[i].Outside, out[i].Err = p.outside(ctx, port)
		})
	}
	group.Wait()
	return out
}
