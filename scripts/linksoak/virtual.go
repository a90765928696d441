package main

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"backstep/fec"
	"backstep/peer/dialog"
	"backstep/peer/impair"
	"backstep/peer/match"
	"backstep/peer/setup"
	"backstep/rollback"
	"backstep/rollback/wire"
	"backstep/sim"
	"backstep/sim/bot"
)

const (
	second   = 1_000_000
	chatGap  = 7 * second
	blobGap  = 60 * second
	blobSize = 20_000
	stuck    = 120 * second // without a settled frame: the match does not go on
)

// world is two peers, their link and the road between them in virtual time.
type world struct {
	rng   *rand.Rand
	now   int64
	ends  [2]*road
	talk  [2]*dialog.Dialog
	heard [2]uint64
	blobs int
	t     tally
	err   error

	blob   []byte
	chatAt int64
	blobAt int64
}

// playVirtual plays for the given virtual time.
func playVirtual(out *lines, play time.Duration, faults impair.Spec, seed uint64) error {
	if out.every == 0 {
		out.every = 10 * time.Minute
	}
	w := &world{rng: rand.New(rand.NewPCG(seed, 1)), now: 1, talk: [2]*dialog.Dialog{dialog.New(true), dialog.New(false)}}
	for side := range w.ends {
		w.ends[side] = &road{w: w, faults: faults}
	}
	w.ends[0].other, w.ends[1].other = w.ends[1], w.ends[0]
	end := play.Microseconds()
	next := out.every.Microseconds()
	report := func() error {
		for w.now >= next && next <= end {
			next += out.every.Microseconds()
			x := measure(w.t.sum())
			x.At, x.Messages, x.Blobs = float64(w.now)/second, w.heard[0]+w.heard[1], w.blobs
			if err := out.write(x); err != nil {
				return err
			}
		}
		return w.err
	}
	long := int32(end / 4 / second * sim.SimulationHz)
	for n := uint64(0); w.now < end; n++ {
		frames := int32(0)
		if n == 0 {
			frames = long
		}
		if err := w.match(seed+n, frames, report); err != nil {
			return fmt.Errorf("match %d at %v: %w", n, time.Duration(w.now)*time.Microsecond, err)
		}
		w.t.next()
	}
	return errors.Join(report(), failed(w.t.sum()))
}

// match plays one match to its end.
func (w *world) match(seed uint64, frames int32, report func() error) error {
	var loops [2]*match.Loop
	var next, settled [2]int64
	var ended [2]bool
	for side := range loops {
		w.ends[side].clear()
		o := match.Offer(sim.DefaultConfig(), side)
		o.Rounds, o.Frames, o.Build = 3, uint32(frames), "linksoak"
		su, err := setup.New(side == 0, o, draws{w.rng})
		if err != nil {
			return err
		}
		b, err := bot.New([2]string{"hard", "medium"}[side], seed, side)
		if err != nil {
			return err
		}
		loops[side] = match.New(match.Config{Side: side, Setup: su, Source: player{b}, Frames: frames, Window: 8, FEC: fec.Auto,
			Timeout: 10 * second, Dialog: w.talk[side], Observer: match.Observer{
				Said: func(e dialog.Event) { w.said(side, e) },
				Settled: func(int32, [2]uint16, *match.World) {
					settled[side] = w.now
				},
				Ticked: func(now int64, _ rollback.Result) {
					if side == 0 {
						w.t.take(loops[0])
						w.speak(now)
					}
				},
			}}, w.ends[side])
		next[side], settled[side] = w.now, w.now
	}
	for !ended[0] || !ended[1] {
		side := 0
		if ended[0] || !ended[1] && next[1] < next[0] {
			side = 1
		}
		w.now = next[side]
		var at int64
		at, ended[side] = loops[side].Step(w.now)
		next[side] = max(at, w.now+1)
		if err := report(); err != nil {
			return err
		}
		if w.now-settled[0] > stuck {
			return errors.New("the match does not go on")
		}
	}
	w.t.take(loops[0])
	a, b := loops[0].Outcome(), loops[1].Outcome()
	switch {
	case a.Err != nil || b.Err != nil:
		return fmt.Errorf("%v and %v", a.Err, b.Err)
	case a.FinalHash != b.FinalHash || a.Confirmed != b.Confirmed:
		return fmt.Errorf("%d frames with %016x and %d with %016x", a.Confirmed, a.FinalHash, b.Confirmed, b.FinalHash)
	case a.Malformed+b.Malformed > 0:
		return fmt.Errorf("%d and %d packets made no sense", a.Malformed, b.Malformed)
	}
	return nil
}

// speak says something now and then, and sends a blob.
func (w *world) speak(now int64) {
	if now >= w.chatAt {
		w.chatAt = now + chatGap
		if _, err := w.talk[0].Chat("well played"); err != nil {
			w.err = err
		}
	}
	if now >= w.blobAt {
		w.blobAt = now + blobGap
		if w.blob != nil {
			w.err = errors.New("a blob did not arrive in a minute")
			return
		}
		w.blob = make([]byte, blobSize)
		for i := range w.blob {
			w.blob[i] = byte(w.rng.Uint32())
		}
		if _, err := w.talk[0].Offer(dialog.Replay, w.blob, now); err != nil {
			w.err = err
		}
	}
}

func (w *world) said(side int, e dialog.Event) {
	w.heard[side]++
	switch e.Kind {
	case dialog.Offered:
		w.talk[side].Accept(e.Offer.ID)
	case dialog.Received:
		if e.Err != nil || !bytes.Equal(e.Body, w.blob) {
			w.err = fmt.Errorf("a blob came out damaged: %v", e.Err)
		}
	case dialog.Sent:
		if w.blob, w.blobs = nil, w.blobs+1; e.Err != nil {
			w.err = e.Err
		}
	}
}

// player is a bot as a match knows it.
type player struct{ b bot.Bot }

func (p player) Next(_ int32, w *sim.World) uint16 { return p.b.Next(w) }

type draws struct{ r *rand.Rand }

func (d draws) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = byte(d.r.Uint32())
	}
	return len(b), nil
}

// road is one end of the link. What it sends is lost, repeated and late as the faults say; memory is fixed.
type road struct {
	w      *world
	faults impair.Spec
	other  *road
	flying [256]datagram // in the order of arrival
	n      int
	out    [wire.MaxPacket]byte
}

type datagram struct {
	at   int64
	size int
	b    [wire.MaxPacket]byte
}

func (r *road) clear() { r.n = 0 }

func (r *road) Send(b []byte) {
	rng, f := r.w.rng, &r.faults
	if rng.Float64() < f.Corrupt {
		return
	}
	copies := 1
	if rng.Float64() < f.Dup {
		copies = 2
	}
	for range copies {
		o := r.other
		if rng.Float64() < f.Loss || o.n == len(o.flying) {
			continue
		}
		at := r.w.now + max(f.Delay.Microseconds(), 1)
		if f.Jitter > 0 {
			at += rng.Int64N(f.Jitter.Microseconds() + 1)
		}
		i := o.n
		for ; i > 0 && o.flying[i-1].at > at; i-- {
			o.flying[i] = o.flying[i-1]
		}
		o.flying[i].at, o.flying[i].size = at, copy(o.flying[i].b[:], b)
		o.n++
	}
}

func (r *road) Receive() ([]byte, int64, bool) {
	if r.n == 0 || r.flying[0].at > r.w.now {
		return nil, 0, false
	}
	d := &r.flying[0]
	at, n := d.at, copy(r.out[:], d.b[:d.size])
	copy(r.flying[:], r.flying[1:r.n])
	r.n--
	return r.out[:n], at, true
}

func (r *road) Broken() bool { return false }
