package doctor

import (
	"net/netip"
	"time"

	"backstep/natpunch/gateway"
	"backstep/natpunch/natclass"
	"backstep/natpunch/portmap"
)

// Medium is what the interface towards the router is made of.
type Medium uint8

// Media.
const (
	UnknownMedium Medium = iota
	Wired
	WiFi
	Tunnel // a VPN
)

var mediumNames = [...]string{"unknown", "wired", "wifi", "vpn"}

func (m Medium) String() string {
	if int(m) < len(mediumNames) {
		return mediumNames[m]
	}
	return mediumNames[0]
}

// Facts are what the probes found. Checks read nothing else.
type Facts struct {
	// Locals are the addresses of this machine that can be told to others.
	Locals   []netip.Addr
	Route    gateway.Route
	RouteErr error
	Medium   Medium

	// Relay is the relay that is asked, as it was named; "" if none is known.
	Relay     string
	RelayAddr [2]netip.AddrPort // IPv4, IPv6; invalid where it has none
	Second    [2]netip.AddrPort // another address of the relay, if it has one
	RelayErr  error             // of its name, or of TCP
	TCP       time.Duration     // to connect, 0 if TCP does not get through
	Tried     int               // relays that were tried

	Class [2]natclass.Class // IPv4, IPv6

	// Ahead is how much this machine's clock is ahead of the relay's; Dated
	// says whether it is known.
	Ahead time.Duration
	Dated bool

	Router      []portmap.Answer // what the router says, per protocol
	RouterAsked bool
	// Hops are the routers between here and the relay, nearest first; an invalid
	// address is one that does not answer. HopsErr says why they are not known.
	Hops    []netip.Addr
	HopsErr error
}

// udp reports whether any datagram came back.
func (f *Facts) udp() bool { return f.Class[0].Answered || f.Class[1].Answered }

// near reports a relay in this machine's own network, which does not see what
// the internet sees.
func (f *Facts) near(family int) bool {
	a := f.RelayAddr[family].Addr()
	return a.IsValid() && portmap.Private(a)
}

// unNATed reports an IPv4 address of the internet on this machine itself.
func (f *Facts) unNATed() bool { return f.Class[0].Mapping == natclass.NoMapping && !f.near(0) }

// routerMaps lists the protocols by which the router gives out ports that the
// internet reaches.
func (f *Facts) routerMaps() []string {
	var out []string
	for _, a := range f.Router {
		if a.Err == nil && !portmap.Private(a.Outside) {
			out = append(out, a.Protocol)
		}
	}
	return out
}

func (f *Facts) has(is4 bool) bool {
	for _, a := range f.Locals {
		if a.Is4() == is4 && (is4 || !portmap.Private(a)) {
			return true
		}
	}
	return false
}
