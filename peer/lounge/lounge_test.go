package lounge

import (
	"bytes"
	"cmp"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"backstep/peer/match"
	"backstep/peer/setup"
	"backstep/rollback/wire"
	"backstep/sim"
)

const second = 1_000_000

// wireEnd is one end of a link in virtual time, with match numbers as the
// real one has them.
type wireEnd struct {
	rng    *rand.Rand
	delay  int64
	jitter int64
	loss   float64
	late   float64 // this share arrives two seconds later
	other  *wireEnd
	queue  []flying
	seq    int
	now    int64
	epoch  int
	out    []byte
	broken bool
	strays int
}

type flying struct {
	at    int64
	seq   int
	epoch int
	b     []byte
}

func (w *wireEnd) Send(b []byte) {
	if w.rng.Float64() < w.loss {
		return
	}
	at := w.now + w.delay
	if w.jitter > 0 {
		at += w.rng.Int64N(w.jitter)
	}
	if w.rng.Float64() < w.late {
		at += 2 * second
	}
	w.seq++
	q := &w.other.queue
	*q = append(*q, flying{at, w.seq, w.epoch & 7, slices.Clone(b)})
	slices.SortFunc(*q, func(a, b flying) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.seq, b.seq)) })
}

func (w *wireEnd) Receive() ([]byte, int64, bool) {
	for len(w.queue) > 0 && w.queue[0].at <= w.now {
		f := w.queue[0]
		w.queue = w.queue[1:]
		if f.epoch != w.epoch&7 {
			w.strays++
			continue
		}
		w.out = append(w.out[:0], f.b...)
		return w.out, f.at, true
	}
	return nil, 0, false
}

func (w *wireEnd) Broken() bool { return w.broken }

func pair(seed uint64, delay, jitter int64, loss float64) (ends [2]*wireEnd) {
	for i := range ends {
		ends[i] = &wireEnd{rng: rand.New(rand.NewPCG(seed, uint64(i))), delay: delay, jitter: jitter, loss: loss}
	}
	ends[0].other, ends[1].other = ends[1], ends[0]
	return ends
}

// run steps both lounges until the time or until stop.
func run(ends [2]*wireEnd, l [2]*Lounge, from, to int64, stop func() bool) int64 {
	now := from
	for ; now < to; now += 1000 {
		for i := range l {
			ends[i].now = now
			if l[i] != nil {
				l[i].Step(now)
			}
		}
		if stop != nil && stop() {
			break
		}
	}
	return now
}

func lounges(ends [2]*wireEnd, n int) [2]*Lounge {
	return [2]*Lounge{New(ends[0], n, 10*second), New(ends[1], n, 10*second)}
}

// The probe finds what the network was made of.
func TestProbeMeasures(t *testing.T) {
	for _, tt := range []struct {
		delay, jitter int64
		loss          float64
	}{{5000, 0, 0}, {40_000, 0, 0}, {40_000, 20_000, 0}, {75_000, 0, 0.1}, {20_000, 5_000, 0.3}} {
		ends := pair(3, tt.delay, tt.jitter, tt.loss)
		l := lounges(ends, 0)
		for _, x := range l {
			x.Probe(4 * second)
		}
		run(ends, l, second, 4*second, nil)
		for i, x := range l {
			f := x.Figures()
			want := 2*tt.delay + tt.jitter
			if f.Samples < 60 || f.RTT < want-tt.jitter-2000 || f.RTT > want+tt.jitter+3000 {
				t.Errorf("%+v side %d: round trip %d µs of %d samples, want about %d", tt, i, f.RTT, f.Samples, want)
			}
			if loss := float64(f.Loss) / 1e6; loss < tt.loss*0.5-0.001 || loss > tt.loss*1.6+0.01 {
				t.Errorf("%+v side %d: loss %.3f", tt, i, loss)
			}
			if tt.jitter == 0 && f.Jitter > 1500 || tt.jitter > 10_000 && f.Jitter < 1000 {
				t.Errorf("%+v side %d: jitter %d µs", tt, i, f.Jitter)
			}
		}
	}
}

func TestBothMustBeReady(t *testing.T) {
	ends := pair(1, 30_000, 10_000, 0.2)
	l := lounges(ends, 0)
	l[0].Set(Ready)
	l[1].Set(Choosing)
	now := run(ends, l, second, 3*second, nil)
	if l[0].Begun() || l[1].Begun() || l[0].Other() != Choosing || l[1].Other() != Ready {
		t.Fatalf("begun %v %v, states %d %d", l[0].Begun(), l[1].Begun(), l[0].Other(), l[1].Other())
	}
	l[0].Set(Choosing) // taken back, and heard
	now = run(ends, l, now, now+second, nil)
	l[1].Set(Ready)
	now = run(ends, l, now, now+2*second, nil)
	if l[0].Begun() || l[1].Begun() {
		t.Fatal("begun although one took it back")
	}
	l[0].Set(Ready)
	run(ends, l, now, now+3*second, func() bool { return l[0].Begun() && l[1].Begun() })
	if !l[0].Begun() || !l[1].Begun() {
		t.Fatal("not begun although both are ready")
	}
}

// A side whose Ready was heard must play, even if it takes it back at once:
// the other's set-up says so.
func TestSetupCountsAsReady(t *testing.T) {
	ends := pair(1, 30_000, 0, 0)
	l := New(ends[0], 0, 0)
	su, err := setup.New(true, setup.Offer{}, zeros{})
	if err != nil {
		t.Fatal(err)
	}
	hear := func(now int64) {
		ends[1].now = now
		ends[1].Send(match.AppendControl(nil, su.AppendMessage(nil)))
		ends[0].now = now + 40_000
		l.Step(now + 40_000)
	}
	hear(second)
	if l.Begun() {
		t.Fatal("begun without ever being ready")
	}
	l.Set(Ready)
	l.Set(Choosing)
	hear(2 * second)
	if !l.Begun() {
		t.Fatal("the other plays alone")
	}
}

func TestEnds(t *testing.T) {
	t.Run("leave", func(t *testing.T) {
		ends := pair(1, 30_000, 0, 0.3)
		l := lounges(ends, 2)
		now := run(ends, l, second, 2*second, nil)
		l[0].Set(Leave)
		l[0].Set(Ready) // no way back
		run(ends, l, now, now+second, func() bool { return l[1].Err() != nil })
		if !errors.Is(l[1].Err(), ErrLeft) || !l[0].Gone() || l[0].Own() != Leave {
			t.Fatalf("%v, gone %v", l[1].Err(), l[0].Gone())
		}
	})
	t.Run("silence", func(t *testing.T) {
		ends := pair(1, 30_000, 0, 1)
		l := lounges(ends, 0)
		run(ends, l, second, 12*second, nil)
		if !errors.Is(l[0].Err(), ErrSilent) {
			t.Fatal(l[0].Err())
		}
	})
	t.Run("broken", func(t *testing.T) {
		ends := pair(1, 0, 0, 0)
		ends[0].broken = true
		l := New(ends[0], 0, 0)
		l.Step(second)
		if !errors.Is(l.Err(), ErrLeft) {
			t.Fatal(l.Err())
		}
	})
	t.Run("another match", func(t *testing.T) {
		ends := pair(1, 1000, 0, 0)
		l := [2]*Lounge{New(ends[0], 1, 0), New(ends[1], 2, 0)}
		l[0].Set(Ready)
		l[1].Set(Ready)
		run(ends, l, second, 2*second, nil)
		if l[0].Begun() || l[1].Begun() {
			t.Fatal("two different matches were agreed on")
		}
	})
}

// Answer makes a headless player a good opponent of a probe.
func TestAnswer(t *testing.T) {
	ends := pair(1, 25_000, 0, 0)
	l := New(ends[0], 0, 0)
	l.Probe(3 * second)
	l.Set(Ready)
	var p wire.Packet
	for now := int64(second); now < 3*second; now += 1000 {
		ends[0].now, ends[1].now = now, now
		l.Step(now)
		for {
			b, _, ok := ends[1].Receive()
			if !ok {
				break
			}
			if wire.ParseFull(b, &p) == nil {
				if msg := Answer(nil, p.Message); len(msg) > 0 {
					ends[1].Send(match.AppendControl(nil, msg))
				}
			}
		}
	}
	if f := l.Figures(); f.RTT < 49_000 || f.RTT > 52_000 || !l.Begun() {
		t.Errorf("%+v, begun %v", f, l.Begun())
	}
	if b := Answer(nil, []byte{Kind}); len(b) != 0 {
		t.Error("nonsense was answered")
	}
}

type zeros struct{}

func (zeros) Read(b []byte) (int, error) { clear(b); return len(b), nil }

type words struct {
	rng  *rand.Rand
	word uint16
}

func (w *words) Next(int32, *sim.World) uint16 {
	if w.rng.Float64() < 0.2 {
		w.word = uint16(w.rng.Uint32()) & 0xfff
	}
	return w.word
}

type shares struct{ rng *rand.Rand }

func (s shares) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = byte(s.rng.Uint32())
	}
	return len(b), nil
}

// Ten matches in a row on one link that loses, repeats late and reorders, each
// with a seed of its own and a clean world: both sides always come to the same
// end, which equals an offline run of what was pressed.
func TestTenRematches(t *testing.T) {
	const frames = 120
	ends := pair(11, 35_000, 15_000, 0.1)
	ends[0].late, ends[1].late = 0.02, 0.02
	rng := rand.New(rand.NewPCG(5, 6))
	now, seeds := int64(second), map[uint64]bool{}
	for n := range 11 {
		ends[0].epoch, ends[1].epoch = n, n
		l := lounges(ends, n)
		l[0].Set(Ready)
		now = run(ends, l, now, now+rng.Int64N(second), nil)
		l[1].Set(Ready)
		now = run(ends, l, now, now+5*second, func() bool { return l[0].Begun() && l[1].Begun() })
		if !l[0].Begun() || !l[1].Begun() {
			t.Fatalf("match %d was not agreed on", n)
		}
		var inputs [2][][2]uint16
		var world sim.Config
		var loops [2]*match.Loop
		for side := range loops {
			o := match.Offer(sim.DefaultConfig(), side)
			o.Frames = frames
			su, err := setup.New(side == 0, o, shares{rng})
			if err != nil {
				t.Fatal(err)
			}
			loops[side] = match.New(match.Config{Side: side, Setup: su, Source: &words{rng: rng}, Frames: frames, Window: 8, Timeout: 10 * second,
				Other: func(b, _ []byte) []byte { return b },
				Observer: match.Observer{
					Started: func(_ setup.Match, w *match.World) { world = w.Config() },
					Settled: func(_ int32, words [2]uint16, _ *match.World) { inputs[side] = append(inputs[side], words) },
				}}, ends[side])
		}
		var over [2]bool
		next := [2]int64{now, now}
		for limit := now + 60*second; (!over[0] || !over[1]) && now < limit; now += 1000 {
			for side, loop := range loops {
				ends[side].now = now
				if !over[side] && now >= next[side] {
					next[side], over[side] = loop.Step(now)
				}
			}
		}
		a, b := loops[0].Outcome(), loops[1].Outcome()
		if a.Err != nil || b.Err != nil || a.Confirmed != frames || b.Confirmed != frames || a.FinalHash != b.FinalHash {
			t.Fatalf("match %d: %d frames %016x %v, %d frames %016x %v", n, a.Confirmed, a.FinalHash, a.Err, b.Confirmed, b.FinalHash, b.Err)
		}
		if !slices.Equal(inputs[0], inputs[1]) {
			t.Fatalf("match %d: the two sides played different inputs", n)
		}
		var w sim.World
		if err := w.Reset(world); err != nil {
			t.Fatal(err)
		}
		var prev [2]uint16
		for _, in := range inputs[0] {
			w.Step([]sim.Input{{Now: in[0], Prev: prev[0]}, {Now: in[1], Prev: prev[1]}}, sim.Emit)
			prev = in
		}
		if w.Hash() != a.FinalHash {
			t.Fatalf("match %d: %016x, offline %016x", n, a.FinalHash, w.Hash())
		}
		if seeds[a.Match.Seed] {
			t.Fatalf("match %d has the seed of one before", n)
		}
		seeds[a.Match.Seed] = true
	}
	if ends[0].strays+ends[1].strays == 0 {
		t.Error("no packet of a match before came late: the test tests nothing")
	}
}

func FuzzMessage(f *testing.F) {
	f.Add(Greeting())
	f.Add(appendMessage(nil, message{match: 3, state: Ready, seq: 9, echo: 8, hold: 7, rtt: 6, loss: 5, hasEcho: true}))
	f.Add([]byte{Kind})
	f.Fuzz(func(t *testing.T, b []byte) {
		if m, ok := parseMessage(b); ok && !bytes.Equal(appendMessage(nil, m), b) {
			t.Fatalf("% x is %+v", b, m)
		}
		if a := Answer(nil, b); len(a) > 0 {
			if _, ok := parseMessage(a); !ok {
				t.Fatalf("% x was answered with % x", b, a)
			}
		}
	})
}
