package pacing

import "math/bits"

// One is the nominal rate, in parts per billion.
const One int64 = 1_000_000_000

const (
	percent = One / 100

	fastLimit = percent     // proportional part when behind, up to nearTicks off
	slowLimit = percent / 2 // and when ahead
	farLimit  = 5 * percent // either way from farTicks on, linear in between
	nearTicks = 2
	farTicks  = 3

	integralLimit = 5 * percent
	totalLimit    = 6 * percent
	brakeRate     = One - 10*percent

	gainP          = 1500 // 1.5/s: parts per billion for each µs of error
	gainI          = 500  // 0.5/s²: the same, a second
	integralErr    = 30_000
	leakSeconds    = 30
	integralScale  = 1000 // the integral is kept in trillionths, so that its leak is not lost in rounding
	holdAfter      = 1_000_000
	gap            = 150_000
	phaseMargin    = 500
	phaseAgreement = 60 // ticks
	phaseReserve   = 3  // frames of window that must be left over for an odd phase

	haltWithin = 1_000_000 // after the first sample
	brakeAbove = 3         // frames above the normal depth
	brakeNear  = 2         // frames below the window
)

// Pacer sets the rate of one side's ticks. Make it with New. One goroutine owns it; it does not allocate.
type Pacer struct {
	hz     int64
	player int
	two    bool
	still  bool

	tick    int64 // µs
	nominal int64 // ps
	gainI   int64 // trillionths of the rate per µs of error and tick
	leak    int64 // ticks

	integral int64 // trillionths
	rate     int64 // without the brake
	braking  bool

	odd     bool // aim half a tick apart
	oddRun  int
	offset  int64
	known   bool
	aim     int64
	haltFor int
	halted  bool

	first       int64 // time of the first sample
	last        int64 // time of the newest sample
	began       bool
	disturbedAt int64 // time of the newest disturbance
	disturbed   bool
}

// New paces a player's ticks at hz among that many players. With still it never changes the rate.
func New(hz, player, players int, still bool) Pacer {
	n := int64(hz)
	return Pacer{
		hz: n, player: player, two: players == 2, rate: One, still: still,
		tick: 1_000_000 / n, nominal: 1_000_000_000_000 / n, gainI: gainI * integralScale / n, leak: leakSeconds * n,
	}
}

// Sampled says that a lag sample arrived at time at, after which the estimators are up to date.
func (p *Pacer) Sampled(at int64) {
	if !p.began {
		p.began, p.first = true, at
	} else if at-p.last > gap {
		p.Disturb(at)
	}
	p.last = at
}

// Disturb says that a stall on either side, or a gap, was noticed at time at: the integral part is held for a second,
// since the offset it would learn from is not drift.
func (p *Pacer) Disturb(at int64) { p.disturbedAt, p.disturbed = at, true }

// Update sets the rate after a tick at time now. offset is how far this side is ahead in µs, trip the round trip and
// jitter its deviation, window the frames that may be predicted.
func (p *Pacer) Update(now int64, advanced bool, window int, offset, trip, jitter int64) {
	if p.still {
		return
	}
	p.offset, p.known = offset, true
	p.phase(window, trip, jitter)
	e := offset - p.aim
	p.halt(now, e)
	if !advanced {
		p.rate = One + p.integral/integralScale
		return
	}
	if !p.disturbed || now-p.disturbedAt >= holdAfter {
		p.integral -= min(max(e, -integralErr), integralErr) * p.gainI
	}
	p.integral -= p.integral / p.leak
	limit := integralLimit * integralScale
	p.integral = min(max(p.integral, -limit), limit)

	fast, slow := p.limits(e)
	part := min(max(-e*gainP, -slow), fast)
	p.rate = One + min(max(part+p.integral/integralScale, -totalLimit), totalLimit)
}

// limits are those of the proportional part: small up to nearTicks off, so that a match never feels it, and rising
// linearly to farLimit at farTicks.
func (p *Pacer) limits(e int64) (fast, slow int64) {
	span := (farTicks - nearTicks) * p.tick
	over := min(max(e, -e)-nearTicks*p.tick, span)
	if over <= 0 {
		return fastLimit, slowLimit
	}
	return fastLimit + (farLimit-fastLimit)*over/span, slowLimit + (farLimit-slowLimit)*over/span
}

// phase decides whether two players aim level or half a tick apart. With a round trip of an odd number of ticks,
// rounded up, half a tick apart saves one of them a whole frame of rollback.
func (p *Pacer) phase(window int, trip, jitter int64) {
	m := ((trip+phaseMargin+2*jitter)*p.hz + 999_999) / 1_000_000
	odd := p.two && m&1 == 1 && (m+1)/2+phaseReserve <= int64(window)
	if odd == p.odd {
		p.oddRun = 0
	} else if p.oddRun++; p.oddRun > phaseAgreement {
		p.odd, p.oddRun = odd, 0
	}
	p.aim = 0
	if p.odd {
		p.aim = p.tick / 2
		if p.player == 1 {
			p.aim = -p.aim
		}
	}
}

// halt lets a late starter catch up: once, within a second of the first sample, if more than one and a half ticks ahead.
func (p *Pacer) halt(now, e int64) {
	if p.halted {
		return
	}
	p.halted = true
	if 2*e*p.hz > 3_000_000 && now-p.first < haltWithin {
		p.haltFor = int((e*p.hz + 500_000) / 1_000_000)
	}
}

// Halt reports whether this tick must not advance, and counts it.
func (p *Pacer) Halt() bool {
	if p.haltFor == 0 {
		return false
	}
	p.haltFor--
	return true
}

// Brake slows the ticks down by 10 % until the next call if the window is about to run out for a reason that will
// pass: lead frames are predicted, at most two short of the window and at least three more than the lag measured
// here, in µs, calls for.
func (p *Pacer) Brake(lead, window int, lag int64) {
	normal := (lag*p.hz + 999_999) / 1_000_000
	p.braking = !p.still && int64(lead) >= normal+brakeAbove && lead >= window-brakeNear
}

// Rate is the rate of the coming tick in parts per billion of the nominal one.
func (p *Pacer) Rate() int64 {
	if p.braking {
		return min(p.rate, brakeRate)
	}
	return p.rate
}

// Interval is the length of the coming tick in picoseconds.
func (p *Pacer) Interval() int64 {
	hi, lo := bits.Mul64(uint64(p.nominal), uint64(One))
	q, _ := bits.Div64(hi, lo, uint64(p.Rate()))
	return int64(q)
}

// Offset is how far this side is ahead in µs, ok is false before enough was measured. Aim is how far it should be.
func (p *Pacer) Offset() (ahead int64, ok bool) { return p.offset, p.known }

// Aim is how far ahead this side wants to be, in µs: half a tick either way, or 0.
func (p *Pacer) Aim() int64 { return p.aim }

// Drift is the part of the rate that makes up for different clocks, in parts per billion.
func (p *Pacer) Drift() int64 { return p.integral / integralScale }
