package relay

import (
	"context"
	"errors"
	"net"
	"net/http"
	"testing"

	"backstep/natpunch/rendezvous"

	"github.com/coder/websocket"
)

// player is a scripted lobby client: it says what it is told to and nothing by itself.
type player struct {
	t  testing.TB
	ws *websocket.Conn
}

// dialLobby opens a lobby connection from the loopback address from, with the given header lines.
func dialLobby(t testing.TB, r *running, from string, header http.Header) (*player, *http.Response, error) {
	t.Helper()
	return dialPath(t, r, rendezvous.LobbyPath, from, header)
}

func dialPath(t testing.TB, r *running, path, from string, header http.Header) (*player, *http.Response, error) {
	t.Helper()
	transport := &http.Transport{
		DisableKeepAlives: true,
		DialContext:       (&net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}}).DialContext,
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	ws, resp, err := websocket.Dial(ctx, "ws://"+r.addr.String()+path,
		&websocket.DialOptions{HTTPClient: &http.Client{Transport: transport}, HTTPHeader: header})
	if err != nil {
		return nil, resp, err
	}
	t.Cleanup(func() { ws.CloseNow() })
	return &player{t, ws}, resp, nil
}

func (r *running) player(t testing.TB) *player { return r.playerFrom(t, "127.0.0.1") }

func (r *running) playerFrom(t testing.TB, from string) *player {
	t.Helper()
	p, _, err := dialLobby(t, r, from, nil)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func (p *player) send(b []byte) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := p.ws.Write(ctx, websocket.MessageBinary, b); err != nil {
		p.t.Fatalf("send %x: %v", b, err)
	}
}

// next returns the next message, or the error that ended the connection.
func (p *player) next() ([]byte, error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	_, b, err := p.ws.Read(ctx)
	return b, err
}

func (p *player) must() []byte {
	p.t.Helper()
	b, err := p.next()
	if err != nil {
		p.t.Fatal(err)
	}
	return b
}

func (p *player) host(resume rendezvous.ResumeToken) rendezvous.CodeMsg {
	p.t.Helper()
	p.send(rendezvous.AppendHost(nil, &rendezvous.HostMsg{Version: rendezvous.Version, Resume: resume}))
	var m rendezvous.CodeMsg
	if b := p.must(); rendezvous.ParseCodeMsg(b, &m) != nil {
		p.t.Fatalf("instead of CODE: %x", b)
	}
	return m
}

func (p *player) join(lookup rendezvous.Lookup) {
	p.t.Helper()
	p.send(rendezvous.AppendJoin(nil, &rendezvous.JoinMsg{Version: rendezvous.Version, Lookup: lookup, NonceJ: rendezvous.Nonce{7}}))
}

func (p *player) run() rendezvous.RunMsg {
	p.t.Helper()
	var m rendezvous.RunMsg
	if b := p.must(); rendezvous.ParseRun(b, &m) != nil {
		p.t.Fatalf("instead of RUN: %x", b)
	}
	return m
}

// refused asserts that the next message is this error.
func (p *player) refused(code rendezvous.ErrorCode) rendezvous.ErrorMsg {
	p.t.Helper()
	var m rendezvous.ErrorMsg
	if b := p.must(); rendezvous.ParseError(b, &m) != nil || m.Code != code {
		p.t.Fatalf("instead of the error %q: %x", code, b)
	}
	return m
}

// closed asserts that the relay ends the connection, after at most a few more messages.
func (p *player) closed() {
	p.t.Helper()
	for range 64 {
		if _, err := p.next(); err != nil {
			if errors.Is(err, context.DeadlineExceeded) {
				break
			}
			return
		}
	}
	p.t.Fatal("the connection stays open")
}

// pass sends b from one player and asserts that it reaches the other unchanged.
func pass(t testing.TB, from, to *player, b []byte) {
	t.Helper()
	from.send(b)
	if got := to.must(); string(got) != string(b) {
		t.Fatalf("sent %x, arrived %x", b, got)
	}
}

// agree takes host and joiner from RUN to CONF_A.
func agree(t testing.TB, host, join *player, run uint32) {
	t.Helper()
	pass(t, host, join, rendezvous.AppendShareA(nil, &rendezvous.ShareAMsg{Run: run, AD: []byte("HADA")}))
	pass(t, join, host, rendezvous.AppendShareB(nil, &rendezvous.ShareBMsg{Run: run, AD: []byte("JADB")}))
	pass(t, host, join, rendezvous.AppendConfA(nil, &rendezvous.ConfAMsg{Run: run}))
}

func (p *player) session() rendezvous.SessionMsg {
	p.t.Helper()
	var m rendezvous.SessionMsg
	if b := p.must(); rendezvous.ParseSession(b, &m) != nil {
		p.t.Fatalf("instead of SESSION: %x", b)
	}
	return m
}

// take plays the rest of a lobby in which join has joined.
func take(t testing.TB, host, join *player) (hs, js rendezvous.SessionMsg) {
	t.Helper()
	run := host.run().Run
	agree(t, host, join, run)
	host.send(rendezvous.AppendTaken(nil, &rendezvous.TakenMsg{Run: run}))
	return host.session(), join.session()
}

// noEntry asserts that who wants to host or to join is refused with this error.
func (r *running) noEntry(t testing.TB, code rendezvous.ErrorCode) {
	t.Helper()
	for _, m := range [][]byte{
		rendezvous.AppendHost(nil, &rendezvous.HostMsg{Version: 1}),
		rendezvous.AppendJoin(nil, &rendezvous.JoinMsg{Version: 1, Lookup: rendezvous.Lookup{'2', '2', '2', '2'}}),
	} {
		p := r.player(t)
		p.send(m)
		p.refused(code)
	}
}

// meet plays a whole lobby.
func meet(t testing.TB, r *running) (host, join *player, hs, js rendezvous.SessionMsg) {
	t.Helper()
	host, join = r.player(t), r.player(t)
	code := host.host(rendezvous.ResumeToken{})
	join.join(code.Lookup)
	hs, js = take(t, host, join)
	return host, join, hs, js
}
