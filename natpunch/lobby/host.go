package lobby

import (
	"context"
	"errors"
	"fmt"
	"time"

	"backstep/natpunch/rendezvous"
)

// maxGuesses is after how many failed guesses a code dies.
const maxGuesses = 3

// maxCodeTime is the longest life of a code, whatever the relay says.
const maxCodeTime = 15 * time.Minute

// errStartOver means that this code is used up or its lobby gone: take a new one.
var errStartOver = errors.New("lobby: a new code is needed")

// Host opens a lobby at the first of cfg.Relays that takes it, tells cfg.OnCode
// the code, and waits for the opponent, for at most cfg.Wait. It survives a lost
// WebSocket by taking the lobby back, and replaces a code that expired, that saw
// three failed guesses, or whose opponent left before the two had exchanged
// HELLOs. ctx ends it with its cause.
func Host(ctx context.Context, cfg Config) (*Session, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	if len(cfg.Relays) == 0 {
		return nil, fmt.Errorf("%w: no relay to host at", ErrConfig)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, cfg.Wait, ErrNobodyCame)
	defer cancel()
	h := &host{cfg: &cfg, secretLen: cfg.SecretLen, runs: runTable{}}
	s, err := h.work(ctx)
	h.runs.wipe()
	if err != nil && h.conn != nil {
		h.conn.close()
	}
	return s, err
}

// host is the state of one call of Host; one goroutine owns it.
type host struct {
	cfg  *Config
	conn *conn

	relay   string // where the lobby is; empty before the first
	lobby   rendezvous.LobbyID
	resume  rendezvous.ResumeToken
	code    rendezvous.Code // zero: no code yet, or the last one is used up
	expires time.Time
	born    time.Time
	// guesses belongs to the code, not to the connection or the relay's count.
	guesses   int
	secretLen int

	runs runTable
}

// work keeps a connection to a lobby until an opponent has come or nothing more
// can be done.
func (h *host) work(ctx context.Context) (*Session, error) {
	drops := 0
	for {
		if h.conn == nil {
			if err := h.connect(ctx, drops); err != nil {
				return nil, err
			}
		}
		began := time.Now()
		s, err := h.serve(ctx)
		h.runs.wipe()
		switch {
		case err == nil:
			return s, nil
		case errors.Is(err, errStartOver):
			h.cfg.Log.Info().Str("event", "lobby_new_code").Err(err).Msg("")
			h.retire()
			h.hangUp()
		case errors.Is(err, errDropped):
			h.cfg.Log.Warn().Str("event", "lobby_dropped").Str("relay", h.relay).Msg("")
			h.hangUp()
		default:
			return nil, err
		}
		// A relay that takes a host in and drops it at once is not called
		// again without pause.
		if drops++; time.Since(began) > h.cfg.timing.reconnect {
			drops = 1
		}
	}
}

func (h *host) hangUp() {
	h.conn.close()
	h.conn = nil
}

// retire forgets the code: what follows is a new lobby with new halves.
func (h *host) retire() {
	h.runs.wipe()
	if h.guesses > 0 && h.secretLen < 8 {
		h.secretLen += 2
	}
	h.code, h.resume, h.lobby, h.guesses = rendezvous.Code{}, rendezvous.ResumeToken{}, rendezvous.LobbyID{}, 0
}

// connect opens a lobby, or takes the old one back: for a while at the relay
// that has it, then at any.
func (h *host) connect(ctx context.Context, drops int) error {
	if h.relay != "" {
		since := time.Now()
		for pause := backoff(drops); time.Since(since)+pause < h.cfg.timing.reconnect; pause = backoff(drops) {
			select {
			case <-time.After(pause):
			case <-ctx.Done():
				return context.Cause(ctx)
			}
			err := h.open(ctx, h.relay)
			if err == nil || ctx.Err() != nil {
				return err
			}
			h.cfg.Log.Debug().Str("event", "lobby_reconnect").Str("relay", h.relay).Err(err).Msg("")
			drops++
		}
		h.retire()
	}
	var worst error
	for _, relay := range h.cfg.Relays {
		err := h.open(ctx, relay)
		if err == nil || ctx.Err() != nil {
			return err
		}
		h.cfg.Log.Debug().Str("event", "host_failed").Str("relay", relay).Err(err).Msg("")
		if worst == nil {
			worst = err
		}
	}
	return worst
}

// backoff is the pause before the nth connection after the first: none, then
// 0.25 s doubling to 4 s.
func backoff(drops int) time.Duration {
	if drops <= 1 {
		return 0
	}
	return 250 * time.Millisecond << min(drops-2, 4)
}

// open dials a relay and asks for a lobby there.
func (h *host) open(ctx context.Context, relay string) error {
	c, err := dial(ctx, h.cfg, relay)
	if err != nil {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		return err
	}
	h.conn, h.relay = c, relay
	if err := h.request(ctx); err != nil {
		h.hangUp()
		if errors.Is(err, errDropped) {
			err = ErrLost
		}
		if ctx.Err() != nil {
			return err
		}
		return fmt.Errorf("relay %s: %w", relay, err)
	}
	return nil
}

// request sends HOST and waits for CODE, which it makes the current code unless
// it is the one that was asked for again.
func (h *host) request(ctx context.Context) error {
	wait, cancel := context.WithTimeoutCause(ctx, h.cfg.Timeout, ErrUnreachable)
	defer cancel()
	ask := func() error {
		return h.conn.send(rendezvous.AppendHost(nil, &rendezvous.HostMsg{Version: rendezvous.Version, Resume: h.resume}))
	}
	if err := ask(); err != nil && !errors.Is(err, errDropped) {
		return err // a dropped connection may have a reason waiting to be read
	}
	for {
		b, err := h.conn.recv(wait)
		if err != nil {
			return err
		}
		t, _ := rendezvous.TypeOf(b)
		switch t {
		case rendezvous.TypeCode:
			var m rendezvous.CodeMsg
			if err := rendezvous.ParseCodeMsg(b, &m); err != nil {
				return fmt.Errorf("%w (CODE: %w)", ErrProtocol, err)
			}
			return h.take(&m)
		case rendezvous.TypeError:
			var m rendezvous.ErrorMsg
			if rendezvous.ParseError(b, &m) != nil {
				return ErrProtocol
			}
			switch m.Code {
			case rendezvous.CodeResume:
				if h.resume == (rendezvous.ResumeToken{}) {
					return relayFailure(m)
				}
				h.retire()
				if err := ask(); err != nil {
					return err
				}
			case rendezvous.CodeExpired, rendezvous.CodeGone, rendezvous.CodeRunEnded:
				// About the lobby that is being replaced.
			default:
				return relayFailure(m)
			}
		case rendezvous.TypeRun, rendezvous.TypeShareB:
			// Likewise.
		default:
			return fmt.Errorf("%w (message %02x out of turn)", ErrProtocol, uint8(t))
		}
	}
}
