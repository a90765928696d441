package lobby

import (
	"context"
	"errors"
	"fmt"
	"time"

	"backstep/natpunch/keys"
	"backstep/natpunch/rendezvous"
)

// agreed is what a side knows once both confirmation tags were right.
type agreed struct {
	side   rendezvous.Side
	run    uint32
	lookup rendezvous.Lookup
	lobby  rendezvous.LobbyID
	proto  uint8
	keys   *keys.Keys
	rtt    time.Duration
	since  time.Time // when the last message that the other side answers was sent
	met    time.Time // see Session.Met
	data   uint64    // hash of the opponent's game data
}

// establish waits for SESSION, exchanges HELLOs and compares the sheets. On
// success the connection belongs to the Session; on failure it stays the
// caller's and the keys are wiped.
func establish(ctx context.Context, cfg *Config, c *conn, a agreed) (*Session, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, cfg.Timeout, ErrNoAnswer)
	defer cancel()
	s, err := exchange(ctx, cfg, c, a)
	if err != nil {
		a.keys.Wipe()
		return nil, err
	}
	return s, nil
}

func exchange(ctx context.Context, cfg *Config, c *conn, a agreed) (*Session, error) {
	s := &Session{
		Side: a.side, Keys: a.keys, Relay: c.relay, RelayAddr: c.remote, Lookup: a.lookup, Proto: a.proto, RTT: a.rtt, Met: a.met,
		conn:   c,
		hide:   cfg.Hello.Hide,
		cfg:    cfg,
		sealer: a.keys.Sealer(a.side, a.run), opener: a.keys.Opener(a.side.Other(), a.run),
	}
	haveSession := false
	var sheet [sheetSize]byte
	for {
		b, err := c.recv(ctx)
		if err != nil {
			return nil, err
		}
		t, err := rendezvous.TypeOf(b)
		if err != nil {
			return nil, ErrProtocol
		}
		switch t {
		case rendezvous.TypeSession:
			if haveSession {
				return nil, fmt.Errorf("%w (a second SESSION)", ErrProtocol)
			}
			if err := rendezvous.ParseSession(b, &s.SessionMsg); err != nil {
				return nil, fmt.Errorf("%w (SESSION: %w)", ErrProtocol, err)
			}
			m := &s.SessionMsg
			if m.Run != a.run || m.Side != a.side || m.Lobby != a.lobby {
				return nil, fmt.Errorf("%w (SESSION is not for this run)", ErrTampered)
			}
			if len(m.Endpoints) == 0 {
				return nil, fmt.Errorf("%w (SESSION names no endpoint)", ErrProtocol)
			}
			haveSession = true
			sheet = m.Sheet()
			if err := s.send(keys.Hello, appendHello(nil, &cfg.Hello, &sheet)); err != nil {
				return nil, err
			}
		case rendezvous.TypeSealed:
			if !haveSession {
				return nil, fmt.Errorf("%w (SEALED before SESSION)", ErrProtocol)
			}
			kind, body, err := s.open(b)
			if err != nil {
				return nil, err
			}
			var theirs [sheetSize]byte
			if kind != keys.Hello || parseHello(body, &s.Opponent, &theirs) != nil {
				return nil, fmt.Errorf("%w: the opponent's program says something this one does not understand", ErrIncompatible)
			}
			if theirs != sheet {
				return nil, fmt.Errorf("%w (the relay told the players of different sessions)", ErrTampered)
			}
			if took := time.Since(a.since); s.RTT == 0 || took < s.RTT {
				s.RTT = took
			}
			s.Opponent.Name = rendezvous.CleanText(s.Opponent.Name)
			s.Opponent.Build = rendezvous.CleanText(s.Opponent.Build)
			if err := sameData(cfg, a.data, s.Opponent); err != nil {
				return nil, err
			}
			return s, nil
		case rendezvous.TypeError:
			var m rendezvous.ErrorMsg
			if rendezvous.ParseError(b, &m) != nil {
				return nil, ErrProtocol
			}
			return nil, relayFailure(m)
		case rendezvous.TypeRun, rendezvous.TypeShareB:
			// Of runs that lost the race; the relay ends them.
		default:
			return nil, fmt.Errorf("%w (message %02x out of turn)", ErrProtocol, uint8(t))
		}
	}
}

// tampered turns a failure to open into one sentence.
func tampered(err error) error {
	if errors.Is(err, ErrTampered) {
		return err
	}
	return fmt.Errorf("%w (%w)", ErrTampered, err)
}
