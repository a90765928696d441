package relay

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"
)

// ErrRunning is returned by a second Run.
var ErrRunning = errors.New("relay: runs already or has run")

// Server is one relay. Its methods may be called from any goroutine.
type Server struct {
	set   settings
	clock *clock
	log   *events
	fwd   *forwarder
	hub   *hub
	cert  *certificate
	count *connCount

	endpoints []*endpoint
	admin     net.Listener

	ctx     context.Context // ends lobby connections
	cancel  context.CancelFunc
	force   chan struct{} // closed by Close
	once    sync.Once
	started atomic.Bool
	state   atomic.Int32
	probes  prober
	budget  *budget
	tunnels tunnelStats

	mu    sync.Mutex // guards ended and the first Add of conns
	ended bool
	conns sync.WaitGroup // lobby connections and their goroutines
}

const (
	stateNew int32 = iota
	stateServing
	stateDraining
	stateStopped
)

// New binds every address of c and reads or makes the relay's secret. What New returned must be run or closed. Its errors
// wrap ErrConfig, ErrListen, ErrSecret or ErrBudget.
func New(c Config) (*Server, error) {
	set, err := c.check()
	if err != nil {
		return nil, err
	}
	s := &Server{set: set, force: make(chan struct{})}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	s.clock = newClock(set.Now)
	s.log = newEvents(&s.set)
	if set.TLSCert != "" {
		if s.cert, err = loadCertificate(&s.set, s.log); err != nil {
			return nil, err
		}
	}
	sec, warning, err := loadSecret(set.StateDir)
	if err != nil {
		return nil, err
	}
	if warning != "" {
		s.log.at(zerolog.WarnLevel, evSecret).Msg(warning)
	}
	s.fwd = newForwarder(&s.set, sec, s.clock)
	s.fwd.onPanic = func(v any) { s.log.at(zerolog.ErrorLevel, evPanic).Str("value", fmt.Sprint(v)).Send() }
	s.fwd.onBind = func(channel uint32, src netip.AddrPort, moved bool) {
		s.log.at(zerolog.DebugLevel, evBind).Uint32("channel", channel).Str("source", s.log.addr(src.Addr())).Bool("moved", moved).Send()
	}
	s.hub = newHub(&s.set, sec, s.clock, s.log)
	if s.budget, err = loadBudget(set.EgressBudget, set.StateDir, set.Now()); err != nil {
		return nil, err
	}
	if s.budget.state != budgetFree {
		s.obeyBudget(s.budget.state)
	}
	s.hub.held = s.fwd.table.has
	s.hub.endpoints = s.sessionEndpoints
	s.count = &connCount{sources: make(map[netip.Prefix]int), most: set.Limits.MaxConns, perSource: 2*set.Limits.ConnsPerSource + set.Limits.TunnelsPerSource}
	if s.endpoints, err = listenAll(s.set.Listen, set.Workers); err != nil {
		return nil, err
	}
	if set.Admin != "" {
		if s.admin, err = net.Listen("tcp", set.Admin); err != nil {
			s.log.at(zerolog.WarnLevel, evAdmin).Err(err).Msg("no admin listener: /healthz, /readyz and /metrics are not served")
		}
	}
	return s, nil
}

// Addrs returns the addresses in the order of Config.Listen, with the port numbers the system picked. Each is both a UDP and
// a TCP address.
func (s *Server) Addrs() (out []netip.AddrPort) {
	for _, e := range s.endpoints {
		out = append(out, addrOf(e.tcp.Addr()))
	}
	return out
}

// Admin returns the address of the admin listener, or the zero AddrPort if there is none.
func (s *Server) Admin() netip.AddrPort {
	if s.admin == nil {
		return netip.AddrPort{}
	}
	return addrOf(s.admin.Addr())
}

// sessionEndpoints returns what a SESSION names: the public address if one is configured, and the addresses the two players
// reached the relay at, so far as the public one does not replace them. Both players are told the same.
func (s *Server) sessionEndpoints(reached ...netip.AddrPort) (out []netip.AddrPort) {
	add := func(a netip.AddrPort) {
		for _, x := range out {
			if x == a {
				return
			}
		}
		out = append(out, a)
	}
	public := s.set.public
	for _, r := range reached {
		ip := r.Addr()
		if public.Addr().IsValid() {
			port := public.Port()
			if port == 0 {
				port = r.Port()
			}
			add(netip.AddrPortFrom(public.Addr(), port))
			if ip.Is4() == public.Addr().Is4() || !ip.IsGlobalUnicast() || ip.IsPrivate() {
				continue
			}
		}
		if ip.IsValid() && ip.Zone() == "" && !ip.IsUnspecified() {
			add(r)
		}
	}
	return out
}

// enter counts a lobby connection, unless the relay has ended.
func (s *Server) enter() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended {
		return false
	}
	s.conns.Add(1)
	return true
}

type connKey struct{}

// connAddrs are the two ends of a TCP connection.
type connAddrs struct {
	remote, local netip.AddrPort
	conn          net.Conn
}

// Run serves until ctx ends, then drains: it is no longer ready, refuses new lobbies, and lets running matches go on until
// they end or Config.DrainLimit is over. Close ends it at once. Run returns nil after either, and an error only if a
// listener failed. All goroutines have ended when it returns.
func (s *Server) Run(ctx context.Context) error {
	if !s.started.CompareAndSwap(false, true) {
		return ErrRunning
	}
	var work sync.WaitGroup
	failed := make(chan error, len(s.endpoints))
	var servers []*http.Server
	for _, e := range s.endpoints {
		for _, p := range e.ports() {
			work.Go(func() { p.serve(s.fwd) })
		}
		h := s.httpServer()
		h.ConnContext = func(ctx context.Context, c net.Conn) context.Context {
			return context.WithValue(ctx, connKey{}, connAddrs{addrOf(c.RemoteAddr()), addrOf(c.LocalAddr()), c})
		}
		servers = append(servers, h)
		g := &gate{Listener: e.tcp, count: s.count, wrap: s.wrap, crowded: &s.hub.count.crowded}
		work.Go(func() {
			if err := h.Serve(g); err != nil && !errors.Is(err, http.ErrServerClosed) && !errors.Is(err, net.ErrClosed) {
				failed <- fmt.Errorf("relay: the listener on %s failed: %w", e.tcp.Addr(), err)
			}
		})
		s.log.at(zerolog.InfoLevel, evListen).Stringer("addr", e.tcp.Addr()).Bool("stun_next_port", e.next != nil).Send()
	}
	var adminServer *http.Server
	if s.admin != nil {
		adminServer = s.adminServer()
		work.Go(func() { adminServer.Serve(s.admin) })
	}
	stopSweep := make(chan struct{})
	work.Go(func() { s.sweep(stopSweep) })
	s.state.CompareAndSwap(stateNew, stateServing)
	s.log.at(zerolog.InfoLevel, evStart).Str("version", s.set.Version).Bool("stun_only", s.set.StunOnly).
		Bool("tls", s.cert != nil).Bool("token", s.set.Token != "").Send()

	var err error
	select {
	case <-ctx.Done():
		s.drain()
	case <-s.force:
	case err = <-failed:
	}
	s.state.Store(stateStopped)
	s.mu.Lock()
	s.ended = true
	s.mu.Unlock()
	s.goodbye()
	s.cancel()
	s.closeSockets()
	for _, h := range servers {
		h.Close()
	}
	if adminServer != nil {
		adminServer.Close()
	}
	close(stopSweep)
	work.Wait()
	s.conns.Wait()
	s.watchBudget()
	s.saveBudget(s.set.Now(), true)
	s.log.at(zerolog.InfoLevel, evStop).Err(err).Send()
	return err
}

func (s *Server) wrap(c net.Conn) net.Conn {
	if s.cert == nil {
		return c
	}
	return &eitherConn{Conn: c, config: s.cert.config()}
}

// Close ends the relay at once, also while Run drains: lobby connections are told, matches that need the relay lose its path.
// It does not wait for Run. It is safe to call more than once, and releases the sockets of a relay that never ran.
func (s *Server) Close() error {
	s.once.Do(func() { close(s.force) })
	if s.started.CompareAndSwap(false, true) {
		s.cancel()
		s.closeSockets()
		if s.admin != nil {
			s.admin.Close()
		}
	}
	return nil
}

func (s *Server) closeSockets() {
	for _, e := range s.endpoints {
		e.close()
	}
}

// sweepEvery is the resolution of the lobby's times; sessions are swept less often.
const (
	sweepEvery   = 250 * time.Millisecond
	sweepSession = 40 // times that
)

func (s *Server) sweep(stop <-chan struct{}) {
	t := time.NewTicker(sweepEvery)
	defer t.Stop()
	for n := 0; ; n++ {
		select {
		case <-stop:
			return
		case <-t.C:
		}
		now := s.clock.mono()
		s.hub.sweep(now)
		s.watchBudget()
		if n%sweepSession == 0 {
			s.fwd.table.sweep(now, s.clock.unix(now), int64(s.set.Limits.IdleAfter))
		}
	}
}
