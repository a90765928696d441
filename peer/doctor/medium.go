package doctor

import (
	"strings"

	"backstep/natpunch/gateway"
)

// tunnelNames begin the names of interfaces of VPNs.
var tunnelNames = []string{"tun", "tap", "utun", "wg", "ppp", "ipsec", "tailscale", "zt", "nordlynx", "proton"}

// medium asks the system about the interface of the default route.
func medium(r gateway.Route) Medium {
	for _, n := range tunnelNames {
		if strings.HasPrefix(r.Interface, n) {
			return Tunnel
		}
	}
	return systemMedium(r)
}

// parsePorts reads what networksetup -listallhardwareports prints on macOS:
//
//	Hardware Port: Wi-Fi
//	Device: en0
//	Ethernet Address: …
func parsePorts(text, device string) Medium {
	port := ""
	for line := range strings.Lines(text) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
		switch {
		case key == "Hardware Port":
			port = value
		case key == "Device" && value == device:
			switch {
			case port == "Wi-Fi" || port == "AirPort":
				return WiFi
			case strings.Contains(port, "Ethernet") || strings.Contains(port, "LAN") || strings.Contains(port, "Thunderbolt"):
				return Wired
			}
			return UnknownMedium
		}
	}
	return UnknownMedium
}
