package lobby

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	mathrand "math/rand/v2"
	"slices"
	"time"

	"backstep/natpunch/cpace"
	"backstep/natpunch/keys"
	"backstep/natpunch/rendezvous"
)

// maxRuns is how many runs a host keeps open: what an honest relay allows.
const maxRuns = 4

// A relay ends a host that sends more than 16 messages a second, and a stranger
// decides how many runs there are. So a host answers at most runRate runs a
// second after a burst of runBurst. The newest that wait, as many as a relay
// keeps open, are drawn by lot, so that no flood can keep its timing between an
// honest joiner and the host; the joiners of the others ask again.
const (
	runRate  = 10
	runBurst = 8
	runCost  = time.Second / runRate
)

// hostRun is a run whose joiner has not confirmed yet.
type hostRun struct {
	init *cpace.Initiator
	sid  []byte
	sent time.Time
	seq  uint64
}

// runTable holds the open runs by number; the oldest makes room.
type runTable struct {
	open   map[uint32]*hostRun
	seq    uint64
	tokens time.Duration // of runCost each
	filled time.Time
	wait   []rendezvous.RunMsg // oldest first
}

// add queues a run; the oldest of too many is passed over.
func (t *runTable) add(m rendezvous.RunMsg) {
	if len(t.wait) == maxRuns {
		t.wait = append(t.wait[:0], t.wait[1:]...)
	}
	t.wait = append(t.wait, m)
}

// due returns how long until a waiting run may be answered, and whether one waits.
func (t *runTable) due(now time.Time) (time.Duration, bool) {
	if len(t.wait) == 0 {
		return 0, false
	}
	if t.filled.IsZero() {
		t.tokens = runBurst * runCost
	} else {
		t.tokens = min(t.tokens+now.Sub(t.filled), runBurst*runCost)
	}
	t.filled = now
	return max(0, runCost-t.tokens), true
}

// draw takes one of the waiting runs by lot, and what it costs.
func (t *runTable) draw() rendezvous.RunMsg {
	t.tokens -= runCost
	i := mathrand.IntN(len(t.wait))
	m := t.wait[i]
	t.wait = slices.Delete(t.wait, i, i+1)
	return m
}

func (t *runTable) put(run uint32, r *hostRun) {
	if t.open == nil {
		t.open = make(map[uint32]*hostRun, maxRuns)
	}
	t.drop(run)
	if len(t.open) == maxRuns {
		oldest := run
		for n, x := range t.open {
			if o := t.open[oldest]; o == nil || x.seq < o.seq {
				oldest = n
			}
		}
		t.drop(oldest)
	}
	t.seq++
	r.seq = t.seq
	t.open[run] = r
}

// remove takes a run out; its initiator is the caller's.
func (t *runTable) remove(run uint32) *hostRun {
	r := t.open[run]
	delete(t.open, run)
	return r
}

func (t *runTable) drop(run uint32) {
	if r := t.remove(run); r != nil {
		r.init.Wipe()
	}
}

func (t *runTable) wipe() {
	t.wait = t.wait[:0]
	for n := range t.open {
		t.drop(n)
	}
}

// take makes m the current code. If it is not the lobby that was asked for
// again, the secret half is new too, whatever the relay has in mind.
func (h *host) take(m *rendezvous.CodeMsg) error {
	now := time.Now()
	life := min(time.Duration(m.TTL)*time.Second, maxCodeTime)
	if h.resume != (rendezvous.ResumeToken{}) && m.Lobby == h.lobby && m.Lookup == h.code.Lookup {
		h.resume = m.Resume
		if e := now.Add(life); e.Before(h.expires) {
			h.expires = e
		}
		h.cfg.Log.Info().Str("event", "lobby_resumed").Str("lobby", m.Lookup.String()).Msg("")
		return nil
	}
	if h.code.Valid() {
		h.retire()
	}
	if life == 0 || m.Resume == (rendezvous.ResumeToken{}) {
		return fmt.Errorf("%w (CODE without life or resume token)", ErrProtocol)
	}
	secret, err := rendezvous.DrawSecret(rand.Reader, h.secretLen)
	if err != nil {
		return err
	}
	h.lobby, h.resume, h.guesses = m.Lobby, m.Resume, 0
	h.code = rendezvous.Code{Lookup: m.Lookup, Secret: secret, Relays: h.printed()}
	h.born, h.expires = now, now.Add(life)
	h.cfg.Log.Info().Str("event", "lobby_code").Str("lobby", m.Lookup.String()).Str("relay", h.relay).Msg("")
	if h.cfg.OnCode != nil {
		h.cfg.OnCode(h.code.String())
	}
	return nil
}

// printed is what a code names as its relays.
func (h *host) printed() []string {
	switch {
	case len(h.cfg.CodeRelays) > 0:
		return h.cfg.CodeRelays[:min(len(h.cfg.CodeRelays), rendezvous.MaxRelays)]
	case h.relay == h.cfg.DefaultRelay:
		return nil
	}
	return []string{h.relay}
}

// renew replaces the code on the connection there is, not more often than once a
// second: a relay must not be able to make a host spin.
func (h *host) renew(ctx context.Context) error {
	born := h.born
	h.retire()
	select {
	case <-time.After(h.cfg.timing.renew - time.Since(born)):
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	err := h.request(ctx)
	if err != nil && ctx.Err() == nil && !errors.Is(err, ErrProtocol) {
		return fmt.Errorf("%w: %w", errStartOver, err)
	}
	return err
}

// serve answers runs until an opponent has come (a Session), the connection
// dropped (errDropped), the lobby is gone (errStartOver), or nothing can be done.
func (h *host) serve(ctx context.Context) (*Session, error) {
	for {
		code := time.NewTimer(time.Until(h.expires))
		s, err := h.next(ctx, code.C, h.nextRun())
		code.Stop()
		if s != nil || err != nil {
			return s, err
		}
	}
}

// nextRun fires when a waiting run may be answered; never if none waits.
func (h *host) nextRun() <-chan time.Time {
	d, ok := h.runs.due(time.Now())
	if !ok {
		return nil
	}
	return time.After(d)
}

// next handles one message, the turn of a run, or the end of the code.
func (h *host) next(ctx context.Context, over, run <-chan time.Time) (*Session, error) {
	var b []byte
	select {
	case m, ok := <-h.conn.in:
		if !ok {
			return nil, errDropped
		}
		b = m
	case <-run:
		return nil, h.answer(h.runs.draw())
	case <-over:
		return nil, h.renew(ctx)
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	t, _ := rendezvous.TypeOf(b)
	switch t {
	case rendezvous.TypeRun:
		var m rendezvous.RunMsg
		if err := rendezvous.ParseRun(b, &m); err != nil {
			return nil, fmt.Errorf("%w (RUN: %w)", ErrProtocol, err)
		}
		h.runs.add(m)
		return nil, nil
	case rendezvous.TypeShareB:
		var m rendezvous.ShareBMsg
		if err := rendezvous.ParseShareB(b, &m); err != nil {
			return nil, fmt.Errorf("%w (SHARE_B: %w)", ErrProtocol, err)
		}
		return h.finish(ctx, &m)
	case rendezvous.TypeError:
		var m rendezvous.ErrorMsg
		if rendezvous.ParseError(b, &m) != nil {
			return nil, ErrProtocol
		}
		switch m.Code {
		case rendezvous.CodeExpired:
			return nil, h.renew(ctx)
		case rendezvous.CodeRunEnded:
			return nil, nil
		case rendezvous.CodeGone, rendezvous.CodeFull, rendezvous.CodeUnknown:
			return nil, fmt.Errorf("%w: %v", errStartOver, m.Code)
		case rendezvous.CodeDraining, rendezvous.CodeBusy, rendezvous.CodeSlowDown, rendezvous.CodeInternal:
			h.cfg.Log.Warn().Str("event", "lobby_refused").Str("relay", h.relay).Stringer("why", m.Code).Msg("")
			return nil, errDropped
		}
		return nil, relayFailure(m)
	case rendezvous.TypeFail:
		return nil, nil
	}
	return nil, fmt.Errorf("%w (message %02x out of turn)", ErrProtocol, uint8(t))
}

// answer starts a run: this side's share, made for this run alone.
func (h *host) answer(m rendezvous.RunMsg) error {
	now := time.Now()
	var nH rendezvous.Nonce
	rand.Read(nH[:])
	ad := h.cfg.ad(rendezvous.SideHost)
	ada := cpace.AppendAD(nil, &ad)
	sid := cpace.SessionID(m.NonceJ, nH)
	ci := cpace.ChannelID(h.cfg.Purpose, h.code.Lookup, h.lobby)
	init, err := cpace.NewInitiator(rand.Reader, []byte(h.code.Secret), ci, sid, ada)
	if err != nil {
		return err
	}
	h.runs.put(m.Run, &hostRun{init: init, sid: sid, sent: now})
	return h.conn.send(rendezvous.AppendShareA(nil, &rendezvous.ShareAMsg{
		Run: m.Run, Lobby: h.lobby, NonceH: nH, Share: init.Share(), AD: ada,
	}))
}

// finish judges a joiner's confirmation.
func (h *host) finish(ctx context.Context, m *rendezvous.ShareBMsg) (*Session, error) {
	r := h.runs.remove(m.Run)
	if r == nil {
		return nil, nil // of a run that made room, or of none
	}
	rtt := time.Since(r.sent)
	defer r.init.Wipe()
	var theirs cpace.AD
	if err := cpace.ParseAD(m.AD, &theirs); err != nil || theirs.Side != rendezvous.SideJoin {
		return nil, h.guess(ctx, m.Run)
	}
	isk, ta, err := r.init.Finish(&m.Share, m.AD, &m.Tag)
	if err != nil {
		return nil, h.guess(ctx, m.Run)
	}
	defer isk.Wipe()
	if err := h.conn.send(rendezvous.AppendConfA(nil, &rendezvous.ConfAMsg{Run: m.Run, Tag: ta})); err != nil {
		return nil, fmt.Errorf("%w: %w", errStartOver, err)
	}
	proto, err := agree(h.cfg.ad(rendezvous.SideHost), theirs)
	if err != nil {
		return nil, err
	}
	since := time.Now()
	if err := h.conn.send(rendezvous.AppendTaken(nil, &rendezvous.TakenMsg{Run: m.Run})); err != nil {
		return nil, fmt.Errorf("%w: %w", errStartOver, err)
	}
	s, err := establish(ctx, h.cfg, h.conn, agreed{
		side: rendezvous.SideHost, run: m.Run, lookup: h.code.Lookup, lobby: h.lobby, proto: proto,
		keys: keys.New(r.sid, isk[:]), rtt: rtt, since: since, met: r.sent, data: theirs.DataHash,
	})
	if err != nil && ctx.Err() == nil {
		for _, f := range []error{errDropped, ErrGone, ErrNoAnswer, ErrBusy} {
			if errors.Is(err, f) {
				return nil, fmt.Errorf("%w: %w", errStartOver, err)
			}
		}
	}
	return s, err
}

// guess counts a failed guess, tells the player, and replaces the code after the
// third.
func (h *host) guess(ctx context.Context, run uint32) error {
	h.guesses++
	n := h.guesses
	h.cfg.Log.Warn().Str("event", "lobby_guess").Int("count", n).Msg("")
	err := h.conn.send(rendezvous.AppendFail(nil, &rendezvous.FailMsg{Run: run}))
	if h.cfg.OnGuess != nil {
		h.cfg.OnGuess(n)
	}
	if n < maxGuesses {
		return err
	}
	if err != nil {
		h.retire()
		return err
	}
	return h.renew(ctx)
}
