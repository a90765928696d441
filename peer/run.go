package peer

import (
	"context"
	"crypto/rand"
	"errors"
	"time"

	"backstep/natpunch"
	"backstep/natpunch/rendezvous"
	"backstep/peer/dialog"
	"backstep/peer/lounge"
	"backstep/peer/match"
	"backstep/peer/report"
	"backstep/peer/setup"
	"backstep/peer/source"
	"backstep/rollback"
	"backstep/rollback/desync"
	"backstep/sim"
)

// Run meets the opponent, plays one match and reports it. The report is
// written whatever the end was. Cancelling ctx says goodbye to the opponent
// and returns the cause.
func Run(ctx context.Context, c Config) error {
	if err := c.check(); err != nil {
		return err
	}
	src, err := source.Open(c.Input, c.side())
	if err != nil {
		return fail(exitUsage, match.EndError, err, "%v", err)
	}
	if err := c.checkFiles(); err != nil {
		return err
	}
	r := report.New(c.Build, c.sideName())
	if c.Name != "" {
		r.Player = report.Of(c.Name)
	}
	r.FEC.Mode = c.FEC.String()
	r.EndReason = match.EndNone.String()
	c.notes(r)
	err = c.run(ctx, src, r)
	if r.EndReason == "" {
		r.EndReason = endOf(err).String()
	}
	if werr := c.writeReport(r); werr != nil {
		err = errors.Join(err, werr)
	}
	return err
}

// notes enters the lobby as soon as there is one, so that the report has it
// also if nobody came.
func (c *Config) notes(r *report.Report) {
	if !c.Host {
		if c.Code.Lookup.Valid() {
			r.Lobby = report.Of(c.Code.Lookup.String())
		}
		return
	}
	next := c.onCode
	c.onCode = func(code string) {
		if parsed, err := rendezvous.ParseCode(code); err == nil {
			r.Lobby = report.Of(parsed.Lookup.String())
		}
		if next != nil {
			next(code)
		}
	}
}

// checkFiles finds out before a match whether its files can be written.
func (c *Config) checkFiles() error {
	for _, f := range []struct{ flag, path string }{{"report", c.ReportFile}, {"record", c.RecordFile}} {
		if f.path == "" {
			continue
		}
		if err := report.CheckFile(f.path); err != nil {
			return fail(exitInternal, match.EndError, err, "--%s cannot be written: %v", f.flag, err)
		}
	}
	if c.DataDir == "" {
		return nil // the usual one is only missed if there is something to be kept in it
	}
	_, err := openArchive(c.DataDir)
	return err
}

// writeReport writes the report, if one is wanted.
func (c *Config) writeReport(r *report.Report) error {
	if c.ReportFile == "" {
		return nil
	}
	if r.Seed != nil {
		// Sockets and relay are closed now, so the figure is the loop's.
		r.AllocsPerFrame = report.Of(match.MeasureAllocs())
	}
	if err := r.Write(c.ReportFile); err != nil {
		return fail(exitInternal, match.EndError, err, "the report could not be written: %v", err)
	}
	return nil
}

func (c *Config) run(ctx context.Context, src source.Source, r *report.Report) error {
	su, err := c.newSetup()
	if err != nil {
		return err
	}
	s, stopRelay, err := c.meet(ctx)
	if err != nil {
		return err
	}
	defer stopRelay()
	defer s.Keys.Wipe()
	r.Lobby = report.Of(s.Lookup.String())
	ch, err := c.open(ctx, s, su)
	if err != nil {
		return err
	}
	defer ch.close(s)
	fresh := *r
	for n := 0; ; n++ {
		if n > 0 {
			if su, err = c.newSetup(); err != nil {
				return err
			}
			if more, err := c.again(ctx, ch, n); err != nil || !more {
				return err
			}
			if src, err = source.Open(c.Input, c.side()); err != nil {
				return fail(exitUsage, match.EndError, err, "%v", err)
			}
			*r = fresh
		}
		var last sim.Match
		d := duel{setup: su, source: src, report: r, record: newRecord(c.Build, c.RecordFile != ""), other: lounge.Answer, said: c.heard(ch.talk),
			settled: func(w *match.World) { last = w.Match() }}
		o, err := c.play(ctx, ch, &d)
		if err != nil {
			return err
		}
		c.ended(o, last)
		if !c.Rematch {
			return nil
		}
	}
}

// ended tells who won: a terminal shows nothing else of it.
func (c *Config) ended(o match.Outcome, last sim.Match) {
	winner := map[sim.Winner]string{sim.NoWinner: "none", sim.HostWins: "host", sim.JoinWins: "guest", sim.DrawGame: "draw"}[last.MatchWinner]
	c.Log.Info().Str("event", "match_end").Str("winner", winner).Uints8("rounds", last.Wins[:]).Int("frames", o.Confirmed).
		Msg("the match is over")
}

func (c *Config) newSetup() (*setup.Setup, error) {
	su, err := setup.New(c.Host, c.offer(), rand.Reader)
	if err != nil {
		return nil, fail(exitInternal, match.EndError, err, "no random numbers: %v", err)
	}
	return su, nil
}

// again waits until the opponent wants match number n too, or leaves.
func (c *Config) again(ctx context.Context, ch *channel, n int) (more bool, err error) {
	ch.link.SetMatch(n)
	l := lounge.New(ch.link, n, c.Timeout.Microseconds())
	l.Talk(ch.talk, c.heard(ch.talk))
	l.Set(lounge.Ready)
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for !l.Begun() && !l.Gone() {
		if ctx.Err() != nil {
			l.Set(lounge.Leave)
		}
		next := l.Step(now())
		if l.Err() != nil {
			return false, nil
		}
		sleepUntil(min(next, now()+2000), timer, nil)
	}
	return l.Begun(), context.Cause(ctx)
}

// duel is one match on a channel.
type duel struct {
	number int // on this link, from 0
	setup  *setup.Setup
	source source.Source
	report *report.Report
	record *record
	other  func(b, msg []byte) []byte // see match.Config
	said   func(e dialog.Event)       // see match.Observer

	// Of the page, all optional; called on the loop's goroutine.
	started func(l *match.Loop)
	settled func(w *match.World)
	ticked  func(at int64, l *match.Loop, r *rollback.Result)
	between func(l *match.Loop)

	notice func(kind, text string) // tells the player; nil where nobody is there
	replay []byte                  // the record once the match has ended; nil without one
}

// play runs the match loop on this goroutine.
func (c *Config) play(ctx context.Context, ch *channel, d *duel) (match.Outcome, error) {
	view := newHUD(c.HUD)
	var loop *match.Loop
	changes := pathWatch{report: d.report, paths: ch.paths}
	loop = match.New(match.Config{
		Side: c.side(), Setup: d.setup, Source: d.source, Frames: c.Frames, Window: c.Window, InputDelay: c.Delay, Delay: c.delayPolicy(),
		Deepest: c.Deepest, Unattended: c.Page == nil, AutoMode: c.AutoMode && c.Page == nil,
		FEC: c.FEC, Timeout: c.Timeout.Microseconds(), Clock: now, Other: d.other, Dialog: ch.talk,
		Build: c.Build, Accept: d.acceptState,
		Observer: match.Observer{
			Started: func(m setup.Match, w *match.World) {
				d.record.start(m, w)
				if d.started != nil {
					d.started(loop)
				}
			},
			Settled: func(frame int32, words [2]uint16, w *match.World) {
				d.record.add(frame, words, w)
				if d.settled != nil {
					d.settled(w)
				}
			},
			Ticked: func(at int64, res rollback.Result) {
				changes.look(res.Frame)
				view.show(at, res, loop, ch.paths)
				if c.Watch != nil {
					c.Watch(loop)
				}
				if d.ticked != nil {
					d.ticked(at, loop, &res)
				}
			},
			Said: d.said,
			Corrected: func(frame int32, w *match.World) {
				if d.record.rec != nil {
					d.record.rec.Hash(frame, w.Hash())
				}
			},
			Evidence: func(e *desync.Evidence) {
				c.evidence(e)
				d.tell("The two games differed. Both players have a file with the code " + e.Code() + "; peer replay show reads it.")
			},
		},
	}, ch.link)
	changes.look(-1)

	wake := make(chan struct{}, 1)
	stop := context.AfterFunc(ctx, func() {
		loop.Interrupt()
		wake <- struct{}{}
	})
	defer stop()
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		next, ended := loop.Step(now())
		if ended {
			break
		}
		if d.between != nil {
			d.between(loop)
		}
		sleepUntil(next, timer, wake)
	}
	view.end()

	o := loop.Outcome()
	d.report.FillMatch(o)
	c.fillChannel(d.report, ch)
	changes.end()
	err := matchFailure(o)
	if o.End == match.EndInterrupt && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	var werr error
	if d.replay, werr = d.record.finish(o); werr == nil && d.replay != nil && c.RecordFile != "" {
		werr = report.WriteFile(c.RecordFile, d.replay)
	}
	if werr != nil {
		err = errors.Join(err, fail(exitInternal, match.EndError, werr, "the record could not be written: %v", werr))
	}
	return o, err
}

// heard takes what the opponent says where nobody is there to read it: it goes
// into the log, and blobs that the match itself does not want are declined.
func (c *Config) heard(talk *dialog.Dialog) func(dialog.Event) {
	return func(e dialog.Event) {
		switch e.Kind {
		case dialog.Chat:
			c.Log.Info().Str("event", "chat").Str("text", e.Text).Msg("the opponent says")
		case dialog.Offered:
			talk.Decline(e.Offer.ID)
		}
	}
}

// fillChannel enters what link and paths measured.
func (c *Config) fillChannel(r *report.Report, ch *channel) {
	p, l := ch.paths.Stats(), ch.link.Stats()
	if p.Path != natpunch.KindNone {
		r.Path = report.Of(p.Path.String())
	}
	r.PathReason = report.Of(ch.paths.Reason())
	if p.LocalCandidate != "" {
		r.LocalCandidate, r.RemoteCandidate = report.Of(p.LocalCandidate), report.Of(p.RemoteCandidate)
	}
	r.ConnectMs = report.Of(float64(ch.connectUs) / 1000)
	r.HandshakeMs = report.Of(float64(ch.link.HandshakeTime()) / 1000)
	if p.DirectAfter > 0 {
		r.DirectMs = report.Of(float64(p.DirectAfter) / 1000)
	}
	r.Cipher = report.Of(ch.link.Cipher())
	r.Bytes = report.Bytes{Sent: report.Of(int64(p.BytesSent)), Received: report.Of(int64(p.BytesReceived))}
	malformed, forged := int64(l.Malformed), int64(l.Forged)
	for name, n := range p.Drops {
		switch name {
		case "empty", "oversize", "class", "panic", "stun_malformed", "relay_malformed", "relay_payload", "signal_malformed":
			malformed += int64(n)
		case "stun_forged", "stun_unexpected", "dtls_source", "relay_source", "relay_forged", "relay_channel":
			forged += int64(n)
		}
	}
	if r.Packets.Malformed != nil {
		malformed += *r.Packets.Malformed
	}
	t := ch.talk.Stats()
	r.Messages = report.Messages{Sent: report.Of(int64(t.Sent)), Received: report.Of(int64(t.Received)), Resent: report.Of(int64(t.Resent)), Flooded: report.Of(int64(t.Flooded))}
	malformed += int64(t.Malformed)
	r.Packets.Malformed, r.Packets.Forged = report.Of(malformed), report.Of(forged)
	if c.ShowAddresses {
		if a, ok := ch.paths.Mapped(); ok {
			r.Events = append(r.Events, report.Event{Frame: -1, Kind: "address", Text: "seen by the relay as " + a.String()})
		}
	}
}

// pathWatched is what a pathWatch asks of natpunch.Paths.
type pathWatched interface {
	pathTeller
	Stats() natpunch.Stats
}

// pathWatch enters path changes into the report.
type pathWatch struct {
	report *report.Report
	paths  pathWatched
	last   natpunch.Kind
	stats  natpunch.Stats // when that became the path
	reason string
}

func (w *pathWatch) look(frame int32) {
	if k := w.paths.Path(); k != w.last && k != natpunch.KindNone {
		w.last, w.stats, w.reason = k, w.paths.Stats(), w.paths.Reason()
		w.report.PathChanges = append(w.report.PathChanges, report.PathChange{Frame: max(frame, 0), Path: k.String()})
	}
}

// end keeps the path of the last tick in the report: a direct one falls silent
// when the opponent leaves first, which says nothing about it.
func (w *pathWatch) end() {
	if k := w.paths.Path(); k == w.last || w.last != natpunch.KindLAN && w.last != natpunch.KindDirect {
		return
	}
	w.report.Path, w.report.PathReason = report.Of(w.last.String()), report.Of(w.reason)
	w.report.LocalCandidate, w.report.RemoteCandidate = report.Of(w.stats.LocalCandidate), report.Of(w.stats.RemoteCandidate)
}
