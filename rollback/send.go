package rollback

import (
	"backstep/ackbits"
	"backstep/fec"
	"backstep/rollback/input"
	"backstep/rollback/wire"
)

// secondRisk is the chance, in millionths, of losing every packet that carries an input before the window runs out,
// above which a second datagram pays.
const secondRisk = 5

const (
	secondHold  = 5_000_000 // µs a decision to send second datagrams stands
	secondFirst = 1000      // µs after the main one at the earliest
)

// AppendPacket appends the main packet of the tick made at now: all words not yet acknowledged, oldest first, at most
// 64, and nothing acknowledged, also while stalled. Call it once after each Tick. It allocates only if b has no room.
func (l *Link[S, W]) AppendPacket(b []byte, now int64) []byte { return l.packet(b, now, true) }

// SecondAt is when a second datagram with the same words is to be sent; ok is false if none is. It is decided in Tick.
func (l *Link[S, W]) SecondAt() (at int64, ok bool) { return l.secondAt, l.secondOn }

// AppendSecond appends the second datagram and ends SecondAt until the next Tick. Without SecondAt it appends nothing.
func (l *Link[S, W]) AppendSecond(b []byte, now int64) []byte {
	if !l.secondOn {
		return b
	}
	l.secondOn = false
	l.stats.Second++
	start := len(b)
	b = l.packet(b, now, false)
	l.budget -= int64(len(b)-start+l.d.cfg.DatagramOverhead) * 1_000_000
	return b
}

// AppendParity appends a parity packet if a group is complete; ok is false, and b unchanged, if there is none. Call it
// until then after the other packets of a tick.
func (l *Link[S, W]) AppendParity(b []byte, now int64) (pkt []byte, ok bool) {
	if !l.parity {
		return b, false
	}
	payload, g, ok := l.encoder.Parity(l.parityBuf[:0])
	if !ok {
		return b, false
	}
	l.out = wire.Packet{
		HasFEC: true, Group: g.ID, Index: g.Index, Size: g.Size, Parity: payload,
		Seq: l.sent.Push(now, tagOf(0, -1)),
	}
	l.acks()
	start := len(b)
	b = l.encode(b)
	l.count(len(b) - start)
	l.stats.Parity++
	return b, true
}

func (l *Link[S, W]) packet(b []byte, now int64, main bool) []byte {
	s, p := l.d.s, &l.out
	*p = wire.Packet{}
	p.Newest, p.Advanced, p.Main = s.cur, l.d.advanced, main && !l.d.settling
	l.inputs()
	section := uint32(0)
	if main {
		l.mains(p)
		section = l.fill(now)
	}
	newest := int32(-1)
	if p.Count > 0 {
		newest = p.Last()
	}
	p.Seq = l.sent.Push(now, tagOf(section, newest))
	l.acks()
	protect := l.parity && main
	if protect {
		g := l.encoder.Next()
		p.HasFEC, p.Group, p.Index, p.Size = true, g.ID, g.Index, g.Size
	}
	start := len(b)
	b = l.encode(b)
	if protect {
		// Add refuses what is empty or longer than a group protects. MaxInputs and MaxSection rule out both.
		_ = l.encoder.Add(b[start:])
	}
	if main && l.parity {
		l.encoder.Tick()
	}
	l.count(len(b) - start)
	l.inputBytes.Add(int64(len(p.Inputs)))
	return b
}

// mains adds what only a main packet carries.
func (l *Link[S, W]) mains(p *wire.Packet) {
	s := l.d.s
	if l.newMine {
		p.HasLag, p.Lag, l.newMine = true, wire.LagOf(l.mine), false
	}
	if f, h, ok := s.NextHash(l.player); ok {
		p.HasHash, p.HashFrame, p.Hash = true, f, h
	}
	if !l.d.cfg.RequireEncryptedTransport || l.d.cfg.Players > 2 {
		p.HasConfirmed, p.Confirmed = true, min(s.confirmed, s.cur+HardWindow)
	}
	if l.mainPackets++; l.mainPackets%lossReportEvery == 0 {
		if loss := l.received.Loss(); loss.Observed() > 0 {
			p.HasLoss = true
			p.Loss = uint16(min(loss.Mean()>>14, 1<<16-1))
			p.Burst = uint8(min(loss.BurstMilli()*8/1000, 255))
		}
	}
}

// inputs puts the words to send into the packet.
func (l *Link[S, W]) inputs() {
	s, p := l.d.s, &l.out
	first, last := l.delivered+1, s.localNext-1
	if !l.d.cfg.RequireEncryptedTransport {
		first = max(min(first, last-int32(l.d.cfg.ResendInputFrames)), 0)
	}
	n := min(last-first+1, wire.MaxCount)
	if n <= 0 {
		return
	}
	var before W
	if first > 0 {
		before = s.words[s.cfg.Local][(first-1)&inputMask]
	}
	for i := range n {
		l.words[i] = s.words[s.cfg.Local][(first+i)&inputMask]
	}
	l.run = input.AppendRun(l.run[:0], before, l.words[:n])
	p.First, p.Count = first, uint8(n)
	p.Current = first+n-1 == last
	if len(l.run) > 0 {
		p.Inputs = l.run
	}
}

func (l *Link[S, W]) acks() {
	l.out.Ack, l.out.AckBits, l.out.HasAck = l.received.Ack()
}

func (l *Link[S, W]) encode(b []byte) []byte {
	if l.d.cfg.RequireEncryptedTransport {
		return wire.AppendCompact(b, &l.out, wire.Ref{Frame: l.delivered})
	}
	return wire.AppendFull(b, &l.out)
}

func (l *Link[S, W]) count(bytes int) {
	l.stats.Packets.Sent++
	l.stats.Bytes.Sent += int64(bytes)
}

// ticked decides after a tick about the second datagram and, about once a second, about parity.
func (l *Link[S, W]) ticked(now int64) {
	if l.secondOn = l.secondPays(now) && l.affords(now); l.secondOn {
		l.secondAt = now + l.secondGap()
	}
	if l.plannedIn--; l.plannedIn <= 0 {
		l.planParity()
	}
}

// secondPays reports whether a second datagram in every tick pays: losing one packet more than the window has to spare
// is too likely, losses do not come in bursts, against which a copy a moment later does nothing, and they do not come from
// a queue that is full, which more datagrams would only lengthen.
func (l *Link[S, W]) secondPays(now int64) bool {
	loss := l.sent.Loss()
	p := loss.Mean()
	if loss.AfterLoss() >= ackbits.One/2 || l.congested {
		return false
	}
	if p > 0 {
		slack := max(int64(l.d.s.window+l.d.s.delay)-l.frames(l.theirs), 0)
		if p.Pow(int(slack)+1) > ackbits.RatioPPM(secondRisk) {
			l.hold, l.holding = now+secondHold, true
		}
	}
	l.holding = l.holding && now < l.hold
	return l.holding
}

// affords reports whether the byte budget of second datagrams has anything left. It fills up within a second.
func (l *Link[S, W]) affords(now int64) bool {
	rate := int64(l.d.cfg.SecondBudget)
	l.budget = min(l.budget+rate*min(max(now-l.refilled, 0), 1_000_000), rate*1_000_000)
	l.refilled = now
	return l.budget > 0
}

// frames is a time in ticks, rounded up.
func (l *Link[S, W]) frames(micros int64) int64 {
	hz := int64(l.d.cfg.SimulationHz)
	return (max(micros, 0)*hz + 999_999) / 1_000_000
}

// secondGap is how long after the main packet the second one is sent: just in time for the same tick of the opponent,
// as far apart from the first as that allows, so that one short outage does not take both.
func (l *Link[S, W]) secondGap() int64 {
	hz := int64(l.d.cfg.SimulationHz)
	spare := l.frames(l.theirs)*1_000_000/hz - max(l.theirs, 0)
	return min(max(spare*4/5, secondFirst), l.d.ticksMicros(1)/2)
}

// planParity sets the parity on the packet stream by the mode and by what was measured.
func (l *Link[S, W]) planParity() {
	l.plannedIn = l.d.cfg.SimulationHz
	loss, rtt := l.sent.Loss(), l.sent.RTT()
	raw := uint32(uint64(l.rawLoss) * 1_000_000 >> 16)
	plan := l.controller.Decide(fec.Signals{
		LossFast:   max(loss.Fast().PPM(), raw),
		LossSlow:   max(loss.Slow().PPM(), raw),
		BurstMilli: max(loss.BurstMilli(), uint32(l.rawBurst)*125),
		Queue:      rtt.Queue(),
		RTTMin:     rtt.Min(),
		Rate:       l.d.cfg.SimulationHz,
		PacketSize: int(l.inputBytes.MeanMilli()/1000) + l.d.cfg.DatagramOverhead,
	})
	if plan.Params.Size == fec.DefaultGroup {
		plan.Params.Size = l.d.cfg.FecGroupSize
	}
	l.congested = plan.Congested
	l.parity = plan.Parity
	if l.parity {
		l.encoder.Set(plan.Params)
	}
}
