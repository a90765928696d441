package peer

import (
	"context"
	"errors"
	"fmt"

	"backstep/natpunch/lobby"
	"backstep/natpunch/rendezvous"
	"backstep/peer/lounge"
	"backstep/peer/match"
	"backstep/peer/page"
	"backstep/peer/setup"
	"backstep/sim"
)

func loopback(port uint16) string { return fmt.Sprintf("127.0.0.1:%d", port) }

// company is the opponent while one is there: the way to it and what is known.
type company struct {
	c         Config // of this meeting
	session   *lobby.Session
	ch        *channel
	sparring  bool // against the machine: no forecast, no select
	persons   [2]page.Person
	match     int // on this link
	score     [2]int
	figures   lounge.Figures
	grade     string
	lounge    *lounge.Lounge
	hostOffer setup.Offer
	talk      page.Talk
	said      int   // lines in all
	away      bool  // told the opponent
	lookAt    int64 // for whether somebody is here

	stopRelay func()
}

func (m *company) opponent() page.Person { return m.persons[1-m.c.side()] }

// versus is everything with one opponent, from the code to leaving.
func (a *app) versus(ctx context.Context, c Config, sparring bool) error {
	m := &company{c: c, sparring: sparring}
	defer m.leave()
	if !sparring {
		a.asked = c.Relays
	}
	m.talk = page.Talk{Lines: []page.ChatLine{}, They: here}
	a.page.Talk(&m.talk)
	defer a.page.Talk(&page.Talk{Lines: []page.ChatLine{}, They: here})
	if err := a.meet(ctx, m); err != nil {
		return err
	}
	if err := a.accord(ctx, m); err != nil {
		return err
	}
	for {
		if !m.lounge.Begun() {
			if err := a.pick(ctx, m); err != nil {
				return err
			}
		}
		again, err := a.fight(ctx, m)
		if err != nil || !again {
			return err
		}
	}
}

// leave ends everything of a meeting, as far as it came.
func (m *company) leave() {
	if m.ch != nil {
		m.ch.close(m.session)
	} else if m.session != nil {
		m.session.Close()
	}
	if m.session != nil {
		m.session.Keys.Wipe()
	}
	if m.stopRelay != nil {
		m.stopRelay()
	}
}

// meet shows the code, or that this side is joining, until the link stands.
func (a *app) meet(ctx context.Context, m *company) error {
	c := &m.c
	began := now()
	hosting := page.Hosting{}
	show := func() {
		a.page.Show(&page.Screen{Hosting: &hosting, Wait: wait("your opponent has to type the code", began, c.Wait.Microseconds())})
	}
	switch {
	case m.sparring:
		a.page.Show(starting("The machine is getting ready.", began, c.Timeout.Microseconds()))
	case c.Host:
		inner := c.onCode
		c.onCode = func(code string) {
			if inner != nil {
				inner(code)
			}
			hosting.Code, hosting.Link, hosting.Command, hosting.Guesses = code, inviteLink(code), "peer join "+code, 0
			hosting.QR, hosting.QRText = page.EncodeQR(hosting.Link), hosting.Link
			show()
		}
		c.onGuess = func(n int) { hosting.Guesses = n; show() }
		c.onRelay = func(port uint16) {
			hosting.Note = fmt.Sprintf("This machine is the relay. A friend on the same network joins with the code as it is; from outside, forward UDP and TCP port %d to this machine, or use a public relay.", port)
		}
		show()
	default:
		a.joining(c, "lobby", began)
	}
	err := a.during(ctx, func(ctx context.Context) (err error) {
		if m.session, m.stopRelay, err = c.meet(ctx); err != nil {
			return err
		}
		if !c.Host {
			a.joining(c, "link", began)
		}
		m.ch, err = c.reach(ctx, m.session, match.AppendControl(nil, lounge.Greeting()))
		return err
	})
	if err != nil {
		return err
	}
	other, err := setup.ParseOffer(m.session.Opponent.Config)
	if err != nil {
		return fail(exitIncompatible, match.EndVersion, err, "%v", err)
	}
	m.hostOffer = other
	if c.Host {
		m.hostOffer = c.offer()
	} else {
		// The rules are the host's; what this side insists on was compared.
		c.Ruleset, c.Format, c.Rounds = sim.Ruleset(other.Ruleset), sim.Format(other.Format), other.Rounds
		c.fillTeam()
		if w := c.world(); w.Valid() != nil {
			return fail(exitIncompatible, match.EndVersion, w.Valid(), "the host wants to play what this version cannot: %v", w.Valid())
		}
	}
	m.persons[c.side()] = page.Person{Name: c.Name, Region: rendezvous.CleanText(c.Region), Build: c.Build}
	m.persons[1-c.side()] = page.Person{Name: rendezvous.CleanText(m.session.Opponent.Name), Region: rendezvous.CleanText(other.Region),
		Build: rendezvous.CleanText(other.Build), Bot: m.sparring}
	return nil
}

func (a *app) joining(c *Config, stage string, began int64) {
	a.page.Show(&page.Screen{Joining: &page.Joining{Code: c.Code.Lookup.String(), Stage: stage},
		Wait: wait("the host's machine is asked", began, c.Timeout.Microseconds())})
}

func wait(reason string, began, limit int64) *page.Wait {
	return &page.Wait{Reason: reason, Since: (now() - began) / 1000, Limit: limit / 1000, Cancels: true}
}

func starting(sentence string, began, limit int64) *page.Screen {
	return &page.Screen{Starting: &page.Starting{Sentence: sentence}, Wait: wait(sentence, began, limit)}
}

// errOf turns the end of a lounge into the error of the player.
func errOf(err error) error {
	switch {
	case errors.Is(err, lounge.ErrLeft):
		return fail(exitOpponent, match.EndLeft, err, "the opponent left")
	case errors.Is(err, lounge.ErrSilent):
		return fail(exitOpponent, match.EndTimeout, err, "the opponent fell silent; check the network on both sides and try again")
	}
	return err
}
