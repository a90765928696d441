package page

import (
	"context"
	"crypto/subtle"
	"encoding/binary"
	"net/http"
	"time"

	"github.com/coder/websocket"
)

// Close codes, see docs/page.md.
const (
	closeMalformed = websocket.StatusCode(4400)
	closeToken     = websocket.StatusCode(4401)
	closeNoHello   = websocket.StatusCode(4408)
	closeElsewhere = websocket.StatusCode(4409)
	closeTaken     = websocket.StatusCode(4410)
)

const (
	helloLimit   = 5 * time.Second
	writeLimit   = 5 * time.Second
	pingInterval = 5 * time.Second
	messageRate  = 300 // a second
)

// tab is one connection. Its reader is the goroutine of the request; its writer
// and pinger end with it.
type tab struct {
	ws   *websocket.Conn
	id   string
	box  *mailbox
	role string
	// end closes the connection from elsewhere, once.
	end func(code websocket.StatusCode, reason string)
}

func (s *Server) serveWS(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("Origin") == "" {
		s.counts.origin.Add(1)
		http.Error(w, "The WebSocket is for the page alone.", http.StatusForbidden)
		return
	}
	if s.tabs.Add(1) > maxViewers+3 {
		s.tabs.Add(-1)
		http.Error(w, "Too many tabs.", http.StatusTooManyRequests)
		return
	}
	s.group.Add(1)
	defer s.group.Done()
	defer s.tabs.Add(-1)
	ws, err := websocket.Accept(w, r, &websocket.AcceptOptions{Subprotocols: []string{subProtocol}, CompressionMode: websocket.CompressionDisabled})
	if err != nil {
		return
	}
	defer ws.CloseNow()
	ws.SetReadLimit(maxMessage)
	ctx, cancel := context.WithCancel(s.ctx)
	defer cancel()
	t := &tab{ws: ws, box: newMailbox()}
	t.end = func(code websocket.StatusCode, reason string) {
		// Close waits for the browser's answer; a hung tab must not be waited for.
		s.group.Go(func() {
			_ = ws.Close(code, reason)
			cancel()
		})
	}
	if code, reason := s.greet(ctx, t); code != 0 {
		_ = ws.Close(code, reason)
		return
	}
	s.group.Go(func() {
		defer cancel()
		t.write(ctx)
	})
	code, reason := s.read(ctx, t)
	s.leave(t)
	if s.ctx.Err() != nil {
		code, reason = websocket.StatusGoingAway, "the program ends"
	}
	if code != 0 {
		_ = ws.Close(code, reason)
	}
}

// greet takes HELLO and gives the tab its role.
func (s *Server) greet(ctx context.Context, t *tab) (websocket.StatusCode, string) {
	greeted := make(chan struct{})
	defer close(greeted)
	s.group.Go(func() {
		// A deadline of the read would end the connection without a word.
		select {
		case <-greeted:
		case <-time.After(s.greeting):
			_ = t.ws.Close(closeNoHello, "no HELLO")
		}
	})
	kind, b, err := t.ws.Read(ctx)
	switch {
	case err != nil:
		return websocket.StatusProtocolError, ""
	case kind != websocket.MessageBinary:
		s.counts.malformed.Add(1)
		return closeMalformed, "binary messages only"
	}
	h, err := parseHello(b)
	if err != nil {
		s.counts.malformed.Add(1)
		return closeMalformed, "HELLO is malformed"
	}
	if subtle.ConstantTimeCompare([]byte(h.Token), []byte(s.token)) != 1 {
		s.counts.token.Add(1)
		return closeToken, "this address is of another run; use the one the program printed"
	}
	t.id = h.Tab
	return s.enter(t, h.Mode)
}

func (s *Server) enter(t *tab, mode string) (websocket.StatusCode, string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t.role = "player"
	switch old := s.player; {
	case mode == "view":
		if len(s.viewers) >= maxViewers {
			return closeElsewhere, "too many tabs are watching"
		}
		t.role = "viewer"
		s.viewers[t] = true
	case old == nil:
		s.player = t
	case old.id == t.id || mode == "take":
		old.end(closeTaken, "another tab took over")
		s.player = t
	default:
		s.counts.second.Add(1)
		return closeElsewhere, "the page is open in another tab"
	}
	if t.role == "player" {
		s.words.Release()
		s.hadPlayer, s.opened = true, time.Now()
	}
	b, err := appendJSON(outWelcome, map[string]any{"protocol": Protocol, "build": s.cfg.Build, "role": t.role, "clock_us": s.cfg.Now()})
	if err != nil {
		return websocket.StatusInternalError, ""
	}
	t.box.put(b)
	for _, m := range s.last {
		if m != nil {
			t.box.put(m)
		}
	}
	if s.lastHeadN > 0 {
		head := append([]byte(nil), s.lastHead[:s.lastHeadN]...)
		head[2] |= byte(Quiet)
		t.box.snapshot(head, s.lastTail[:s.lastTailN], &Snapshot{})
	}
	return 0, ""
}

func (s *Server) leave(t *tab) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.viewers, t)
	if s.player == t {
		s.player, s.opened = nil, time.Now()
		s.words.Release()
	}
}

// read takes messages until the connection ends. What breaks the protocol ends
// it with a code.
func (s *Server) read(ctx context.Context, t *tab) (websocket.StatusCode, string) {
	second, count := time.Now(), 0
	for {
		kind, b, err := t.ws.Read(ctx)
		if err != nil {
			return 0, ""
		}
		if now := time.Now(); now.Sub(second) >= time.Second {
			second, count = now, 0
		}
		if count++; count > messageRate {
			s.counts.malformed.Add(1)
			return websocket.StatusPolicyViolation, "too many messages"
		}
		if kind != websocket.MessageBinary || len(b) == 0 {
			s.counts.malformed.Add(1)
			return closeMalformed, "binary messages only"
		}
		if b[0] == inSeen {
			if len(b) != seenLen || !t.box.see(binary.LittleEndian.Uint16(b[1:])) {
				s.counts.malformed.Add(1)
				return closeMalformed, "malformed message"
			}
			continue
		}
		if t.role != "player" {
			continue
		}
		if err := s.message(t, b); err != nil {
			s.counts.malformed.Add(1)
			s.cfg.Log.Warn().Str("event", "page_malformed").Err(err).Msg("the page sent a message this program does not know")
			return closeMalformed, "malformed message"
		}
	}
}

func (s *Server) message(t *tab, b []byte) error {
	switch b[0] {
	case inInput:
		in, err := parseInput(b)
		if err != nil {
			return err
		}
		if s.isPlayer(t) {
			s.words.press(in)
		}
		return nil
	case inCommand:
		c, err := parseCommand(b)
		if err != nil {
			return err
		}
		s.queue(t, c)
		return nil
	case inUpload:
		s.queue(t, Command{Cmd: CommandUpload, Upload: b[1:]})
		return nil
	}
	return errMessage
}

// isPlayer: a tab that was taken over may still have messages on their way.
func (s *Server) isPlayer(t *tab) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.player == t
}

func (s *Server) queue(t *tab, c Command) {
	if !s.isPlayer(t) {
		return
	}
	select {
	case s.commands <- c:
	default:
		s.counts.dropped.Add(1)
	}
}

// write sends what is new, and a ping when nothing was for a while. A browser
// that takes more than writeLimit for a message is let go.
func (t *tab) write(ctx context.Context) {
	buf := make([]byte, 0, maxSnapshot)
	ping := time.NewTicker(pingInterval)
	defer ping.Stop()
	for {
		b, ok := t.box.take(buf[:0])
		if !ok {
			select {
			case <-t.box.wake:
			case <-ping.C:
				pctx, cancel := context.WithTimeout(ctx, writeLimit)
				err := t.ws.Ping(pctx)
				cancel()
				if err != nil {
					return
				}
			case <-ctx.Done():
				return
			}
			continue
		}
		buf = b
		wctx, cancel := context.WithTimeout(ctx, writeLimit)
		err := t.ws.Write(wctx, websocket.MessageBinary, b)
		cancel()
		if err != nil {
			return
		}
	}
}
