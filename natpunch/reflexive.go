package natpunch

import (
	"crypto/rand"
	"net/netip"
	"slices"

	"backstep/natpunch/stunguard"
)

// Mapping says how the NAT in front of this socket gives out ports, RFC 5780
// section 4.3, as far as one relay address can tell.
type Mapping uint8

// Mappings. Dependent is what players know as a symmetric NAT.
const (
	MappingUnknown     Mapping = iota
	MappingNone                // the relay sees this machine's own address
	MappingIndependent         // one outside address for every destination
	MappingDependent           // another outside port for every destination
)

var mappingNames = [...]string{"unknown", "none", "independent", "dependent"}

func (m Mapping) String() string {
	if int(m) < len(mappingNames) {
		return mappingNames[m]
	}
	return "unknown"
}

// Timing of the STUN client in microseconds: 100, 200, 400, 800 ms.
const (
	stunResend  = 100_000
	stunRetries = 4
)

// reflexive is our STUN client. It asks two ports of the relay, PORT and
// PORT+1, which address they see: the difference between them is the kind of
// mapping. A plain state machine over int64 microseconds.
type reflexive struct {
	ask     [2]query
	askedAt int64 // when the questions were begun last
}

type query struct {
	to       netip.AddrPort
	id       stunguard.TransactionID
	sent     int
	due      int64
	answered bool
	mapped   netip.AddrPort
}

// newReflexive asks relay from now on.
func newReflexive(relay netip.AddrPort, now int64) *reflexive {
	r := &reflexive{askedAt: now}
	for i := range r.ask {
		q := &r.ask[i]
		q.due = now
		q.to = netip.AddrPortFrom(relay.Addr(), relay.Port()+uint16(i))
		if q.to.Port() == 0 {
			q.sent = stunRetries // PORT is the last port: there is no next
		}
		// Answers are matched by this number; crypto/rand never fails on the
		// supported systems.
		_, _ = rand.Read(q.id[:])
	}
	return r
}

// again asks anew; what was answered before counts until then.
func (r *reflexive) again(now int64) {
	r.askedAt = now
	for i := range r.ask {
		if q := &r.ask[i]; q.to.Port() != 0 {
			q.sent, q.due, q.answered = 0, now, false
		}
	}
}

// poll appends a request that is due; the result is empty if none is. wake is
// when to call again, 0 for never.
func (r *reflexive) poll(b []byte, now int64) (request []byte, to netip.AddrPort, wake int64) {
	for i := range r.ask {
		q := &r.ask[i]
		if q.answered || q.sent == stunRetries {
			continue
		}
		if now >= q.due {
			q.due = now + stunResend<<q.sent
			q.sent++
			return stunguard.AppendRequest(b, q.id), q.to, now
		}
		if wake == 0 || q.due < wake {
			wake = q.due
		}
	}
	return b, netip.AddrPort{}, wake
}

// receive reports whether b is an answer to a request of ours.
func (r *reflexive) receive(b []byte, from netip.AddrPort) bool {
	for i := range r.ask {
		q := &r.ask[i]
		if from != q.to || q.sent == 0 {
			continue
		}
		addr, err := stunguard.ParseAnswer(b, q.id)
		if err != nil {
			continue
		}
		if !q.answered {
			q.answered, q.mapped = true, addr
		}
		return true
	}
	return false
}

// mapping classifies the NAT. seen is the address PORT saw, from the
// registration if it is valid.
func (r *reflexive) mapping(seen netip.AddrPort, port uint16, locals []netip.Addr) Mapping {
	if !seen.IsValid() {
		seen = r.ask[0].mapped
	}
	switch {
	case seen.IsValid() && seen.Port() == port && slices.Contains(locals, seen.Addr()):
		return MappingNone
	case !seen.IsValid() || !r.ask[1].answered:
		return MappingUnknown
	case seen == r.ask[1].mapped:
		return MappingIndependent
	}
	return MappingDependent
}

// addresses lists the distinct addresses the relay saw, the one seen first.
func (r *reflexive) addresses(seen netip.AddrPort) []netip.AddrPort {
	var out []netip.AddrPort
	for _, a := range []netip.AddrPort{seen, r.ask[0].mapped, r.ask[1].mapped} {
		if a.IsValid() && !slices.Contains(out, a) {
			out = append(out, a)
		}
	}
	return out
}
