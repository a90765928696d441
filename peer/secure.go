package peer

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"strings"
	"time"

	"backstep/natpunch"
	"backstep/natpunch/lobby"
	"backstep/peer/dialog"
	"backstep/peer/impair"
	"backstep/peer/link"
	"backstep/peer/match"
	"backstep/peer/setup"
)

const (
	attempts = 3 // handshakes: the first and two more that the sides agree on
	// settle is how long a side waits before a new attempt, on top of half a
	// round trip, so that flights of the old one have arrived and are gone.
	settle        = 20 * time.Millisecond
	probeInterval = 50 * time.Millisecond
)

// channel is everything between the lobby and the match loop.
type channel struct {
	paths   *natpunch.Paths
	link    *link.Link
	talk    *dialog.Dialog // of the link, from its handshake on
	signals *signals
	stop    context.CancelFunc // ends the reading of signals
	relays  []netip.AddrPort

	allowed natpunch.Allowed
	hello   []byte // what is sent until the opponent is heard

	connectUs int64 // both in the lobby -> secure link, without the players' thinking
}

// open makes paths and the secure link of a player who accepts at once.
func (c *Config) open(ctx context.Context, s *lobby.Session, su *setup.Setup) (*channel, error) {
	ch, err := c.reach(ctx, s, match.AppendControl(nil, su.AppendMessage(nil)))
	if err != nil {
		return nil, err
	}
	if err = ch.accept(ctx); err == nil {
		err = c.settle(ctx, ch, s)
	}
	if err != nil {
		ch.close(s)
		return nil, err
	}
	return ch, nil
}

// reach makes the paths, and the secure link over the relay if it may carry
// it: nothing else is used before both players accepted.
func (c *Config) reach(ctx context.Context, s *lobby.Session, hello []byte) (*channel, error) {
	other, err := setup.ParseOffer(s.Opponent.Config)
	if err != nil {
		return nil, fail(exitIncompatible, match.EndVersion, err, "%v", err)
	}
	allowed, err := c.Paths.And(natpunch.Allowed(other.Paths))
	if err != nil {
		return nil, fail(exitNoPath, match.EndNoPath, err, "the --path lists of the two players have nothing in common (here %v, there %v); agree on one", c.Paths, natpunch.Allowed(other.Paths))
	}
	conn, err := natpunch.Listen(":0")
	if err != nil {
		return nil, fail(exitInternal, match.EndError, err, "no UDP socket could be opened: %v", err)
	}
	ch := &channel{relays: relayEndpoints(s), allowed: allowed, hello: hello}
	sctx, stop := context.WithCancel(context.WithoutCancel(ctx))
	ch.stop = stop
	ch.signals = newSignals(sctx, s)
	if err = c.paths(ctx, ch, s, conn); err == nil && ch.relayed() {
		err = c.secure(ctx, ch, s)
	}
	if err != nil {
		ch.close(s)
		return nil, err
	}
	return ch, nil
}

// relayed tells whether the relay may carry the match.
func (ch *channel) relayed() bool {
	return ch.allowed&(natpunch.AllowRelay|natpunch.AllowTunnel) != 0
}

func (c *Config) paths(ctx context.Context, ch *channel, s *lobby.Session, conn net.PacketConn) (err error) {
	m := &s.SessionMsg
	if c.wrap != nil {
		conn = c.wrap(conn)
	}
	octx, cancel := context.WithTimeout(ctx, c.Timeout)
	defer cancel()
	ch.paths, err = natpunch.Open(octx, natpunch.Config{
		Conn: impair.Wrap(conn, c.Impair), Side: s.Side,
		Relay: ch.relays, Channel: m.Channel, Expiry: m.Expiry, Lobby: m.Lobby, RegKey: m.RegKey,
		Credentials: s.Keys.ICE, Signal: ch.signals, SignalRTT: s.RTT,
		DialTunnel: func(ctx context.Context) (natpunch.Tunnel, error) {
			t, err := s.DialTunnel(ctx)
			if err != nil {
				return nil, err // not a nil *lobby.Tunnel
			}
			return t, nil
		},
		Allowed: ch.allowed, Hide: s.Hidden(), Log: c.Log, Clock: now, PortMapper: c.portMapper(),
	})
	if err == nil {
		return nil
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if !errors.Is(err, natpunch.ErrRelayUnreachable) {
		return fail(exitInternal, match.EndError, err, "the paths to the opponent could not be set up: %v", err)
	}
	c.Log.Warn().Str("event", "relay_silent").Err(err).Msg("")
	return fail(exitNoPath, match.EndNoPath, err, "the relay, at which the players met, does not answer this player %s; try another network or another relay", asked(ch.allowed))
}

// asked says by which ways a player asks the relay to carry its packets.
func asked(a natpunch.Allowed) string {
	switch {
	case a&natpunch.AllowTunnel == 0:
		return "on UDP, and --path forbids the tunnel over TCP"
	case a&natpunch.AllowRelay == 0:
		return "through a tunnel over TCP"
	}
	return "on UDP, nor through a tunnel over TCP"
}

// settle follows when both players accepted: the direct path is looked for,
// and makes the link now if the relay may not.
func (c *Config) settle(ctx context.Context, ch *channel, s *lobby.Session) error {
	if err := ch.paths.StartDirect(context.WithoutCancel(ctx)); err != nil {
		return fail(exitInternal, match.EndError, err, "looking for a direct path failed: %v", err)
	}
	if ch.relayed() {
		return nil
	}
	if err := ch.waitDirect(ctx, c.Timeout); err != nil {
		return err
	}
	return c.secure(ctx, ch, s)
}

// waitDirect waits for a path when the relay may not carry the match.
func (ch *channel) waitDirect(ctx context.Context, timeout time.Duration) error {
	end := time.Now().Add(timeout)
	for ch.paths.Path() == natpunch.KindNone {
		if time.Now().After(end) {
			return fail(exitNoPath, match.EndNoPath, nil, "no direct path to the opponent came about within %v (%s), and --path forbids the relay; allow it with --path auto",
				timeout, strings.TrimPrefix(ch.paths.Reason(), "no path: "))
		}
		select {
		case <-time.After(5 * time.Millisecond):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

// secure runs up to three handshakes. A new one is agreed on through the
// lobby, so that both sides begin it together.
func (c *Config) secure(ctx context.Context, ch *channel, s *lobby.Session) error {
	var last error
	for n := range attempts {
		if n > 0 {
			c.Log.Warn().Str("event", "handshake_again").Err(last).Msg("the secure link is tried again")
			if err := ch.agree(ctx, s); err != nil {
				return err
			}
		}
		if last = c.attempt(ctx, ch, s); last == nil {
			ch.connectUs = time.Since(s.Met).Microseconds()
			return nil
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
	}
	return fail(exitNoPath, match.EndNoPath, last, "no secure link to the opponent came about in %d attempts; the network loses or alters too much, try another one", attempts)
}

// errAgain: the opponent asked for a new attempt while ours still ran.
var errAgain = errors.New("the opponent asks for a new attempt")

// attempt is one handshake. It is successful when a packet of the opponent
// was decrypted: only then does this side know that the other is done too.
func (c *Config) attempt(ctx context.Context, ch *channel, s *lobby.Session) error {
	actx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	asked := make(chan struct{})
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		select {
		case <-ch.signals.again:
			close(asked)
			cancel(errAgain)
		case <-actx.Done():
		}
	}()
	l, err := link.Connect(actx, ch.paths, link.Config{
		Server: c.Host, PSK: s.Keys.DTLSPSK(), Identity: []byte(s.Keys.DTLSIdentity()), Now: now,
	})
	if err == nil {
		err = greet(actx, l, ch.hello)
	}
	cancel(nil)
	<-watched
	select {
	case <-asked:
		// Put it back: agree reads it.
		ch.signals.again <- struct{}{}
	default:
	}
	if err != nil {
		if l != nil {
			_ = l.Close()
		}
		return err
	}
	ch.link, ch.talk = l, dialog.New(c.Host)
	ch.signals.attach(l)
	return nil
}

// greet sends a message that has to be sent anyway until something of the
// opponent's was decrypted. What arrives stays in the queue.
func greet(ctx context.Context, l *link.Link, b []byte) error {
	ctx, cancel := context.WithTimeout(ctx, link.HandshakeLimit)
	defer cancel()
	poll := time.NewTicker(2 * time.Millisecond)
	defer poll.Stop()
	var sent time.Time
	for l.Stats().Received == 0 {
		if l.Broken() {
			return link.ErrClosed
		}
		if time.Since(sent) >= probeInterval {
			l.Send(b)
			sent = time.Now()
		}
		select {
		case <-poll.C:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	// One more, so that the opponent is sure too.
	l.Send(b)
	return nil
}

// agree exchanges AGAIN: each side sends it once an attempt and waits for the
// other's.
func (ch *channel) agree(ctx context.Context, s *lobby.Session) error {
	if err := s.Send(lobby.MsgAgain, nil); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, link.HandshakeLimit+s.RTT+time.Second, lobby.ErrNoAnswer)
	defer cancel()
	select {
	case <-ch.signals.again:
	case <-ch.signals.gone:
		return ch.signals.err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	select {
	case <-time.After(s.RTT/2 + settle):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// close ends link, paths and lobby, in this order, so that the last words
// still find a way.
func (ch *channel) close(s *lobby.Session) {
	if ch.link != nil {
		_ = ch.link.Close()
	}
	if ch.paths != nil {
		_ = ch.paths.Close()
	}
	ch.stop()
	s.Close()
	<-ch.signals.gone
}

// relayEndpoints are where the relay says it is, and where its lobby was
// reached, which is right for a relay that does not know its own address.
func relayEndpoints(s *lobby.Session) []netip.AddrPort {
	var out []netip.AddrPort
	for _, e := range append([]netip.AddrPort{s.RelayAddr}, s.SessionMsg.Endpoints...) {
		known := false
		for _, o := range out {
			known = known || o == e
		}
		if !known && e.IsValid() && e.Port() != 0 {
			out = append(out, e)
		}
	}
	return out
}

var _ natpunch.Signaler = (*signals)(nil)
