package doctor

import (
	"os"
	"path/filepath"
	"strings"

	"backstep/natpunch/gateway"
)

func systemMedium(r gateway.Route) Medium { return sysfsMedium("/sys/class/net", r.Interface) }

// sysfsMedium reads Linux's description of an interface below root: wireless ones
// have a folder of that name or of their radio, and what is made of matter has a
// device. Type 65534 is a tunnel, linux/if_arp.h.
func sysfsMedium(root, name string) Medium {
	if name == "" || strings.ContainsAny(name, "/\x00") || name == "." || name == ".." {
		return UnknownMedium
	}
	there := func(what string) bool {
		_, err := os.Stat(filepath.Join(root, name, what))
		return err == nil
	}
	kind, _ := os.ReadFile(filepath.Join(root, name, "type"))
	switch {
	case there("wireless"), there("phy80211"):
		return WiFi
	case strings.TrimSpace(string(kind)) == "65534":
		return Tunnel
	case there("device") && strings.TrimSpace(string(kind)) == "1":
		return Wired
	}
	return UnknownMedium
}
