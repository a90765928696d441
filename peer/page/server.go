package page

import (
	"context"
	"crypto/rand"
	"encoding/hex"
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

// ErrAddr is wrapped by the error of New for an address that is not this
// machine's own.
var ErrAddr = errors.New("the page can only be served on this machine's own loopback address")

// Config says how to serve the page.
type Config struct {
	Addr  string // HOST:PORT, a loopback host; port 0 takes any
	Build string
	Now   func() int64 // µs, monotonic
	Log   zerolog.Logger
}

const (
	commandRoom = 32
	maxViewers  = 3
)

// Server is the page's side of this process. Its methods may be called from
// any goroutine and never wait for a browser. Snapshot and Words do not
// allocate.
type Server struct {
	cfg      Config
	listener net.Listener
	http     http.Server
	token    string
	hosts    map[string]bool
	data     []byte
	words    Words
	commands chan Command
	group    sync.WaitGroup
	ctx      context.Context
	cancel   context.CancelFunc
	greeting time.Duration // how long a tab may take to say HELLO

	mu        sync.Mutex
	player    *tab
	viewers   map[*tab]bool
	seq       uint64
	last      [outTypes][]byte // what a new tab is told: settings and screen
	lastHead  [maxSnapshotHead]byte
	lastTail  [maxSnapshotTail]byte
	lastHeadN int
	lastTailN int
	opened    time.Time // when a player was last here
	hadPlayer bool

	tabs   atomic.Int32
	counts counters
}

// counters are what was refused, for logs and tests.
type counters struct {
	host, origin, framed, token, second, malformed, dropped atomic.Int64
}

// New binds the listener and draws the token. Serve with Run.
func New(cfg Config) (*Server, error) {
	host, _, err := net.SplitHostPort(cfg.Addr)
	if err != nil {
		return nil, fmt.Errorf("%w: %q is not HOST:PORT", ErrAddr, cfg.Addr)
	}
	if ip, err := netip.ParseAddr(host); host != "localhost" && (err != nil || !ip.IsLoopback()) {
		return nil, fmt.Errorf("%w, not %q; from elsewhere use a tunnel such as ssh -L", ErrAddr, host)
	}
	l, err := net.Listen("tcp", cfg.Addr)
	if err != nil {
		return nil, err
	}
	data, err := staticData(cfg.Build)
	if err != nil {
		_ = l.Close()
		return nil, err
	}
	var raw [16]byte
	_, _ = rand.Read(raw[:]) // never fails
	s := &Server{
		cfg: cfg, listener: l, token: hex.EncodeToString(raw[:]), data: data,
		commands: make(chan Command, commandRoom), viewers: map[*tab]bool{}, hosts: map[string]bool{},
		greeting: helloLimit,
	}
	s.words.now = cfg.Now
	_, port, _ := net.SplitHostPort(l.Addr().String())
	for _, h := range []string{"127.0.0.1", "localhost", "::1", host} {
		s.hosts[net.JoinHostPort(h, port)] = true
	}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	s.http = http.Server{
		Handler: s.guard(s.routes()), ReadHeaderTimeout: 5 * time.Second, IdleTimeout: 30 * time.Second, MaxHeaderBytes: 16 << 10,
		ErrorLog: nil,
	}
	return s, nil
}

// URL is where the page is, with this run's token in the fragment.
func (s *Server) URL() string { return "http://" + s.listener.Addr().String() + "/#" + s.token }

// Run serves until Close. It returns once every connection has ended.
func (s *Server) Run() error {
	err := s.http.Serve(s.listener)
	s.group.Wait()
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

// Goodbye waits until the tabs have fetched what was shown last, at most that
// long.
func (s *Server) Goodbye(most time.Duration) {
	for end := time.Now().Add(most); time.Now().Before(end) && !s.drained(); {
		time.Sleep(5 * time.Millisecond)
	}
}

func (s *Server) drained() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.player != nil && !s.player.box.empty() {
		return false
	}
	for v := range s.viewers {
		if !v.box.empty() {
			return false
		}
	}
	return true
}

// Close ends all connections with a word of goodbye and the listener.
func (s *Server) Close() {
	s.cancel()
	_ = s.http.Close()
}

// Commands are what the player asked for. When nobody reads, further ones are
// dropped and counted.
func (s *Server) Commands() <-chan Command { return s.commands }

// Words are the player's input.
func (s *Server) Words() *Words { return &s.words }

// Connected tells whether a player's tab is connected, and since or until when.
func (s *Server) Connected() (now bool, ever bool, changed time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.player != nil, s.hadPlayer, s.opened
}

// Show replaces the screen.
func (s *Server) Show(screen *Screen) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seq++
	b, err := screen.append(s.seq)
	if err != nil {
		s.cfg.Log.Error().Str("event", "page_encode").Err(err).Msg("a screen could not be encoded")
		return
	}
	if screen.Fight == nil && screen.Train == nil && screen.Theatre == nil && screen.Desync == nil {
		s.lastHeadN = 0
	}
	s.publish(b)
}

// Settings tells the page its settings.
func (s *Server) Settings(v *Settings) { s.send(outSettings, v) }

// Net tells the page the figures of the connection.
func (s *Server) Net(v *Net) { s.send(outNet, v) }

// Talk tells the page what the players said, whole.
func (s *Server) Talk(v *Talk) { s.send(outTalk, v) }

// Notice shows a sentence for a while; kind is info or warn.
func (s *Server) Notice(kind, text string) {
	s.send(outNotice, map[string]string{"kind": kind, "text": text})
}

// File hands the player a file to save. The name is ours, never an opponent's.
func (s *Server) File(name string, body []byte) {
	b := append([]byte{outFile, byte(len(name))}, name...)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.player != nil {
		s.player.box.put(append(b, body...))
	}
}

func (s *Server) send(t byte, v any) {
	b, err := appendJSON(t, v)
	if err != nil {
		s.cfg.Log.Error().Str("event", "page_encode").Err(err).Msg("a message could not be encoded")
		return
	}
	s.mu.Lock()
	s.publish(b)
	s.mu.Unlock()
}

// publish is called with the lock held.
func (s *Server) publish(b []byte) {
	if t := b[0]; t == outScreen || t == outSettings || t == outTalk {
		s.last[t] = b
	}
	if s.player != nil {
		s.player.box.put(b)
	}
	for v := range s.viewers {
		v.box.put(b)
	}
}

// Snapshot replaces the picture. It copies what it needs.
func (s *Server) Snapshot(snap *Snapshot) {
	s.mu.Lock()
	defer s.mu.Unlock()
	head := snap.appendHead(s.lastHead[:0])
	tail := snap.appendTail(s.lastTail[:0])
	s.lastHeadN, s.lastTailN = len(head), len(tail)
	if s.player != nil {
		s.player.box.snapshot(head, tail, snap)
	}
	for v := range s.viewers {
		v.box.snapshot(head, tail, snap)
	}
}
