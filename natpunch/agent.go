package natpunch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/netip"
	"time"

	"github.com/pion/ice/v3"
	"github.com/pion/logging"
	"github.com/pion/stun/v2"

	"backstep/natpunch/rendezvous"
)

// This file and icemux.go are all that knows pion/ice: a newer major version
// changes them and nothing else.

// The agent's settings. MaxBindingRequests 7, the default, gives a pair up after
// 1.4 s; the waits would delay a path that already works.
const (
	checkInterval      = 50 * time.Millisecond
	maxBindingRequests = 60
	// keepalive is off: pion skips its own check whenever it has just answered
	// one, so the side whose timer fires second would never ask. See consent.
	keepalive = 0
	// prflxWait lets the announced address of a LAN win over a hairpin route
	// that answered first.
	prflxWait = 100 * time.Millisecond
	// The route is judged by what DTLS decrypts; the agent only has to notice
	// when nothing at all is left.
	disconnectedTimeout = 5 * time.Second
	failedTimeout       = 10 * time.Second
	// attemptTime covers maxBindingRequests checks and a late opponent.
	attemptTime = 4 * time.Second
)

// agentEvent is what an agent tells its owner.
type agentEvent struct {
	agent  *agent
	remote netip.AddrPort // the selected address, invalid when failed
	err    error          // why it failed
}

// agent is one ICE agent of one generation.
type agent struct {
	generation uint32
	tieBreaker uint64
	ice        *ice.Agent
	mux        *iceMux
	events     chan<- agentEvent
	ctx        context.Context
	cancel     context.CancelFunc
	running    chan struct{} // closed when run has returned
}

// newAgent makes an agent that is ready to be run. Events go to events until
// close.
func newAgent(ctx context.Context, generation uint32, mux *iceMux, events chan<- agentEvent) (*agent, error) {
	a := &agent{generation: generation, tieBreaker: rand.Uint64(), mux: mux, events: events}
	a.ctx, a.cancel = context.WithCancel(ctx)
	bindings := uint16(maxBindingRequests)
	ptr := func(d time.Duration) *time.Duration { return &d }
	var err error
	a.ice, err = ice.NewAgent(&ice.AgentConfig{
		UDPMux:                 mux,
		LocalUfrag:             mux.cred.localUfrag,
		LocalPwd:               mux.cred.localPwd,
		NetworkTypes:           []ice.NetworkType{ice.NetworkTypeUDP4, ice.NetworkTypeUDP6},
		CandidateTypes:         []ice.CandidateType{ice.CandidateTypeHost},
		MulticastDNSMode:       ice.MulticastDNSModeDisabled,
		IncludeLoopback:        true, // which addresses exist is our choice, see collect
		MaxBindingRequests:     &bindings,
		CheckInterval:          ptr(checkInterval),
		KeepaliveInterval:      ptr(keepalive),
		DisconnectedTimeout:    ptr(disconnectedTimeout),
		FailedTimeout:          ptr(failedTimeout),
		HostAcceptanceMinWait:  ptr(0),
		SrflxAcceptanceMinWait: ptr(0),
		PrflxAcceptanceMinWait: ptr(prflxWait),
		RelayAcceptanceMinWait: ptr(0),
		// pion's log lines carry addresses, and ours never do.
		LoggerFactory: &logging.DefaultLoggerFactory{Writer: io.Discard, DefaultLogLevel: logging.LogLevelDisabled},
	})
	if err != nil {
		a.cancel()
		return nil, fmt.Errorf("natpunch: ICE agent: %w", err)
	}
	gathered := make(chan struct{})
	err = errors.Join(
		a.ice.OnCandidate(func(c ice.Candidate) {
			if c == nil {
				close(gathered)
			}
		}),
		a.ice.OnSelectedCandidatePairChange(func(_, remote ice.Candidate) { a.selected(remote) }),
		a.ice.OnConnectionStateChange(func(s ice.ConnectionState) {
			if s == ice.ConnectionStateFailed {
				a.tell(agentEvent{agent: a, err: errICEFailed})
			}
		}),
		a.ice.GatherCandidates(),
	)
	if err == nil {
		select {
		case <-gathered:
		case <-a.ctx.Done():
			err = a.ctx.Err()
		}
	}
	if err != nil {
		a.cancel()
		_ = a.ice.GracefulClose()
		return nil, fmt.Errorf("natpunch: ICE agent: %w", err)
	}
	return a, nil
}

var errICEFailed = errors.New("natpunch: no check was answered")

func (a *agent) selected(remote ice.Candidate) {
	ip, err := netip.ParseAddr(remote.Address())
	if err != nil {
		return
	}
	a.tell(agentEvent{agent: a, remote: netip.AddrPortFrom(ip.Unmap().WithZone(""), uint16(remote.Port()))})
}

// tell never blocks close: pion waits for its callbacks then.
func (a *agent) tell(e agentEvent) {
	select {
	case a.events <- e:
	case <-a.ctx.Done():
	}
}

// start punches towards the remote candidates on a goroutine of its own. It is
// called at most once.
func (a *agent) start(controlling bool, remotes []rendezvous.Candidate) {
	a.running = make(chan struct{})
	go func() {
		defer close(a.running)
		if err := a.run(controlling, remotes); err != nil {
			a.tell(agentEvent{agent: a, err: err})
		}
	}()
}

func (a *agent) run(controlling bool, remotes []rendezvous.Candidate) error {
	for _, r := range remotes {
		c, err := remoteCandidate(r)
		if err == nil {
			err = a.ice.AddRemoteCandidate(c)
		}
		if err != nil {
			return fmt.Errorf("natpunch: remote candidate: %w", err)
		}
	}
	// AddRemoteCandidate is asynchronous. A check that came first would make
	// the candidate peer-reflexive, with a priority it should not have.
	ctx, cancel := context.WithTimeout(a.ctx, attemptTime)
	defer cancel()
	for {
		known, err := a.ice.GetRemoteCandidates()
		if err != nil {
			return fmt.Errorf("natpunch: ICE agent: %w", err)
		}
		if len(known) >= len(remotes) {
			break
		}
		select {
		case <-ctx.Done():
			return errICEFailed
		case <-time.After(time.Millisecond):
		}
	}
	connect := a.ice.Accept
	if controlling {
		connect = a.ice.Dial
	}
	// The connection pion returns carries no data of ours: records are read
	// from and written to the socket directly, so none can sit in it.
	if _, err := connect(ctx, a.mux.cred.remoteUfrag, a.mux.cred.remotePwd); err != nil {
		if a.ctx.Err() == nil {
			return errICEFailed
		}
		return err
	}
	return nil
}

func remoteCandidate(r rendezvous.Candidate) (ice.Candidate, error) {
	addr, port := r.Addr.Addr().String(), int(r.Addr.Port())
	if r.Kind == rendezvous.CandidateHost {
		return ice.NewCandidateHost(&ice.CandidateHostConfig{
			Network: "udp", Address: addr, Port: port, Component: ice.ComponentRTP,
		})
	}
	return ice.NewCandidateServerReflexive(&ice.CandidateServerReflexiveConfig{
		Network: "udp", Address: addr, Port: port, Component: ice.ComponentRTP,
		RelAddr: "0.0.0.0", RelPort: 1,
	})
}

// consentPriority is that of a peer-reflexive candidate, RFC 8445 5.1.2.1; the
// opponent's agent does not use it once a pair is selected.
const consentPriority = 110<<24 | 65535<<8 | 255

// consent sends a check of our own on a selected pair, in the manner of RFC
// 7675. Its answer is what policy.proven wants to hear: the route works both
// ways. The opponent's agent answers it like any other check.
func (a *agent) consent(controlling bool, to netip.AddrPort) {
	var role stun.Setter = ice.AttrControlled(a.tieBreaker)
	if controlling {
		role = ice.AttrControlling(a.tieBreaker)
	}
	m, err := stun.Build(stun.BindingRequest, stun.TransactionID,
		stun.NewUsername(a.mux.cred.remoteUfrag+":"+a.mux.cred.localUfrag),
		role, ice.PriorityAttr(consentPriority),
		stun.NewShortTermIntegrity(a.mux.cred.remotePwd), stun.Fingerprint)
	if err == nil {
		_ = a.mux.write(m.Raw, to)
	}
}

// close ends the agent and waits for its goroutines.
func (a *agent) close() {
	a.cancel()
	a.mux.shut()
	_ = a.ice.GracefulClose()
	if a.running != nil {
		<-a.running
	}
}
