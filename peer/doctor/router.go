package doctor

import (
	"errors"
	"net/netip"
	"strings"

	"backstep/natpunch/gateway"
	"backstep/natpunch/portmap"
)

func portMapping(f *Facts) Finding {
	out := Finding{ID: "port_mapping", Data: map[string]any{}}
	var spoken, silent, refused []string
	for _, a := range f.Router {
		switch {
		case a.Err == nil:
			spoken = append(spoken, a.Protocol)
		case errors.Is(a.Err, portmap.ErrRefused):
			refused = append(refused, a.Protocol)
		default:
			silent = append(silent, a.Protocol)
		}
	}
	out.Data["protocols"] = append([]string{}, spoken...)
	const on = "Switch on UPnP, NAT-PMP or PCP in the router (often under NAT, gaming or advanced), or forward a UDP port to this machine."
	switch {
	case f.unNATed():
		out.Severity, out.Summary, out.Meaning = OK, "No port has to be mapped.", "This machine has an IPv4 address of the internet itself."
	case errors.Is(f.RouteErr, gateway.ErrUnsupported):
		out.Severity, out.Summary = Unknown, "Whether the router maps ports was not checked: its address is not known on this operating system."
		out.Meaning = "Matches ask it for nothing then."
	case f.RouteErr != nil:
		out.Severity, out.Summary, out.Meaning = Unknown, "Whether the router maps ports was not checked: there is no router.", "See to the network first."
	case !f.RouterAsked:
		out.Severity, out.Summary = Unknown, "Whether the router maps ports was not checked, as --no-portmap asks."
		out.Meaning = "Matches ask it for nothing then either."
	case len(f.routerMaps()) > 0:
		out.Severity, out.Summary = OK, "The router maps ports by "+strings.Join(f.routerMaps(), ", ")+"."
		out.Meaning = "Opponents behind any NAT can be let in; a match asks for one port and gives it back."
	case len(spoken) > 0:
		out.Severity, out.Summary = Note, "The router maps ports by "+strings.Join(spoken, ", ")+", but its own outside address is not of the internet."
		out.Meaning = "A port mapped there leads nowhere, because another NAT stands in front of the router."
		out.Advice = "See double NAT."
	case len(refused) > 0:
		out.Severity, out.Summary = Note, "The router speaks "+strings.Join(refused, ", ")+", but refuses to map a port."
		out.Meaning = "Without it direct paths depend on the kind of NAT."
		out.Advice = "Allow this machine to map ports in the router's settings."
	default:
		out.Severity, out.Summary = Note, "The router maps no ports: it does not answer to "+strings.Join(silent, ", ")+"."
		out.Meaning = "Only a symmetric NAT, or an opponent behind one, needs it."
		out.Advice = on
	}
	return out
}

// evidence of a second NAT.
type secondNAT uint8

const (
	noEvidence secondNAT = iota
	none
	carrierNAT
	anotherRouter
	somewhere
)

var carrierSpace = netip.MustParsePrefix("100.64.0.0/10")

// beyond looks for a NAT behind the router. The router's own word is the best
// evidence: its outside address is private, or not the one the relay sees. Next
// is the way to the relay: a private address after the first hop belongs to a
// network behind which somebody else must translate.
func beyond(f *Facts) secondNAT {
	told := false
	for _, a := range f.Router {
		switch {
		case a.Err != nil || !a.Outside.IsValid() || a.Outside.IsUnspecified():
		case carrierSpace.Contains(a.Outside):
			return carrierNAT
		case portmap.Private(a.Outside):
			return anotherRouter
		default:
			told = true
			for _, seen := range f.Class[0].Seen {
				if seen.Addr() != a.Outside && !portmap.Private(seen.Addr()) {
					return somewhere
				}
			}
		}
	}
	if told && f.Class[0].Answered {
		return none
	}
	public := false
	for _, a := range f.Class[0].Seen {
		public = public || !portmap.Private(a.Addr())
	}
	if !public || len(f.Hops) == 0 {
		return noEvidence // a relay in the same network says nothing about what is beyond
	}
	for i, h := range f.Hops {
		switch {
		case carrierSpace.Contains(h):
			return carrierNAT
		case !h.IsValid() || i == 0:
		case portmap.Private(h):
			return anotherRouter
		default:
			return none
		}
	}
	return none
}

func doubleNAT(f *Facts) Finding {
	out := Finding{ID: "double_nat", Severity: Unknown}
	symmetricToo := Note
	if f.Class[0].Mapping.Symmetric() {
		symmetricToo = Warning
	}
	if f.unNATed() {
		out.Severity, out.Summary, out.Meaning = OK, "There is no NAT, so there are not two.", "Nothing to do."
		out.Data = map[string]any{"kind": "none"}
		return out
	}
	switch beyond(f) {
	case none:
		out.Severity, out.Summary, out.Meaning = OK, "One NAT stands between this machine and the internet.", "What the router is told about ports counts."
		out.Data = map[string]any{"kind": "one"}
	case carrierNAT:
		out.Severity, out.Summary = symmetricToo, "The provider translates addresses as well (a carrier-grade NAT): this line shares its address with others."
		out.Meaning = "Ports that your own router maps lead nowhere; direct paths depend on the provider's NAT, whose kind is the one found above."
		out.Advice = "Nothing need be done while direct paths come about. Else use IPv6, or ask the provider for an IPv4 address of your own."
		out.Data = map[string]any{"kind": "carrier"}
	case anotherRouter:
		out.Severity, out.Summary = symmetricToo, "Another router that translates seems to stand behind the first one (double NAT)."
		out.Meaning = "Ports that the first router maps lead nowhere."
		out.Advice = "Switch the inner router to bridge or access-point mode, or connect this machine to the outer one."
		out.Data = map[string]any{"kind": "router"}
	case somewhere:
		out.Severity, out.Summary = symmetricToo, "The relay sees another address than the router says it has: something translates again beyond it, or a VPN is in use."
		out.Meaning = "Ports that the router maps may lead nowhere."
		out.Advice = "Leave the VPN if there is one; else ask the provider."
		out.Data = map[string]any{"kind": "beyond"}
	default:
		out.Summary, out.Meaning = "Whether a second NAT stands behind the router was not found out.", "It matters for port mapping only."
		if f.Relay == "" {
			out.Advice = nameRelay
		}
	}
	return out
}
