package lobby

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"sync"
	"time"

	"backstep/natpunch/keys"
	"backstep/natpunch/rendezvous"
)

// Sealed messages as Send and Recv name them. HELLO has been exchanged already.
const (
	MsgAccept     = byte(keys.Accept)     // no body
	MsgCandidates = byte(keys.Candidates) // rendezvous.Candidates
	MsgGo         = byte(keys.Go)         // no body; the host's
	MsgAgain      = byte(keys.Again)      // no body
	MsgBye        = byte(keys.Bye)        // no body
)

// maxAgain is how many new attempts at a secure link a side may ask for.
const maxAgain = 2

// Session is what two players have once both know that the other knows the
// code. The exported fields do not change. Send and Recv may be used by
// different goroutines, each by one at a time; Ping and Close by any.
type Session struct {
	Side rendezvous.Side
	// Keys derives the DTLS and ICE secrets. It outlives Close; whoever is done
	// with it wipes it.
	Keys *keys.Keys
	// SessionMsg is what the relay allotted, compared with what it told the
	// opponent (side and regkey apart).
	SessionMsg rendezvous.SessionMsg
	Relay      string         // host:port of the relay
	RelayAddr  netip.AddrPort // the address its WebSocket was opened to
	Lookup     rendezvous.Lookup
	Opponent   Hello
	Proto      uint8 // protocol version both speak
	// RTT is the shortest round trip between the players through the lobby that
	// the key agreement saw, with what the other side computed meanwhile (well
	// under a millisecond). Half of it after GO the other side has GO.
	RTT time.Duration
	// Met is when both players were in the lobby, as far as this side can know:
	// the joiner asked, or the host answered it.
	Met time.Time

	conn *conn
	hide bool
	cfg  *Config // for DialTunnel

	sendMu sync.Mutex // orders counters and messages on the wire
	sealer *keys.Sealer
	opener *keys.Opener // of the goroutine that receives

	mu                 sync.Mutex
	accepted, theirs   bool // ACCEPT sent, ACCEPT received
	again, theirAgains int
	closed             bool
	over               error // why nothing is sent or received any more
}

// Hidden reports whether a player hides its address, so that nobody sends any.
func (s *Session) Hidden() bool { return s.hide || s.Opponent.Hide }

// Send seals a message for the opponent. It blocks at most a few seconds. A
// second ACCEPT is not sent. It refuses what the protocol does not allow: candidates before both players
// accepted (ErrNotAccepted) or when one hides its address (ErrHidden), and a
// third AGAIN (ErrAgain). Any other error means that the lobby is over.
func (s *Session) Send(typ byte, body []byte) error {
	if due, err := s.mayUse(typ); !due || err != nil {
		return err
	}
	if err := s.send(keys.Kind(typ), body); err != nil {
		return s.ended(err)
	}
	return nil
}

func (s *Session) mayUse(typ byte) (due bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.closed:
		return false, ErrClosed
	case s.over != nil:
		return false, s.over
	case typ == MsgAccept:
		due, s.accepted = !s.accepted, true
		return due, nil
	case typ == MsgCandidates && s.Hidden():
		return false, ErrHidden
	case typ == MsgCandidates && !(s.accepted && s.theirs):
		return false, ErrNotAccepted
	case typ == MsgAgain:
		if s.again == maxAgain {
			return false, ErrAgain
		}
		s.again++
	}
	return true, nil
}

func (s *Session) send(kind keys.Kind, body []byte) error {
	s.sendMu.Lock()
	defer s.sendMu.Unlock()
	b, err := s.sealer.Append(nil, kind, body)
	if err != nil {
		return err
	}
	return s.conn.send(b)
}

// Recv waits for the opponent's next message, the end of ctx (its cause is
// returned) or the end of the lobby: ErrGone when the opponent left, ErrLost when
// the relay did, ErrTampered when something on the way altered, repeated or
// withheld a message, or the opponent broke the rules. After such an end every
// call returns it. Kinds this version does not know are skipped. The body is the
// caller's.
func (s *Session) Recv(ctx context.Context) (typ byte, body []byte, err error) {
	s.mu.Lock()
	over := s.over
	s.mu.Unlock()
	if over != nil {
		return 0, nil, over
	}
	for {
		b, err := s.conn.recv(ctx)
		if err != nil {
			return 0, nil, s.ended(err)
		}
		kind, body, err := s.message(b)
		if err != nil {
			s.mu.Lock()
			s.over = err
			s.mu.Unlock()
			return 0, nil, err
		}
		if kind != 0 {
			return byte(kind), body, nil
		}
	}
}

// message handles one lobby message; kind 0 means that it was none for the caller.
func (s *Session) message(b []byte) (kind keys.Kind, body []byte, err error) {
	t, err := rendezvous.TypeOf(b)
	if err != nil {
		return 0, nil, ErrProtocol
	}
	switch t {
	case rendezvous.TypeSealed:
		kind, body, err := s.open(b)
		if err != nil {
			return 0, nil, err
		}
		if known, err := s.judge(kind); err != nil || !known {
			return 0, nil, err
		}
		return kind, body, nil
	case rendezvous.TypeError:
		var m rendezvous.ErrorMsg
		if rendezvous.ParseError(b, &m) != nil {
			return 0, nil, ErrProtocol
		}
		return 0, nil, relayFailure(m)
	case rendezvous.TypeRun, rendezvous.TypeShareB:
		return 0, nil, nil // of runs that lost the race
	}
	return 0, nil, fmt.Errorf("%w (message %02x out of turn)", ErrProtocol, uint8(t))
}

func (s *Session) open(b []byte) (keys.Kind, []byte, error) {
	var m rendezvous.SealedMsg
	if err := rendezvous.ParseSealed(b, &m); err != nil {
		return 0, nil, tampered(err)
	}
	kind, body, err := s.opener.Open(&m)
	if err != nil {
		return 0, nil, tampered(err)
	}
	return kind, body, nil
}

// judge holds the opponent to the rules that Send holds this side to.
func (s *Session) judge(kind keys.Kind) (known bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	broke := func(what string) (bool, error) {
		return false, fmt.Errorf("%w (the opponent sent %s)", ErrTampered, what)
	}
	switch kind {
	case keys.Hello:
		return broke("a second HELLO")
	case keys.Accept:
		if s.theirs {
			return broke("a second ACCEPT")
		}
		s.theirs = true
	case keys.Candidates:
		if s.Hidden() {
			return broke("addresses although a player hides its own")
		}
		if !(s.accepted && s.theirs) {
			return broke("addresses before both players accepted")
		}
	case keys.Go:
		if s.Side == rendezvous.SideHost {
			return broke("GO, which is the host's to send")
		}
	case keys.Again:
		if s.theirAgains++; s.theirAgains > maxAgain {
			return broke("a third AGAIN")
		}
	case keys.Bye:
	default:
		return false, nil
	}
	return true, nil
}

// ended names the end of the connection: ours, or the relay's.
func (s *Session) ended(err error) error {
	if !errors.Is(err, errDropped) {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return ErrClosed
	}
	return ErrLost
}

// Ping measures the round trip to the relay over the lobby connection.
func (s *Session) Ping(ctx context.Context) (time.Duration, error) {
	rtt, err := s.conn.ping(ctx)
	if err != nil {
		return 0, s.ended(err)
	}
	return rtt, nil
}

// Close ends the lobby; a blocked Recv returns ErrClosed. It blocks at most about
// a second. Further calls do nothing.
func (s *Session) Close() {
	s.mu.Lock()
	first := !s.closed
	s.closed = true
	s.mu.Unlock()
	if first {
		s.conn.close()
	}
}
