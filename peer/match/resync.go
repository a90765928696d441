package match

import (
	"encoding/binary"
	"fmt"

	"backstep/peer/channel"
	"backstep/peer/setup"
	"backstep/rollback/desync"
	"backstep/sim"
)

// evidenceWords is how many frames of inputs before the differing one the
// evidence holds.
const evidenceWords = 60

// resync is the part of a match that deals with two simulations that differ.
// While it is busy no new frame is stepped; packets and inputs go on.
type resync struct {
	resolver *desync.Resolver // nil without a dialog
	scratch  *World
	text     string // of the difference, for the report
	count    int64
	kept     bool // the evidence was handed over
	closed   int  // rounds that are over
	again    bool // the match was done before one: what the opponent said then does not count
}

// busy says that a round is open or was not accounted for yet.
func (x *resync) busy() bool {
	return x.resolver != nil && (x.resolver.Busy() || x.resolver.Round() > x.closed)
}

func (l *Loop) prepareResync(m setup.Match) {
	l.resync.resolver = desync.New(desync.Config{
		Side: side{l}, Host: l.cfg.Side == 0, Ranked: m.Ranked, Build: l.cfg.Build, Accept: l.cfg.Accept,
		Send: func(msg []byte) error { return l.cfg.Dialog.Send(channel.MatchState, msg) },
	})
}

// heardResync takes a message about a desync and reports whether it was one.
func (l *Loop) heardResync(now int64, msg []byte) bool {
	r := l.resync.resolver
	if r == nil || l.driver == nil || desync.Kind(msg[0]) < desync.KindFound || desync.Kind(msg[0]) > desync.KindAnswer {
		return false
	}
	if l.phase != phasePlaying && l.phase != phaseDone {
		return true
	}
	if r.Receive(msg, now) != nil {
		l.bad++
	}
	if r.Busy() && l.phase == phaseDone {
		l.reopen()
	}
	return true
}

// reopen goes back from Done: the last frame is not final after all.
func (l *Loop) reopen() {
	l.phase, l.final, l.resync.again = phasePlaying, 0, true
	if d := l.cfg.Dialog; d != nil {
		d.SetPlaying(true)
	}
}

// recover begins or goes on to settle what went wrong. Without a dialog there
// is nothing to settle it with, and the match ends.
func (l *Loop) recover(now int64) {
	x := &l.resync
	if x.resolver == nil {
		x.count++
		l.undone(now, l.difference())
		return
	}
	if x.resolver.Round() == x.closed {
		x.resolver.Open(now)
	}
	x.resolver.Step(now)
	l.keepEvidence()
	switch {
	case !x.resolver.Busy():
		x.closed = x.resolver.Round()
		if x.resolver.Result() != desync.Vanished {
			x.count++
			l.note(l.settled, "resync", x.resolver.Result().String())
		}
		l.rewind()
	case x.resolver.Phase() == desync.Failed:
		x.count++
		l.undone(now, l.difference()+"; "+x.resolver.Result().String())
	}
}

// undone ends the match: the two simulations stay different.
func (l *Loop) undone(now int64, text string) {
	l.note(l.settled, "desync", text)
	l.leave(now, byeDesync, EndDesync, fmt.Errorf("%w: %s", ErrDesync, text))
}

// difference says what is known of the difference.
func (l *Loop) difference() string {
	if l.resync.text != "" {
		return l.resync.text
	}
	if d, ok := l.driver.Session().Desync(1 - l.cfg.Side); ok {
		return fmt.Sprintf("first differing frame %d: %08x here, %08x there", d.Frame, d.Ours, d.Theirs)
	}
	return "the opponent's confirmed state differs"
}

// keepEvidence completes the evidence once it is there and hands it over.
func (l *Loop) keepEvidence() {
	x := &l.resync
	e := x.resolver.Evidence()
	if e == nil || x.kept {
		return
	}
	x.kept = true
	s := l.driver.Session()
	w, _ := l.driver.State(s.Oldest())
	e.Game = sim.AppendConfig(nil, w.Config())
	e.Game = binary.LittleEndian.AppendUint64(e.Game, sim.DataHash())
	e.First = max(0, e.Frame-evidenceWords+1)
	e.Words = make([][]uint32, 2)
	for f := e.First; f <= e.Frame; f++ {
		for p := range e.Words {
			word, _ := s.Word(p, f)
			e.Words[p] = append(e.Words[p], uint32(word))
		}
	}
	ours := l.cfg.Side
	x.text = fmt.Sprintf("first differing frame %d: %016x here, %016x there", e.Frame, e.Hashes[ours], e.Hashes[1-ours])
	if r := e.Ranges(1); len(r) > 0 {
		x.text += fmt.Sprintf(", from byte %d of the state on", r[0].Offset)
	}
	x.text += ", code " + e.Code()
	l.note(e.Frame, "desync", x.text)
	if f := l.cfg.Observer.Evidence; f != nil {
		f(e)
	}
}

// rewind corrects what was told about frames that have another state now, and
// whether the match is decided.
func (l *Loop) rewind() {
	if l.frames() == 0 {
		l.last = openEnd
		if w, ok := l.driver.State(l.settled); ok && w.Phase() == sim.PostMatch {
			l.last = l.settled
		}
	}
	for i := range l.hashes {
		f := int32(l.hashes[i][0])
		w, ok := l.driver.State(f)
		if !ok || f > l.settled || w.Hash() == l.hashes[i][1] {
			continue
		}
		l.hashes[i][1] = w.Hash()
		if obs := l.cfg.Observer.Corrected; obs != nil {
			obs(f, w)
		}
	}
}

// side is a Loop's session as package desync sees it.
type side struct{ l *Loop }

func (x side) Newest() int32  { return x.l.driver.Frame() }
func (x side) Settled() int32 { return x.l.driver.Session().Settled() }
func (x side) Agreed() int32  { return x.l.driver.Session().Agreed(1 - x.l.cfg.Side) }

func (x side) state(label int32) *World {
	if w, ok := x.l.driver.State(label); ok && label <= x.Settled() {
		return w
	}
	return nil
}

func (x side) Hash(label int32) (uint64, bool) {
	w := x.state(label)
	if w == nil {
		return 0, false
	}
	return w.Hash(), true
}

func (x side) AppendState(b []byte, label int32) ([]byte, bool) {
	w := x.state(label)
	if w == nil {
		return b, false
	}
	return w.AppendState(b), true
}

func (x side) Replay(label int32) bool {
	w := x.state(label)
	if w == nil {
		return false
	}
	x.l.settle() // older states are dropped
	x.l.rewind()
	again := x.scratch()
	*again = *w
	return x.l.driver.Session().Restore(label, again) == nil
}

func (x side) Adopt(label int32, state []byte) error {
	w := x.scratch()
	if err := w.ParseState(state); err != nil {
		return err
	}
	x.l.settle()
	return x.l.driver.Session().Restore(label, w)
}

func (x side) scratch() *World {
	if x.l.resync.scratch == nil {
		x.l.resync.scratch = new(World)
	}
	return x.l.resync.scratch
}
