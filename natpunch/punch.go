package natpunch

import (
	"context"
	"net"
	"net/netip"
	"slices"
	"time"

	"backstep/natpunch/rendezvous"
)

// Timing of attempts at a direct path.
const (
	healthStep = 250 * time.Millisecond
	// consentEvery a check of our own goes out on a route in use; on one that
	// is not primary, and so waits to be proven, every healthStep.
	consentEvery = time.Second
	// deadAfter a direct route without an authenticated arrival is sought anew.
	deadAfter = 3 * time.Second
	// movedAfter is that time once our own address is known to have changed.
	movedAfter = 500 * time.Millisecond
	// stableAfter a route that held this long, failures before it are history.
	stableAfter = 30 * time.Second
	// beginGap bounds how fast an opponent can make us throw agents away.
	beginGap = 250 * time.Millisecond
	// joinerDelay lets the host lead, so that both sides seldom begin at once.
	joinerDelay = 500 * time.Millisecond
)

// retryAfter is the pause after the n-th failed attempt in a row. The third is
// longer than the 30 s for which a Linux router remembers a packet that came too
// early and that it took for its own: such a router gives out another port until
// then, and every attempt meanwhile starts the 30 s anew.
var retryAfter = [...]time.Duration{2 * time.Second, 5 * time.Second, 35 * time.Second, time.Minute}

// StartDirect begins to look for a direct path beside the running link and
// returns at once. Both sides call it once both accepted. It goes on until ctx
// ends or the Paths is closed: a path that is lost, or was not found, is sought
// again in the background with growing pauses.
//
//	begin G: new agent and credentials, send CANDIDATES G
//	   |  CANDIDATES G of the opponent (a higher G makes us begin that one)
//	   v
//	host: send GO, start half a lobby round trip later      joiner: start on GO
//	   |
//	   +-- an ICE check was answered and the pair selected --> direct route up
//	   |        silent for 3 s --> begin G+1
//	   +-- nothing within 4 s --> begin G+1 after 2, 5, 35, 60 s
//
// While addresses are hidden it sends nothing and only passes sealed messages
// on to Config.Other.
func (p *Paths) StartDirect(ctx context.Context) error {
	if p.ctx.Err() != nil {
		return net.ErrClosed
	}
	if p.cfg.Signal == nil {
		return ErrNoSignal
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.direct.stage != stageIdle {
		return ErrStarted
	}
	p.direct.stage, p.direct.startedAt = stageWaiting, p.cfg.Clock()
	ctx, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(p.ctx, cancel)
	q := &puncher{
		p: p, ctx: ctx,
		inbox:  make(chan signal, 8),
		events: make(chan agentEvent, 8),
	}
	p.group.Add(2)
	go func() {
		defer p.group.Done()
		q.listen()
	}()
	go func() {
		defer p.group.Done()
		defer stop()
		defer cancel()
		q.run()
	}()
	return nil
}

// signal is one message of the lobby, or its end.
type signal struct {
	typ  byte
	body []byte
	err  error
}

// puncher owns the ICE agents. One goroutine runs it.
type puncher struct {
	p      *Paths
	ctx    context.Context
	inbox  chan signal
	events chan agentEvent

	agent      *agent
	generation uint32
	own        []rendezvous.Candidate
	theirs     []rendezvous.Candidate
	haveTheirs bool
	started    bool
	connected  time.Time // zero while not connected
	began      time.Time
	asked      time.Time // last consent check
	looked     time.Time // when the addresses of this machine were looked at
	startAt    time.Time // when set: start the agent then
	beginAt    time.Time // when set: begin the next generation then
	failures   int
	deaf       bool // the lobby is gone
}

// listen reads the lobby until it ends.
func (q *puncher) listen() {
	for {
		typ, body, err := q.p.cfg.Signal.Recv(q.ctx)
		if err == nil && typ != MessageCandidates && typ != MessageGo {
			if q.p.cfg.Other != nil {
				q.p.cfg.Other(typ, body)
			}
			continue
		}
		if err == nil && q.p.cfg.Hide {
			q.p.drops.add(DropSignalStale)
			continue
		}
		select {
		case q.inbox <- signal{typ, body, err}:
		case <-q.ctx.Done():
			return
		}
		if err != nil {
			return
		}
	}
}

func (q *puncher) run() {
	defer q.stop()
	if q.p.cfg.Hide {
		q.stage(stageHidden)
	} else {
		q.begin(0)
	}
	timer := time.NewTimer(healthStep)
	defer timer.Stop()
	for {
		timer.Reset(q.next())
		select {
		case <-q.ctx.Done():
			return
		case s := <-q.inbox:
			q.onSignal(s)
		case e := <-q.events:
			q.onEvent(e)
		case <-timer.C:
		}
		q.onTime(time.Now())
	}
}

// next is how long to sleep at most.
func (q *puncher) next() time.Duration {
	d := healthStep
	for _, t := range [...]time.Time{q.startAt, q.beginAt} {
		if !t.IsZero() {
			d = min(d, max(0, time.Until(t)))
		}
	}
	return d
}

func (q *puncher) stage(s stage) {
	q.p.mu.Lock()
	defer q.p.mu.Unlock()
	q.p.direct.stage = s
}

// stop ends the agent of the current generation and with it the direct route.
func (q *puncher) stop() {
	p := q.p
	p.mux.Store(nil)
	p.directAddr.Store(nil)
	p.mu.Lock()
	p.policy.setDown(Direct, p.cfg.Clock())
	p.mu.Unlock()
	if q.agent != nil {
		q.agent.close()
		q.agent = nil
	}
	q.connected, q.startAt = time.Time{}, time.Time{}
}

// begin throws the agent away and offers candidates of generation g.
func (q *puncher) begin(g uint32) {
	p := q.p
	q.stop()
	q.generation, q.began, q.beginAt = g, time.Now(), time.Time{}
	q.theirs, q.haveTheirs, q.started = nil, false, false

	locals := p.cfg.Locals(p.loopback)
	p.mu.Lock()
	p.locals = locals
	var seen []netip.AddrPort
	if p.refl != nil {
		seen = p.refl.addresses(p.reg.mapped)
	} else if p.reg.registered {
		seen = []netip.AddrPort{p.reg.mapped}
	}
	if p.second != nil {
		seen = append(seen, p.second.addresses(netip.AddrPort{})...)
	}
	extra := p.extras(g)
	p.direct.generation = g
	if p.direct.stage != stageLost && p.direct.stage != stageFailed {
		p.direct.stage = stageWaiting // a retry does not hide why the first attempt failed
	}
	p.mu.Unlock()
	found := collect(p.LocalAddr(), locals, p.loopback, p.cfg.Allowed, seen)
	found.list = append(found.list, extra...)
	q.own = found.list

	mux := &iceMux{
		bases:  found.bases,
		send:   p.sock.send,
		permit: func(a netip.Addr) bool { return offerable(a, p.loopback) && p.cfg.Allowed.permits(a) },
		accept: func(b []byte, _ netip.AddrPort) { p.take(Direct, b, p.cfg.Clock()) },
		proven: q.proven,
		drop:   p.drops.add,
	}
	mux.cred.localUfrag, mux.cred.localPwd = p.cfg.Credentials(p.cfg.Side, g)
	mux.cred.remoteUfrag, mux.cred.remotePwd = p.cfg.Credentials(p.cfg.Side.Other(), g)
	agent, err := newAgent(q.ctx, g, mux, q.events)
	if err != nil {
		q.fail(err)
		return
	}
	q.agent = agent
	p.mux.Store(mux)
	body := rendezvous.AppendCandidates(nil, &rendezvous.Candidates{Generation: g, List: found.list})
	if err := p.cfg.Signal.Send(MessageCandidates, body); err != nil {
		q.lobbyGone()
		return
	}
	p.cfg.Log.Debug().Uint32("generation", g).Int("candidates", len(found.list)).Msg("offered candidates")
}

// proven runs on the reader goroutine when an ICE check was answered.
func (q *puncher) proven(from netip.AddrPort) {
	p := q.p
	if a := p.directAddr.Load(); a != nil && *a == from {
		p.mu.Lock()
		p.policy.proven(p.cfg.Clock())
		p.mu.Unlock()
	}
}

func (q *puncher) onSignal(s signal) {
	switch {
	case s.err != nil:
		q.lobbyGone()
	case s.typ == MessageGo:
		if q.p.cfg.Side == rendezvous.SideJoin && q.haveTheirs && len(s.body) == 0 {
			q.startAt = time.Now()
		} else {
			q.p.drops.add(DropSignalStale)
		}
	case s.typ == MessageCandidates:
		var c rendezvous.Candidates
		if rendezvous.ParseCandidates(s.body, &c) != nil {
			q.p.drops.add(DropSignalMalformed)
			return
		}
		if c.Generation > q.generation {
			// The lobby buffers meanwhile, so a flood waits, not we.
			if wait := beginGap - time.Since(q.began); wait > 0 && !q.sleep(wait) {
				return
			}
			q.begin(c.Generation)
		}
		if c.Generation != q.generation || q.haveTheirs || q.agent == nil {
			q.p.drops.add(DropSignalStale)
			return
		}
		q.onCandidates(c)
	}
}

func (q *puncher) sleep(d time.Duration) bool {
	select {
	case <-q.ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}

func (q *puncher) onCandidates(c rendezvous.Candidates) {
	p := q.p
	q.haveTheirs = true
	q.theirs = usable(c.List, p.loopback, p.cfg.Allowed)
	p.mu.Lock()
	p.direct.theirs = q.theirs
	p.direct.ownSymmetric = symmetricNAT(q.own)
	p.direct.theirSymmetric = symmetricNAT(c.List)
	if p.direct.stage == stageWaiting {
		p.direct.stage = stageChecking
	}
	p.mu.Unlock()
	if p.cfg.Side != rendezvous.SideHost {
		return
	}
	if err := p.cfg.Signal.Send(MessageGo, nil); err != nil {
		q.lobbyGone()
		return
	}
	q.startAt = time.Now().Add(p.cfg.SignalRTT / 2)
}

func (q *puncher) onTime(now time.Time) {
	if !q.startAt.IsZero() && !now.Before(q.startAt) {
		q.startAt = time.Time{}
		if q.agent != nil && !q.started {
			q.started = true
			q.agent.start(q.p.cfg.Side == rendezvous.SideHost, q.theirs)
		}
	}
	if !q.beginAt.IsZero() && !now.Before(q.beginAt) {
		q.beginAt = time.Time{}
		if !q.deaf {
			q.begin(q.generation + 1)
		}
	}
	if q.connected.IsZero() {
		if q.mappedLate(now) {
			q.begin(q.generation + 1)
		}
		return
	}
	if now.Sub(q.connected) > stableAfter {
		q.failures = 0
	}
	q.look(now)
	if q.dead() {
		q.lost()
		return
	}
	q.consent(now)
}

func (q *puncher) consent(now time.Time) {
	p := q.p
	p.mu.Lock()
	pause := consentEvery
	if p.policy.primary != Direct {
		pause = healthStep
	}
	// The joiner's agent checks back whenever it is asked, which is proof too.
	fresh := p.cfg.Clock()-p.policy.direct.proven < pause.Microseconds()
	p.mu.Unlock()
	if to := p.directAddr.Load(); to != nil && !fresh && now.Sub(q.asked) >= pause {
		q.asked = now
		q.agent.consent(p.cfg.Side == rendezvous.SideHost, *to)
	}
}

// dead reports a direct route that traffic should use and does not come through.
func (q *puncher) dead() bool {
	p := q.p
	p.mu.Lock()
	defer p.mu.Unlock()
	d := &p.policy.direct
	if !d.up || !p.policy.running || p.policy.primary == Direct && !p.policy.relay.up {
		return false
	}
	alive := max(d.last, p.direct.connectedAt, p.policy.started)
	if p.policy.relay.heard && p.policy.relay.last <= alive {
		return false // the opponent is silent everywhere: nothing is known
	}
	silent := time.Duration(p.cfg.Clock()-alive) * time.Microsecond
	return p.policy.relay.heard && (silent > deadAfter || silent > movedAfter && p.direct.movedAt > alive-movedAfter.Microseconds())
}

// look notices that this machine has other addresses than those it offered,
// while the direct route is silent: then a new one need not be waited for.
func (q *puncher) look(now time.Time) {
	p := q.p
	p.mu.Lock()
	d := &p.policy.direct
	quiet := d.up && p.policy.running && p.cfg.Clock()-max(d.last, p.direct.connectedAt) > movedAfter.Microseconds()/2
	old := p.locals
	p.mu.Unlock()
	if !quiet || now.Sub(q.looked) < movedAfter {
		return
	}
	q.looked = now
	if locals := p.cfg.Locals(p.loopback); !slices.Equal(locals, old) {
		p.mu.Lock()
		p.locals = locals
		p.direct.movedAt = p.cfg.Clock()
		p.reg.begin(p.direct.movedAt)
		p.mu.Unlock()
		p.wakeKeeper()
		p.cfg.Log.Info().Msg("the addresses of this machine have changed")
	}
}

func (q *puncher) onEvent(e agentEvent) {
	if e.agent != q.agent || q.agent == nil {
		return
	}
	if e.err != nil {
		if q.connected.IsZero() {
			q.fail(e.err)
		} else {
			q.lost()
		}
		return
	}
	p := q.p
	now := p.cfg.Clock()
	p.directAddr.Store(&e.remote)
	p.mu.Lock()
	p.policy.setUp(Direct, now)
	first := q.connected.IsZero()
	if first {
		p.direct.connectedAt = now
		if p.direct.firstAt == 0 {
			p.direct.firstAt = now
		}
	}
	p.direct.stage = stageConnected
	p.direct.kind = classify(e.remote, q.theirs, p.locals)
	p.direct.here = slices.Contains(p.locals, e.remote.Addr())
	p.direct.remoteKind = candidateKind(e.remote, q.theirs)
	kind := p.direct.kind
	p.mu.Unlock()
	if first {
		q.connected = time.Now()
		p.cfg.Log.Info().Str("path", kind.String()).Uint32("generation", q.generation).Msg("direct path found")
	}
}

// fail ends an attempt that found nothing.
func (q *puncher) fail(err error) {
	q.stop()
	q.stage(stageFailed)
	q.p.cfg.Log.Info().Err(err).Uint32("generation", q.generation).Msg("no direct path")
	q.retry(retryAfter[min(q.failures, len(retryAfter)-1)])
	q.failures++
}

// lost gives up a direct route that worked and seeks a new one: at once the
// first time, with growing pauses if it keeps dying.
func (q *puncher) lost() {
	q.stop()
	q.stage(stageLost)
	q.p.cfg.Log.Info().Uint32("generation", q.generation).Msg("direct path lost")
	pause := time.Duration(0)
	if q.failures > 0 {
		pause = retryAfter[min(q.failures, len(retryAfter))-1]
	}
	q.retry(pause)
	q.failures++
}

func (q *puncher) retry(pause time.Duration) {
	if q.p.cfg.Side == rendezvous.SideJoin {
		pause += joinerDelay
	}
	q.beginAt = time.Now().Add(pause)
}

// lobbyGone: what stands goes on, but nothing new can be agreed on.
func (q *puncher) lobbyGone() {
	q.deaf = true
	q.p.mu.Lock()
	if q.p.direct.lobbyGone == 0 {
		q.p.direct.lobbyGone = q.p.cfg.Clock()
	}
	q.p.mu.Unlock()
}
