package channel

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"backstep/rollback/wire"
)

// road is one direction of a network in virtual time.
type road struct {
	rng           *rand.Rand
	delay, jitter int64
	loss, dup     float64
	flying        []datagram
}

type datagram struct {
	at int64
	b  []byte
}

func (r *road) send(now int64, b []byte) {
	for range 1 + min(int(r.rng.Float64()+r.dup), 1) {
		if r.rng.Float64() < r.loss {
			continue
		}
		at := now + r.delay + r.rng.Int64N(r.jitter+1)
		i := len(r.flying)
		for i > 0 && r.flying[i-1].at > at {
			i--
		}
		r.flying = slices.Insert(r.flying, i, datagram{at, slices.Clone(b)})
	}
}

func (r *road) arrived(now int64) (b []byte, at int64, ok bool) {
	if len(r.flying) == 0 || r.flying[0].at > now {
		return nil, 0, false
	}
	d := r.flying[0]
	r.flying = r.flying[1:]
	return d.b, d.at, true
}

// talker says random things on all channels and keeps what it said and what it heard.
type talker struct {
	m     *Mux
	rng   *rand.Rand
	said  [channels][][]byte
	heard [channels][][]byte
	count uint32
}

func newTalker(seed uint64, view View, budget int) *talker {
	return &talker{m: New(Config{Spectator: view, Budget: budget}), rng: rand.New(rand.NewPCG(seed, 77))}
}

func (k *talker) talk() {
	for range k.rng.IntN(3) {
		ch := byPriority[k.rng.IntN(len(byPriority))]
		row := ch.Row()
		size := 4 + k.rng.IntN(60)
		if k.rng.IntN(4) == 0 {
			size = 4 + k.rng.IntN(row.MaxMessage-3)
		}
		k.count++
		msg := payload(size, byte(size))
		copy(msg, []byte{byte(k.count >> 24), byte(k.count >> 16), byte(k.count >> 8), byte(k.count)})
		if k.m.Send(ch, msg) == nil {
			k.said[ch] = append(k.said[ch], msg)
		}
	}
}

func (k *talker) listen() {
	for {
		ch, msg, ok := k.m.Next()
		if !ok {
			return
		}
		k.heard[ch] = append(k.heard[ch], bytes.Clone(msg))
	}
}

// compare checks that what b heard is what a said: all of it and in order, or for an unreliable channel some of it in order.
func compare(a, b *talker) error {
	for _, ch := range byPriority {
		said, heard := a.said[ch], b.heard[ch]
		if ch.Row().Reliable {
			if len(said) != len(heard) || !slices.EqualFunc(said, heard, bytes.Equal) {
				return fmt.Errorf("%v: %d messages became %d", ch, len(said), len(heard))
			}
			continue
		}
		for _, msg := range heard {
			i := slices.IndexFunc(said, func(s []byte) bool { return bytes.Equal(s, msg) })
			if i < 0 {
				return fmt.Errorf("%v: heard what was not said, or out of order", ch)
			}
			said = said[i+1:]
		}
	}
	for _, k := range []*talker{a, b} {
		for _, ch := range byPriority {
			if s := k.m.Stats(ch); s.Flooded != 0 {
				return fmt.Errorf("%v: honest messages thrown away: %+v", ch, s)
			}
		}
	}
	return nil
}

func controlPacket(t testing.TB, c *Control, p *wire.Packet, b []byte, at int64) {
	if err := wire.ParseFull(b, p); err != nil {
		t.Fatal(err)
	}
	if err := c.Receive(at, p); err != nil {
		t.Fatal(err)
	}
}

// WIRE-15, WIRE-16 before frame 0 and after the last: over a bad network every reliable message comes once and in order,
// an unreliable one at most once and in order, and then there is silence.
func TestControlDelivers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		seed := rapid.Uint64().Draw(t, "seed")
		rng := rand.New(rand.NewPCG(seed, 1))
		loss, dup := rapid.Float64Range(0, 0.4).Draw(t, "loss"), rapid.Float64Range(0, 0.3).Draw(t, "dup")
		jitter, delay := rapid.Int64Range(0, 80_000).Draw(t, "jitter"), rapid.Int64Range(0, 150_000).Draw(t, "delay")
		budget := rapid.SampledFrom([]int{0, MinBudget, MaxSection}).Draw(t, "budget")
		var k [2]*talker
		var c [2]*Control
		var roads [2]road
		for i := range k {
			k[i] = newTalker(seed+uint64(i), View(1+i), budget)
			c[i] = NewControl(k[i].m)
			roads[i] = road{rng: rng, delay: delay, jitter: jitter, loss: loss, dup: dup}
		}
		const talking = 4_000_000
		var p wire.Packet
		now := int64(1_000_000)
		for end := now + 180_000_000; ; now += 5000 {
			if now > end {
				t.Fatalf("still busy after three minutes: %v", k[0].m.Stats(MatchState))
			}
			for i := range k {
				for {
					b, at, ok := roads[1-i].arrived(now)
					if !ok {
						break
					}
					if err := wire.ParseFull(b, &p); err != nil {
						t.Fatal(err)
					}
					if err := c[i].Receive(at, &p); err != nil {
						t.Fatal(err)
					}
					k[i].listen()
				}
				if now < talking && rng.IntN(4) == 0 {
					k[i].talk()
				}
				if now >= c[i].Next() {
					if b := c[i].AppendPacket(nil, now); len(b) > 0 {
						roads[i].send(now, b)
					}
				}
			}
			if now > talking && !k[0].m.Busy() && !k[1].m.Busy() && len(roads[0].flying)+len(roads[1].flying) == 0 &&
				c[0].Next() == never && c[1].Next() == never {
				break
			}
		}
		for i := range k {
			if err := compare(k[i], k[1-i]); err != nil {
				t.Fatal(err)
			}
			if b := c[i].AppendPacket(nil, now+10_000_000); len(b) != 0 {
				t.Fatal("silence was broken")
			}
		}
	})
}

// A control packet is a section and acknowledgements, nothing else.
func TestControlRefuses(t *testing.T) {
	fresh := func() *Control { return NewControl(New(Config{})) }
	good := func() wire.Packet {
		return wire.Packet{Newest: -1, Seq: 5, Message: append([]byte{Kind}, AppendSection(nil, []Item{{ChatPresence, 0, 0, 1, []byte("x")}})...)}
	}
	for name, change := range map[string]func(*wire.Packet){
		"no message":     func(p *wire.Packet) { p.Message = nil },
		"another kind":   func(p *wire.Packet) { p.Message[0]++ },
		"a bad section":  func(p *wire.Packet) { p.Message = append(p.Message[:1], 0x80) },
		"frames":         func(p *wire.Packet) { p.Newest = 3 },
		"inputs":         func(p *wire.Packet) { p.Count, p.Newest, p.First = 1, -1, 0 },
		"a lag":          func(p *wire.Packet) { p.HasLag = true },
		"a main packet":  func(p *wire.Packet) { p.Main = true },
		"a hash":         func(p *wire.Packet) { p.HasHash = true },
		"parity":         func(p *wire.Packet) { p.HasFEC, p.Size = true, 1 },
		"a window":       func(p *wire.Packet) { p.Message[2] = 100 },
		"a loss report":  func(p *wire.Packet) { p.HasLoss = true },
		"confirmed":      func(p *wire.Packet) { p.HasConfirmed, p.Confirmed = true, -1 },
		"an advance":     func(p *wire.Packet) { p.Advanced = true },
		"a whole window": func(p *wire.Packet) { p.Current = true },
	} {
		c, p := fresh(), good()
		change(&p)
		if err := c.Receive(1, &p); err == nil {
			t.Errorf("%s was taken", name)
		}
		if b := c.AppendPacket(nil, 1_000_000); len(b) != 0 || c.Next() != never {
			t.Errorf("%s was acknowledged", name)
		}
	}
	c, p := fresh(), good()
	if err := c.Receive(1, &p); err != nil {
		t.Fatal(err)
	}
	b := c.AppendPacket(nil, 1_000_000)
	var ack wire.Packet
	if err := wire.ParseFull(b, &ack); err != nil || !ack.HasAck || ack.Ack != 5 || !bytes.Equal(ack.Message, []byte{Kind}) {
		t.Fatalf("%+v %v", ack, err)
	}
	// Acknowledgements of packets never sent, and an answer that needs none.
	other := fresh()
	for range 3 {
		if err := other.Receive(1, &ack); err != nil {
			t.Fatal(err)
		}
	}
	if other.sent.Stats().BadAcks != 1 || other.Next() != never {
		t.Errorf("%+v", other.sent.Stats())
	}
	if err := c.Receive(1, &wire.Packet{Newest: -1, Message: []byte{Kind + 1}}); !errors.Is(err, ErrControl) {
		t.Error(err)
	}
}

func TestControlDoesNotAllocate(t *testing.T) {
	a, b := NewControl(New(Config{})), NewControl(New(Config{}))
	now, msg := int64(1_000_000), payload(700, 1)
	var p wire.Packet
	var buf [wire.MaxPacket]byte
	if n := testing.AllocsPerRun(2000, func() {
		now += tick
		_ = a.m.Send(MatchState, msg)
		for _, c := range [...][2]*Control{{a, b}, {b, a}} {
			if pkt := c[0].AppendPacket(buf[:0], now); len(pkt) > 0 {
				controlPacket(t, c[1], &p, pkt, now)
				for {
					if _, _, ok := c[1].m.Next(); !ok {
						break
					}
				}
			}
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
	if s := b.m.Stats(MatchState); s.Received < 300 {
		t.Errorf("not the traffic that was meant: %+v", s)
	}
}
