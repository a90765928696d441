package lobby

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	mathrand "math/rand/v2"
	"time"

	"backstep/natpunch/cpace"
	"backstep/natpunch/keys"
	"backstep/natpunch/rendezvous"
)

// Join goes through the relays of code (those of cfg if it names none) until one
// knows the lobby, and makes at most one guess with the typed code: once its
// confirmation is out, nothing is repeated, because that message gives whoever
// plays host one guess at the secret. Before that it may ask again, for up to
// cfg.Timeout, when the relay ended the run or the host is away. ctx ends it with
// its cause.
func Join(ctx context.Context, cfg Config, code rendezvous.Code) (*Session, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	if !code.Valid() {
		return nil, fmt.Errorf("%w: %w", ErrConfig, rendezvous.ErrCode)
	}
	relays := cfg.Relays
	if len(code.Relays) > 0 {
		if relays, err = canonical(code.Relays); err != nil {
			return nil, fmt.Errorf("%w: %w", ErrConfig, err)
		}
	}
	if len(relays) == 0 {
		return nil, fmt.Errorf("%w: neither the code nor the configuration names a relay", ErrConfig)
	}
	var worst error
	for _, relay := range relays {
		j := joiner{cfg: &cfg, code: code}
		s, err := j.at(ctx, relay)
		if err == nil {
			return s, nil
		}
		cfg.Log.Debug().Str("event", "join_failed").Str("relay", relay).Err(err).Msg("")
		if j.guessed || ctx.Err() != nil || !elsewhere(err) {
			return nil, err
		}
		// Of several answers the one that tells most: a relay that does not
		// know the code outweighs one that could not be asked.
		if worst == nil || errors.Is(err, ErrUnknownCode) {
			worst = err
		}
	}
	return nil, worst
}

// elsewhere reports whether another relay of the code may do better.
func elsewhere(err error) bool {
	for _, f := range []*Failure{ErrUnreachable, ErrUnauthorized, ErrBusy, ErrProtocol, ErrUnknownCode, ErrRelayVersion, ErrSlowDown, ErrLost} {
		if errors.Is(err, f) {
			return true
		}
	}
	return false
}

// joiner is one relay's try.
type joiner struct {
	cfg     *Config
	code    rendezvous.Code
	conn    *conn
	guessed bool // SHARE_B is out, or may be
	asked   time.Time
}

func (j *joiner) at(ctx context.Context, relay string) (*Session, error) {
	var err error
	if j.conn, err = dial(ctx, j.cfg, relay); err != nil {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		return nil, err
	}
	s, err := j.run(ctx)
	if err != nil {
		j.conn.close()
		if errors.Is(err, errDropped) {
			err = ErrLost
		}
		if ofRelay(err) {
			err = fmt.Errorf("relay %s: %w", relay, err)
		}
		return nil, err
	}
	return s, nil
}

// run asks until a host has answered, then plays the run to its end.
func (j *joiner) run(ctx context.Context) (*Session, error) {
	exchange, cancel := context.WithTimeoutCause(ctx, j.cfg.Timeout, ErrNoAnswer)
	defer cancel()
	var refusal error // of the last try on this connection
	for {
		var nJ rendezvous.Nonce
		rand.Read(nJ[:])
		j.asked = time.Now()
		err := j.conn.send(rendezvous.AppendJoin(nil, &rendezvous.JoinMsg{Version: rendezvous.Version, Lookup: j.code.Lookup, NonceJ: nJ}))
		if err != nil && refusal == nil {
			refusal = j.refused(exchange, err)
		}
		if err != nil {
			return nil, refusal
		}
		share, wait, err := j.share(exchange)
		if share != nil {
			return j.confirm(ctx, exchange, nJ, share)
		}
		if errors.Is(err, errDropped) && refusal != nil {
			return nil, refusal // why the relay closed
		}
		if wait == 0 {
			return nil, err
		}
		if errors.Is(err, ErrAway) && !errors.Is(refusal, ErrAway) {
			j.cfg.Log.Info().Str("event", "host_away").Msg("the host's connection to the relay is lost; waiting a moment for it to come back")
		}
		refusal = err
		select {
		case <-time.After(wait):
		case <-exchange.Done():
			if ctx.Err() == nil {
				return nil, err
			}
			return nil, context.Cause(ctx)
		}
	}
}

// refused looks whether the relay said why it closed before a write failed.
func (j *joiner) refused(ctx context.Context, err error) error {
	for {
		b, rerr := j.conn.recv(ctx)
		if rerr != nil {
			return err
		}
		var m rendezvous.ErrorMsg
		if rendezvous.ParseError(b, &m) == nil {
			return relayFailure(m)
		}
	}
}

// share waits for the host's share. A wait beside the error means: ask again.
func (j *joiner) share(ctx context.Context) (*rendezvous.ShareAMsg, time.Duration, error) {
	b, err := j.conn.recv(ctx)
	if err != nil {
		return nil, 0, err
	}
	t, _ := rendezvous.TypeOf(b)
	switch t {
	case rendezvous.TypeShareA:
		m := new(rendezvous.ShareAMsg)
		if err := rendezvous.ParseShareA(b, m); err != nil {
			return nil, 0, fmt.Errorf("%w (SHARE_A: %w)", ErrProtocol, err)
		}
		return m, 0, nil
	case rendezvous.TypeError:
		var m rendezvous.ErrorMsg
		if rendezvous.ParseError(b, &m) != nil {
			return nil, 0, ErrProtocol
		}
		wait := time.Duration(0)
		// A relay that asks for a second's patience gets it; one that asks for a
		// minute's is a message to the player.
		brief := m.Code == rendezvous.CodeSlowDown && m.Retry > 0 && m.Retry <= 3
		// A host that lost its connection is back within seconds, or not at all.
		if brief || m.Code == rendezvous.CodeRunEnded || m.Code == rendezvous.CodeBusy || m.Code == rendezvous.CodeAway {
			// Spread, so that joiners do not keep step with one another.
			wait = j.cfg.timing.retry/2 + mathrand.N(j.cfg.timing.retry)
			wait = max(wait, time.Duration(m.Retry)*time.Second)
		}
		return nil, wait, relayFailure(m)
	}
	return nil, 0, fmt.Errorf("%w (message %02x out of turn)", ErrProtocol, uint8(t))
}

// confirm sends the one guess and waits for the host's confirmation.
func (j *joiner) confirm(ctx, exchange context.Context, nJ rendezvous.Nonce, a *rendezvous.ShareAMsg) (*Session, error) {
	var theirs cpace.AD
	if err := cpace.ParseAD(a.AD, &theirs); err != nil || theirs.Side != rendezvous.SideHost {
		return nil, fmt.Errorf("%w (what answered is not a host)", ErrTampered)
	}
	ours := j.cfg.ad(rendezvous.SideJoin)
	adb := cpace.AppendAD(nil, &ours)
	sid := cpace.SessionID(nJ, a.NonceH)
	ci := cpace.ChannelID(j.cfg.Purpose, j.code.Lookup, a.Lobby)
	r, yb, tb, err := cpace.Respond(rand.Reader, []byte(j.code.Secret), ci, sid, &a.Share, a.AD, adb)
	if err != nil {
		return nil, fmt.Errorf("%w (%w)", ErrTampered, err)
	}
	defer r.Wipe()
	j.guessed = true
	sent := time.Now()
	err = j.conn.send(rendezvous.AppendShareB(nil, &rendezvous.ShareBMsg{Run: a.Run, Share: yb, AD: adb, Tag: tb}))
	if err != nil {
		return nil, j.refused(exchange, err)
	}
	tag, err := j.confirmation(exchange, a.Run)
	if err != nil {
		return nil, err
	}
	rtt := time.Since(sent)
	isk, err := r.Finish(tag)
	if err != nil {
		return nil, fmt.Errorf("%w (whoever answered does not know the code)", ErrWrongCode)
	}
	defer isk.Wipe()
	proto, err := agree(ours, theirs)
	if err != nil {
		return nil, err
	}
	return establish(ctx, j.cfg, j.conn, agreed{
		side: rendezvous.SideJoin, run: a.Run, lookup: j.code.Lookup, lobby: a.Lobby, proto: proto,
		keys: keys.New(sid, isk[:]), rtt: rtt, since: sent, met: j.asked, data: theirs.DataHash,
	})
}

// confirmation waits for CONF_A or the reason why there is none.
func (j *joiner) confirmation(ctx context.Context, run uint32) (*rendezvous.Tag, error) {
	b, err := j.conn.recv(ctx)
	if err != nil {
		return nil, err
	}
	t, _ := rendezvous.TypeOf(b)
	switch t {
	case rendezvous.TypeConfA:
		var m rendezvous.ConfAMsg
		if err := rendezvous.ParseConfA(b, &m); err != nil {
			return nil, fmt.Errorf("%w (CONF_A: %w)", ErrProtocol, err)
		}
		if m.Run != run {
			return nil, fmt.Errorf("%w (CONF_A is not for this run)", ErrTampered)
		}
		return &m.Tag, nil
	case rendezvous.TypeFail:
		var m rendezvous.FailMsg
		if err := rendezvous.ParseFail(b, &m); err != nil || m.Run != run {
			return nil, fmt.Errorf("%w (FAIL)", ErrProtocol)
		}
		return nil, ErrWrongCode
	case rendezvous.TypeError:
		var m rendezvous.ErrorMsg
		if rendezvous.ParseError(b, &m) != nil {
			return nil, ErrProtocol
		}
		// The guess may have reached the host, so it is the player who tries again, not this program.
		if m.Code == rendezvous.CodeRunEnded && m.Retry > 0 {
			return nil, ErrDisplaced
		}
		return nil, relayFailure(m)
	}
	return nil, fmt.Errorf("%w (message %02x out of turn)", ErrProtocol, uint8(t))
}
