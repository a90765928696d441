package match

import (
	"backstep/peer/channel"
	"backstep/peer/dialog"
)

// stampInterval is how often the opponent is told how the link looks, in µs.
const stampInterval = 3_000_000

// heardDialog takes the packet in l.pkt if it is one of the dialog's, and
// reports whether it was.
func (l *Loop) heardDialog(now, at int64) bool {
	d := l.cfg.Dialog
	if d == nil {
		return false
	}
	mine, err := d.Receive(at, &l.pkt)
	if err != nil {
		l.bad++
	}
	if mine {
		l.hear(now)
	}
	return mine
}

// hear uses what has arrived on the channels.
func (l *Loop) hear(now int64) {
	d := l.cfg.Dialog
	if d == nil {
		return
	}
	for {
		e, ok := d.Next()
		if !ok {
			return
		}
		l.said(now, e)
	}
}

// said is the one place where a match uses what the opponent said. What it has
// no use for goes to the observer.
func (l *Loop) said(now int64, e dialog.Event) {
	if e.Kind == dialog.Message && e.Channel == channel.MatchState && l.heardResync(now, e.Body) {
		return
	}
	if e.Kind == dialog.Stamped {
		l.stamp, l.stamped = e.Stamp, true
		return
	}
	if f := l.cfg.Observer.Said; f != nil {
		f(e)
		return
	}
	if e.Kind == dialog.Offered {
		l.cfg.Dialog.Decline(e.Offer.ID)
	}
}

// talk says what is due after everything else and returns when the loop wants
// to be called next.
func (l *Loop) talk(now, next int64) int64 {
	d := l.cfg.Dialog
	if d == nil || l.phase == phaseEnded {
		return next
	}
	if l.phase == phasePlaying && now >= l.stampAt {
		l.sendStamp(now)
	}
	// The packets of Done still carry sections, but only as long as the opponent
	// has a session too.
	alone := l.phase != phasePlaying
	d.Step(now, l.pipe, alone)
	l.hear(now) // of transfers that ended
	return min(next, max(d.Due(now, alone), now))
}

// sendStamp tells the opponent how the link looks from here. If the channel is
// full the next one will do.
func (l *Loop) sendStamp(now int64) {
	l.stampAt = now + stampInterval
	link := l.driver.Link(1 - l.cfg.Side)
	rtt, jitter := link.RoundTrip()
	loss := link.Stats().LossMillionths
	l.cfg.Dialog.Path(loss, rtt)
	_ = l.cfg.Dialog.Stamp(dialog.Stamp{RTT: rtt, Jitter: jitter, Loss: loss, Stalls: l.driver.Session().Stats().Stalls})
}

// played: no frame will follow, so the channels for between matches open.
func (l *Loop) played() {
	if d := l.cfg.Dialog; d != nil {
		d.SetPlaying(false)
	}
}
