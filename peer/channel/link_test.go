package channel

import (
	"math/rand/v2"
	"testing"

	"backstep/rollback"
	"backstep/rollback/wire"
)

type state struct {
	frame int32
	sum   uint64
}

type game struct{}

func (game) Step(s *state, in []rollback.Input[uint16], _ rollback.Policy) {
	s.frame++
	for _, x := range in {
		s.sum = s.sum*0x9E3779B97F4A7C15 + uint64(x.Now) + uint64(x.Prev)<<16
	}
}

func (game) Hash(s *state) uint64 { return s.sum }

// pair is two drivers and what they talk about.
type pair struct {
	d     [2]*rollback.Driver[state, uint16]
	k     [2]*talker
	roads [2]road
	words [2]*rand.Rand
	now   int64
	trace []int32 // newest confirmed frame of both sides after every tick
}

func newPair(tb testing.TB, seed uint64, loss float64, sections bool) *pair {
	p := &pair{now: 1_000_000}
	for i := range p.d {
		cfg := rollback.DefaultConfig()
		cfg.Local = i
		var err error
		if p.d[i], err = rollback.NewDriver(game{}, cfg, new(state), p.now); err != nil {
			tb.Fatal(err)
		}
		p.k[i] = newTalker(seed+uint64(i), View(1+i), 0)
		if sections {
			p.d[i].SetSections(p.k[i].m)
		}
		p.roads[i] = road{rng: rand.New(rand.NewPCG(seed, 5+uint64(i))), delay: 40_000, jitter: 8000, loss: loss, dup: 0.01}
		p.words[i] = rand.New(rand.NewPCG(seed, 50+uint64(i)))
	}
	return p
}

// tick plays one tick of both sides.
func (p *pair) tick(tb testing.TB, talk func(k *talker)) {
	p.now += tick
	for i, d := range p.d {
		for {
			b, at, ok := p.roads[1-i].arrived(p.now)
			if !ok {
				break
			}
			if err := d.Receive(at, b); err != nil {
				tb.Fatal(err)
			}
			p.k[i].listen()
		}
		if talk != nil {
			talk(p.k[i])
		}
		d.Tick(p.now, uint16(p.words[i].Uint32())&15)
		p.roads[i].send(p.now, d.AppendPacket(nil, p.now))
		p.trace = append(p.trace, d.Confirmed())
	}
}

// Two drivers with channels in the packets of their match, at 15 % loss.
func TestChannelsRideInInputPackets(t *testing.T) {
	for seed := range uint64(8) {
		p := newPair(t, seed, 0.15, true)
		for range 900 {
			p.tick(t, (*talker).talk)
		}
		for n := 0; p.k[0].m.Busy() || p.k[1].m.Busy(); n++ {
			if n > 3000 {
				t.Fatalf("seed %d: still busy", seed)
			}
			p.tick(t, nil)
		}
		for range 30 {
			p.tick(t, nil)
		}
		for i := range p.k {
			if err := compare(p.k[i], p.k[1-i]); err != nil {
				t.Errorf("seed %d: %v", seed, err)
			}
		}
		if s := p.k[0].m.Stats(MatchState); s.Received == 0 || s.Resent == 0 || s.Lost == 0 {
			t.Errorf("seed %d: not the traffic that was meant: %+v", seed, s)
		}
		if rtt := p.k[0].m.RTT().Smoothed(); rtt < 80_000 || rtt > 160_000 {
			t.Errorf("seed %d: round trip %d µs over 40 ms one way", seed, rtt)
		}
	}
}

// Nothing ever delays an input: with every channel saturated, every frame is confirmed on the same tick as without any.
func TestChannelsNeverDelayInputs(t *testing.T) {
	saturate := func(k *talker) {
		for _, ch := range byPriority {
			for range 4 {
				if k.m.Send(ch, make([]byte, ch.Row().MaxMessage)) != nil {
					break
				}
			}
		}
	}
	for _, loss := range []float64{0, 0.2} {
		quiet, loud := newPair(t, 3, loss, false), newPair(t, 3, loss, true)
		for range 1200 {
			quiet.tick(t, nil)
			loud.tick(t, saturate)
		}
		for i := range quiet.trace {
			if quiet.trace[i] != loud.trace[i] {
				t.Fatalf("loss %v: at tick %d frame %d was confirmed, without channels %d", loss, i/2, loud.trace[i], quiet.trace[i])
			}
		}
		sent := loud.d[0].Stats().Link
		if mean := sent.Bytes.Sent / sent.Packets.Sent; mean < 250 || mean > DefaultBudget+40 {
			t.Errorf("loss %v: packets of %d bytes in the mean", loss, mean)
		}
	}
}

// One conversation from before frame 0 into the match and out of it, on control packets, input packets and control
// packets again, with loss at the seams.
func TestOneConversationAcrossTheMatch(t *testing.T) {
	p := newPair(t, 11, 0.2, true)
	talk := func(k *talker) {
		if k.rng.IntN(3) == 0 {
			k.talk()
		}
	}
	var pkt wire.Packet
	c := [2]*Control{NewControl(p.k[0].m), NewControl(p.k[1].m)}
	control := func(ticks int, until func() bool) {
		for i := range p.roads {
			p.roads[i].flying = nil // all that was on its way is lost
		}
		for n := 0; n < ticks && !until(); n++ {
			p.now += tick
			for i := range c {
				for {
					b, at, ok := p.roads[1-i].arrived(p.now)
					if !ok {
						break
					}
					controlPacket(t, c[i], &pkt, b, at)
					p.k[i].listen()
				}
				if n < 100 {
					talk(p.k[i])
				}
				if b := c[i].AppendPacket(nil, p.now); len(b) > 0 {
					p.roads[i].send(p.now, b)
				}
			}
		}
	}
	control(100, func() bool { return false })
	if !p.k[0].m.Busy() {
		t.Fatal("nothing was on its way at the seam")
	}
	for i := range p.roads {
		p.roads[i].flying = nil
	}
	for range 300 {
		p.tick(t, talk)
	}
	if !p.k[0].m.Busy() {
		t.Fatal("nothing was on its way at the second seam")
	}
	control(20_000, func() bool { return !p.k[0].m.Busy() && !p.k[1].m.Busy() })
	for i := range p.k {
		if err := compare(p.k[i], p.k[1-i]); err != nil {
			t.Error(err)
		}
	}
}

// A Mux in a match allocates nothing, with traffic on all channels.
func TestSectionsDoNotAllocate(t *testing.T) {
	a, b := New(Config{Spectator: Source}), New(Config{Spectator: Viewer})
	now, msg := int64(1_000_000), payload(256, 1)
	var buf [MaxSection]byte
	n := 0
	if got := testing.AllocsPerRun(3000, func() {
		now += tick
		n++
		for _, ch := range byPriority {
			_ = a.Send(ch, msg)
		}
		section, tag := a.Fill(buf[:0], MaxSection, now)
		if tag == 0 {
			return
		}
		if n%5 == 0 {
			a.Lost(tag)
			return
		}
		if err := b.Check(section); err != nil {
			t.Fatal(err)
		}
		b.Receive(section, now)
		for {
			if _, _, ok := b.Next(); !ok {
				break
			}
		}
		a.Delivered(tag, now)
	}); got != 0 {
		t.Errorf("%v allocations a tick", got)
	}
	for _, ch := range byPriority {
		if s := b.Stats(ch); s.Received == 0 {
			t.Errorf("%v: nothing came", ch)
		}
	}
}

func benchmarkFill(b *testing.B, size int) {
	from, to := New(Config{}), New(Config{})
	msg := payload(max(size, 1), 1)
	var buf [MaxSection]byte
	now := int64(1_000_000)
	b.ReportAllocs()
	for range b.N {
		now += 2 * tick
		if size > 0 {
			_ = from.Send(MatchState, msg)
		}
		section, tag := from.Fill(buf[:0], MaxSection, now)
		if tag == 0 {
			continue
		}
		if to.Check(section) == nil {
			to.Receive(section, now)
		}
		to.Next()
		from.Delivered(tag, now)
	}
}

// A tick with nothing to say, and one with a message that is filled in, taken, handed out and acknowledged.
func BenchmarkIdle(b *testing.B)    { benchmarkFill(b, 0) }
func BenchmarkMessage(b *testing.B) { benchmarkFill(b, 60) }
