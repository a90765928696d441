package audit

import (
	"bytes"
	"fmt"
	"net/http"
	"net/netip"

	"backstep/natpunch/rendezvous"
	"backstep/scripts/natlab/wiretap"
)

// Connections is what an audit of TCP found.
type Connections struct {
	Findings []string
	Lobbies  int                     // WebSockets to a lobby
	Messages map[rendezvous.Type]int // of the lobby, by type
	Bytes    int                     // of TCP payload, both directions
}

type tcpAudit struct {
	Connections
	rules *Rules
	found findings
}

// TCP judges every TCP connection of a capture: each must be a lobby, a WebSocket to the relay whose binary messages are lobby
// messages, and no layer of it may show a secret. iceUsers are user fragments that UDP has shown; they are credentials here.
func TCP(packets []wiretap.Packet, rules Rules, iceUsers []string) Connections {
	for _, u := range iceUsers {
		rules.Secrets = append(rules.Secrets[:len(rules.Secrets):len(rules.Secrets)], Secret{What: "an ICE user name", Bytes: []byte(u)})
	}
	a := &tcpAudit{rules: &rules}
	a.Messages = make(map[rendezvous.Type]int)
	all := streams(packets)
	for _, s := range all {
		a.Bytes += len(s.bytes)
		for _, what := range rules.Leaks(s.bytes) {
			a.found.addf("TCP %v > %v: %s is readable", s.src, s.dst, what)
		}
		switch back := answer(all, s); {
		case s.wrong != "":
			a.found.addf("TCP %v > %v: %s", s.src, s.dst, s.wrong)
		case s.headless && !rules.Moved:
			a.found.addf("TCP %v > %v: the capture misses its beginning", s.src, s.dst)
		case s.headless && rules.isRelay(s.dst.Addr()):
			a.frames(s.src, s.dst, s.bytes, true)
		case rules.isRelay(s.src.Addr()):
			// judged together with the request it answers
			if back == nil || len(back.bytes) == 0 && len(s.bytes) > 0 {
				a.found.addf("TCP %v > %v: an answer to nothing", s.src, s.dst)
			}
		case !rules.isRelay(s.dst.Addr()):
			a.found.addf("TCP %v > %v: a connection that does not go to the relay", s.src, s.dst)
		case back != nil && back.wrong == "" && len(s.bytes) > 0:
			a.lobby(s, back)
		}
	}
	a.Findings = a.found.all()
	return a.Connections
}

// answer is the other direction of a connection.
func answer(all []*stream, s *stream) *stream {
	for _, o := range all {
		if o.src == s.dst && o.dst == s.src {
			return o
		}
	}
	return nil
}

func (a *tcpAudit) lobby(s, back *stream) {
	fault := func(src, dst netip.AddrPort, format string, args ...any) {
		a.found.addf("TCP %v > %v: %s", src, dst, fmt.Sprintf(format, args...))
	}
	r, up, err := request(s.bytes)
	if err != nil {
		fault(s.src, s.dst, "%v", err)
		return
	}
	status, header, down, err := response(back.bytes)
	if err != nil {
		fault(back.src, back.dst, "%v", err)
		return
	}
	if r.Method != http.MethodGet || r.URL.Path != rendezvous.LobbyPath || r.URL.RawQuery != "" {
		fault(s.src, s.dst, "the request is %s %s", r.Method, r.URL)
	}
	if status != http.StatusSwitchingProtocols {
		return // refused: there are no frames
	}
	if e := header.Get("Sec-WebSocket-Extensions"); e != "" {
		fault(back.src, back.dst, "the WebSocket has the extension %q", e)
	}
	a.Lobbies++
	a.frames(s.src, s.dst, up, true)
	a.frames(back.src, back.dst, down, false)
}

// frames judges one direction of a WebSocket.
func (a *tcpAudit) frames(src, dst netip.AddrPort, b []byte, client bool) {
	all, control, err := messages(b, client)
	if err != nil {
		a.found.addf("TCP %v > %v: %v", src, dst, err)
	}
	for _, m := range all {
		a.message(src, dst, m)
	}
	for _, what := range a.rules.Leaks(bytes.Join(control, []byte{0})) {
		a.found.addf("TCP %v > %v: %s is readable in a control frame", src, dst, what)
	}
}

// parsers read the lobby messages. Each refuses what it would not write.
var parsers = map[rendezvous.Type]func(b []byte) error{
	rendezvous.TypeHost:    func(b []byte) error { return rendezvous.ParseHost(b, new(rendezvous.HostMsg)) },
	rendezvous.TypeCode:    func(b []byte) error { return rendezvous.ParseCodeMsg(b, new(rendezvous.CodeMsg)) },
	rendezvous.TypeJoin:    func(b []byte) error { return rendezvous.ParseJoin(b, new(rendezvous.JoinMsg)) },
	rendezvous.TypeRun:     func(b []byte) error { return rendezvous.ParseRun(b, new(rendezvous.RunMsg)) },
	rendezvous.TypeShareA:  func(b []byte) error { return rendezvous.ParseShareA(b, new(rendezvous.ShareAMsg)) },
	rendezvous.TypeShareB:  func(b []byte) error { return rendezvous.ParseShareB(b, new(rendezvous.ShareBMsg)) },
	rendezvous.TypeConfA:   func(b []byte) error { return rendezvous.ParseConfA(b, new(rendezvous.ConfAMsg)) },
	rendezvous.TypeTaken:   func(b []byte) error { return rendezvous.ParseTaken(b, new(rendezvous.TakenMsg)) },
	rendezvous.TypeSession: func(b []byte) error { return rendezvous.ParseSession(b, new(rendezvous.SessionMsg)) },
	rendezvous.TypeSealed:  func(b []byte) error { return rendezvous.ParseSealed(b, new(rendezvous.SealedMsg)) },
	rendezvous.TypeFail:    func(b []byte) error { return rendezvous.ParseFail(b, new(rendezvous.FailMsg)) },
	rendezvous.TypeError:   func(b []byte) error { return rendezvous.ParseError(b, new(rendezvous.ErrorMsg)) },
}

func (a *tcpAudit) message(src, dst netip.AddrPort, m message) {
	typ, err := rendezvous.TypeOf(m.b)
	parse := parsers[typ]
	switch {
	case err != nil:
	case !m.binary:
		err = fmt.Errorf("a text message")
	case parse == nil:
		err = fmt.Errorf("a message of type %02x", byte(typ))
	default:
		err = parse(m.b)
	}
	if err != nil {
		a.found.addf("TCP %v > %v: lobby message % x: %v", src, dst, m.b[:min(len(m.b), 24)], err)
		return
	}
	a.Messages[typ]++
	for _, what := range a.rules.Leaks(m.b) {
		a.found.addf("TCP %v > %v: %s is readable in lobby message %02x", src, dst, what, byte(typ))
	}
}
