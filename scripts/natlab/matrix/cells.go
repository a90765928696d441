//go:build linux

package main

import "backstep/scripts/natlab"

// cell is a pair of NATs and the path that theory gives it.
type cell struct {
	name               string
	a, b               string   // kinds
	lab                []string // further commands of natlab.sh, words separated by spaces
	host, join         string   // nodes, a and b if empty
	hostArgs, joinArgs []string
	relay              string // see natlab.Match
	ipv6               bool
	path               string // of the host; two separated by a slash if either is right
	joinPath           string // of the joiner, if it is another
	cause              string // why that path
}

// blocked says that a player reaches the relay over TCP only, so that a tunnel has to be waited for.
func (c *cell) blocked() bool {
	return natlab.Expects(c.path, "tunnel") || natlab.Expects(c.joinPath, "tunnel") || c.a == "udpblock" || c.b == "udpblock"
}

// keyCells are the pairs that tell most about a way through NATs.
var keyCells = []cell{
	{name: "cone x cone", a: "eim", b: "eim", path: "direct", cause: "both punch at once"},
	{name: "cone x symmetric", a: "eim", b: "symfull", path: "relay", cause: "the port that would have to be let in is unknown"},
	{name: "symmetric x symmetric", a: "symfull", b: "symfull", path: "relay", cause: "no port is known"},
	{name: "address-restricted x symmetric", a: "addrres", b: "symfull", path: "direct", cause: "any port of a known address comes in"},
	{name: "full cone x symmetric", a: "fullcone", b: "symfull", path: "direct", cause: "anybody comes in"},
	{name: "open INPUT x open INPUT", a: "eim-openinput", b: "eim-openinput", path: "direct/relay", cause: "direct if the first packets cross; one that comes too early takes the port"},
	{name: "carrier NAT x cone", a: "eim", b: "eim", lab: []string{"cgnat on eim"}, path: "direct", cause: "two mappings in a row are one"},
	{name: "same network", a: "eim", b: "eim", join: "a2", path: "lan", cause: "host candidates"},
}

// special are cells that no pair of kinds describes.
var special = []cell{
	{name: "same network, hairpin", a: "eim", b: "eim", join: "a2", lab: []string{"hairpin a on"}, path: "lan", cause: "host candidates win over the router's turn"},
	{name: "same network, lan not allowed", a: "eim", b: "eim", join: "a2", hostArgs: []string{"--path", "direct,relay"}, path: "relay",
		cause: "without hairpin the outside address leads nowhere"},
	{name: "same network, hairpin, lan not allowed", a: "eim", b: "eim", join: "a2", lab: []string{"hairpin a on"},
		hostArgs: []string{"--path", "direct,relay"}, path: "direct/relay", cause: "the router turns the packets around, if it keeps the port"},
	{name: "same network, symmetric", a: "symfull", b: "eim", join: "a2", path: "lan", cause: "host candidates"},
	{name: "same network, UDP blocked outside", a: "udpblock", b: "eim", join: "a2", path: "lan", cause: "host candidates need no outside"},
	{name: "same network, IPv6 on both sides", a: "symfull", b: "eim", join: "a2", lab: []string{"ipv6 a only", "ipv6 a2 only"}, ipv6: true,
		relay: natlab.RelayName, path: "lan", cause: "host candidates of one IPv6 network"},
	{name: "IPv6 on both sides, symmetric NATs", a: "symfull", b: "symfull", lab: []string{"ipv6 a also", "ipv6 b also"}, ipv6: true,
		relay: natlab.RelayName, path: "direct", cause: "no translation, and both punch at once"},
	{name: "IPv6 only x IPv4 only", a: "eim", b: "eim", lab: []string{"ipv6 a only"}, ipv6: true, relay: natlab.RelayName, path: "relay",
		cause: "no family in common but the relay's"},
	{name: "IPv6 only x both families", a: "eim", b: "symfull", lab: []string{"ipv6 a only", "ipv6 b also"}, ipv6: true, relay: natlab.RelayName,
		path: "direct", cause: "they share IPv6"},
	{name: "IPv6 on one side, cones", a: "eim", b: "eim", lab: []string{"ipv6 a also"}, ipv6: true, relay: natlab.RelayName, path: "direct",
		cause: "they share IPv4"},
	{name: "mapping by address x cone", a: "symaddr", b: "eim", path: "relay", cause: "the port towards the opponent is not the one the relay sees"},
	{name: "mapping by address x address-restricted", a: "symaddr", b: "addrres", path: "direct", cause: "any port of a known address comes in"},
	{name: "only the relay allowed", a: "none", b: "none", joinArgs: []string{"--path", "relay"}, path: "relay", cause: "a player hides the address"},
	{name: "only the tunnel allowed", a: "eim", b: "eim", joinArgs: []string{"--path", "tunnel"}, path: "tunnel", cause: "a player asks for it"},
}

// kind is a kind of network as one axis of the matrix.
type kind struct {
	name    string
	nat     string
	carrier string // second NAT in front of router a
	// What theory needs to know of it.
	admits  admits
	guess   bool // of mappings that depend on the destination: few ports to guess from
	depends bool // mappings depend on the destination
	answers bool // the router itself takes strangers' packets, and then their ports
	noUDP   bool
	only443 bool
}

// admits says who may answer through a mapping.
type admits uint8

const (
	samePort admits = iota
	sameAddress
	anybody
)

var kinds = []kind{
	{name: "no NAT", nat: "none", admits: anybody},
	{name: "full cone", nat: "fullcone", admits: anybody},
	{name: "address-restricted", nat: "addrres", admits: sameAddress},
	{name: "port-restricted", nat: "eim"},
	{name: "open INPUT", nat: "eim-openinput", answers: true},
	{name: "small pool", nat: "symrange", depends: true, guess: true},
	{name: "symmetric", nat: "symfull", depends: true},
	{name: "carrier cone", nat: "eim", carrier: "eim"},
	{name: "carrier symmetric", nat: "eim", carrier: "symfull", depends: true},
	{name: "UDP blocked", nat: "udpblock", noUDP: true},
	{name: "only TCP 443", nat: "tcp443", noUDP: true, only443: true},
	{name: "UDP to 443 only", nat: "udp443", only443: true},
}

// pairs is every unordered pair of kinds once; with both, the other way round too. A carrier stands in front of router a only.
func pairs(both bool) []cell {
	var all []cell
	for i, x := range kinds {
		for _, y := range kinds[i:] {
			a, b := x, y
			if b.carrier != "" {
				a, b = b, a
			}
			if b.carrier != "" {
				continue // one carrier in a lab
			}
			c := theory(a, b)
			all = append(all, c)
			if both && a.name != b.name {
				c.name = b.name + " x " + a.name
				c.host, c.join = "b", "a"
				if c.joinPath != "" {
					c.path, c.joinPath = c.joinPath, c.path
				}
				all = append(all, c)
			}
		}
	}
	return all
}

// theory is what RFC 4787's terms say of a pair.
func theory(a, b kind) cell {
	c := cell{name: a.name + " x " + b.name, a: a.nat, b: b.nat}
	if a.carrier != "" {
		c.lab = []string{"cgnat on " + a.carrier}
	}
	if a.only443 || b.only443 {
		c.relay = natlab.RelayAddr.String() + ":443"
	}
	way := func(k kind) string {
		if k.noUDP {
			return "tunnel"
		}
		return "relay"
	}
	guess := a.guess || b.guess
	switch {
	case a.noUDP || b.noUDP:
		c.path, c.joinPath, c.cause = way(a), way(b), "UDP is blocked"
	case a.only443 || b.only443:
		c.path, c.cause = "relay", "nobody but the relay listens on port 443"
	case a.admits != samePort || b.admits != samePort:
		c.path, c.cause = "direct", "a known address comes in"
	case a.depends && b.depends:
		c.path, c.cause = "relay", "no port is known"
		if guess {
			c.path, c.cause = "relay/direct", "no port is known, though some can be guessed"
		}
	case a.depends || b.depends:
		c.path, c.cause = "relay", "the port that would have to be let in is unknown"
		if guess {
			c.path, c.cause = "relay/direct", "the port that would have to be let in may be guessed"
		}
	case a.answers && b.answers:
		c.path, c.cause = "direct/relay", "direct if the first packets cross; one that comes too early takes the port"
	case a.answers || b.answers:
		c.path, c.cause = "direct/relay", "direct unless a packet that comes too early takes the port"
	default:
		c.path, c.cause = "direct", "both punch at once"
	}
	return c
}
