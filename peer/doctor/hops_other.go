//go:build !linux

package doctor

import (
	"context"
	"net/netip"
)

func hops(context.Context, netip.AddrPort) ([]netip.Addr, error) { return nil, errHops }
