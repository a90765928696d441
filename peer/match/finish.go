package match

import "fmt"

// complete: the last frame is final on this side.
func (l *Loop) complete(now int64) {
	w, _ := l.driver.State(l.last)
	l.final = w.Hash()
	l.heard = l.heard && !l.resync.again
	l.played()
	l.phase, l.doneAt, l.sendAt = phaseDone, now, now
}

// goal is the end of a match that went as it was meant to.
func (l *Loop) goal() End {
	if l.frames() > 0 {
		return EndFrames
	}
	return EndMatchOver
}

// finish goes on sending inputs, now with DONE, until the opponent has said
// DONE too or two seconds have passed.
func (l *Loop) finish(now int64) (next int64) {
	if now < l.sendAt {
		return l.sendAt
	}
	if l.heard && int64(l.theirs.frames) == int64(l.last)+1 && l.theirs.hash != l.final {
		l.resync.text = fmt.Sprintf("the last frame %d is %016x here, %016x there", l.last, l.final, l.theirs.hash)
		l.reopen()
		l.recover(now)
		return now
	}
	l.driver.Negotiate(now)
	l.sendTick(now)
	l.sendControl(appendDone(l.msg[:0], done{uint32(l.last + 1), l.final}))
	l.sendAt = now + tickMicros
	if l.heard && int64(l.theirs.frames) >= int64(l.last)+1 || now-l.doneAt >= doneLimit {
		l.leave(now, byeDone, l.goal(), nil)
		return now
	}
	return l.sendAt
}

func (l *Loop) goodbye(now int64) (next int64) {
	if now < l.sendAt {
		return l.sendAt
	}
	if l.byes == byeCopies {
		l.phase = phaseEnded
		return now
	}
	l.byes++
	l.sendControl(appendBye(l.msg[:0], bye{l.reason, uint32(l.settled + 1)}))
	l.sendAt = now + byeSpacing
	return l.sendAt
}

// heardBye: the opponent will send nothing more.
func (l *Loop) heardBye(m bye) {
	switch {
	case l.phase >= phaseBye:
		return
	case l.phase == phaseDone:
		if m.reason == byeDesync {
			l.note(l.last, "desync", "the opponent found the states to differ")
			l.stop(EndDesync, fmt.Errorf("%w: the opponent found it", ErrDesync))
			return
		}
		l.stop(l.goal(), nil)
	case m.reason == byeDesync:
		l.note(l.settled, "desync", "the opponent found the states to differ")
		l.stop(EndDesync, fmt.Errorf("%w: the opponent found it", ErrDesync))
	case m.reason == byeVersion && l.phase == phaseSetup:
		// Its own offer, which is on its way or came before, says why; this
		// is only for when that is lost.
		l.stop(EndVersion, l.incompatible())
	case m.reason == byeProtocol:
		l.stop(EndProtocol, fmt.Errorf("%w: it says this side did", ErrProtocol))
	default:
		l.stop(EndLeft, fmt.Errorf("%w after %d frames", ErrOpponentLeft, l.settled+1))
	}
}
