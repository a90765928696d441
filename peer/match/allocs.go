package match

import (
	"math"
	"runtime"
	"time"

	"backstep/peer/dialog"
	"backstep/peer/setup"
	"backstep/rollback/wire"
	"backstep/sim"
)

const (
	allocWarm   = 300 // frames before counting
	allocFrames = 600
	allocRounds = 5
)

// MeasureAllocs plays two loops against each other in memory, with the link's
// send stubbed, and returns the heap allocations a frame of one side. The
// figure is of this process and build. The runtime counts for the process as a
// whole, so it is the least of a few rounds: what the loops do is in each. It
// takes a few tens of milliseconds.
func MeasureAllocs() float64 {
	var ends [2]*memoryPipe
	ends[0], ends[1] = &memoryPipe{}, &memoryPipe{}
	ends[0].other, ends[1].other = ends[1], ends[0]
	var loops [2]*Loop
	for side := range loops {
		o := Offer(sim.DefaultConfig(), side)
		o.Frames = 1 << 20
		su, err := setup.New(side == 0, o, zeros{})
		if err != nil {
			return 0 // zeros never fails
		}
		loops[side] = New(Config{Side: side, Setup: su, Source: walker(side), Window: 8, Dialog: dialog.New(side == 0)}, ends[side])
	}
	now := int64(1)
	play := func(frames int) {
		for end := now + int64(frames)*tickMicros; now < end; now += time.Millisecond.Microseconds() {
			for side, l := range loops {
				ends[side].now = now
				l.Step(now)
			}
		}
	}
	play(allocWarm)
	least := uint64(math.MaxUint64)
	for range allocRounds {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		play(allocFrames)
		runtime.ReadMemStats(&after)
		if least = min(least, after.Mallocs-before.Mallocs); least == 0 {
			break
		}
	}
	return float64(least) / (2 * allocFrames)
}

// walker changes its word often enough to cause rollbacks.
type walker int

func (w walker) Next(frame int32, _ *sim.World) uint16 {
	return uint16(1) << (2 + (int(frame)/(5+int(w)))%8)
}

type zeros struct{}

func (zeros) Read(b []byte) (int, error) { clear(b); return len(b), nil }

// memoryPipe delivers to its other end 40 ms later, from fixed memory.
type memoryPipe struct {
	other   *memoryPipe
	now     int64
	slot    [64]memoryPacket
	head, n int
	out     [wire.MaxPacket]byte
}

type memoryPacket struct {
	at   int64
	size int
	body [wire.MaxPacket]byte
}

func (p *memoryPipe) Send(pkt []byte) {
	o := p.other
	if o.n == len(o.slot) {
		return
	}
	s := &o.slot[(o.head+o.n)%len(o.slot)]
	s.at, s.size = p.now+40_000, copy(s.body[:], pkt)
	o.n++
}

func (p *memoryPipe) Receive() ([]byte, int64, bool) {
	if p.n == 0 || p.slot[p.head].at > p.now {
		return nil, 0, false
	}
	s := &p.slot[p.head]
	p.head, p.n = (p.head+1)%len(p.slot), p.n-1
	return p.out[:copy(p.out[:], s.body[:s.size])], s.at, true
}

func (p *memoryPipe) Broken() bool { return false }
