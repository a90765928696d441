package gateway

import (
	"errors"
	"fmt"
	"net/netip"
	"unsafe"

	"golang.org/x/sys/windows"
)

// includeGateways is GAA_FLAG_INCLUDE_GATEWAYS.
const includeGateways = 0x80

func defaultRoute() (Route, error) {
	size := uint32(16 << 10)
	for range 4 {
		// The table is full of pointers to itself: it needs their alignment.
		b := make([]uintptr, size/uint32(unsafe.Sizeof(uintptr(0)))+1)
		first := (*windows.IpAdapterAddresses)(unsafe.Pointer(&b[0]))
		err := windows.GetAdaptersAddresses(windows.AF_INET, includeGateways, 0, first, &size)
		switch {
		case errors.Is(err, windows.ERROR_BUFFER_OVERFLOW):
			continue // size says how much is needed
		case err != nil:
			return Route{}, fmt.Errorf("gateway: %w", err)
		}
		return bestAdapter(first)
	}
	return Route{}, fmt.Errorf("gateway: %w", windows.ERROR_BUFFER_OVERFLOW)
}

// bestAdapter is the one with a gateway and the lowest metric.
func bestAdapter(first *windows.IpAdapterAddresses) (Route, error) {
	best, metric := Route{}, uint32(0)
	for a := first; a != nil; a = a.Next {
		if a.OperStatus != windows.IfOperStatusUp || a.FirstGatewayAddress == nil {
			continue
		}
		ip, ok := netip.AddrFromSlice(a.FirstGatewayAddress.Address.IP())
		if !ok || !ip.Unmap().Is4() {
			continue
		}
		if !best.Router.IsValid() || a.Ipv4Metric < metric {
			best, metric = Route{Router: ip.Unmap(), Interface: windows.UTF16PtrToString(a.FriendlyName), Type: a.IfType}, a.Ipv4Metric
		}
	}
	if !best.Router.IsValid() {
		return best, fmt.Errorf("%w", ErrNone)
	}
	return best, nil
}
