package main

import (
	"fmt"
	"math/rand/v2"

	"backstep/rollback"
	"backstep/rollback/wire"
)

// origin is what a player's clock shows at its start, so that no clock agrees with the model's.
const origin = 5_000_000

// player is one end of a match: a driver on a clock of its own, and the notes to judge it by.
type player struct {
	*rollback.Driver[state, uint16]
	machine
	rng     *rand.Rand
	word    uint16
	pressed []uint16 // words of ticks that advanced, without repetitions
	given   []uint16 // its own words by frame
	sums    []uint64 // hashes of settled states by frame
	lastBad int64    // model time of the last tick that was refused, waits to let a late starter catch up left out
	hitstop bool     // the game has free frames
	buf     []byte
}

func newPlayer(m machine, g rollback.Game[state, uint16]) (*player, error) {
	p := &player{machine: m, rng: rand.New(rand.NewPCG(m.seed, 1)), pressed: []uint16{0}}
	d, err := rollback.NewDriver(g, m.cfg, new(state), p.local(m.start))
	p.Driver = d
	_, p.hitstop = g.(rollback.Freer[state])
	return p, err
}

// local is the player's own time at the model's time now, and model the other way round.
func (p *player) local(now int64) int64 { return int64(float64(now-p.start)*p.speed) + origin }

func (p *player) model(local int64) int64 { return p.start + int64(float64(local-origin)/p.speed) }

// awake is the first time from t on at which the process runs.
func (p *player) awake(t int64) int64 {
	if t >= p.asleep && t < p.wake {
		return p.wake
	}
	return t
}

// tick reads what has arrived, makes one frame, and notes what came of it.
func (p *player) tick(now int64, m *match) error {
	for _, from := range m.players {
		if from == p {
			continue
		}
		l := p.Link(from.cfg.Local)
		// What a packet does wrong is counted by the link.
		_ = m.links[from.cfg.Local][p.cfg.Local].Deliver(now, func(at int64, b []byte) error {
			return l.Receive(p.local(p.awake(at)), b) // a stopped process reads late, and stamps late
		})
	}
	if err := p.Err(); err != nil {
		return fmt.Errorf("inputs: %w", err)
	}
	if p.rng.IntN(6) == 0 {
		p.word = uint16(p.rng.Uint32())
	}
	s := p.Session()
	if p.redelay && p.rng.IntN(30) == 0 && now < m.calm {
		s.SetInputDelay(p.rng.IntN(6))
	}
	r := p.Tick(p.local(now), p.word)
	if r.Stalled || r.Frozen {
		p.lastBad = now
	}
	if r.Advanced && p.word != p.pressed[len(p.pressed)-1] {
		p.pressed = append(p.pressed, p.word)
	}
	if err := p.window(r); err != nil {
		return err
	}
	return p.settle()
}

// window checks that the tick advanced if and only if it was allowed to.
func (p *player) window(r rollback.Result) error {
	s := p.Session()
	window := s.Config().PredictionWindowFrames
	lead := int(r.Frame - r.Confirmed)
	hitstop := p.hitstop
	switch {
	case r.Advanced && !hitstop && lead > window:
		return fmt.Errorf("window: player %d predicts %d frames, the window is %d", p.cfg.Local, lead, window)
	case r.Advanced && lead > min(window+rollback.FreeFrames, rollback.HardWindow):
		return fmt.Errorf("window: player %d predicts %d frames, hitstop included", p.cfg.Local, lead)
	case r.Stalled && lead+1 <= window:
		return fmt.Errorf("window: player %d stalls at %d frames, the window is %d", p.cfg.Local, lead, window)
	}
	return nil
}

// settle notes the words and states that became final.
func (p *player) settle() error {
	s := p.Session()
	for f := int32(len(p.given)); f < s.InputFrame(); f++ {
		w, ok := s.Word(p.cfg.Local, f)
		if !ok {
			return fmt.Errorf("inputs: player %d has no own word for frame %d", p.cfg.Local, f)
		}
		p.given = append(p.given, w)
	}
	top := s.Settled()
	if most := min(s.Confirmed(), s.Frame()); top < most {
		return fmt.Errorf("due: player %d settled %d after a tick, %d is confirmed", p.cfg.Local, top, most)
	}
	for f := int32(len(p.sums)); f <= top; f++ {
		st, ok := s.State(f)
		if !ok {
			return fmt.Errorf("agree: player %d has lost state %d before it was settled", p.cfg.Local, f)
		}
		sum := eager{}.Hash(st)
		p.sums = append(p.sums, sum)
		if h, ok := s.ConfirmedHash(f); ok && h != sum {
			return fmt.Errorf("agree: player %d has %016x for the confirmed hash of frame %d, its state gives %016x", p.cfg.Local, h, f, sum)
		}
		for player := range p.cfg.Players {
			w, known := s.Word(player, f)
			if in, ok := s.Used(player, f); !ok || !known || in.Now != w {
				return fmt.Errorf("due: player %d settled frame %d, which ran with %#x for player %d, confirmed is %#x", p.cfg.Local, f, in.Now, player, w)
			}
		}
	}
	return nil
}

// send sends the packets of a tick.
func (p *player) send(now int64, m *match) error {
	for i, l := range m.links[p.cfg.Local] {
		if i == p.cfg.Local {
			continue
		}
		to := p.Link(i)
		p.buf = to.AppendPacket(p.buf[:0], p.local(now))
		for ok := true; ok; p.buf, ok = to.AppendParity(p.buf[:0], p.local(now)) {
			if len(p.buf) == 0 || len(p.buf) > wire.MaxPacket {
				return fmt.Errorf("bounded: player %d made a packet of %d bytes", p.cfg.Local, len(p.buf))
			}
			l.send(now, p.buf)
		}
	}
	return nil
}
