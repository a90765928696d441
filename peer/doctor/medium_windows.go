package doctor

import "backstep/natpunch/gateway"

func systemMedium(r gateway.Route) Medium {
	switch r.Type {
	case 6: // IF_TYPE_ETHERNET_CSMACD
		return Wired
	case 71: // IF_TYPE_IEEE80211
		return WiFi
	case 23, 131: // IF_TYPE_PPP, IF_TYPE_TUNNEL
		return Tunnel
	}
	return UnknownMedium
}
