package lounge

import (
	"errors"

	"backstep/ackbits"
	"backstep/peer/dialog"
	"backstep/peer/match"
	"backstep/peer/setup"
	"backstep/rollback/wire"
)

const (
	probeInterval = 1_000_000 / 60 // µs: as often as a match sends
	restInterval  = 100_000
	sentRing      = 512
	byeCopies     = 3
	byeSpacing    = 5_000 // µs
	maxDrain      = 512
)

// Ends of a lounge other than a match.
var (
	ErrLeft   = errors.New("the opponent left")
	ErrSilent = errors.New("the opponent fell silent")
)

// Figures are what was measured of the link.
type Figures struct {
	RTT, Jitter    int64 // µs
	Loss           int64 // millionths; the worse direction
	Samples        int
	TheirRTTMicros int64 // 0: not told
}

// Lounge is one side of one stay. It reads no clock and starts nothing; one
// goroutine owns it.
type Lounge struct {
	pipe    match.Pipe
	number  uint16
	timeout int64

	own, other State
	everReady  bool
	begun      bool
	err        error

	probeUntil int64
	sendAt     int64
	heardAt    int64
	left       int

	seq      ackbits.Seq
	sentAt   [sentRing]int64
	sentSeq  [sentRing]ackbits.Seq
	got      ackbits.Received
	newest   ackbits.Seq
	newestAt int64
	heard    bool

	rtt, jitter, lastRTT int64
	samples              int
	theirRTT, theirLoss  uint16

	dialog *dialog.Dialog
	said   func(dialog.Event)

	buf, msg [wire.MaxPacket]byte
	pkt      wire.Packet
}

// New begins a stay before match number n. Silence longer than timeout µs ends
// it; 0 waits for ever.
func New(pipe match.Pipe, n int, timeout int64) *Lounge {
	return &Lounge{pipe: pipe, number: uint16(n), timeout: timeout, theirRTT: unmeasured, theirLoss: unmeasured}
}

// Talk carries d through this stay: said, which may be nil, is called on the
// goroutine of Step with what arrives. Without said offers of blobs are declined.
func (l *Lounge) Talk(d *dialog.Dialog, said func(dialog.Event)) { l.dialog, l.said = d, said }

// Probe sends as often as a match would until the given time, for figures.
func (l *Lounge) Probe(until int64) { l.probeUntil = until }

// Set changes what this side says it is doing. After Leave there is no way back.
func (l *Lounge) Set(s State) {
	if l.own == Leave || l.own == s {
		return
	}
	l.own, l.sendAt = s, 0
	l.everReady = l.everReady || s == Ready
}

// Own and Other are the states of the two sides as far as known.
func (l *Lounge) Own() State   { return l.own }
func (l *Lounge) Other() State { return l.other }

// Begun tells that both sides are ready: the set-up of the match follows. It
// stays so, even if this side takes back its Ready, since the other may have
// begun on its word.
func (l *Lounge) Begun() bool { return l.begun }

// Err is why there will be no match: ErrLeft, ErrSilent or nil.
func (l *Lounge) Err() error { return l.err }

// Gone tells that this side's Leave has been said as often as it is.
func (l *Lounge) Gone() bool { return l.own == Leave && l.left >= byeCopies }

// Figures are those measured so far.
func (l *Lounge) Figures() Figures {
	f := Figures{RTT: l.rtt, Jitter: l.jitter, Samples: l.samples}
	if loss, ok := l.loss(); ok {
		f.Loss = loss
	}
	if l.theirLoss != unmeasured {
		f.Loss = max(f.Loss, int64(l.theirLoss)*lossPerMill)
	}
	if l.theirRTT != unmeasured {
		f.TheirRTTMicros = int64(l.theirRTT) * rttUnit
	}
	return f
}

func (l *Lounge) loss() (millionths int64, ok bool) {
	loss := l.got.Loss()
	n := loss.Observed()
	if n < 20 {
		return 0, false
	}
	return int64(loss.Lost()) * 1_000_000 / int64(n), true
}

// Step hears what has arrived and says what is due. It returns when it wants
// to be called next.
func (l *Lounge) Step(now int64) (next int64) {
	if l.heardAt == 0 {
		l.heardAt = now
	}
	l.drain(now)
	switch {
	case l.err != nil || l.begun:
	case l.pipe.Broken():
		l.err = ErrLeft
	case l.timeout > 0 && now-l.heardAt > l.timeout:
		l.err = ErrSilent
	case l.own == Ready && l.other == Ready:
		l.begun = true
		l.say(now) // once more, so that the other knows before the set-up does
	}
	if now >= l.sendAt && !l.Gone() {
		l.say(now)
	}
	return l.talk(now)
}

// talk says what is due after everything else and returns when the lounge
// wants to be called next.
func (l *Lounge) talk(now int64) (next int64) {
	d := l.dialog
	if d == nil || l.Gone() {
		return l.sendAt
	}
	d.Step(now, l.pipe, true)
	l.hearDialog()
	return min(l.sendAt, max(d.Due(now, true), now))
}

// hearDialog hands on what has arrived on the channels.
func (l *Lounge) hearDialog() {
	for {
		e, ok := l.dialog.Next()
		switch {
		case !ok:
			return
		case l.said != nil:
			l.said(e)
		case e.Kind == dialog.Offered:
			l.dialog.Decline(e.Offer.ID)
		}
	}
}

func (l *Lounge) say(now int64) {
	m := message{match: l.number, state: l.own, seq: uint16(l.seq), rtt: unmeasured, loss: unmeasured}
	if l.begun {
		m.state = Ready
	}
	if l.heard {
		m.hasEcho, m.echo = true, uint16(l.newest)
		m.hold = uint16(min((now-l.newestAt)/holdUnit, unmeasured))
	}
	if l.samples > 0 {
		m.rtt = uint16(min(l.rtt/rttUnit, unmeasured-1))
	}
	if loss, ok := l.loss(); ok {
		m.loss = uint16(min(loss/lossPerMill, unmeasured-1))
	}
	i := int(l.seq) % sentRing
	l.sentAt[i], l.sentSeq[i] = now, l.seq
	l.seq++
	if b := match.AppendControl(l.buf[:0], appendMessage(l.msg[:0], m)); len(b) > 0 {
		l.pipe.Send(b)
	}
	switch {
	case l.own == Leave:
		l.left++
		l.sendAt = now + byeSpacing
	case now < l.probeUntil:
		// A schedule, not a pause: probes are as even as a match's packets.
		l.sendAt = max(l.sendAt+probeInterval, now)
	default:
		l.sendAt = now + restInterval
	}
}

func (l *Lounge) drain(now int64) {
	for range maxDrain {
		b, at, ok := l.pipe.Receive()
		if !ok {
			return
		}
		l.heardAt = max(l.heardAt, at)
		if wire.IsCompact(b) {
			continue
		}
		if wire.ParseFull(b, &l.pkt) != nil || len(l.pkt.Message) == 0 {
			continue
		}
		if l.dialog != nil {
			if mine, _ := l.dialog.Receive(at, &l.pkt); mine {
				l.hearDialog()
				continue
			}
		}
		switch l.pkt.Message[0] {
		case setup.Kind:
			l.begun = l.begun || l.everReady && l.own != Leave
		case Kind:
			if m, ok := parseMessage(l.pkt.Message); ok && m.match == l.number {
				l.hear(at, m)
			}
		default:
			if match.IsLeaving(l.pkt.Message) {
				l.err = ErrLeft
			}
		}
	}
}

func (l *Lounge) hear(at int64, m message) {
	seq := ackbits.Seq(m.seq)
	if l.got.Mark(seq) != ackbits.New {
		return
	}
	if !l.heard || seq.Newer(l.newest) {
		l.newest, l.newestAt, l.heard = seq, at, true
		l.theirRTT, l.theirLoss = m.rtt, m.loss
		if l.other != Leave {
			l.other = m.state
		}
		if m.state == Leave && l.err == nil {
			l.err = ErrLeft
		}
	}
	if !m.hasEcho {
		return
	}
	i := int(m.echo) % sentRing
	if l.sentSeq[i] != ackbits.Seq(m.echo) || l.sentAt[i] == 0 {
		return
	}
	l.sample(at - l.sentAt[i] - int64(m.hold)*holdUnit)
	l.sentAt[i] = 0
}

// sample smooths as RFC 6298 and RFC 3550 do.
func (l *Lounge) sample(rtt int64) {
	rtt = max(rtt, 0)
	if l.samples == 0 {
		l.rtt = rtt
	} else {
		l.rtt += (rtt - l.rtt) / 8
		d := rtt - l.lastRTT
		l.jitter += (max(d, -d) - l.jitter) / 16
	}
	l.lastRTT = rtt
	l.samples++
}
