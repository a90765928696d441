package peer

import (
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"
	"time"

	"backstep/ackbits"
	"backstep/fec"
	"backstep/peer/bulk"
	channels "backstep/peer/channel"
	"backstep/peer/dialog"
	"backstep/peer/link"
	"backstep/peer/match"
	"backstep/peer/source"
	"backstep/rollback/quality"
	"backstep/rollback/wire"
)

// villain is a link whose owner plays honestly and sends everything he can think of beside it.
type villain struct {
	*link.Link
	rng          *rand.Rand
	sent, parity int
	pkt          wire.Packet
	buf          [wire.MaxPacket]byte
}

func (v *villain) Send(pkt []byte) {
	ref := wire.Ref{Frame: 100}
	if !wire.IsCompact(pkt) || wire.ParseCompact(pkt, &v.pkt, ref) != nil {
		v.Link.Send(pkt)
		return
	}
	p := &v.pkt
	switch choice := v.rng.IntN(6); {
	case p.IsParity(): // of groups there are not: sizes, rows and lengths at random, 0 and 255 among them
		payload := v.noise(1000)
		payload[0] = []byte{0, 1, 4, 5, 255}[v.rng.IntN(5)]
		p.Group, p.Index, p.Size, p.Parity = p.Group+uint16(v.rng.IntN(4)), uint8(v.rng.IntN(16)), uint8(v.rng.IntN(16)), payload
		v.parity++
	case choice == 0: // acknowledgements of what was never sent
		p.HasAck, p.Ack, p.AckBits = true, p.Ack+5000+ackbits.Seq(v.rng.IntN(20_000)), 1<<32-1
	case choice == 1: // the greatest lags there are; ±2^62 cannot be said
		if p.Main {
			p.HasLag, p.Lag = true, []int16{-1 << 15, 1<<15 - 1}[v.rng.IntN(2)]
		}
	}
	seq := p.Seq
	if b := wire.AppendCompact(v.buf[:0], p, ref); len(b) > 0 {
		v.Link.Send(b)
	}
	for range 4 {
		if b := v.evil(seq); len(b) > 0 {
			v.Link.Send(b)
			v.sent++
		}
	}
}

func (v *villain) noise(most int) []byte {
	b := make([]byte, 1+v.rng.IntN(most))
	for i := range b {
		b[i] = byte(v.rng.Uint32())
	}
	return b
}

// evil makes a packet whose number did not come yet, so that what it says is looked at. None of them can be taken, and
// what is not taken is not acknowledged.
func (v *villain) evil(seq ackbits.Seq) []byte {
	p := wire.Packet{Seq: seq + 1 + ackbits.Seq(v.rng.IntN(20)), Newest: 100, Main: true, Advanced: true}
	control := func(msg []byte) []byte { return match.AppendControl(v.buf[:0], msg) }
	section := func(msg []byte) []byte {
		p.Message = msg
		return wire.AppendCompact(v.buf[:0], &p, wire.Ref{Frame: 100})
	}
	switch v.rng.IntN(7) {
	case 1: // inputs far ahead, as far as the compact form reaches, and 10 000 frames in the full one
		p.First, p.Count, p.Inputs = 10_000, 64, []byte{1, 2, 3}
		if v.rng.IntN(2) == 0 {
			return wire.AppendFull(v.buf[:0], &p)
		}
		return wire.AppendCompact(v.buf[:0], &p, wire.Ref{Frame: 10_000 - 1 - int32(v.rng.IntN(200))})
	case 2: // a fragment of a message that is longer than any, in a section and in a control packet
		it := []byte{byte(channels.MatchState) | 8, byte(v.rng.Uint32()), byte(v.rng.Uint32()), 15<<4 | byte(v.rng.IntN(16))}
		msg := append(it, make([]byte, 256)...)
		if v.rng.IntN(2) == 0 {
			return control(append([]byte{channels.Kind}, msg...))
		}
		return section(msg)
	case 3: // a blob that claims 4 GB
		return control(append([]byte{bulk.KindShard, 0, 0, 0, 0, 255, 255, 255, 255, 17, 255, 255, 255, 255, 255}, v.noise(1000)...))
	case 4: // reports of transfers there are not
		return control(append([]byte{bulk.KindReport}, v.noise(60)...))
	case 5: // the head of an item has three bits that are never set
		return section(append([]byte{0xE0}, v.noise(300)...))
	}
	return control(append([]byte{200}, v.noise(500)...)) // of a kind there is not
}

// Attack case 21, over real sockets and DTLS: an opponent who knows the key plays honestly and sends four hostile packets
// with each of his. Everything is counted, nothing is kept, and the match ends as one without them.
func TestAttack21HostileOpponent(t *testing.T) {
	const frames = 240
	s := begin(t, nil)
	evil := &villain{Link: s.ends[0].link, rng: rand.New(rand.NewPCG(21, 1))}
	heard := 0
	b, grown, _ := besides(t, s, evil, frames, fec.XOR, func(dialog.Event) { heard++ })
	st := b.Stats
	counted := b.Malformed + st.Link.Packets.Malformed + st.Link.Packets.Refused + st.Link.LagRefused
	t.Logf("%d hostile packets: %d control packets and %d packets malformed, %d refused, %d lags refused; longest stall %d ticks, %d heard", evil.sent,
		b.Malformed, st.Link.Packets.Malformed, st.Link.Packets.Refused, st.Link.LagRefused, st.Session.LongestStall, heard)
	if evil.sent < 2*frames || evil.parity < 10 || counted < int64(evil.sent)/2 || st.Link.LagRefused == 0 || st.Link.Packets.Refused == 0 || b.Malformed == 0 {
		t.Errorf("%d hostile packets were sent, %d counted: %+v", evil.sent, counted, st.Link.Packets)
	}
	// Beyond the window a side waits for the opponent's next honest packet; the rest is for a busy machine.
	if st.Session.LongestStall > 60 {
		t.Errorf("%d ticks of stall", st.Session.LongestStall)
	}
	if grown > 8<<20 {
		t.Errorf("the heap grew by %d bytes", grown)
	}
	if q := s.ends[1].link.Stats(); s.ends[1].link.Broken() {
		t.Errorf("the link broke: %+v", q)
	}
}

// besides plays a match of so many frames in real time in which all that side 0 sends goes through pipe, and said is told what
// side 1 hears. The match must end as one without that. It gives what it was to side 1, by how many bytes the heap has grown, and how long it
// took.
func besides(t *testing.T, s *siege, pipe match.Pipe, frames int32, mode fec.Mode, said func(dialog.Event)) (b match.Outcome, grown int64, took time.Duration) {
	t.Helper()
	s.toDirect()
	// What play left in the queues is not of this match.
	for _, ch := range s.ends {
		for {
			if _, _, ok := ch.link.Receive(); !ok {
				break
			}
		}
	}
	var loops [2]*match.Loop
	for side, ch := range s.ends {
		c := testConfig(t)
		c.Host, c.Mode = side == 0, quality.Rollback
		su, err := c.newSetup()
		if err != nil {
			t.Fatal(err)
		}
		src, err := source.Open("bot:hard:3", side)
		if err != nil {
			t.Fatal(err)
		}
		mc := match.Config{Side: side, Setup: su, Source: src, Frames: frames, Window: 8, FEC: mode, Timeout: 10_000_000, Dialog: ch.talk}
		through := pipe
		if side == 1 {
			through = ch.link
			mc.Observer.Said = func(e dialog.Event) {
				said(e)
				if e.Kind == dialog.Offered {
					ch.talk.Decline(e.Offer.ID)
				}
			}
		}
		loops[side] = match.New(mc, through)
	}
	began := time.Now()
	grown = playBoth(loops)
	took = time.Since(began)
	var a match.Outcome
	a, b = loops[0].Outcome(), loops[1].Outcome()
	if b.End != match.EndFrames || a.End != match.EndFrames || a.FinalHash != b.FinalHash || b.Desyncs != 0 {
		t.Fatalf("%v (%v) and %v (%v)", a.End, a.Err, b.End, b.Err)
	}
	return b, grown, took
}

// playBoth steps both loops in real time, each in its own goroutine, until they have ended, or for a minute, and gives by how many
// bytes the heap has grown.
func playBoth(loops [2]*match.Loop) int64 {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	var group sync.WaitGroup
	for _, l := range loops {
		group.Go(func() {
			timer := time.NewTimer(time.Hour)
			defer timer.Stop()
			for {
				next, ended := l.Step(now())
				if ended {
					return
				}
				sleepUntil(next, timer, nil)
			}
		})
	}
	over := time.AfterFunc(time.Minute, func() {
		for _, l := range loops {
			l.Interrupt()
		}
	})
	group.Wait()
	over.Stop()
	runtime.GC()
	runtime.ReadMemStats(&after)
	return int64(after.HeapAlloc) - int64(before.HeapAlloc)
}
