package peer

import (
	"math/rand/v2"
	"testing"

	"backstep/natpunch"
	"backstep/peer/match"
	"backstep/peer/page"
	"backstep/peer/setup"
	"backstep/rollback"
	"backstep/rollback/wire"
	"backstep/sim"

	"github.com/rs/zerolog"
)

// bench is two loops on a wire of 40 ms in virtual time, one of them shown.
type bench struct {
	loops [2]*match.Loop
	ends  [2]*memory
	now   int64
	show  *show
}

type memory struct {
	other   *memory
	now     int64
	at      [64]int64
	size    [64]int
	body    [64][wire.MaxPacket]byte
	head, n int
	out     [wire.MaxPacket]byte
}

func (m *memory) Send(b []byte) {
	o := m.other
	if o.n == len(o.at) {
		return
	}
	i := (o.head + o.n) % len(o.at)
	o.at[i], o.size[i] = m.now+40_000, copy(o.body[i][:], b)
	o.n++
}

func (m *memory) Receive() ([]byte, int64, bool) {
	if m.n == 0 || m.at[m.head] > m.now {
		return nil, 0, false
	}
	i := m.head
	m.head, m.n = (m.head+1)%len(m.at), m.n-1
	return m.out[:copy(m.out[:], m.body[i][:m.size[i]])], m.at[i], true
}

func (m *memory) Broken() bool { return false }

type presses struct{ rng *rand.Rand }

func (p presses) Next(int32, *sim.World) uint16 { return uint16(p.rng.Uint32()) & 0x3f0 }

func newBench(tb testing.TB, shown bool) *bench {
	b := &bench{now: 1, ends: [2]*memory{{}, {}}}
	b.ends[0].other, b.ends[1].other = b.ends[1], b.ends[0]
	if shown {
		s, err := page.New(page.Config{Addr: "127.0.0.1:0", Now: func() int64 { return b.now }, Log: zerolog.Nop()})
		if err != nil {
			tb.Fatal(err)
		}
		tb.Cleanup(s.Close)
		b.show = newShow(s)
		b.show.paths = noPath{}
		b.show.begin(1, page.KindMatch, 0)
	}
	for side := range b.loops {
		c := testRules(side)
		su, err := setup.New(side == 0, c.offer(), rand.NewChaCha8([32]byte{byte(side)}))
		if err != nil {
			tb.Fatal(err)
		}
		cfg := match.Config{Side: side, Setup: su, Source: presses{rand.New(rand.NewPCG(1, uint64(side)))}, Frames: 1 << 20, Window: 8}
		if side == 0 && shown {
			cfg.Observer.Ticked = func(at int64, r rollback.Result) { b.show.ticked(at, b.loops[0], &r) }
		}
		b.loops[side] = match.New(cfg, b.ends[side])
	}
	b.play(120)
	return b
}

func testRules(side int) Config {
	def := sim.DefaultConfig()
	return Config{Host: side == 0, Ruleset: def.Ruleset, Rounds: 5, Team: def.Teams[side], Frames: 1 << 20}
}

// play runs virtual time for a number of frames.
func (b *bench) play(frames int) {
	for end := b.now + int64(frames)*16_667; b.now < end; b.now += 1000 {
		for i, l := range b.loops {
			b.ends[i].now = b.now
			l.Step(b.now)
		}
	}
}

// Showing a match allocates nothing in a frame; the figures, four times a
// second, are some small objects.
func TestShowAllocates(t *testing.T) {
	plain, shown := newBench(t, false), newBench(t, true)
	shown.show.netAt = 1 << 60
	without := testing.AllocsPerRun(20, func() { plain.play(15) })
	with := testing.AllocsPerRun(20, func() { shown.play(15) })
	if with > without {
		t.Errorf("15 frames allocate %v times, %v without the page", with, without)
	}
}

// BenchmarkFrame is a frame of both sides, one of them with and without the
// page.
func BenchmarkFrame(b *testing.B) {
	for name, shown := range map[string]bool{"headless": false, "page": true} {
		b.Run(name, func(b *testing.B) {
			x := newBench(b, shown)
			b.ReportAllocs()
			for b.Loop() {
				x.play(1)
			}
		})
	}
}

// noPath is a path manager before there is a path.
type noPath struct{}

func (noPath) Path() natpunch.Kind { return natpunch.KindNone }
func (noPath) Reason() string      { return "no path: it has not been tried yet" }
