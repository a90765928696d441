package match

import (
	"fmt"

	"backstep/rollback"
	"backstep/rollback/accord"
	"backstep/rollback/quality"
)

// kindTerms is the control message of an accord on other terms.
const kindTerms = 8

// gradeAfter is how many frames an unattended match measures before it grades
// the link.
const gradeAfter = 180

func (l *Loop) heardTerms(msg []byte) {
	if l.driver == nil {
		return // repeated until it is heard
	}
	if l.driver.ReceiveChange(1-l.cfg.Side, msg[1:]) != nil {
		l.bad++
	}
}

// sendTerms sends the accord's message, if one is due.
func (l *Loop) sendTerms(now int64) {
	if b := l.driver.AppendChange(append(l.msg[:0], kindTerms), 1-l.cfg.Side, now); len(b) > 1 {
		l.sendControl(b)
	}
}

// terms looks at what a tick has left to decide or to tell.
func (l *Loop) terms(r *rollback.Result) {
	d := l.driver
	if l.cfg.Unattended {
		l.decide(r)
	}
	if e, ok := d.Accord().Event(); ok {
		frame := e.Frame
		text := fmt.Sprintf("%v mode, window %d", e.Terms.Mode, e.Terms.Window)
		if !e.Changed {
			frame, text = r.Frame, text+": not agreed, "+e.Reason.String()
		}
		l.note(frame, "mode", text)
		if f := l.cfg.Observer.Changed; f != nil {
			f(e)
		}
	}
	if !l.match.Ranked {
		return
	}
	if ladder := d.Session().Ladder(); ladder.RankedNoContest() && !l.noContest {
		l.noContest = true
		l.note(r.Frame, "ranked", "no contest: delay mode was declined on a connection that both sides measure as too bad")
	} else if ladder.RankedSuspended() && !l.suspended {
		l.suspended = true
		l.note(r.Frame, "ranked", "suspended: both sides measure a connection that is too bad")
	}
}

// decide answers for a player who is not there: what the opponent asks for is
// accepted. In automatic mode the own offer is accepted too, and after three
// seconds the grade chooses the mode (QUAL-02 to QUAL-04).
func (l *Loop) decide(r *rollback.Result) {
	d := l.driver
	if _, ok := d.Accord().Asked(); ok || l.cfg.AutoMode {
		d.Answer(true)
	}
	if !l.cfg.AutoMode || l.graded || r.Frame < gradeAfter {
		return
	}
	f, ok := d.Figures()
	if !ok {
		return
	}
	l.graded = true
	v := quality.Handshake([]quality.Sample{{RTT: f.RTT, Jitter: f.Jitter, Loss: f.Loss}}, quality.DefaultLimits())
	if t := d.Accord().Terms(); v.Mode < t.Mode {
		d.Accord().Ask(accord.Terms{Mode: v.Mode, Window: t.Window})
	}
}
