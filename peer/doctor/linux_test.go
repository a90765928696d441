//go:build linux

package doctor

import (
	"encoding/binary"
	"net/netip"
	"os"
	"path/filepath"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

func TestSysfsMedium(t *testing.T) {
	root := t.TempDir()
	for name, files := range map[string]map[string]string{
		"eth0":  {"type": "1\n", "device/x": ""},
		"wlan0": {"type": "1\n", "device/x": "", "wireless/x": ""},
		"wlp2":  {"type": "1\n", "phy80211/x": ""},
		"vpn":   {"type": "65534\n"},
		"br0":   {"type": "1\n"},
	} {
		for file, text := range files {
			path := filepath.Join(root, name, file)
			if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	for name, want := range map[string]Medium{
		"eth0": Wired, "wlan0": WiFi, "wlp2": WiFi, "vpn": Tunnel, "br0": UnknownMedium, "gone": UnknownMedium, "": UnknownMedium, "../eth0": UnknownMedium,
	} {
		if got := sysfsMedium(root, name); got != want {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
}

// report is a control message as Linux makes it.
func report(origin, kind byte, from string) []byte {
	data := make([]byte, 32)
	data[4], data[5] = origin, kind
	binary.NativeEndian.PutUint16(data[16:], unix.AF_INET)
	ip := netip.MustParseAddr(from).As4()
	copy(data[20:], ip[:])
	b := make([]byte, unix.CmsgSpace(len(data)))
	h := (*unix.Cmsghdr)(unsafe.Pointer(&b[0]))
	h.Level, h.Type = unix.IPPROTO_IP, unix.IP_RECVERR
	h.SetLen(unix.CmsgLen(len(data)))
	copy(b[unix.CmsgLen(0):], data)
	return b
}

func TestOffender(t *testing.T) {
	for _, tt := range []struct {
		name string
		b    []byte
		want string
	}{
		{"time exceeded", report(unix.SO_EE_ORIGIN_ICMP, 11, "100.64.0.1"), "100.64.0.1"},
		{"port unreachable", report(unix.SO_EE_ORIGIN_ICMP, 3, "100.64.0.1"), ""},
		{"of this machine", report(unix.SO_EE_ORIGIN_LOCAL, 11, "100.64.0.1"), ""},
		{"cut off", report(unix.SO_EE_ORIGIN_ICMP, 11, "100.64.0.1")[:20], ""},
		{"nothing", nil, ""},
	} {
		got, ok := offender(tt.b)
		if ok != (tt.want != "") || ok && got.String() != tt.want {
			t.Errorf("%s: %v, %v", tt.name, got, ok)
		}
	}
}

func FuzzOffender(f *testing.F) {
	f.Add(report(unix.SO_EE_ORIGIN_ICMP, 11, "10.0.0.1"))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, b []byte) {
		if a, ok := offender(b); ok != a.Is4() {
			t.Errorf("%v, %v", a, ok)
		}
	})
}
