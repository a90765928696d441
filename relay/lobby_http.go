package relay

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"log"
	"net/http"
	"net/netip"
	"strings"

	"backstep/natpunch/rendezvous"

	"github.com/coder/websocket"
	"github.com/rs/zerolog"
)

// handler serves what the TCP port serves.
func (s *Server) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+rendezvous.LobbyPath, s.serveLobby)
	mux.HandleFunc("GET "+rendezvous.TunnelPath, s.serveTunnel)
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		http.Error(w, "This is a Backstep relay. Players meet at "+rendezvous.LobbyPath+".", http.StatusNotFound)
	})
	return mux
}

func (s *Server) httpServer() *http.Server {
	l := &s.set.Limits
	h := &http.Server{
		Handler:           s.handler(),
		ReadHeaderTimeout: l.HeaderTimeout,
		ReadTimeout:       l.HeaderTimeout,
		WriteTimeout:      l.WriteTimeout,
		MaxHeaderBytes:    4 << 10,
		ErrorLog:          log.New(httpLog{s.log}, "", 0),
	}
	h.SetKeepAlivesEnabled(false) // one request a connection; a WebSocket is taken out of its hands
	return h
}

// httpLog makes events of what net/http has to say.
type httpLog struct{ log *events }

func (h httpLog) Write(p []byte) (int, error) {
	h.log.at(zerolog.DebugLevel, evHTTP).Str("text", strings.TrimSpace(string(p))).Send()
	return len(p), nil
}

// authorized compares hashes, so that the time taken says nothing about the token, its length included.
func (s *Server) authorized(r *http.Request) bool {
	if s.set.Token == "" {
		return true
	}
	scheme, given, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	a, b := sha256.Sum256([]byte(given)), sha256.Sum256([]byte(s.set.Token))
	return strings.EqualFold(scheme, "Bearer") && subtle.ConstantTimeCompare(a[:], b[:]) == 1
}

// welcome answers the requests that may not become a WebSocket. If ok, the caller must call s.conns.Done in the end.
func (s *Server) welcome(w http.ResponseWriter, r *http.Request) (conn connAddrs, source netip.Prefix, ok bool) {
	h := s.hub
	// Browsers always send it, and no web page may play dictionary with a visitor's address.
	if len(r.Header.Values("Origin")) > 0 {
		h.count.forbidden.Add(1)
		http.Error(w, "Requests of web pages are refused.", http.StatusForbidden)
		return conn, source, false
	}
	if !s.authorized(r) {
		h.count.denied.Add(1)
		w.Header().Set("WWW-Authenticate", `Bearer realm="backstep relay"`)
		http.Error(w, "This relay wants a token.", http.StatusUnauthorized)
		return conn, source, false
	}
	conn, ok = r.Context().Value(connKey{}).(connAddrs)
	if !ok || !conn.remote.IsValid() {
		http.Error(w, "Your address is not known.", http.StatusInternalServerError)
		return conn, source, false
	}
	if !s.enter() {
		w.Header().Set("Retry-After", "30")
		http.Error(w, "The relay is about to stop.", http.StatusServiceUnavailable)
		return conn, source, false
	}
	return conn, sourceOf(conn.remote.Addr()), true
}

// calm returns options under which a client that floods with pings or pongs is cut off.
func (s *Server) calm(cancel context.CancelFunc) *websocket.AcceptOptions {
	var control bucket // of the reading goroutine
	calm := func() bool {
		if !control.take(s.clock.mono(), s.hub.msgRate, 1) {
			cancel()
			return false
		}
		return true
	}
	return &websocket.AcceptOptions{
		OnPingReceived: func(context.Context, []byte) bool { return calm() },
		OnPongReceived: func(context.Context, []byte) { calm() },
	}
}

// serveLobby is one lobby connection from request to end.
func (s *Server) serveLobby(w http.ResponseWriter, r *http.Request) {
	h := s.hub
	conn, source, ok := s.welcome(w, r)
	if !ok {
		return
	}
	defer s.conns.Done()
	if !h.admit(source) {
		h.count.crowded.Add(1)
		w.Header().Set("Retry-After", "10")
		http.Error(w, "Your network has too many connections to this relay.", http.StatusTooManyRequests)
		return
	}
	ctx, cancel := context.WithCancel(s.ctx)
	defer cancel()
	limits := &s.set.Limits
	ws, err := websocket.Accept(w, r, s.calm(cancel))
	if err != nil {
		h.dismiss(source)
		return
	}
	defer ws.CloseNow()
	ws.SetReadLimit(int64(limits.MessageBytes))
	c := &client{
		ws: ws, addr: conn.remote.Addr(), source: source, reached: conn.local,
		out: make(chan []byte, limits.QueueMessages), fin: make(chan struct{}), kill: cancel, slow: &h.count.slow,
	}
	h.enter(s.clock.mono(), c)
	s.conns.Go(func() { c.write(ctx, limits.WriteTimeout) })
	s.conns.Go(func() { c.ping(ctx, limits.PingInterval) })
	for {
		kind, b, err := c.read(ctx, limits.HeaderTimeout)
		if err != nil {
			status := websocket.CloseStatus(err)
			h.leave(s.clock.mono(), c, status == websocket.StatusNormalClosure || status == websocket.StatusGoingAway)
			return
		}
		if kind != websocket.MessageBinary {
			b = nil // refused like any other message of no type
		}
		h.message(s.clock.mono(), c, b)
	}
}
