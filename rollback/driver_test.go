package rollback

import (
	"errors"
	"math/rand/v2"
	"testing"

	"backstep/ackbits"
	"backstep/fec"
	"backstep/rollback/input"
	"backstep/rollback/wire"
)

// Two to four players over links that lose, delay, reorder, duplicate, damage and cut off packets, with clocks that
// drift, processes that stop, late starts and input delays that change: what is settled is what an undisturbed game
// gives, nothing hangs once the faults end, and no hash of a predicted state is ever compared (ggrs#63, #75, #97, #106,
// GekkoNet#27, openliero#81, netfox#332). SESS-12, SESS-26, S-03, X-02, MODE-03, TEST-01.
func TestRandomMatches(t *testing.T) {
	for seed := range uint64(1000) {
		if err := playRandom(seed); err != nil {
			t.Errorf("seed %d: %v", seed, err)
		}
	}
}

func playRandom(seed uint64) error {
	m, calm, patience, err := randomMatch(seed)
	if err != nil {
		return err
	}
	const frames = 120
	if err := m.run(frames, calm+4_000_000+frames*max(patience, 20_000)); err != nil {
		return err
	}
	return m.check(frames)
}

// duel is a match of two over equal links.
func duel(t *testing.T, seed uint64, x faults, change func(i int, c *Config)) *testMatch {
	t.Helper()
	cfgs := []Config{DefaultConfig(), DefaultConfig()}
	for i := range cfgs {
		cfgs[i].Local = i
		if change != nil {
			change(i, &cfgs[i])
		}
	}
	m, err := newTestMatch(rand.New(rand.NewPCG(seed, 0)), smallGame{}, cfgs, []int64{0, 8000}, func(int, int) faults { return x }, 1<<40)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func (m *testMatch) mustRun(t *testing.T, frames int, deadline int64) {
	t.Helper()
	if err := m.run(frames, deadline); err != nil {
		t.Fatal(err)
	}
	if err := m.check(frames); err != nil {
		t.Fatal(err)
	}
}

// V-13, WIRE-08, WIRE-10, X-10, RCFG-06: in full form frame 100 travels with the eight before it, nine words, both flags
// set, also when all are acknowledged.
func TestResendWindow(t *testing.T) {
	cfg := DefaultConfig()
	cfg.RequireEncryptedTransport = false
	d, err := NewDriver(smallGame{}, cfg, new(small), 0)
	if err != nil {
		t.Fatal(err)
	}
	var p wire.Packet
	other := ackbits.Received{}
	var mine ackbits.Sent
	for f := range int32(101) {
		if err := d.s.Confirm(1, f, 0); err != nil {
			t.Fatal(err)
		}
		d.Tick(int64(f)*16_667, uint16(f))
		b := d.AppendPacket(nil, int64(f)*16_667)
		if err := wire.ParseFull(b, &p); err != nil {
			t.Fatal(err)
		}
		other.Mark(p.Seq)
		// Every packet is acknowledged at once.
		back := wire.Packet{Newest: f, Main: true, Advanced: true, Seq: mine.Push(0, 0)}
		back.Ack, back.AckBits, back.HasAck = other.Ack()
		if err := d.Receive(int64(f)*16_667+100, wire.AppendFull(nil, &back)); err != nil {
			t.Fatal(err)
		}
	}
	if p.First != 92 || p.Count != 9 || p.Last() != 100 || p.InputFlags() != wire.EveryFrameInputSend|wire.BatchResendForLossRecovery {
		t.Errorf("frames %d…%d, %d words, flags %b", p.First, p.Last(), p.Count, p.InputFlags())
	}
	var words [9]uint16
	if err := input.ParseRun(p.Inputs, 91, words[:]); err != nil || words[0] != 92 || words[8] != 100 {
		t.Errorf("words %v %v", words, err)
	}
	if d.Delivered() != 100 {
		t.Errorf("delivered %d", d.Delivered())
	}
	// A window with a gap leaves both flags clear.
	if _, _, current := wire.Window([]int32{92, 93, 94, 96, 97, 98, 99, 100}, 100); current {
		t.Error("a window without frame 95 counts as whole")
	}
}

// X-10, WIRE-09, openliero#81: the compact form carries every word that is not acknowledged and nothing else, also
// while stalled, at most 64 frames, oldest first.
func TestUnackedWindow(t *testing.T) {
	d, err := NewDriver(smallGame{}, DefaultConfig(), new(small), 0)
	if err != nil {
		t.Fatal(err)
	}
	var p wire.Packet
	now := int64(0)
	for i := range int32(80) {
		now += 16_667
		r := d.Tick(now, uint16(i))
		b := d.AppendPacket(nil, now)
		if err := wire.ParseCompact(b, &p, wire.Ref{Frame: -1}); err != nil {
			t.Fatal(err)
		}
		if want := min(i+1, 8); p.First != 0 || int32(p.Count) != want || p.Advanced != (i < 8) || !p.Main {
			t.Fatalf("tick %d: first %d count %d advanced %v", i, p.First, p.Count, p.Advanced)
		}
		if r.Stalled != (i >= 8) {
			t.Fatalf("tick %d: stalled %v", i, r.Stalled)
		}
	}
	// The last packet is acknowledged: nothing is left to say.
	ack := wire.Packet{Newest: -1, HasAck: true, Ack: p.Seq, Main: true}
	if err := d.Receive(now, wire.AppendCompact(nil, &ack, wire.Ref{Frame: -1})); err != nil {
		t.Fatal(err)
	}
	d.Tick(now+16_667, 0)
	if err := wire.ParseCompact(d.AppendPacket(nil, now+16_667), &p, wire.Ref{Frame: 7}); err != nil || p.Count != 0 {
		t.Errorf("after the ack: %d words, %v", p.Count, err)
	}
	if d.Link(1).Reported() != -1 || d.Delivered() != 7 {
		t.Errorf("reported %d delivered %d", d.Link(1).Reported(), d.Delivered())
	}
}

// netfox#332, netfox#544: a process that stops for two seconds is back at full speed within one, on either side, and
// what was missed is not played back.
func TestProcessFreeze(t *testing.T) {
	for asleep := range 2 {
		m := duel(t, 3, faults{delay: 40_000}, nil)
		p := m.peers[asleep]
		p.asleep, p.wake = 4_000_000, 6_000_000
		if err := m.run(1<<30, 7_000_000); err == nil {
			t.Fatal("ran for ever")
		}
		before := [2]int32{m.peers[0].Frame(), m.peers[1].Frame()}
		stalls := m.peers[0].stalls + m.peers[1].stalls
		if err := m.run(1<<30, 9_000_000); err == nil {
			t.Fatal("ran for ever")
		}
		for i, p := range m.peers {
			if n := p.Frame() - before[i]; n < 112 || n > 128 {
				t.Errorf("player %d slept: player %d made %d frames in the two seconds from one second after", asleep, i, n)
			}
		}
		if n := m.peers[0].stalls + m.peers[1].stalls - stalls; n != 0 {
			t.Errorf("player %d slept: %d stalls later than a second after", asleep, n)
		}
		frames := int(min(before[0], before[1])) - 10
		if err := m.check(frames); err != nil {
			t.Error(err)
		}
	}
}

// FEC: with parity on the packet stream lost packets are rebuilt, count as delivered and not as loss repaired, and
// nothing else changes. In both forms.
func TestParityRebuilds(t *testing.T) {
	for _, mode := range []fec.Mode{fec.XOR, fec.RS} {
		for _, full := range []bool{false, true} {
			m := duel(t, 5, faults{delay: 30_000, loss: 10, dup: 2, reorder: 2}, func(i int, c *Config) {
				c.FEC, c.RequireEncryptedTransport, c.SecondBudget = mode, !full, 0
			})
			m.mustRun(t, 1200, 40_000_000)
			for i, p := range m.peers {
				st := p.Stats().Link
				if st.Recovered < 40 || st.Parity < 250 {
					t.Errorf("%v full %v player %d: recovered %d, parity %d", mode, full, i, st.Recovered, st.Parity)
				}
				if st.LossMillionths < 70_000 || st.LossMillionths > 130_000 {
					t.Errorf("%v full %v player %d: raw loss %d, want about 10 %%", mode, full, i, st.LossMillionths)
				}
				if st.Packets.Malformed+st.Packets.Refused != 0 {
					t.Errorf("%v full %v player %d: %+v", mode, full, i, st.Packets)
				}
			}
		}
	}
	m := duel(t, 5, faults{delay: 30_000, loss: 10}, nil)
	m.mustRun(t, 300, 40_000_000)
	if st := m.peers[0].Stats().Link; st.Parity+st.Recovered != 0 {
		t.Errorf("auto sends parity: %+v", st)
	}
}

// WIRE-19: a damaged copy of a fifth of all packets, over a channel without authentication: counted, harmless.
func TestDamagedPackets(t *testing.T) {
	m := duel(t, 9, faults{delay: 40_000, corrupt: 20}, func(_ int, c *Config) {
		c.RequireEncryptedTransport = false
	})
	m.mustRun(t, 1200, 40_000_000)
	for i, p := range m.peers {
		st := p.Stats()
		if st.Link.Packets.Malformed < 150 || st.Session.Desyncs != 0 || p.stalls != 0 {
			t.Errorf("player %d: malformed %d desyncs %d stalls %d", i, st.Link.Packets.Malformed, st.Session.Desyncs, p.stalls)
		}
	}
}

// Without authentication a flipped bit must not turn the full form into a compact one, which nothing checks.
func TestCompactIsRefusedInTheClear(t *testing.T) {
	cfg := DefaultConfig()
	cfg.RequireEncryptedTransport = false
	d, err := NewDriver(smallGame{}, cfg, new(small), 0)
	if err != nil {
		t.Fatal(err)
	}
	p := wire.Packet{Newest: 3, First: 0, Count: 4, Current: true, Main: true}
	if err := d.Receive(0, wire.AppendCompact(nil, &p, wire.Ref{Frame: -1})); !errors.Is(err, ErrForm) {
		t.Errorf("error %v", err)
	}
	if d.Confirmed() != -1 || d.Stats().Link.Packets.Malformed != 1 {
		t.Error("it was used, or not counted")
	}
}

// Field notes, lidgren#62: nothing is acknowledged that was not taken.
func TestRefusedPacketsAreNotAcknowledged(t *testing.T) {
	d, err := NewDriver(smallGame{}, DefaultConfig(), new(small), 0)
	if err != nil {
		t.Fatal(err)
	}
	d.Tick(0, 0)
	for _, p := range []wire.Packet{
		{Seq: 1, Newest: 9, First: 3, Count: 7, Current: true},   // leaves a gap
		{Seq: 2, Newest: 63, First: 0, Count: 64, Current: true}, // further ahead than an honest player can be
		{Seq: 3, Newest: 0, Count: 1, Inputs: []byte{1, 0}},      // not a coding of one word
	} {
		b := wire.AppendFull(nil, &p)
		if len(b) == 0 {
			t.Fatalf("packet %d cannot be made", p.Seq)
		}
		if err := d.Receive(10, b); err == nil {
			t.Errorf("packet %d was taken", p.Seq)
		}
	}
	if _, _, ok := d.other.received.Ack(); ok || d.Confirmed() != -1 {
		t.Error("something of them was kept")
	}
	if st := d.Stats().Link.Packets; st.Refused != 2 || st.Malformed != 1 {
		t.Errorf("counts %+v", st)
	}
}

// S-13: two words for one frame end the match on the side that sees them.
func TestConflictOverTheWire(t *testing.T) {
	d, err := NewDriver(smallGame{}, DefaultConfig(), new(small), 0)
	if err != nil {
		t.Fatal(err)
	}
	d.Tick(0, 0)
	for i, w := range []uint16{5, 6} {
		p := wire.Packet{Seq: ackbits.Seq(i), Newest: 0, Count: 1, Current: true, Main: true, Inputs: input.AppendRun(nil, 0, []uint16{w})}
		err = d.Receive(0, wire.AppendFull(nil, &p))
	}
	var c *ConflictError
	if !errors.As(err, &c) || c.First != 5 || c.Second != 6 || !errors.Is(d.Err(), ErrConflict) {
		t.Errorf("error %v, the match ended with %v", err, d.Err())
	}
}

// Ruling "cheating": a lag that contradicts the measured round trip by more than three frames is ignored and counted.
func TestImpossibleLagsAreIgnored(t *testing.T) {
	m := duel(t, 11, faults{delay: 40_000}, nil)
	m.mustRun(t, 120, 20_000_000)
	p := m.peers[0]
	l := p.other
	before := l.sync
	at := p.lastTick + 3000
	for range 40 {
		pkt := wire.Packet{Seq: l.nextFrom(), Newest: p.Frame() - 2, Advanced: true, Main: true, HasLag: true, Lag: wire.LagOf(150_000)}
		if err := p.Receive(at, wire.AppendFull(nil, &pkt)); err != nil {
			t.Fatal(err)
		}
	}
	if l.stats.LagRefused != 40 || l.sync != before {
		t.Errorf("%d refused", l.stats.LagRefused)
	}
	if m.peers[1].Stats().Link.LagRefused != 0 {
		t.Error("honest lags were refused")
	}
}

// nextFrom is the sequence number after the newest received.
func (l *Link[S, W]) nextFrom() ackbits.Seq {
	ack, _, _ := l.received.Ack()
	return ack + 1
}

// The second datagram stays within its byte budget, and 0 turns it off.
func TestSecondDatagramBudget(t *testing.T) {
	for _, budget := range []int{0, 2000, 6000} {
		m := duel(t, 17, faults{delay: 70_000, loss: 20}, func(_ int, c *Config) { c.SecondBudget = budget })
		m.mustRun(t, 1200, 40_000_000)
		st := m.peers[0].Stats().Link
		seconds := m.now / 1_000_000
		if spent := st.Second * 57; spent > int64(budget)*(seconds+2) {
			t.Errorf("budget %d: at least %d bytes in %d s", budget, spent, seconds)
		}
		if budget > 0 && st.Second < 300 {
			t.Errorf("budget %d: only %d second datagrams", budget, st.Second)
		}
	}
}

// The end of a match: a side whose last frame is stepped goes on correcting and sending until the other has all.
func TestSettle(t *testing.T) {
	m := duel(t, 29, faults{delay: 40_000, loss: 20}, nil)
	m.mustRun(t, 100, 20_000_000)
	a, b := m.peers[0], m.peers[1]
	last := a.Frame()
	now, stalls := m.now, b.Stats().Link.OpponentStalls
	for i := 0; b.Session().ConfirmedOf(0) < last || a.Session().Settled() < last; i++ {
		if i > 200 {
			t.Fatalf("player 1 knows %d of %d, player 0 settled %d", b.Session().ConfirmedOf(0), last, a.Session().Settled())
		}
		now += 16_667
		r := a.Settle(a.local(now))
		if r.Advanced || a.Frame() != last {
			t.Fatalf("settling advanced: %+v", r)
		}
		if next := a.model(a.Next()); next <= now-100_000 || next > now+20_000 {
			t.Fatalf("the next tick is due at %d, now is %d", next, now)
		}
		_ = b.Receive(b.local(now), a.AppendPacket(nil, a.local(now)))
		b.Tick(b.local(now), 0)
		_ = a.Receive(a.local(now), b.AppendPacket(nil, b.local(now)))
	}
	if x, y := a.Session().Settled(), b.Session().ConfirmedOf(0); x != last || y != last {
		t.Errorf("settled %d, confirmed there %d, want %d", x, y, last)
	}
	if n := b.Stats().Link.OpponentStalls - stalls; n != 0 {
		t.Errorf("%d ticks of a side that is done count as stalls", n)
	}
}

// FEC-06: what is missing from groups that are still open when a match ends counts in its figures.
func TestFinishCountsOpenGroups(t *testing.T) {
	unrecoverable := func(drop bool) (open, end int64) {
		m := duel(t, 31, faults{}, func(_ int, c *Config) { c.FEC = fec.XOR })
		m.mustRun(t, 180, 20_000_000)
		a, b := m.peers[0], m.peers[1]
		now := m.now
		for range 12 {
			now += 16_667
			a.Tick(a.local(now), 0)
			pkt := a.AppendPacket(nil, a.local(now))
			for ok := true; ok; { // no parity arrives
				_, ok = a.AppendParity(nil, a.local(now))
			}
			if drop && a.other.out.Size > 0 && a.other.out.Index == 1 {
				drop = false
				continue
			}
			_ = b.Receive(b.local(now), pkt)
		}
		open = b.Stats().Link.Unrecoverable
		b.Finish()
		end = b.Stats().Link.Unrecoverable
		b.Finish()
		if again := b.Stats().Link.Unrecoverable; again != end {
			t.Errorf("twice: %d", again)
		}
		return open, end
	}
	open, end := unrecoverable(true)
	cleanOpen, cleanEnd := unrecoverable(false)
	if open != 0 || cleanOpen != 0 || end != cleanEnd+1 {
		t.Errorf("open %d and %d, at the end %d and %d", open, cleanOpen, end, cleanEnd)
	}
}

// A desync is found over the wire on both sides, at its frame, and the match goes on until its owner ends it.
func TestDesyncOverTheWire(t *testing.T) {
	m := duel(t, 19, faults{delay: 40_000, loss: 10}, nil)
	m.peers[1].s.game = flawed{at: 301}
	if err := m.run(600, 20_000_000); err != nil {
		t.Fatal(err)
	}
	for i, p := range m.peers {
		d, ok := p.s.Desync(1 - i)
		if !ok || d.Frame != 301 || !d.Exact || p.Stats().Session.Desyncs != 1 {
			t.Errorf("player %d: %+v %v", i, d, ok)
		}
	}
}

// The figures of the report are those of the link.
func TestDriverStats(t *testing.T) {
	m := duel(t, 23, faults{delay: 50_000, loss: 5, dup: 3}, nil)
	m.mustRun(t, 600, 20_000_000)
	for _, p := range m.peers {
		p.ResetStats()
	}
	start := m.now
	m.mustRun(t, 1800, 60_000_000)
	for i, p := range m.peers {
		st := p.Stats()
		ticks := (m.now - start) * 60 / 1_000_000
		if n := st.Session.Frames; n < ticks-3 || n > ticks+3 {
			t.Errorf("player %d: %d frames in %d ticks of time", i, n, ticks)
		}
		k := st.Link
		if rtt := k.RTT.Quantile(500); rtt < 98_000 || rtt > 102_000 {
			t.Errorf("player %d: RTT %d µs, want 100 ms without tick quantisation", i, rtt)
		}
		if k.LossMillionths < 20_000 || k.LossMillionths > 90_000 || k.Packets.Duplicate < 15 || k.Packets.Lost < 20 {
			t.Errorf("player %d: loss %d duplicates %d lost %d", i, k.LossMillionths, k.Packets.Duplicate, k.Packets.Lost)
		}
		if hz := k.OpponentHz; hz < 59_500 || hz > 60_500 {
			t.Errorf("player %d: opponent at %d mHz", i, hz)
		}
		if k.Packets.Sent < ticks || k.Bytes.Sent < 10*k.Packets.Sent || k.InputBytes.MeanMilli() == 0 {
			t.Errorf("player %d: %+v", i, k)
		}
		if st.Session.Depth.Count() != st.Session.Rollbacks || st.Session.Rollbacks == 0 {
			t.Errorf("player %d: %d rollbacks, %d depths", i, st.Session.Rollbacks, st.Session.Depth.Count())
		}
	}
}

// After a long match nothing has grown and sequence numbers have wrapped.
func TestLongMatch(t *testing.T) {
	frame, a, b := normal(t, 3, restless)
	for range 70_000 {
		frame()
	}
	for i, d := range []*Driver[large, uint32]{a, b} {
		if st := d.Stats(); st.Session.Stalls != 0 || st.Session.Desyncs != 0 || d.Session().Agreed(1-i) < d.Frame()-16 {
			t.Errorf("player %d: %+v agreed %d of %d", i, st.Session, d.Session().Agreed(1-i), d.Frame())
		}
	}
	if n := testing.AllocsPerRun(100, frame); n != 0 {
		t.Errorf("a frame allocates %v times", n)
	}
}
