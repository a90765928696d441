package main

import (
	"fmt"

	"backstep/rollback"
)

const (
	second    = 1_000_000
	beginning = 1 * second
	warmUntil = beginning + 4*second
	tail      = 30 // confirmed frames left out of the comparison
)

// peer is one side: a driver on a clock of its own.
type peer struct {
	*rollback.Driver[state, uint32]
	words  generator
	word   uint32
	speed  float64 // of its clock, against the model's
	hashes []uint64
	final  int32 // newest frame that is in hashes
	counts bool
	buf    []byte
}

// local is the peer's own time at the model's time now, and model the other way round.
func (p *peer) local(now int64) int64 {
	if p.speed == 1 {
		return now
	}
	return int64(float64(now) * p.speed)
}

func (p *peer) model(local int64) int64 {
	if p.speed == 1 {
		return local
	}
	t := int64(float64(local) / p.speed)
	for p.local(t) < local {
		t++
	}
	return t
}

// run plays one match and reports it.
func run(x scenario, window int, seed uint64, seconds float64) (report, error) {
	nets := [2]*link{newLink(x, warmUntil, seed), newLink(x, warmUntil, seed+1000)}
	starts := [2]int64{beginning, beginning + int64(x.off*1000)}
	speeds := [2]float64{1, x.hzb / 60}
	var peers [2]*peer
	for i := range peers {
		cfg := rollback.DefaultConfig()
		cfg.PredictionWindowFrames, cfg.MaxRollbackFrames = window, window
		cfg.Local = i
		cfg.RequireEncryptedTransport = x.damage == 0
		p := &peer{speed: speeds[i], final: -1, words: newGenerator(1234567+uint64(i)*7919+seed*104729, 10)}
		d, err := rollback.NewDriver(game{}, cfg, new(state), p.local(starts[i]))
		if err != nil {
			return report{}, err
		}
		p.Driver = d
		peers[i] = p
	}
	end := beginning + int64(seconds*second)
	for {
		// The next event in time: a tick of A, a tick of B, a second datagram of either.
		who, due, isTick := 0, end, false
		for i, p := range peers {
			if t := max(p.model(p.Next()), starts[i]); t < due {
				who, due, isTick = i, t, true
			}
		}
		for i, p := range peers {
			if at, ok := p.SecondAt(); ok && p.model(at) < due {
				who, due, isTick = i, p.model(at), false
			}
		}
		if due >= end {
			break
		}
		p := peers[who]
		if !isTick {
			p.buf = p.AppendSecond(p.buf[:0], p.local(due))
			nets[who].send(due, p.buf)
			continue
		}
		if err := p.tick(due, nets[1-who], nets[who]); err != nil && x.damage == 0 {
			return report{}, err
		}
	}
	return newReport(x, window, seed, peers, nets, seconds-float64(warmUntil-beginning)/second), nil
}

func (p *peer) tick(now int64, from, to *link) error {
	if now > warmUntil && !p.counts {
		p.counts = true
		p.ResetStats()
	}
	failed := from.Deliver(now, func(at int64, b []byte) error {
		if err := p.Receive(p.local(at), b); err != nil {
			return fmt.Errorf("frame %d: %w", p.Frame(), err)
		}
		return nil
	})
	if p.Err() != nil {
		return p.Err()
	}
	if p.words.uniform() < 0.15 {
		p.word = p.word&^0xff | uint32(byte(p.words.next()>>16))
	}
	p.Tick(p.local(now), p.word)
	for s := p.Session(); p.final < s.Settled(); {
		p.final++
		st, ok := s.State(p.final)
		if !ok {
			return fmt.Errorf("frame %d was settled after its state was gone", p.final)
		}
		p.hashes = append(p.hashes, game{}.Hash(st))
	}
	p.buf = p.AppendPacket(p.buf[:0], p.local(now))
	to.send(now, p.buf)
	return failed
}
