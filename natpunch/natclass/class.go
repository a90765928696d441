package natclass

import (
	"net/netip"
	"slices"
	"time"
)

// Mapping is how a NAT gives out addresses, RFC 4787 section 4.1.
type Mapping uint8

// Mappings. Players know AddressDependentMapping and PortDependentMapping as a
// symmetric NAT.
const (
	UnknownMapping          Mapping = iota
	NoMapping                       // no NAT: the relay sees this machine's own address
	IndependentMapping              // one outside address for every destination
	AddressDependentMapping         // another one for every destination address
	PortDependentMapping            // another one for every destination address and port
)

var mappingNames = [...]string{"unknown", "none", "endpoint-independent", "address-dependent", "address-and-port-dependent"}

func (m Mapping) String() string {
	if int(m) < len(mappingNames) {
		return mappingNames[m]
	}
	return mappingNames[0]
}

// Symmetric reports a mapping whose outside port is not known before a packet
// to the destination was sent.
func (m Mapping) Symmetric() bool { return m == AddressDependentMapping || m == PortDependentMapping }

// Filtering is whom a NAT or firewall lets in, RFC 4787 section 5.
type Filtering uint8

// Filterings. OpenFiltering is one of the two after it: a relay that has one
// address cannot tell them apart.
const (
	UnknownFiltering Filtering = iota
	OpenFiltering              // any port of an address that was sent to, perhaps everybody
	NoFiltering                // everybody
	AddressFiltering           // any port of an address that was sent to
	PortFiltering              // only address and port that were sent to
)

var filteringNames = [...]string{"unknown", "address-dependent-or-none", "endpoint-independent", "address-dependent", "address-and-port-dependent"}

// Open reports that whoever was sent to gets in from any port, which is what
// counts for a direct path.
func (f Filtering) Open() bool {
	return f == OpenFiltering || f == NoFiltering || f == AddressFiltering
}

func (f Filtering) String() string {
	if int(f) < len(filteringNames) {
		return filteringNames[f]
	}
	return filteringNames[0]
}

// Class is what is known about the way of one address family.
type Class struct {
	Mapping   Mapping
	Filtering Filtering
	// SecondAddress says that an independent mapping was also seen by a second
	// relay address, so that an address-dependent one is excluded.
	SecondAddress bool
	// Answered says that PORT answered at all; without it nothing else is known.
	Answered bool
	// Seen are the distinct outside addresses, in the order of the steps.
	Seen []netip.AddrPort
	// KeepsPort says that the outside port of step 1 is the socket's own.
	KeepsPort bool
	// RTT is the shorter round trip to PORT and to PORT+1, 0 without an answer. Of a
	// request that was lost it counts from the first one.
	RTT time.Duration
	// Resent is how many requests to PORT and to PORT+1 had to be sent again before
	// they were answered.
	Resent int
}

// Class says what has been learnt so far. port is that of the socket and locals
// are the addresses of this machine.
func (d *Discovery) Class(port uint16, locals []netip.Addr) Class {
	first, second, far := &d.steps[stepFirst], &d.steps[stepSecond], &d.steps[stepFar]
	c := Class{Answered: first.answered, RTT: time.Duration(first.rtt) * time.Microsecond}
	for _, s := range []*step{first, second, far} {
		if s.answered && !slices.Contains(c.Seen, s.seen) {
			c.Seen = append(c.Seen, s.seen)
		}
	}
	if !first.answered {
		return c
	}
	for _, s := range []*step{first, second} {
		if s.answered {
			c.Resent += s.sent - 1
			c.RTT = min(c.RTT, time.Duration(s.rtt)*time.Microsecond)
		}
	}
	c.KeepsPort = first.seen.Port() == port
	switch {
	case c.KeepsPort && slices.Contains(locals, first.seen.Addr()):
		c.Mapping = NoMapping
	case second.answered && second.seen != first.seen:
		c.Mapping = PortDependentMapping
	case far.answered && far.seen != first.seen:
		// Without PORT+1 it may depend on the port too, which makes no
		// difference to a player.
		c.Mapping = AddressDependentMapping
	case second.answered:
		c.Mapping, c.SecondAddress = IndependentMapping, far.answered
	}
	switch {
	case d.steps[stepBoth].answered:
		c.Filtering = NoFiltering
	case d.steps[stepChange].answered && d.steps[stepControl].answered:
		c.Filtering = AddressFiltering
	case d.steps[stepChange].answered:
		c.Filtering = OpenFiltering
	case second.answered:
		c.Filtering = PortFiltering
	}
	return c
}
