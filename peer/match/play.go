package match

import (
	"fmt"

	"backstep/rollback"
	"backstep/sim"
)

// play runs what is due of ticks and second datagrams.
func (l *Loop) play(now int64) (next int64) {
	d := l.driver
	if at, ok := d.SecondAt(); ok && now >= at {
		if b := d.AppendSecond(l.buf[:0], now); len(b) > 0 {
			l.pipe.Send(b)
		}
	}
	if now >= d.Next() {
		l.tick(now)
		if l.phase != phasePlaying {
			return now
		}
	}
	next = d.Next()
	if at, ok := d.SecondAt(); ok {
		next = min(next, at)
	}
	return max(next, now)
}

func (l *Loop) tick(now int64) {
	start := l.measure()
	d := l.driver
	var r rollback.Result
	held := l.resync.busy()
	if held || d.Frame() >= l.last {
		// All frames are simulated and only confirmations are missing, or the two
		// sides settle what went wrong.
		r = d.Settle(now)
	} else {
		r = d.Tick(now, l.input())
	}
	if held {
		r.Frozen, r.Status = true, rollback.Recovering
	} else {
		l.hold(now)
	}
	l.sendTick(now)
	if start >= 0 {
		spent := l.measure() - start
		l.ticks.Add(spent)
		d.Spent(spent*1000, &r)
	}
	l.terms(&r)
	if f := l.cfg.Observer.Ticked; f != nil {
		f(now, r)
	}
	switch {
	case d.Err() != nil:
		l.leave(now, byeProtocol, EndProtocol, fmt.Errorf("%w: %w", ErrProtocol, d.Err()))
	case held || r.Desynced:
		l.recover(now)
	case l.settled >= l.last:
		l.complete(now)
	case l.held >= holdLimit:
		l.leave(now, byeLeave, EndTimeout, fmt.Errorf("%w: its packets came, but held the match up for %d seconds in all", ErrTimeout, holdLimit/sim.SimulationHz))
	}
}

// hold walks over the frames that became final, and counts how long the
// opponent holds the match up: it is heard, and for more than a second no frame
// became final. An opponent that is not heard at all is the timeout's business.
func (l *Loop) hold(now int64) {
	before := l.settled
	l.settle()
	switch {
	case l.settled != before:
		l.idle = 0
	case now-l.heardAt < holdHeard:
		if l.idle++; l.idle > sim.SimulationHz {
			l.held++
		}
	}
}

// sendTick sends the packet of the tick, parity that is due, and what of the
// set-up the opponent may still miss.
func (l *Loop) sendTick(now int64) {
	d := l.driver
	l.pipe.Send(d.AppendPacket(l.buf[:0], now))
	for {
		b, ok := d.AppendParity(l.buf[:0], now)
		if !ok {
			break
		}
		l.pipe.Send(b)
	}
	l.sendTerms(now)
	if !l.opponentPlays && now >= l.sendAt {
		l.sendControl(l.cfg.Setup.AppendMessage(l.msg[:0]))
		l.sendAt = now + setupInterval
	}
}

// input asks the source once for each frame, so that a tick that was refused
// does not cost a bot or a player a word.
func (l *Loop) input() uint16 {
	s := l.driver.Session()
	w, _ := l.driver.State(l.driver.Frame())
	for s.Missing() > 0 {
		s.Feed(l.cfg.Source.Next(s.InputFrame(), w))
	}
	if f := s.InputFrame(); f != l.wordFrame {
		l.word, l.wordFrame = l.cfg.Source.Next(f, w), f
	}
	return l.word
}

// settle walks over the frames that became final since the last tick.
func (l *Loop) settle() {
	s := l.driver.Session()
	end := min(s.Settled(), l.last)
	for f := l.settled + 1; f <= end; f++ {
		w, ok := l.driver.State(f)
		if !ok {
			return
		}
		if f%600 == 0 {
			l.hashes = append(l.hashes, [2]uint64{uint64(f), w.Hash()})
		}
		if obs := l.cfg.Observer.Settled; obs != nil {
			a, _ := s.Word(0, f)
			b, _ := s.Word(1, f)
			obs(f, [2]uint16{a, b}, w)
		}
		l.settled = f
		if l.last == openEnd && w.Phase() == sim.PostMatch {
			l.last = f
			end = f
		}
	}
}

func (l *Loop) measure() int64 {
	if l.cfg.Clock == nil {
		return -1
	}
	return l.cfg.Clock()
}
