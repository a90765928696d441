package natpunch

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"backstep/natpunch/rendezvous"
	"backstep/natpunch/stunguard"
)

var (
	// ErrRelayUnreachable: no relay endpoint answered a registration, neither on
	// UDP nor through a tunnel, as far as they were allowed.
	ErrRelayUnreachable = errors.New("natpunch: the relay does not answer")
	// ErrNoTunnel: only the tunnel is allowed and Config.DialTunnel is missing.
	ErrNoTunnel = errors.New("natpunch: no way to open a tunnel")
	// ErrTooLong: a packet does not fit a relay frame.
	ErrTooLong = errors.New("natpunch: packet longer than 1400 bytes")
	// ErrStarted: StartDirect was called before.
	ErrStarted = errors.New("natpunch: the direct path was started before")
	// ErrNoSignal: StartDirect needs Config.Signal.
	ErrNoSignal = errors.New("natpunch: no way to exchange candidates")
)

// directOnlyWait is how long Open waits for the relay's answer when the relay
// may not carry the match: without it only same-network candidates are known.
const directOnlyWait = time.Second

// opponent is the constant peer address of a Paths.
type opponent struct{}

func (opponent) Network() string { return "backstep" }
func (opponent) String() string  { return "opponent" }

// Paths is the path manager: a net.PacketConn to the one opponent which sends
// over the relay or directly. All methods may be called by any goroutine.
// ReadFrom, WriteTo, Plan, Select and Authenticated allocate nothing if the
// socket is a *net.UDPConn.
//
// It runs a reader and a timer goroutine, three for a tunnel, one for a
// PortMapper, and those of ICE after StartDirect.
// Close ends all of them and waits.
type Paths struct {
	cfg      Config
	loopback bool // the relay, and so the opponent, is on this machine
	drops    Drops
	sock     *socket
	queue    *queue

	selected   atomic.Uint32
	relayAddr  atomic.Pointer[netip.AddrPort]
	directAddr atomic.Pointer[netip.AddrPort]
	mux        atomic.Pointer[iceMux]
	tun        atomic.Pointer[tunnelRoute] // while the relay route is over TCP

	writing sync.Mutex
	framed  [rendezvous.MaxFrame]byte

	mu     sync.Mutex
	locals []netip.Addr
	policy *policy
	reg    *registration
	refl   *reflexive // nil while the address is hidden
	// second asks the relay in the other address family, if it has one: an
	// opponent may have only that. Nil like refl.
	second   *reflexive
	direct   directState
	tunneled tunneled
	mapped   netip.AddrPort // outside port the router gave us, invalid for none
	seenAs   netip.AddrPort // our outside address at the last registration
	askedAt  int64          // when the relay was last asked because its route was silent
	asks     int            // how often since it was heard

	registered chan struct{}
	kick       chan struct{}
	ctx        context.Context
	cancel     context.CancelFunc
	group      sync.WaitGroup
	once       sync.Once
}

// Open takes over cfg.Conn, registers at the relay, over TCP too if UDP is not
// answered within 400 ms, and returns once the relay route stands. It gives up with ErrRelayUnreachable when ctx ends before that.
// If the relay may not carry the match, Open waits for it 1 s at most.
func Open(ctx context.Context, cfg Config) (*Paths, error) {
	conn := cfg.Conn
	cfg, err := cfg.withDefaults()
	if err == nil && cfg.Allowed == AllowTunnel && cfg.DialTunnel == nil {
		err = ErrNoTunnel
	}
	if err != nil {
		if conn != nil {
			_ = conn.Close()
		}
		return nil, err
	}
	now := cfg.Clock()
	p := &Paths{
		cfg:        cfg,
		loopback:   cfg.Relay[0].Addr().IsLoopback(),
		policy:     newPolicy(cfg.Interval.Microseconds()),
		reg:        newRegistration(&cfg, uint64(time.Now().UnixMicro()), now),
		registered: make(chan struct{}),
		kick:       make(chan struct{}, 1),
	}
	p.locals = cfg.Locals(p.loopback)
	p.queue = newQueue(&p.drops)
	p.sock = newSocket(cfg.Conn, (*demux)(p), &p.drops)
	p.selected.Store(uint32(Relay))
	if !p.carries() {
		p.selected.Store(uint32(Direct))
	}
	if cfg.Allowed&AllowTunnel != 0 && cfg.DialTunnel != nil {
		p.tunneled.poke = make(chan struct{}, 1)
	}
	if cfg.Allowed&AllowRelay == 0 && p.carries() {
		// The binding at the relay belongs to the tunnel; UDP only asks for its
		// outside address.
		p.reg.off = true
		if !cfg.Hide {
			p.refl = newReflexive(cfg.Relay[0], now)
		}
	}
	p.ctx, p.cancel = context.WithCancel(context.Background())
	p.sock.start()
	p.group.Add(1)
	go p.keep()
	if p.tunneled.poke != nil {
		p.group.Add(1)
		go p.runTunnel()
	}
	p.mapPort()
	wait := ctx
	if !p.carries() {
		var cancel context.CancelFunc
		wait, cancel = context.WithTimeout(ctx, directOnlyWait)
		defer cancel()
	}
	select {
	case <-p.registered:
	case <-wait.Done():
		if err := ctx.Err(); err != nil || p.carries() {
			_ = p.Close()
			if p.tunneled.err != nil {
				return nil, fmt.Errorf("%w on UDP, nor over TCP: %w: %w", ErrRelayUnreachable, p.tunneled.err, wait.Err())
			}
			return nil, fmt.Errorf("%w: %w", ErrRelayUnreachable, wait.Err())
		}
	}
	return p, nil
}

// otherFamily is the first endpoint of the relay in the other address family
// than relay's.
func otherFamily(all []netip.AddrPort, relay netip.AddrPort) netip.AddrPort {
	for _, a := range all {
		if a.Addr().Is4() != relay.Addr().Is4() {
			return a
		}
	}
	return netip.AddrPort{}
}

// carries reports whether the relay may carry the match, over UDP or TCP.
func (p *Paths) carries() bool {
	return p.cfg.Allowed&AllowRelay != 0 || p.cfg.Allowed&AllowTunnel != 0 && p.cfg.DialTunnel != nil
}

// demux is how the socket sees a Paths.
type demux Paths

func (d *demux) stun(b []byte, from netip.AddrPort) {
	p := (*Paths)(d)
	p.mu.Lock()
	ours := p.refl != nil && p.refl.receive(b, from) || p.second != nil && p.second.receive(b, from)
	p.mu.Unlock()
	if ours {
		return
	}
	mux := p.mux.Load()
	if mux == nil {
		p.drops.add(DropSTUNUnexpected)
		return
	}
	if stunguard.Check(b) != nil {
		p.drops.add(DropSTUNMalformed)
		return
	}
	mux.inbound(b, from)
}

func (d *demux) dtls(b []byte, from netip.AddrPort) {
	p := (*Paths)(d)
	mux := p.mux.Load()
	if mux == nil {
		p.drops.add(DropDTLSSource)
		return
	}
	if mux.record(b, from) {
		p.take(Direct, b, p.cfg.Clock())
	}
}

func (d *demux) frame(b []byte, from netip.AddrPort) {
	p := (*Paths)(d)
	if b[0] != rendezvous.FrameData {
		p.mu.Lock()
		acked, why, ok := p.reg.receive(b, from, p.cfg.Clock())
		if acked {
			p.onRegistered()
		}
		p.mu.Unlock()
		if ok {
			p.wakeKeeper()
		} else {
			p.drops.add(why)
		}
		return
	}
	relay := p.relayAddr.Load()
	if relay == nil || *relay != from {
		p.drops.add(DropRelaySource)
		return
	}
	p.relayed(b)
}

// relayed takes a DATA frame of the relay.
func (p *Paths) relayed(b []byte) {
	channel, payload, err := rendezvous.ParseData(b)
	switch {
	case err != nil:
		p.drops.add(DropRelayMalformed)
	case channel != p.cfg.Channel:
		p.drops.add(DropRelayChannel)
	case !isDTLS(payload[0]) || !p.carries():
		p.drops.add(DropRelayPayload)
	default:
		p.take(Relay, payload, p.cfg.Clock())
	}
}

// take hands a record to DTLS.
func (p *Paths) take(m Mask, b []byte, now int64) {
	p.mu.Lock()
	p.policy.raw(m, now)
	p.mu.Unlock()
	p.queue.push(b)
}

// onRegistered runs with the lock held after every ACK on UDP.
func (p *Paths) onRegistered() {
	now := p.cfg.Clock()
	p.leaveTunnel()
	relay := p.reg.relay()
	moved := p.seenAs.IsValid() && p.seenAs != p.reg.mapped
	p.seenAs = p.reg.mapped
	if moved {
		p.direct.movedAt = now
	}
	if old := p.relayAddr.Load(); old == nil || *old != relay || moved {
		p.relayAddr.Store(&relay)
		if !p.cfg.Hide {
			p.refl = newReflexive(relay, now) // what it saw before is history
			p.second = nil
			if o := otherFamily(p.cfg.Relay, relay); o.IsValid() {
				p.second = newReflexive(o, now)
			}
		}
	}
	if p.cfg.Allowed&AllowRelay != 0 {
		p.policy.setUp(Relay, now)
	}
	p.ready()
}

// ready makes Open return. Runs with the lock held.
func (p *Paths) ready() {
	select {
	case <-p.registered:
	default:
		close(p.registered)
	}
}

func (p *Paths) wakeKeeper() {
	select {
	case p.kick <- struct{}{}:
	default:
	}
}

// The relay is asked anew when its route is silent: a NAT may have forgotten us,
// or the relay was restarted. While packets should come over it that is soon,
// because asking costs one datagram; while it only carries a probe a second it
// takes longer to tell. Silence that goes on is asked about ever less often.
const (
	relayProbeSilence = 3 * relayProbe
	unheardSilence    = 1_000_000
	maxAskPause       = 2_000_000
	keeperStep        = 20_000 // how closely silence is watched
)

// keep drives registration and STUN client.
func (p *Paths) keep() {
	defer p.group.Done()
	timer := time.NewTimer(0)
	defer timer.Stop()
	var buf [max(rendezvous.RegSize, stunguard.RequestSize)]byte
	for {
		select {
		case <-p.ctx.Done():
			return
		case <-p.kick:
		case <-timer.C:
		}
		for {
			now := p.cfg.Clock()
			p.mu.Lock()
			p.watchRelay(now)
			p.watchTunnel(now)
			if p.second != nil && now-p.second.askedAt > reregisterEvery {
				p.second.again(now) // nothing else keeps a NAT's mapping of that family in mind
			}
			p.wantTunnel(now)
			b, to, wake := p.reg.poll(buf[:0], now)
			for _, r := range [...]*reflexive{p.refl, p.second} {
				if len(b) != 0 || r == nil {
					continue
				}
				var next int64
				if b, to, next = r.poll(buf[:0], now); next != 0 {
					wake = min(wake, next)
				}
			}
			p.mu.Unlock()
			if len(b) == 0 {
				timer.Reset(time.Duration(min(wake-now, keeperStep)) * time.Microsecond)
				break
			}
			_ = p.sock.send(b, to)
		}
	}
}

// watchRelay asks the relay anew when its route fell silent, judged by what was
// decrypted. Runs with the lock held.
func (p *Paths) watchRelay(now int64) {
	r := &p.policy.relay
	t := p.tun.Load()
	if t == nil && !p.reg.registered {
		return
	}
	if r.last > p.askedAt {
		p.asks = 0
	}
	limit := int64(relayProbeSilence)
	switch silence := p.policy.silence(); {
	case !r.heard: // the handshake runs; its packets are not counted here
		limit = unheardSilence
	case p.policy.primary == Relay:
		limit = silence * 3 / 2
	case p.policy.quiet(now) > silence:
		limit = silence // both routes are in use: the other one is not heard either
	}
	limit = max(limit, min(limit<<min(p.asks, 6), maxAskPause))
	since := max(r.last, p.askedAt)
	if !r.heard {
		since = max(since, p.reg.ackedAt)
	}
	if now-since <= limit {
		return
	}
	p.askedAt = now
	p.asks++
	if t == nil {
		p.reg.begin(now)
	} else if t.asked == 0 {
		p.askTunnel(t, now)
	}
}

// ReadFrom returns the next record the opponent may have sent. The address is
// always Peer.
func (p *Paths) ReadFrom(b []byte) (int, net.Addr, error) {
	n, err := p.queue.pop(b)
	if err != nil {
		return 0, nil, err
	}
	return n, opponent{}, nil
}

// WriteTo sends b, 1 to 1400 bytes, on the selected route; the address is
// ignored. While the route does not exist the packet is lost and counted.
func (p *Paths) WriteTo(b []byte, _ net.Addr) (int, error) {
	if len(b) > rendezvous.MaxData {
		return 0, ErrTooLong
	}
	if p.ctx.Err() != nil {
		return 0, net.ErrClosed
	}
	var err error
	if Mask(p.selected.Load()) == Direct {
		to := p.directAddr.Load()
		if to == nil {
			p.drops.add(DropNoRoute)
			return len(b), nil
		}
		err = p.sock.send(b, *to)
	} else {
		t, to := p.tun.Load(), p.relayAddr.Load()
		if t == nil && (to == nil || p.cfg.Allowed&AllowRelay == 0) {
			p.drops.add(DropNoRoute)
			return len(b), nil
		}
		p.writing.Lock()
		frame := rendezvous.AppendData(p.framed[:0], p.cfg.Channel, b)
		if t == nil {
			err = p.sock.send(frame, *to)
		} else if t.out.push(frame) {
			p.drops.add(DropTunnelQueue)
		}
		p.writing.Unlock()
	}
	if err != nil {
		return 0, err
	}
	return len(b), nil
}

// Plan returns the routes for the next packet, at least one. now is in
// microseconds of Config.Clock.
func (p *Paths) Plan(now int64) Mask {
	p.mu.Lock()
	defer p.mu.Unlock()
	if m := p.policy.plan(now); m != 0 {
		return m
	}
	if !p.carries() {
		return Direct
	}
	return Relay
}

// Select routes the WriteTo calls that follow. m has one bit; anything else is
// ignored.
func (p *Paths) Select(m Mask) {
	if m == Relay || m == Direct {
		p.selected.Store(uint32(m))
	}
}

// Authenticated reports that a packet was decrypted which says it was sent on
// route m, and when it arrived. Nothing else keeps a route alive.
func (p *Paths) Authenticated(m Mask, at int64) {
	if m != Relay && m != Direct {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.policy.authenticated(m, at)
}

// Now reads Config.Clock, the time base of Plan and Authenticated.
func (p *Paths) Now() int64 { return p.cfg.Clock() }

// Peer is the constant address of the opponent.
func (p *Paths) Peer() net.Addr { return opponent{} }

// LocalAddr is the address of the socket.
func (p *Paths) LocalAddr() net.Addr { return p.cfg.Conn.LocalAddr() }

// SetDeadline sets the read deadline; writes wait 20 ms at most.
func (p *Paths) SetDeadline(t time.Time) error { return p.SetReadDeadline(t) }

// SetReadDeadline sets when ReadFrom gives up, also one that is blocked now.
func (p *Paths) SetReadDeadline(t time.Time) error {
	if p.ctx.Err() != nil {
		return net.ErrClosed
	}
	p.queue.setDeadline(t)
	return nil
}

// SetWriteDeadline does nothing: every write has its own.
func (p *Paths) SetWriteDeadline(time.Time) error { return nil }

// Close ends both routes and the socket and waits for all goroutines. It says
// nothing to the opponent. Further calls do nothing.
func (p *Paths) Close() error {
	p.once.Do(func() {
		p.cancel()
		p.queue.close()
		p.sock.close()
		p.group.Wait()
	})
	return nil
}
