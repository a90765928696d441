package probe

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"slices"
	"time"

	"backstep/natpunch/rendezvous"

	"github.com/coder/websocket"
)

// errRelay carries the relay's own reason.
type errRelay rendezvous.ErrorMsg

func (e errRelay) Error() string { return e.Code.String() }

// socket is one WebSocket with this package's patience.
type socket struct {
	p  *probe
	ws *websocket.Conn
}

// open opens a WebSocket of the relay. resp is nil if there was no HTTP answer.
func (p *probe) open(path string) (s *socket, resp *http.Response, err error) {
	ctx, cancel := context.WithTimeout(p.ctx, p.Wait)
	defer cancel()
	header := http.Header{}
	if p.Token != "" {
		header.Set("Authorization", "Bearer "+p.Token)
	}
	ws, resp, err := websocket.Dial(ctx, p.scheme+"://"+p.report.Relay+path, &websocket.DialOptions{HTTPClient: p.client, HTTPHeader: header})
	if err != nil {
		return nil, resp, err
	}
	return &socket{p, ws}, resp, nil
}

func (s *socket) send(b []byte) error {
	ctx, cancel := context.WithTimeout(s.p.ctx, s.p.Wait)
	defer cancel()
	return s.ws.Write(ctx, websocket.MessageBinary, b)
}

func (s *socket) next() ([]byte, error) {
	ctx, cancel := context.WithTimeout(s.p.ctx, s.p.Wait)
	defer cancel()
	_, b, err := s.ws.Read(ctx)
	return b, err
}

// want reads the next message and lets parse read it.
func (s *socket) want(parse func([]byte) error) error {
	b, err := s.next()
	if err != nil {
		return err
	}
	var e rendezvous.ErrorMsg
	if rendezvous.ParseError(b, &e) == nil {
		return errRelay(e)
	}
	return parse(b)
}

// lobby meets itself and returns what ends the meeting.
func (p *probe) lobby() (end func()) {
	var open []*socket
	end = func() {
		for _, s := range open {
			s.ws.Close(websocket.StatusNormalClosure, "")
		}
	}
	for range 2 {
		s, resp, err := p.open(rendezvous.LobbyPath)
		if err != nil {
			p.report.add("lobby", Fail, 0, "%s", handshakeSentence(resp, err, p.Token != ""))
			return end
		}
		open = append(open, s)
	}
	rtt, session, err := meet(open[0], open[1])
	if err != nil {
		p.report.add("lobby", Fail, 0, "%s", lobbySentence(err))
		return end
	}
	p.session = session
	p.report.add("lobby", OK, rtt, "Two players can meet; the relay hands out a code in %s.", short(rtt))
	return end
}

func handshakeSentence(resp *http.Response, err error, token bool) string {
	if resp == nil {
		return fmt.Sprintf("The port accepts connections but does not answer as a relay does (%v).", err)
	}
	switch resp.StatusCode {
	case http.StatusUnauthorized:
		if token {
			return "The relay is private and does not accept this token."
		}
		return "The relay is private: give its token with --relay-token."
	case http.StatusTooManyRequests:
		return "This network has too many connections to the relay; try again when some have ended."
	case http.StatusServiceUnavailable:
		return "The relay is about to stop."
	case http.StatusNotFound:
		return "Something that is not a Backstep relay answers on this port."
	}
	return fmt.Sprintf("The lobby refuses the connection with HTTP status %d.", resp.StatusCode)
}

func lobbySentence(err error) string {
	var e errRelay
	if !errors.As(err, &e) {
		return fmt.Sprintf("The lobby opens but does not go on as documented (%v).", err)
	}
	switch e.Code {
	case rendezvous.CodeDraining:
		return "The relay is being stopped and takes no new players."
	case rendezvous.CodeStunOnly:
		return "The relay answers STUN only: it was started so, or its traffic budget is used up for this month."
	case rendezvous.CodeBusy, rendezvous.CodeSlowDown, rendezvous.CodeLobbies:
		return fmt.Sprintf("The relay asks to wait %d s (%s).", e.Retry, e.Code)
	case rendezvous.CodeVersion:
		return "The relay is of another version than this probe."
	}
	return fmt.Sprintf("The relay refuses to make a lobby (%s).", e.Code)
}

// meet plays host and joiner through a lobby. The key shares are random: the relay cannot tell, and no match follows.
func meet(host, join *socket) (rtt time.Duration, out *[2]sessionOfSide, err error) {
	start := time.Now()
	if err := host.send(rendezvous.AppendHost(nil, &rendezvous.HostMsg{Version: rendezvous.Version})); err != nil {
		return 0, nil, err
	}
	var code rendezvous.CodeMsg
	if err := host.want(func(b []byte) error { return rendezvous.ParseCodeMsg(b, &code) }); err != nil {
		return 0, nil, err
	}
	rtt = time.Since(start)
	var nonce rendezvous.Nonce
	rand.Read(nonce[:])
	if err := join.send(rendezvous.AppendJoin(nil, &rendezvous.JoinMsg{Version: rendezvous.Version, Lookup: code.Lookup, NonceJ: nonce})); err != nil {
		return 0, nil, err
	}
	var run rendezvous.RunMsg
	if err := host.want(func(b []byte) error { return rendezvous.ParseRun(b, &run) }); err != nil {
		return 0, nil, err
	}
	ad := []byte{'P'}
	for _, x := range []struct {
		from, to *socket
		b        []byte
	}{
		{host, join, rendezvous.AppendShareA(nil, &rendezvous.ShareAMsg{Run: run.Run, Lobby: code.Lobby, AD: ad})},
		{join, host, rendezvous.AppendShareB(nil, &rendezvous.ShareBMsg{Run: run.Run, AD: ad})},
		{host, join, rendezvous.AppendConfA(nil, &rendezvous.ConfAMsg{Run: run.Run})},
	} {
		if err := x.from.send(x.b); err != nil {
			return 0, nil, err
		}
		if err := x.to.want(func(b []byte) error {
			if !slices.Equal(b, x.b) {
				return errors.New("a message arrived altered")
			}
			return nil
		}); err != nil {
			return 0, nil, err
		}
	}
	if err := host.send(rendezvous.AppendTaken(nil, &rendezvous.TakenMsg{Run: run.Run})); err != nil {
		return 0, nil, err
	}
	out = new([2]sessionOfSide)
	for i, s := range []*socket{host, join} {
		if err := s.want(func(b []byte) error { return rendezvous.ParseSession(b, &out[i].SessionMsg) }); err != nil {
			return 0, nil, err
		}
	}
	return rtt, out, nil
}

// endpoints looks at where the relay sends players.
func (p *probe) endpoints() {
	if p.session == nil {
		return
	}
	told := p.session[0].Endpoints
	if slices.Contains(told, p.at) {
		p.udp = p.at
		p.report.add("endpoints", OK, 0, "The relay sends players to the address it was asked at.")
		return
	}
	for _, a := range told {
		if a.Addr().Is4() == p.at.Addr().Is4() {
			p.udp = a
			break
		}
	}
	names := fmt.Sprint(told)
	switch {
	case !p.udp.IsValid():
		p.report.add("endpoints", Fail, 0, "The relay sends players to %s, none of which is of the family of %s: set --public-addr to the address players use.", names, p.at.Addr())
	case unreachable(p.udp.Addr()) && !unreachable(p.at.Addr()):
		p.report.add("endpoints", Fail, 0, "The relay sends players to %s, which they cannot reach: set --public-addr %s on the relay.", names, p.at.Addr())
	default:
		p.report.add("endpoints", Note, 0, "The relay sends players to %s and was asked at %s; that is right only if both are the relay.", names, p.at)
	}
}

// unreachable reports whether an address means nothing outside its own network.
func unreachable(a netip.Addr) bool { return a.IsPrivate() || a.IsLoopback() || a.IsLinkLocalUnicast() }
