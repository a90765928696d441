package natpunch

import (
	"net/netip"
	"slices"

	"backstep/natpunch/rendezvous"
)

// Timing of the registration, in microseconds.
const (
	firstResend     = 100_000
	minResend       = 100_000
	maxResend       = 1_000_000
	reregisterEvery = 15_000_000
	// steady frames of a round go out before they are spaced wider: on a line that
	// loses every fifth datagram all of them are lost once in 600 times.
	steady = 4
	// rotateAfter unanswered frames of one round the next endpoint is tried.
	rotateAfter = 3
	// maxChallenges bounds how often one round answers a CHAL at once, so that
	// no relay can make us ping-pong at the speed of the network.
	maxChallenges = 4
)

// registration binds our address at the relay and keeps it bound:
//
//	idle --begin--> REG --CHAL--> REG with cookie --ACK--> idle for 15 s
//	                 ^ |            ^ |
//	                 +-+ resend     +-+ resend, RTT-based, backed off to 1 s
//
// Each frame has a counter of its own, because the relay answers none twice. An
// answer is believed only from a relay endpoint, with a right tag and a counter
// of the round in flight: waiting for the newest alone would never end on a
// network whose round trip is longer than the resend time.
//
// It is a plain state machine over int64 microseconds and allocates nothing
// after newRegistration.
type registration struct {
	side    rendezvous.Side
	channel uint32
	lobby   rendezvous.LobbyID
	expiry  uint32
	key     rendezvous.RegKey
	relays  []netip.AddrPort
	which   int // endpoint in use

	counter    uint64 // of the last frame
	cookie     rendezvous.CookieValue
	open       bool   // a round is in flight
	first      uint64 // first counter of the round
	sentAt     [16]int64
	due        int64 // next frame of the round, or the next round
	unanswered int
	challenges int

	// off: nothing is sent, because UDP may not be used. standby: there is a
	// tunnel, so a round gives up soon and the next one is far.
	off, standby bool
	rests        int    // rounds given up for the tunnel in a row
	begunAt      int64  // when the round began
	answeredAt   int64  // when anything came back; UDP works both ways then
	bound        uint64 // highest counter acknowledged, on UDP or through a tunnel

	srtt       int64
	registered bool
	mapped     netip.AddrPort
	peerAge    uint16
	ackedAt    int64
	rounds     uint64
}

// newRegistration starts a round at once. The counter begins at start, which
// must be larger than any counter this side used before on this session: the
// wall clock in microseconds is.
func newRegistration(c *Config, start uint64, now int64) *registration {
	r := &registration{
		side: c.Side, channel: c.Channel, lobby: c.Lobby, expiry: c.Expiry, key: c.RegKey,
		relays: c.Relay, counter: start,
	}
	r.begin(now)
	return r
}

// relay is the endpoint in use.
func (r *registration) relay() netip.AddrPort { return r.relays[r.which] }

// begin opens a round unless one is in flight.
func (r *registration) begin(now int64) {
	if r.open {
		return
	}
	r.open, r.first, r.due, r.begunAt = true, r.counter+1, now, now
	r.unanswered, r.challenges = 0, 0
	r.rounds++
}

// poll appends the frame that is due at now to b and says where it goes; the
// frame is empty if none is due. wake is when to call again.
func (r *registration) poll(b []byte, now int64) (frame []byte, to netip.AddrPort, wake int64) {
	if r.off {
		return b, netip.AddrPort{}, now + reregisterEvery
	}
	if now < r.due {
		return b, netip.AddrPort{}, r.due
	}
	if r.standby && r.open && r.unanswered >= rotateAfter*len(r.relays) {
		r.rest(now)
		return b, netip.AddrPort{}, r.due
	}
	r.begin(now)
	if r.unanswered > 0 && r.unanswered%rotateAfter == 0 {
		r.which = (r.which + 1) % len(r.relays)
	}
	r.counter++
	r.sentAt[r.counter%uint64(len(r.sentAt))] = now
	b = rendezvous.AppendReg(b, &rendezvous.Reg{
		Side: r.side, Channel: r.channel, Lobby: r.lobby, Expiry: r.expiry,
		Counter: r.counter, Cookie: r.cookie,
	}, &r.key)
	r.due = now + r.resend()
	r.unanswered++
	return b, r.relay(), r.due
}

// rest closes the round: a tunnel serves, and UDP is asked again later. The
// cookie goes, so that a REG which arrives cannot move the binding to an address
// to which nothing comes back.
func (r *registration) rest(now int64) {
	r.standby, r.open, r.cookie = true, false, rendezvous.CookieValue{}
	r.due = now + min(int64(udpFirst)<<min(r.rests, 8), udpAgain)
	r.rests++
}

// resend is how long to wait for the answer of the frame just made.
func (r *registration) resend() int64 {
	base := int64(firstResend)
	if r.srtt > 0 {
		base = max(minResend, r.srtt*3/2)
	}
	return min(base<<min(max(r.unanswered-(steady-2), 0), 3), maxResend)
}

// receive takes a REG answer. acked is true when the registration now stands.
// A frame it does not believe is reported as the reason for dropping it, with
// ok false.
func (r *registration) receive(b []byte, from netip.AddrPort, now int64) (acked bool, why Drop, ok bool) {
	which := slices.Index(r.relays, from)
	if which < 0 {
		return false, DropRelaySource, false
	}
	var chal rendezvous.Chal
	var ack rendezvous.Ack
	var counter uint64
	switch b[0] {
	case rendezvous.FrameChal:
		if rendezvous.ParseChal(b, &chal) != nil {
			return false, DropRelayMalformed, false
		}
		counter = chal.Counter
	case rendezvous.FrameAck:
		if rendezvous.ParseAck(b, &ack) != nil {
			return false, DropRelayMalformed, false
		}
		counter = ack.Counter
	default:
		return false, DropRelayMalformed, false
	}
	if !rendezvous.CheckTag(b, &r.key) {
		return false, DropRelayForged, false
	}
	if b[0] == rendezvous.FrameChal && (chal.Side != r.side || chal.Channel != r.channel) ||
		b[0] == rendezvous.FrameAck && (ack.Side != r.side || ack.Channel != r.channel) ||
		!r.open && !r.standby || counter < r.first || counter > r.counter {
		return false, DropRelayForged, false
	}
	if !r.open && b[0] == rendezvous.FrameChal {
		return false, 0, true // of a round that was given up
	}
	if r.counter-counter < uint64(len(r.sentAt)) {
		r.sample(now - r.sentAt[counter%uint64(len(r.sentAt))])
	}
	r.which = which
	r.unanswered = 0
	r.answeredAt = now
	if b[0] == rendezvous.FrameChal {
		fresh := !chal.Cookie.Equal(r.cookie)
		r.cookie = chal.Cookie
		if fresh && r.challenges < maxChallenges {
			r.challenges++
			r.due = now
		}
		return false, 0, true
	}
	if counter < r.bound {
		return false, 0, true // a tunnel was bound after it
	}
	r.open, r.registered, r.bound, r.rests = false, true, counter, 0
	r.mapped, r.peerAge, r.ackedAt = ack.Addr, ack.PeerAge, now
	r.due = now + reregisterEvery
	return true, 0, true
}

// sample smooths the round trip to the relay like RFC 6298.
func (r *registration) sample(rtt int64) {
	if rtt < 0 {
		return
	}
	if r.srtt == 0 {
		r.srtt = max(rtt, 1)
		return
	}
	r.srtt += (rtt - r.srtt) / 8
}
