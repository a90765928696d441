package peer

import (
	"net/netip"
	"slices"
	"testing"
)

// A relay in this process is named by IPv4 where the machine has any, and by IPv6 where it has nothing else.
func TestLanNames(t *testing.T) {
	for _, tt := range []struct{ locals, want []string }{
		{nil, nil},
		{[]string{"192.168.0.2"}, []string{"192.168.0.2:7"}},
		{[]string{"2600::1", "192.168.0.2", "10.0.0.3", "10.0.0.4"}, []string{"192.168.0.2:7", "10.0.0.3:7"}},
		{[]string{"2600::1", "fd00::2"}, []string{"[2600::1]:7", "[fd00::2]:7"}},
	} {
		var locals []netip.Addr
		for _, a := range tt.locals {
			locals = append(locals, netip.MustParseAddr(a))
		}
		if got := lanNames(locals, 7); !slices.Equal(got, tt.want) {
			t.Errorf("%v: %v, want %v", tt.locals, got, tt.want)
		}
	}
}
