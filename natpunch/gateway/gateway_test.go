package gateway

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"
	"runtime"
	"testing"
)

// inHostOrder is how Linux prints an address.
func inHostOrder(a string) string {
	b := netip.MustParseAddr(a).As4()
	return fmt.Sprintf("%08X", binary.NativeEndian.Uint32(b[:]))
}

func TestParseProcRoute(t *testing.T) {
	const head = "Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT\n"
	line := func(dev, dst, hop, flags, metric, mask string) string {
		return fmt.Sprintf("%s\t%s\t%s\t%s\t0\t0\t%s\t%s\t0\t0\t0\n", dev, dst, hop, flags, metric, mask)
	}
	const all = "00000000"
	home, vpn := inHostOrder("192.168.1.1"), inHostOrder("10.8.0.1")
	for _, tt := range []struct {
		name, text, router, dev string
	}{
		{"empty", "", "", ""},
		{"only a network", head + line("eth0", inHostOrder("192.168.1.0"), all, "0001", "100", inHostOrder("255.255.255.0")), "", ""},
		{"one", head + line("eth0", all, home, "0003", "100", all), "192.168.1.1", "eth0"},
		{"the best of two", head + line("wlan0", all, vpn, "0003", "600", all) + line("eth0", all, home, "0003", "100", all), "192.168.1.1", "eth0"},
		{"the first of equals", head + line("eth0", all, home, "0003", "0", all) + line("eth1", all, vpn, "0003", "0", all), "192.168.1.1", "eth0"},
		{"not up", head + line("eth0", all, home, "0002", "0", all), "", ""},
		{"without a router", head + line("ppp0", all, all, "0001", "0", all), "", ""},
		{"half the internet", head + line("tun0", all, vpn, "0003", "0", inHostOrder("128.0.0.0")), "", ""},
		{"not a number", head + line("eth0", all, "router!!", "0003", "0", all), "", ""},
		{"cut off", head + "eth0\t00000000\t", "", ""},
	} {
		r, err := parseProcRoute(tt.text)
		if tt.router == "" {
			if !errors.Is(err, ErrNone) {
				t.Errorf("%s: %+v, %v; want ErrNone", tt.name, r, err)
			}
			continue
		}
		if err != nil || r.Router != netip.MustParseAddr(tt.router) || r.Interface != tt.dev {
			t.Errorf("%s: %+v, %v; want %s at %s", tt.name, r, err, tt.router, tt.dev)
		}
	}
}

// This machine has a way out or says that it has none.
func TestDefault(t *testing.T) {
	r, err := Default()
	switch {
	case errors.Is(err, ErrNone), errors.Is(err, ErrUnsupported) && runtime.GOOS != "linux":
		// A machine without a way out; natlab's TestPortMap finds the router of one that has it.
	case err != nil:
		t.Fatal(err)
	case !r.Router.Is4() || !r.Local.Is4() || r.Interface == "":
		t.Errorf("%+v", r)
	}
}

func FuzzParseProcRoute(f *testing.F) {
	f.Add("eth0\t00000000\t0101A8C0\t0003\t0\t0\t100\t00000000\t0\t0\t0\n")
	f.Fuzz(func(t *testing.T, text string) {
		if r, err := parseProcRoute(text); (err == nil) != (r.Router.Is4() && r.Interface != "" && !r.Router.IsUnspecified()) {
			t.Errorf("%+v, %v", r, err)
		}
	})
}
