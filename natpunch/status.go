package natpunch

import (
	"net/netip"
	"strings"

	"backstep/natpunch/rendezvous"
)

// stage is how far the search for a direct path has come.
type stage uint8

const (
	stageIdle stage = iota
	stageHidden
	stageWaiting  // for the opponent's candidates
	stageChecking // ICE checks run
	stageConnected
	stageFailed // no check was answered
	stageLost   // it worked and stopped working
)

// directState is what people are told about the direct path.
type directState struct {
	stage          stage
	generation     uint32
	kind           Kind
	here           bool // the opponent is on this machine
	remoteKind     string
	theirs         []rendezvous.Candidate
	ownSymmetric   bool
	theirSymmetric bool
	lobbyGone      int64 // when, 0 for not
	startedAt      int64
	connectedAt    int64
	firstAt        int64
	movedAt        int64 // when our own address changed last, 0 for never
}

// Path is the kind of the route that packets take now, KindNone before there is
// one.
func (p *Paths) Path() Kind {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.path()
}

func (p *Paths) path() Kind {
	switch p.policy.primary {
	case Relay:
		if p.tun.Load() != nil || p.cfg.Allowed.normal()&AllowRelay == 0 {
			return KindTunnel
		}
		return KindRelay
	case Direct:
		return p.direct.kind
	}
	return KindNone
}

// Reason says in one sentence why the path is what it is, for the report and
// the player. It contains no address.
func (p *Paths) Reason() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch p.path() {
	case KindLAN:
		if p.loopback || p.direct.here {
			return "lan: both players are on this machine"
		}
		return "lan: both players are on the same network"
	case KindDirect:
		return "direct: the players reach each other without the relay"
	case KindNone:
		return "no path: " + p.whyNotDirect()
	case KindTunnel:
		if p.cfg.Allowed.normal()&AllowRelay == 0 {
			return "relayed over TCP, as --path asks: " + p.whyNotDirect()
		}
		return "relayed over TCP, because the relay does not answer on UDP (this network may block it): " + p.whyNotDirect()
	}
	return "relayed: " + p.whyNotDirect()
}

// lobbyEnd is how long a lobby must be gone before that is a reason: at the end
// of a match one side leaves it a little before the other.
const lobbyEnd = 2_000_000

func (p *Paths) whyNotDirect() string {
	d := &p.direct
	var why string
	switch {
	case p.cfg.Allowed.Hides():
		why = "only the relay is allowed, which hides the address"
	case p.cfg.Hide:
		why = "a player hides the address"
	case d.stage == stageIdle:
		why = "a direct path has not been tried yet"
	case d.stage == stageWaiting:
		why = "waiting for the opponent's addresses"
	case d.stage == stageChecking:
		why = "looking for a direct path"
	case d.stage == stageConnected && p.policy.hasFailed:
		why = "the direct path fell silent"
	case d.stage == stageConnected:
		why = "a direct path was found and is being tried"
	case d.stage == stageLost:
		why = "the direct path was lost, looking for a new one"
	case d.ownSymmetric && d.theirSymmetric:
		why = "symmetric NAT on both sides, and no direct check was answered"
	case d.ownSymmetric:
		why = "symmetric NAT on this side, and no direct check was answered"
	case d.theirSymmetric:
		why = "symmetric NAT on the opponent's side, and no direct check was answered"
	case len(d.theirs) == 0:
		why = "the opponent offered no address that could be tried"
	default:
		why = "no direct check was answered"
	}
	if d.lobbyGone != 0 && p.cfg.Clock()-d.lobbyGone > lobbyEnd && d.stage > stageHidden && d.stage != stageConnected {
		why = strings.TrimSuffix(why, ", looking for a new one") + "; without the lobby no new attempt is possible"
	}
	return why
}

// Stats is a snapshot for the report. Times are microseconds.
type Stats struct {
	Path     Kind
	Switches int // how often the primary route changed, the first choice included

	DatagramsReceived, BytesReceived uint64 // without IP and UDP headers
	DatagramsSent, BytesSent         uint64
	SendErrors, ReadErrors           uint64
	Drops                            map[string]uint64

	Registered    bool
	Registrations uint64 // rounds begun
	RelayRTT      int64  // 0 before the first answer
	Mapping       Mapping

	Generation uint32 // of the ICE agent
	// DirectAfter is the time from StartDirect to the first answered pair, 0
	// if there was none.
	DirectAfter int64
	// LocalCandidate and RemoteCandidate are the kinds of the selected pair
	// (host, srflx, prflx, mapped), "relay" while relayed, over UDP or TCP.
	LocalCandidate, RemoteCandidate string
}

// Stats allocates.
func (p *Paths) Stats() Stats {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := Stats{
		Path: p.path(), Switches: p.policy.switches,
		DatagramsReceived: p.sock.received.Load(), BytesReceived: p.sock.receivedBytes.Load(),
		DatagramsSent: p.sock.sent.Load(), BytesSent: p.sock.sentBytes.Load(),
		SendErrors: p.sock.sendErrors.Load(), ReadErrors: p.sock.readErrors.Load(),
		Drops:      p.drops.Map(),
		Registered: p.reg.bound != 0, Registrations: p.reg.rounds, RelayRTT: p.reg.srtt,
		Mapping:    p.mapping(),
		Generation: p.direct.generation,
	}
	if p.direct.firstAt != 0 {
		s.DirectAfter = p.direct.firstAt - p.direct.startedAt
	}
	switch s.Path {
	case KindRelay, KindTunnel:
		s.LocalCandidate, s.RemoteCandidate = "relay", "relay"
	case KindLAN:
		s.LocalCandidate, s.RemoteCandidate = "host", p.direct.remoteKind
	case KindDirect:
		s.LocalCandidate, s.RemoteCandidate = "srflx", p.direct.remoteKind
		if s.Mapping == MappingNone {
			s.LocalCandidate = "host"
		}
	}
	return s
}

func (p *Paths) mapping() Mapping {
	if p.refl == nil {
		return MappingUnknown
	}
	return p.refl.mapping(p.reg.mapped, localPort(p.LocalAddr()), p.locals)
}

// Mapped is our address as the relay sees it; invalid before Open returned. It
// is for doctor and for players who asked for it, never for a log.
func (p *Paths) Mapped() (addr netip.AddrPort, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.reg.mapped, p.reg.registered
}
