package match

import (
	"errors"
	"fmt"

	"backstep/peer/setup"
	"backstep/rollback"
	"backstep/rollback/quality"
	"backstep/rollback/wire"
	"backstep/sim"
)

// firstDelay is the delay in frames with which delay mode starts: what two players of one country need. The driver goes
// on from there.
const firstDelay = 4

// setup repeats this side's part of the set-up until the match is known.
func (l *Loop) setup(now int64) (next int64) {
	if now >= l.sendAt {
		l.sendControl(l.cfg.Setup.AppendMessage(l.msg[:0]))
		l.sendAt = now + setupInterval
	}
	return min(l.sendAt, now+setupPoll)
}

func (l *Loop) heardSetup(now int64, msg []byte) {
	if l.phase != phaseSetup {
		// The joiner repeats itself while the host's last message is on its
		// way; the host answers until it sees the joiner play.
		if l.cfg.Side == 0 && !l.opponentPlays && l.phase == phasePlaying {
			l.sendControl(l.cfg.Setup.AppendMessage(l.msg[:0]))
		}
		return
	}
	before, _ := l.cfg.Setup.Match()
	if err := l.cfg.Setup.Receive(msg); err != nil {
		switch {
		case errors.Is(err, setup.ErrIncompatible):
			l.leave(now, byeVersion, EndVersion, err)
			// The opponent needs our offer to find the same sentence.
			l.sendControl(l.cfg.Setup.AppendMessage(l.msg[:0]))
		case errors.Is(err, setup.ErrCheated):
			l.leave(now, byeProtocol, EndProtocol, fmt.Errorf("%w: %w", ErrProtocol, err))
		default:
			l.bad++
		}
		return
	}
	m, ok := l.cfg.Setup.Match()
	if !ok || m == before {
		l.sendAt = min(l.sendAt, now) // answer at once: this is news
		return
	}
	l.begin(now, m)
}

// begin makes world and session.
func (l *Loop) begin(now int64, m setup.Match) {
	l.match = m
	c := sim.Config{Seed: m.Seed, Ruleset: sim.Ruleset(m.Ruleset), Format: sim.Format(m.Format), Rounds: m.Rounds}
	for side, team := range m.Teams {
		for i, id := range team {
			c.Teams[side][i] = sim.FighterID(id)
		}
	}
	world := new(World)
	if err := world.Reset(c); err != nil {
		l.leave(now, byeVersion, EndVersion, fmt.Errorf("%w: %w", setup.ErrIncompatible, err))
		return
	}
	cfg := rollback.DefaultConfig()
	cfg.Local = l.cfg.Side
	cfg.PredictionWindowFrames = l.cfg.Window
	cfg.MaxRollbackFrames = max(cfg.MaxRollbackFrames, l.cfg.Window)
	cfg.Mode = m.Mode
	cfg.InputDelay, cfg.Delay = l.cfg.InputDelay, l.cfg.Delay
	if cfg.Delay != rollback.DelayFixed && m.Mode == quality.Delay {
		cfg.InputDelay = max(cfg.InputDelay, firstDelay)
	}
	cfg.DeepestWindowFrames = l.cfg.Deepest
	cfg.FEC = l.cfg.FEC
	d, err := rollback.NewDriver(l.game(), cfg, world, now)
	if err != nil {
		l.leave(now, byeLeave, EndError, err)
		return
	}
	if talk := l.cfg.Dialog; talk != nil {
		d.SetSections(talk.Sections())
		talk.SetPlaying(true)
		l.prepareResync(m)
	}
	l.driver, l.phase, l.stampAt = d, phasePlaying, now+stampInterval
	l.last = openEnd
	if n := l.frames(); n > 0 {
		l.last = n - 1
	}
	// Both sides now know everything but the joiner's reveal may be on its
	// way: say it again together with the first packets.
	l.sendControl(l.cfg.Setup.AppendMessage(l.msg[:0]))
	l.sendAt = now + setupInterval
	if f := l.cfg.Observer.Started; f != nil {
		f(m, world)
	}
}

// frames is how many are played: what this side asked for, else what the
// opponent did, else 0 for an open end.
func (l *Loop) frames() int32 {
	if l.cfg.Frames > 0 {
		return l.cfg.Frames
	}
	other, _ := l.cfg.Setup.Other()
	return int32(other.Frames)
}

func versionOf(err error) error {
	var v *wire.VersionError
	if !errors.As(err, &v) {
		return nil
	}
	who := "this side is older; update this program"
	if v.Seen < wire.Version {
		who = "the opponent is older and must update"
	}
	return fmt.Errorf("%w: the opponent sends packets of version %d, this side of version %d: %s", setup.ErrIncompatible, v.Seen, wire.Version, who)
}
