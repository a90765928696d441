package rollback

import (
	"backstep/ackbits"
	"backstep/fec"
	"backstep/rollback/input"
	"backstep/rollback/wire"
)

// laggingMicros without a tick make this side's tick clock too old to measure a lag by.
const laggingMicros = 150_000

// maxLag is the largest lag in µs, either way, that is taken for one.
const maxLag = 1_000_000

// impossibleTicks is by how many ticks a claimed lag may contradict the measured round trip.
const impossibleTicks = 3

// Receive hands in a packet that arrived at time at. Whatever it holds, it never panics; an error says why it was
// dropped and is counted in the stats. Only a *ConflictError (ErrConflict) is final: the match is over, see
// Driver.Err. Duplicates and packets too old to be acknowledged are dropped without an error. It does not allocate.
func (l *Link[S, W]) Receive(at int64, pkt []byte) error {
	l.stats.Packets.Received++
	l.stats.Bytes.Received += int64(len(pkt))
	return l.receive(at, pkt, false)
}

func (l *Link[S, W]) receive(at int64, pkt []byte, rebuilt bool) error {
	p, s := &l.in, l.d.s
	if err := l.parse(pkt); err != nil {
		l.stats.Packets.Malformed++
		return err
	}
	if err := l.acceptable(p); err == input.ErrCoding {
		l.stats.Packets.Malformed++
		return err
	} else if err != nil {
		l.stats.Packets.Refused++
		return err
	}
	var verdict ackbits.Verdict
	if rebuilt {
		verdict = l.received.MarkRebuilt(p.Seq)
	} else {
		verdict = l.received.Mark(p.Seq)
	}
	if verdict != ackbits.New {
		return nil
	}
	if p.HasAck {
		l.heardAt = at
		l.sent.Acked(at, p.Ack, p.AckBits, 0, l.onDeliver)
	}
	if p.IsParity() {
		if !rebuilt {
			return l.rebuild(at, l.decoder.AddParity(place(p), p.Parity))
		}
		return nil
	}
	if err := s.confirmRun(l.player, p.First, l.words[:p.Count]); err != nil {
		return err
	}
	if p.HasHash {
		s.Compare(l.player, p.HashFrame, p.Hash)
	}
	if p.HasConfirmed {
		l.reported = max(l.reported, min(p.Confirmed, s.localNext-1))
	}
	if p.HasLoss {
		l.rawLoss, l.rawBurst = p.Loss, p.Burst
	}
	if !rebuilt {
		l.time(at, p)
	}
	if len(p.Message) > 0 && l.sections != nil {
		l.sections.Receive(p.Message, at)
	}
	if p.HasFEC && !rebuilt {
		return l.rebuild(at, l.decoder.AddData(place(p), pkt))
	}
	return nil
}

func place(p *wire.Packet) fec.Group { return fec.Group{ID: p.Group, Index: p.Index, Size: p.Size} }

// rebuild takes packets that parity brought back. They count like received ones in all but timing.
func (l *Link[S, W]) rebuild(at int64, packets []fec.Rebuilt) error {
	for _, r := range packets {
		if err := l.receive(at, r.Packet, true); err != nil {
			return err
		}
	}
	return nil
}

// parse reads a packet in either form. Over a channel that does not authenticate only the full form is believed.
func (l *Link[S, W]) parse(pkt []byte) error {
	p := &l.in
	if wire.IsCompact(pkt) {
		if !l.d.cfg.RequireEncryptedTransport {
			return ErrForm
		}
		return wire.ParseCompact(pkt, p, wire.Ref{Frame: l.d.s.conf[l.player]})
	}
	return wire.ParseFull(pkt, p)
}

// acceptable checks what a packet says against what this side knows, before it is acknowledged, and decodes its words
// against the one before them. Nothing is acknowledged that is not taken.
func (l *Link[S, W]) acceptable(p *wire.Packet) error {
	s := l.d.s
	if len(p.Message) > 0 && l.sections != nil {
		if err := l.sections.Check(p.Message); err != nil {
			return err
		}
	}
	if p.IsParity() || p.Count == 0 {
		return nil
	}
	if p.First > s.conf[l.player]+1 {
		return ErrGap
	}
	if p.Last() > s.Reach() {
		s.stats.TooFar++
		return ErrFrameRange
	}
	var before W
	if p.First > 0 {
		var ok bool
		if before, ok = s.Word(l.player, p.First-1); !ok {
			return ErrGap
		}
	}
	return input.ParseRun(p.Inputs, before, l.words[:p.Count])
}

// time measures the lag of a main packet and pairs it with the one the other side claims.
func (l *Link[S, W]) time(at int64, p *wire.Packet) {
	d := l.d
	if p.Newest > l.newest && p.Newest <= d.s.Reach() {
		if l.first < 0 {
			l.first, l.firstAt = p.Newest, at
		}
		l.newest, l.newestAt = p.Newest, at
	}
	if !p.Main {
		return
	}
	if !p.Advanced {
		l.stats.OpponentStalls++
		l.waited++
		d.pacer.Disturb(at)
		return
	}
	if !d.advanced || d.s.cur < 0 {
		return
	}
	if at-d.lastTick > laggingMicros {
		d.pacer.Disturb(at)
		return
	}
	mine := d.ticksMicros(int64(d.s.cur)-int64(p.Newest)) + at - d.lastTick
	if mine > maxLag || mine < -maxLag || p.HasLag && !l.plausible(mine+p.LagMicros()) {
		l.stats.LagRefused++
		return
	}
	l.mine, l.hasMine, l.newMine = mine, true, true
	d.pacer.Sampled(at)
	if p.HasLag {
		l.theirs = p.LagMicros()
		l.sync.Add(mine, l.theirs)
		l.trip.Add(mine + l.theirs)
	}
}

// plausible reports whether a round trip claimed by lags agrees with the one measured by acknowledgements. That one
// includes the wait for the other side's next tick.
func (l *Link[S, W]) plausible(trip int64) bool {
	rtt := l.sent.RTT()
	if rtt.Samples() < 16 {
		return true
	}
	slack := int64(impossibleTicks*1_000_000) / int64(l.d.cfg.SimulationHz)
	return trip >= rtt.Min()-slack-1_000_000/int64(l.d.cfg.SimulationHz) && trip <= rtt.Smoothed()+2*rtt.Jitter()+slack
}
