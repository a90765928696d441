package peer

import (
	"errors"

	channels "backstep/peer/channel"
	"backstep/peer/dialog"
	"backstep/peer/lounge"
	"backstep/peer/page"
)

// What the page says of the opponent.
const (
	here = "here"
	away = "away"
)

// lookInterval is how often this side looks whether its player is there, in µs.
const lookInterval = 500_000

// lounge begins a stay before match number n.
func (a *app) lounge(m *company, n int) {
	m.lounge = lounge.New(m.ch.link, n, m.c.Timeout.Microseconds())
	m.lounge.Talk(m.ch.talk, a.said(m))
}

// said shows what the opponent says. What is left of transfers is not wanted.
func (a *app) said(m *company) func(dialog.Event) {
	return func(e dialog.Event) {
		switch e.Kind {
		case dialog.Chat:
			a.line(m, 1-m.c.side(), e.Text)
		case dialog.Presence:
			m.talk.They = here
			if e.Away {
				m.talk.They = away
			}
			a.page.Talk(&m.talk)
		case dialog.Offered:
			m.ch.talk.Decline(e.Offer.ID)
		}
	}
}

// chat says what the player typed.
func (a *app) chat(m *company, text string) {
	if m.ch == nil || m.ch.talk == nil {
		return
	}
	switch line, err := m.ch.talk.Chat(text); {
	case err == nil:
		a.line(m, m.c.side(), line)
	case errors.Is(err, channels.ErrFull):
		a.page.Notice("warn", "That was not sent: what you said before has not arrived yet. Try again in a moment.")
	}
}

// line adds a line to what was said.
func (a *app) line(m *company, side int, text string) {
	m.said++
	if len(m.talk.Lines) == page.TalkLines {
		m.talk.Lines = append(m.talk.Lines[:0], m.talk.Lines[1:]...)
	}
	m.talk.Lines = append(m.talk.Lines, page.ChatLine{Number: m.said, Side: side, Text: text})
	a.page.Talk(&m.talk)
}

// presence tells the opponent when the player comes or goes.
func (a *app) presence(m *company, at int64) {
	if m.ch == nil || m.ch.talk == nil || at < m.lookAt {
		return
	}
	m.lookAt = at + lookInterval
	connected, ever, _ := a.page.Connected()
	if gone := ever && !connected; gone != m.away && m.ch.talk.Presence(gone) == nil {
		m.away = gone
	}
}
