package main

import (
	"fmt"
	"math/rand/v2"

	"backstep/rollback"
)

const (
	settleTime = 3_000_000 // µs after the faults until nobody may be held back any more
	watchTime  = 5_000_000 // µs after the faults for which that is watched
	tickMicros = 16_667
)

// match is a plan being played.
type match struct {
	*plan
	players []*player
	links   [][]*link
	now     int64
}

func newMatch(p *plan) (*match, error) {
	m := &match{plan: p}
	for i, x := range p.machines {
		q, err := newPlayer(x, p.game)
		if err != nil {
			return nil, err
		}
		m.players = append(m.players, q)
		var row []*link
		for _, w := range p.ways[i] {
			row = append(row, &link{
				way: w, calm: p.calm, discard: x.cfg.RequireEncryptedTransport, rng: rand.New(rand.NewPCG(w.seed, 2)),
			})
		}
		m.links = append(m.links, row)
	}
	return m, nil
}

// run plays until the faults have been over for a while and all have settled the frames asked for.
func (m *match) run() error {
	// With a window of one frame players advance once in a round trip.
	patience := int64(20_000)
	for _, x := range m.machines {
		patience = max(patience, 300_000/int64(x.cfg.PredictionWindowFrames))
	}
	watched := m.over + watchTime
	deadline := watched + int64(m.frames)*patience
	for m.now < deadline {
		if m.now >= watched && m.settled() >= m.frames {
			return nil
		}
		if err := m.step(deadline); err != nil {
			return fmt.Errorf("at %d ms: %w", m.now/1000, err)
		}
	}
	text := ""
	for _, p := range m.players {
		text += fmt.Sprintf("; player %d frame %d confirmed %d settled %d", p.cfg.Local, p.Frame(), p.Confirmed(), len(p.sums)-1)
	}
	return fmt.Errorf("progress: %d frames are not settled %d s after the faults%s", m.frames, (deadline-m.over)/1_000_000, text)
}

// settled is how many frames all have settled.
func (m *match) settled() int {
	n := len(m.players[0].sums)
	for _, p := range m.players {
		n = min(n, len(p.sums))
	}
	return n
}

// step runs the next event: a tick or a second datagram of somebody.
func (m *match) step(end int64) error {
	var who *player
	to := -1
	due := end
	for _, p := range m.players {
		if t := p.awake(max(p.model(p.Next()), p.start, m.now)); t < due {
			who, to, due = p, -1, t
		}
		for j := range m.players {
			if j == p.cfg.Local {
				continue
			}
			if at, ok := p.Link(j).SecondAt(); ok {
				if t := p.awake(max(p.model(at), m.now)); t < due {
					who, to, due = p, j, t
				}
			}
		}
	}
	m.now = due
	if who == nil {
		return nil
	}
	if to >= 0 {
		who.buf = who.Link(to).AppendSecond(who.buf[:0], who.local(due))
		if len(who.buf) > 0 {
			m.links[who.cfg.Local][to].send(due, who.buf)
		}
		return nil
	}
	if err := who.tick(due, m); err != nil {
		return err
	}
	return who.send(due, m)
}

// judge compares what the players settled with the game played from the words each of them gave, and looks at how they ended.
func (m *match) judge() error {
	for _, p := range m.players {
		if err := p.kept(); err != nil {
			return err
		}
		for i := range m.players {
			if d, ok := p.Session().Desync(i); ok {
				return fmt.Errorf("agree: player %d reports a desync that is none: %+v", p.cfg.Local, d)
			}
		}
		if m.affords() && p.lastBad >= m.over+settleTime {
			return fmt.Errorf("recovery: player %d was held back %d ms after the faults", p.cfg.Local, (p.lastBad-m.over)/1000)
		}
	}
	var s state
	in := make([]rollback.Input[uint16], len(m.players))
	for f := range m.settled() {
		for i, p := range m.players {
			in[i] = rollback.Input[uint16]{Now: p.given[f], Prev: in[i].Now}
		}
		m.game.Step(&s, in, rollback.TelemetryOnly)
		for _, p := range m.players {
			if want := m.game.Hash(&s); p.sums[f] != want {
				return fmt.Errorf("agree: player %d settled frame %d as %016x, undisturbed it is %016x", p.cfg.Local, f, p.sums[f], want)
			}
		}
	}
	return nil
}

// kept reports whether the words given are the words pressed: a delay that changes may hold one for longer or shorter, no more.
func (p *player) kept() error {
	i := 0
	for f, w := range p.given {
		if w == p.pressed[i] {
			continue
		}
		if i++; i >= len(p.pressed) || p.pressed[i] != w {
			return fmt.Errorf("inputs: player %d gave %#x for frame %d, not the word that was pressed next", p.cfg.Local, w, f)
		}
	}
	if i != len(p.pressed)-1 {
		return fmt.Errorf("inputs: player %d pressed %d words more than it gave", p.cfg.Local, len(p.pressed)-1-i)
	}
	return nil
}

// affords reports whether every window covers what the network takes when nothing is wrong with it: half the round trip between
// two players who run level, all of it among more, who cannot run level with everybody.
func (m *match) affords() bool {
	for i := range m.players {
		for j := range i {
			trip := m.ways[i][j].delay + m.ways[j][i].delay
			if len(m.players) == 2 {
				trip /= 2
			}
			least := min(m.machines[i].cfg.PredictionWindowFrames, m.machines[j].cfg.PredictionWindowFrames)
			if int64(least)*tickMicros < trip+4*tickMicros {
				return false
			}
		}
	}
	return true
}
