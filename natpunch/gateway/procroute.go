package gateway

import (
	"encoding/binary"
	"fmt"
	"net/netip"
	"strconv"
	"strings"
)

// parseProcRoute finds the default route with the lowest metric in the text of
// Linux's /proc/net/route. Lines that do not parse are passed over: columns have
// been added to that file before.
//
//	Iface  Destination  Gateway   Flags  RefCnt  Use  Metric  Mask      MTU …
//	eth0   00000000     0101A8C0  0003   0       0    100     00000000  0
func parseProcRoute(text string) (Route, error) {
	const up, viaGateway = 1, 2
	best, metric := Route{}, uint64(0)
	for line := range strings.Lines(text) {
		f := strings.Fields(line)
		if len(f) < 8 {
			continue
		}
		hop, err1 := strconv.ParseUint(f[2], 16, 32)
		flags, err2 := strconv.ParseUint(f[3], 16, 16)
		m, err3 := strconv.ParseUint(f[6], 10, 32)
		if err1 != nil || err2 != nil || err3 != nil || f[1] != "00000000" || f[7] != "00000000" ||
			flags&(up|viaGateway) != up|viaGateway || hop == 0 {
			continue
		}
		if !best.Router.IsValid() || m < metric {
			var b [4]byte
			binary.NativeEndian.PutUint32(b[:], uint32(hop))
			best, metric = Route{Router: netip.AddrFrom4(b), Interface: f[0]}, m
		}
	}
	if !best.Router.IsValid() {
		return best, fmt.Errorf("%w", ErrNone)
	}
	return best, nil
}
