package lobby

import (
	"context"
	"crypto/rand"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"

	"backstep/natpunch/rendezvous"
)

// scripted is a small relay that tests can make hostile: edit sees every message
// before it leaves, and may alter, drop or multiply it. It listens on pipes in
// memory, so that tests run in virtual time.
type scripted struct {
	token  string
	status int // refuse the request with this HTTP status
	ttl    uint16
	// edit returns what is sent to that side in place of b.
	edit func(to rendezvous.Side, b []byte) [][]byte
	// join answers a JOIN with an error before anything else happens, if not 0.
	join func(n int) rendezvous.ErrorCode
	// deafJoin leaves joins without an answer.
	deafJoin bool
	// runLife ends runs without SHARE_B after that time, if not 0.
	runLife time.Duration

	ln  *pipeListener
	srv *http.Server

	mu        sync.Mutex
	lobby     rendezvous.LobbyID
	lookup    rendezvous.Lookup
	resume    rendezvous.ResumeToken
	host      *websocket.Conn
	joiners   map[uint32]*websocket.Conn
	last      uint32
	taken     uint32
	confirmed uint32
	joins     int
	lobbies   int
	seen      map[rendezvous.Type]int // messages received
	auth      []string
	conns     []*websocket.Conn
}

func newScripted(t *testing.T) *scripted {
	r := &scripted{ttl: 900, ln: newPipeListener(), joiners: map[uint32]*websocket.Conn{}, seen: map[rendezvous.Type]int{}}
	r.srv = &http.Server{Handler: r, ErrorLog: log.New(io.Discard, "", 0)}
	go r.srv.Serve(r.ln)
	t.Cleanup(r.close)
	return r
}

func (r *scripted) close() {
	r.srv.Close()
	r.mu.Lock()
	conns := r.conns
	r.mu.Unlock()
	for _, c := range conns {
		c.CloseNow()
	}
}

// drop cuts every connection without a goodbye.
func (r *scripted) drop() {
	r.mu.Lock()
	conns := r.conns
	r.conns, r.host = nil, nil
	r.mu.Unlock()
	for _, c := range conns {
		c.CloseNow()
	}
}

func (r *scripted) count(t rendezvous.Type) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.seen[t]
}

func (r *scripted) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	r.mu.Lock()
	r.auth = append(r.auth, req.Header.Get("Authorization"))
	status := r.status
	r.mu.Unlock()
	if status != 0 {
		w.Header().Set("Retry-After", "7")
		w.Header().Set("Location", "http://elsewhere.test/lobby")
		w.WriteHeader(status)
		return
	}
	if req.URL.Path != rendezvous.LobbyPath || len(req.Header.Values("Origin")) > 0 {
		w.WriteHeader(http.StatusForbidden)
		return
	}
	if r.token != "" && req.Header.Get("Authorization") != "Bearer "+r.token {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	c, err := websocket.Accept(w, req, nil)
	if err != nil {
		return
	}
	defer c.CloseNow()
	r.mu.Lock()
	r.conns = append(r.conns, c)
	r.mu.Unlock()
	for {
		_, b, err := c.Read(context.Background())
		if err != nil {
			r.left(c)
			return
		}
		r.handle(c, b)
	}
}

func (r *scripted) left(c *websocket.Conn) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if c == r.host {
		r.host = nil
		for run, j := range r.joiners {
			r.write(j, rendezvous.SideJoin, rendezvous.AppendError(nil, &rendezvous.ErrorMsg{Code: rendezvous.CodeGone}))
			delete(r.joiners, run)
		}
	}
	for run, j := range r.joiners {
		if j == c {
			delete(r.joiners, run)
			if run == r.taken {
				r.write(r.host, rendezvous.SideHost, rendezvous.AppendError(nil, &rendezvous.ErrorMsg{Code: rendezvous.CodeGone}))
			}
		}
	}
}

// write sends what edit makes of b, in the background: pipes have no buffer.
func (r *scripted) write(c *websocket.Conn, to rendezvous.Side, b []byte) {
	if c == nil {
		return
	}
	out := [][]byte{b}
	if r.edit != nil {
		out = r.edit(to, append([]byte(nil), b...))
	}
	for _, m := range out {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		c.Write(ctx, websocket.MessageBinary, m)
		cancel()
	}
}

func (r *scripted) handle(c *websocket.Conn, b []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	t, _ := rendezvous.TypeOf(b)
	r.seen[t]++
	run, _ := rendezvous.RunOf(b)
	switch t {
	case rendezvous.TypeHost:
		var m rendezvous.HostMsg
		rendezvous.ParseHost(b, &m)
		switch {
		case m.Resume == rendezvous.ResumeToken{}:
			rand.Read(r.lobby[:])
			rand.Read(r.resume[:])
			r.lookup, _ = rendezvous.DrawLookup(rand.Reader)
			r.taken = 0
			r.lobbies++
		case m.Resume != r.resume || r.taken != 0:
			r.write(c, rendezvous.SideHost, rendezvous.AppendError(nil, &rendezvous.ErrorMsg{Code: rendezvous.CodeResume}))
			return
		}
		r.host = c
		r.write(c, rendezvous.SideHost, rendezvous.AppendCode(nil, &rendezvous.CodeMsg{Lobby: r.lobby, Lookup: r.lookup, Resume: r.resume, TTL: r.ttl}))
	case rendezvous.TypeJoin:
		var m rendezvous.JoinMsg
		rendezvous.ParseJoin(b, &m)
		r.joins++
		if r.deafJoin {
			return
		}
		code := rendezvous.ErrorCode(0)
		switch {
		case r.join != nil && r.join(r.joins) != 0:
			code = r.join(r.joins)
		case m.Lookup != r.lookup:
			code = rendezvous.CodeUnknown
		case r.taken != 0:
			code = rendezvous.CodeFull
		}
		if code != 0 {
			r.write(c, rendezvous.SideJoin, rendezvous.AppendError(nil, &rendezvous.ErrorMsg{Code: code}))
			return
		}
		r.last++
		r.joiners[r.last] = c
		if id := r.last; r.runLife != 0 {
			time.AfterFunc(r.runLife, func() {
				r.mu.Lock()
				defer r.mu.Unlock()
				if j := r.joiners[id]; j != nil && r.confirmed != id {
					delete(r.joiners, id)
					r.write(j, rendezvous.SideJoin, rendezvous.AppendError(nil, &rendezvous.ErrorMsg{Code: rendezvous.CodeRunEnded}))
				}
			})
		}
		r.write(r.host, rendezvous.SideHost, rendezvous.AppendRun(nil, &rendezvous.RunMsg{Run: r.last, NonceJ: m.NonceJ}))
	case rendezvous.TypeShareA, rendezvous.TypeConfA, rendezvous.TypeFail:
		r.write(r.joiners[run], rendezvous.SideJoin, b)
	case rendezvous.TypeShareB:
		r.confirmed = run
		r.write(r.host, rendezvous.SideHost, b)
	case rendezvous.TypeTaken:
		r.taken = run
		j := r.joiners[run]
		if j == nil {
			r.write(c, rendezvous.SideHost, rendezvous.AppendError(nil, &rendezvous.ErrorMsg{Code: rendezvous.CodeGone}))
			return
		}
		m := rendezvous.SessionMsg{Run: run, Lobby: r.lobby, RelayID: rendezvous.RelayID{9}, Channel: 77, Expiry: 1900000000,
			Endpoints: []netip.AddrPort{netip.MustParseAddrPort("203.0.113.1:3478")}}
		m.RegKey = rendezvous.RegKey{1}
		r.write(c, rendezvous.SideHost, rendezvous.AppendSession(nil, &m))
		m.Side, m.RegKey = rendezvous.SideJoin, rendezvous.RegKey{2}
		r.write(j, rendezvous.SideJoin, rendezvous.AppendSession(nil, &m))
	case rendezvous.TypeSealed:
		if c == r.host {
			r.write(r.joiners[run], rendezvous.SideJoin, b)
		} else {
			r.write(r.host, rendezvous.SideHost, b)
		}
	}
}

// network joins names to listeners.
type network map[string]*pipeListener

func (n network) dial(ctx context.Context, _, address string) (net.Conn, error) {
	l := n[address]
	if l == nil {
		return nil, &net.OpError{Op: "dial", Err: errors.New("connection refused")}
	}
	return l.dial(ctx)
}

type pipeListener struct {
	conns chan net.Conn
	done  chan struct{}
	once  sync.Once
}

func newPipeListener() *pipeListener {
	return &pipeListener{conns: make(chan net.Conn), done: make(chan struct{})}
}

func (l *pipeListener) dial(ctx context.Context) (net.Conn, error) {
	a, b := net.Pipe()
	select {
	case l.conns <- b:
		return a, nil
	case <-l.done:
		return nil, &net.OpError{Op: "dial", Err: errors.New("connection refused")}
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (l *pipeListener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.done:
		return nil, net.ErrClosed
	}
}

func (l *pipeListener) Close() error   { l.once.Do(func() { close(l.done) }); return nil }
func (l *pipeListener) Addr() net.Addr { return pipeAddr{} }

type pipeAddr struct{}

func (pipeAddr) Network() string { return "pipe" }
func (pipeAddr) String() string  { return "pipe" }
