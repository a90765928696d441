package peer

import (
	"context"
	"errors"
	"fmt"
	"time"

	"backstep/natpunch"
	"backstep/natpunch/lobby"
	"backstep/natpunch/rendezvous"
	"backstep/peer/lounge"
	"backstep/peer/match"
	"backstep/peer/setup"
	"backstep/rollback/wire"
)

// meet finds the opponent: it returns once both know that the other knows the
// code, and that their versions and settings fit. The stop function ends what
// was started for it, a relay of our own among that.
func (c *Config) meet(ctx context.Context) (s *lobby.Session, stop func(), err error) {
	stop = func() {}
	lc := lobby.Config{
		Relays: c.Relays, DefaultRelay: c.DefaultRelay, Token: c.RelayToken, SecretLen: c.SecretLen,
		Hello: lobby.Hello{
			Name: c.Name, Build: c.Build, Hide: c.Paths.Hides(),
			Config: setup.AppendOffer(nil, c.offer()),
		},
		DataHash: c.offer().DataHash, Fits: c.compare,
		Wait: c.Wait, Timeout: c.Timeout, Log: c.Log,
		OnCode: func(code string) {
			c.print("lobby %s", code)
			if c.onCode != nil {
				c.onCode(code)
			}
		},
		OnGuess: func(n int) {
			if c.onGuess != nil {
				c.onGuess(n)
			}
			c.Log.Warn().Str("event", "wrong_guess").Int("guess", n).Msg("somebody tried a wrong code; the third wrong one brings a new code")
		},
	}
	if c.Host && len(c.Relays) == 0 {
		if stop, err = c.embed(ctx, &lc); err != nil {
			return nil, func() {}, err
		}
	}
	if c.Host {
		s, err = lobby.Host(ctx, lc)
	} else {
		s, err = lobby.Join(ctx, lc, c.Code)
	}
	if err != nil {
		stop()
		return nil, func() {}, err
	}
	if err := c.fits(s); err != nil {
		s.Close()
		stop()
		return nil, func() {}, err
	}
	return s, stop, nil
}

// compare says why the two sides cannot play together, if so.
func (c *Config) compare(opponent lobby.Hello) error {
	other, err := setup.ParseOffer(opponent.Config)
	if err != nil {
		return fail(exitIncompatible, match.EndVersion, err, "the opponent's program speaks another protocol than this one; both must use the same version")
	}
	if err := setup.Compare(c.offer(), other, c.Host); err != nil {
		return fail(exitIncompatible, match.EndVersion, err, "%v", err)
	}
	return nil
}

// fits compares what the opponent offers with what this side plays.
func (c *Config) fits(s *lobby.Session) error {
	if err := c.compare(s.Opponent); err != nil {
		return err
	}
	other, err := setup.ParseOffer(s.Opponent.Config)
	if err != nil {
		return err // compare has read it already
	}
	if other.Build != c.Build {
		c.Log.Warn().Str("event", "build_differs").Str("ours", c.Build).Str("theirs", rendezvous.CleanText(other.Build)).
			Msg("the opponent runs another build; versions and data match, so the match goes on")
	}
	c.Log.Info().Str("event", "opponent").Str("name", s.Opponent.Name).Str("region", rendezvous.CleanText(other.Region)).
		Dur("lobby_rtt", s.RTT).Msg("the opponent is here")
	return nil
}

// embed starts a relay on this machine's addresses.
func (c *Config) embed(ctx context.Context, lc *lobby.Config) (stop func(), err error) {
	if c.Embed == nil {
		return nil, fail(exitUsage, match.EndError, nil, "no relay is known; give one with --relay HOST")
	}
	e, err := c.Embed(ctx, fmt.Sprintf(":%d", rendezvous.DefaultPort))
	if err != nil {
		// The usual port is taken; any other one will do.
		if e, err = c.Embed(ctx, ":0"); err != nil {
			return nil, fail(exitInternal, match.EndError, err, "no relay could be started on this machine: %v; give one with --relay HOST", err)
		}
	}
	names := lanNames(natpunch.LocalAddrs(false), e.Port)
	if len(names) == 0 {
		names = []string{fmt.Sprintf("127.0.0.1:%d", e.Port)}
	}
	lc.Relays, lc.CodeRelays = names[:1], names
	if c.onRelay != nil {
		c.onRelay(e.Port)
	}
	c.Log.Info().Str("event", "embedded_relay").Uint16("port", e.Port).
		Msg(fmt.Sprintf("no relay was given, so this machine is one: a friend on the same network joins with the code as it is; from outside, forward UDP and TCP port %d to this machine, or use a public relay with --relay HOST", e.Port))
	return e.Close, nil
}

// promptLimit is how long the players may think about the forecast.
const promptLimit = 2 * time.Minute

// accept tells the opponent that this side plays and waits until it does too.
// Meanwhile a link that stands already answers the probe of an opponent who
// looks at a forecast.
func (ch *channel) accept(ctx context.Context) error {
	g := ch.signals
	if err := g.session.Send(lobby.MsgAccept, nil); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, promptLimit, lobby.ErrNoAnswer)
	defer cancel()
	poll := time.NewTicker(2 * time.Millisecond)
	defer poll.Stop()
	// The opponent takes the link for secure only once it has heard us, and
	// our greetings may all have been lost.
	greet := time.NewTicker(probeInterval)
	defer greet.Stop()
	for {
		select {
		case <-g.accepted:
			return nil
		case <-g.gone:
			return g.goneErr()
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-poll.C:
			ch.answer()
		case <-greet.C:
			if ch.link != nil {
				ch.link.Send(ch.hello)
			}
		}
	}
}

// answer returns what probes have arrived.
func (ch *channel) answer() {
	if ch.link == nil {
		return
	}
	for {
		b, _, ok := ch.link.Receive()
		if !ok {
			return
		}
		var p wire.Packet
		if wire.IsCompact(b) || wire.ParseFull(b, &p) != nil {
			continue
		}
		if msg := lounge.Answer(nil, p.Message); len(msg) > 0 {
			ch.link.Send(match.AppendControl(nil, msg))
		}
	}
}

// goneErr is why no message will come any more; valid once gone is closed.
func (g *signals) goneErr() error {
	if errors.Is(g.err, lobby.ErrClosed) {
		return lobby.ErrGone
	}
	return g.err
}
