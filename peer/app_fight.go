package peer

import (
	"context"
	"errors"
	"fmt"
	"time"

	"backstep/peer/lounge"
	"backstep/peer/match"
	"backstep/peer/page"
	"backstep/peer/report"
	"backstep/peer/source"
	"backstep/rollback"
	"backstep/rollback/quality"
	"backstep/sim"
)

// fight plays one match and shows how it ended. again tells that both sides
// want another one.
func (a *app) fight(ctx context.Context, m *company) (again bool, err error) {
	if g := m.lounge.Figures(); g.Samples >= 20 {
		// The probe went over the relay; by now the direct path may stand.
		m.figures.RTT, m.figures.Jitter, m.figures.Samples = g.RTT, g.Jitter, g.Samples
	}
	c := m.tuned()
	if a.c.AutoDelay && a.settings.Delay != "auto" {
		c.Delay, c.FixedDelay = int(a.settings.Delay[0]-'0'), true
	}
	su, err := c.newSetup()
	if err != nil {
		return false, err
	}
	r := report.New(c.Build, c.sideName())
	r.Lobby, r.FEC.Mode = report.Of(m.session.Lookup.String()), c.FEC.String()
	if c.Name != "" {
		r.Player = report.Of(c.Name)
	}
	f := &bout{app: a, m: m, c: &c, show: newShow(a.page)}
	f.show.grade, f.show.fec, f.show.paths = m.grade, c.FEC, m.ch.paths
	src := source.Source(a.page.Words())
	if c.Input != "page" && c.Input != "" {
		if src, err = source.Open(c.Input, c.side()); err != nil {
			return false, fail(exitUsage, match.EndError, err, "%v", err)
		}
	}
	a.page.Words().Release()
	a.matches++
	d := &duel{number: m.match, setup: su, source: src, report: r, record: newRecord(c.Build, true), other: ignore, said: a.said(m), notice: a.page.Notice,
		started: f.started, settled: f.settled, ticked: f.ticked, between: f.between}
	o, err := c.play(ctx, m.ch, d)
	a.flushSettings()
	if r.EndReason == "" {
		r.EndReason = endOf(err).String()
	}
	if werr := c.writeReport(r); werr != nil {
		a.page.Notice("warn", sentence(werr.Error()))
	}
	if f.left { // first: the machine's process fails when it is left, which is no error of this player
		return false, nil
	}
	if ctx.Err() != nil {
		return false, context.Cause(ctx)
	}
	res := f.result(o, err)
	if d.replay != nil {
		id, serr := a.archive.SaveReplay(d.replay, time.Now(), o.FinalHash)
		if serr != nil {
			a.page.Notice("warn", "The replay could not be saved: "+serr.Error())
		}
		if serr == nil {
			res.Replay = id
		}
	}
	m.match++
	return a.result(ctx, m, res)
}

// ignore takes no notice of lounge messages that arrive late.
func ignore(b, _ []byte) []byte { return b }

// bout is a match while it runs, as far as the page is concerned.
type bout struct {
	app  *app
	m    *company
	c    *Config
	show *show
	last sim.Match // of the newest settled frame
	cfg  sim.Config
	left bool

	mode  quality.Mode
	delay int
	offer string // the mode that the player is asked about
}

func (f *bout) started(l *match.Loop) {
	f.show.begin(f.app.matches, page.KindMatch, uint8(f.c.side()))
	if w, ok := l.Driver().State(-1); ok {
		f.cfg = w.Config()
	}
	f.mode, f.delay = l.Driver().Session().Mode(), l.Driver().Session().InputDelay()
	f.app.page.Show(&page.Screen{Fight: f.frame()})
}

// frame is the fight's screen.
func (f *bout) frame() *page.Fight {
	out := &page.Fight{Kind: "match", Side: f.c.side(), Players: f.m.persons, Ruleset: f.cfg.Ruleset.String(), Format: f.cfg.Format.String(),
		Rounds: int(f.cfg.Rounds), Match: f.app.matches, Mode: f.mode.String(), Delay: f.delay, Offer: f.offer, Music: teamMusic(f.cfg.Teams)}
	for side := range out.Teams {
		out.Teams[side] = teamNames(f.cfg.Teams[side])
	}
	if f.m.sparring {
		out.Kind = "play"
	}
	return out
}

func (f *bout) settled(w *match.World) { f.last = w.Match() }

func (f *bout) ticked(at int64, l *match.Loop, r *rollback.Result) {
	f.show.ticked(at, l, r)
	d := l.Driver()
	mode, delay, offer := d.Session().Mode(), d.Session().InputDelay(), ""
	if t, ok := d.Question(); ok {
		offer = t.Mode.String()
	}
	if mode != f.mode || delay != f.delay || offer != f.offer {
		f.mode, f.delay, f.offer = mode, delay, offer
		f.app.page.Show(&page.Screen{Fight: f.frame()})
	}
}

// between looks at the commands of the page between two steps of the loop. It
// never waits; the settings' file is written after the match.
func (f *bout) between(l *match.Loop) {
	select {
	case cmd := <-f.app.page.Commands():
		switch cmd.Cmd {
		case "settings":
			f.app.takeSettings(cmd.Settings)
		case "leave", "quit":
			f.left = true
			l.Interrupt()
		case "chat":
			f.app.chat(f.m, cmd.Text)
		case "answer":
			if d := l.Driver(); d != nil && cmd.Accept != nil && d.Answer(*cmd.Accept) {
				f.show.offered = false
			}
		}
	default:
	}
	f.app.presence(f.m, now())
}

// result is how the match ended, as a screen.
func (f *bout) result(o match.Outcome, err error) *page.Result {
	side := f.c.side()
	fr := f.frame()
	r := &page.Result{Winner: -1, Side: side, Players: fr.Players, Teams: fr.Teams, Music: fr.Music, Rounds: [2]int{int(f.last.Wins[0]), int(f.last.Wins[1])}}
	if o.HasFinal {
		r.Hash = fmt.Sprintf("%016x", o.FinalHash)
	}
	switch {
	case err == nil && f.last.MatchWinner != sim.NoWinner:
		r.Winner = int(f.last.MatchWinner) - 1
		if r.Winner < 2 {
			f.m.score[r.Winner]++
		}
		r.Won = r.Winner == side
		r.Sentence = map[bool]string{true: "You win.", false: "You lose."}[r.Won]
		if r.Winner == 2 {
			r.Sentence = "A draw."
		}
	case err == nil:
		r.Sentence = fmt.Sprintf("The match ended after %d frames, as it was asked for.", o.Confirmed)
	default:
		r.Sentence = sentence(err.Error())
	}
	r.CanRematch = err == nil
	r.Score = f.m.score
	return r
}

// rematchLimit is how long a player waits for the other's answer.
const rematchLimit = 3 * time.Minute

// result shows the end of a match until both want another one or one leaves.
func (a *app) result(ctx context.Context, m *company, r *page.Result) (again bool, err error) {
	began := now()
	if r.CanRematch {
		m.ch.link.SetMatch(m.match)
		a.lounge(m, m.match)
	} else {
		m.lounge = nil
	}
	change := false
	screen := func() *page.Screen {
		s := *r
		out := &page.Screen{Result: &s}
		if m.lounge != nil {
			s.You, s.They = choice(m.lounge.Own()), choice(m.lounge.Other())
			if s.You == "rematch" {
				out.Wait = wait("your opponent has not decided yet", began, rematchLimit.Microseconds())
			}
		} else if r.They != "" {
			s.They = r.They
		}
		return out
	}
	command := func(cmd page.Command) error {
		switch cmd.Cmd {
		case "leave", "title", "cancel":
			return errCancelled
		case "rematch":
			if m.lounge != nil {
				began = now()
				m.lounge.Set(lounge.Ready)
			}
		case "change":
			if m.lounge != nil && !m.sparring {
				m.lounge.Set(lounge.Choosing)
				change = true
			}
		}
		return nil
	}
	done := func() (bool, error) {
		if a.c.Frames > 0 || m.sparring {
			if connected, ever, at := a.page.Connected(); !connected && (!ever || time.Since(at) > look) {
				return false, errCancelled // nobody is there to want another one
			}
		}
		if m.lounge == nil {
			return false, nil
		}
		if lerr := m.lounge.Err(); lerr != nil {
			r.CanRematch, r.They, m.lounge = false, "leave", nil
			r.Sentence += " " + sentence(errOf(lerr).Error())
			return false, nil
		}
		if m.lounge.Own() == lounge.Ready && now()-began > rematchLimit.Microseconds() {
			return false, fail(exitOpponent, match.EndLeft, nil, "the opponent did not say whether there will be a rematch")
		}
		return change || m.lounge.Begun(), nil
	}
	err = a.stay(ctx, m, screen, command, done)
	if errors.Is(err, errCancelled) {
		return false, nil
	}
	return err == nil, err
}

func choice(s lounge.State) string {
	switch s {
	case lounge.Ready:
		return "rematch"
	case lounge.Choosing:
		return "change"
	case lounge.Leave:
		return "leave"
	}
	return ""
}
