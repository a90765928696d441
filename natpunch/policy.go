package natpunch

// The numbers of the path policy, in microseconds.
const (
	minSilence = 80_000    // silence below this is jitter
	goodRun    = 3         // authenticated packets that prove a route
	trialTime  = 1_000_000 // both routes after a direct one appeared
	settleTime = 100_000   // both routes after a switch to the relay
	// Both routes after a switch to direct, and no judgement of it meanwhile:
	// the opponent follows once its own check, one a second, was answered.
	returnTime = 1_200_000

	// A copy now and then on the route that is not primary. The direct one is
	// wished for, so it is asked more often; the relay only has to stay warm.
	directProbe = 200_000
	relayProbe  = 1_000_000
	// runGap breaks a run of good packets. Two probes in a row may be lost.
	runGap = 3*directProbe + 50_000

	// A side that was content with one route for mirrorRest and hears the other
	// route at full rate copies the opponent for as long.
	mirrorRest = 500_000

	// A direct route that failed within flapTime of its return is given a
	// rest, doubled each time.
	flapTime = 10_000_000
	minRest  = 1_000_000
	maxRest  = 30_000_000

	maxJitter = 50_000
)

// policy decides over which routes the next packet goes. It is a plain state
// machine over int64 microseconds: no clock, no socket, no goroutine.
//
// What it may believe is graded. authenticated and proven carry news that only
// the opponent can make: they move the primary route. raw is forgeable: it can
// make plan return both routes a little earlier and nothing else.
//
// The primary route says where our packets go; we cannot see them arrive, so
// it is judged by what comes in. A route that works only towards us would
// deceive that, therefore a direct route that failed is not trusted again
// before an ICE check on it was answered, and therefore a side that hears the
// opponent at full rate on a route it does not use itself answers there too.
type policy struct {
	interval int64
	relay    route
	direct   route
	primary  Mask // 0 while there is no route

	started      int64 // when traffic began; silence is not counted before
	running      bool
	chosen       int64 // when primary became primary
	settled      int64 // both routes until then
	trial        int64 // both routes until then
	mirror       int64 // both routes until then
	lastBoth     int64
	failed       int64 // when direct was last given up
	hasFailed    bool
	returned     int64 // when direct last became primary
	rest         int64 // how long a flapping direct route rests
	switches     int
	lastSwitched int64
}

// route is what is known about one route.
type route struct {
	up     bool
	heard  bool
	last   int64 // last authenticated arrival
	run    int   // arrivals without a gap above runGap
	dense  int   // arrivals at about the full rate
	since  int   // arrivals since the primary route was last heard
	jitter int64 // mean deviation of arrivals from the interval
	raw    int   // raw arrivals at about the full rate
	rawAt  int64
	used   int64 // last packet sent
	tried  bool
	proven int64 // last time a round trip was proven
}

func newPolicy(interval int64) *policy { return &policy{interval: interval} }

func (p *policy) route(m Mask) *route {
	if m == Direct {
		return &p.direct
	}
	return &p.relay
}

func other(m Mask) Mask { return m ^ (Relay | Direct) }

// silence is how long the primary route may be silent before both are used.
func (p *policy) silence() int64 {
	return max(minSilence, 4*p.interval+p.route(p.primary).jitter)
}

// denseGap separates a stream of packets from probes.
func (p *policy) denseGap(r *route) int64 { return p.interval*5/2 + r.jitter + 10_000 }

// quiet is for how long the primary route has not been heard.
func (p *policy) quiet(now int64) int64 {
	if !p.running || p.primary == 0 {
		return 0
	}
	since := max(p.started, p.chosen)
	if r := p.route(p.primary); r.heard {
		since = max(since, r.last)
	}
	return now - since
}

// setUp says that route m can be used. For the direct route this means that an
// ICE check of the current generation was answered.
func (p *policy) setUp(m Mask, at int64) {
	r := p.route(m)
	if r.up {
		return
	}
	*r = route{up: true, proven: at}
	if m == Direct {
		p.hasFailed, p.rest = false, 0
		p.trial = at + trialTime
	}
	if p.primary == 0 {
		p.choose(m, at)
	}
}

// setDown says that route m is gone.
func (p *policy) setDown(m Mask, at int64) {
	r := p.route(m)
	if !r.up {
		return
	}
	*r = route{}
	if p.primary != m {
		return
	}
	p.primary = 0
	if p.route(other(m)).up {
		p.choose(other(m), at)
	}
}

func (p *policy) choose(m Mask, at int64) {
	if p.switches > 0 {
		p.settled = at + settleTime
		if m == Direct {
			p.settled = at + returnTime
		}
	}
	p.primary, p.chosen, p.mirror = m, at, 0
	p.switches++
	p.lastSwitched = at
	p.relay.since, p.direct.since = 0, 0
}

// proven says that an ICE check on the direct route was answered, which proves
// both directions of it.
func (p *policy) proven(at int64) {
	p.direct.proven = max(p.direct.proven, at)
	p.decide(at)
}

// authenticated says that a packet which the opponent sent on m was decrypted.
func (p *policy) authenticated(m Mask, at int64) {
	r := p.route(m)
	if !r.up {
		return
	}
	p.begin(at)
	if r.heard {
		at = max(at, r.last)
		gap := at - r.last
		if gap < 6*p.interval {
			d := min(max(gap-p.interval, p.interval-gap), 2*p.interval)
			r.jitter += (d - r.jitter) / 16
			r.jitter = min(r.jitter, maxJitter)
		}
		if gap > runGap {
			r.run = 0
		}
		if gap > p.denseGap(r) {
			r.dense = 0
		}
	}
	r.heard, r.last = true, at
	r.run++
	r.dense++
	if m == p.primary {
		p.route(other(m)).since = 0
	} else {
		r.since++
	}
	p.decide(at)
}

// raw says that something which may be a packet arrived on m.
func (p *policy) raw(m Mask, at int64) {
	r := p.route(m)
	if at-r.rawAt > p.denseGap(r) {
		r.raw = 0
	}
	r.rawAt = max(r.rawAt, at)
	r.raw++
}

func (p *policy) begin(now int64) {
	if !p.running {
		p.running, p.started = true, now
	}
}

// decide moves the primary route if authenticated arrivals justify it.
func (p *policy) decide(now int64) {
	switch {
	case p.primary == Relay && p.direct.up:
		d := &p.direct
		if d.run < goodRun || now-d.last > runGap {
			return
		}
		if p.hasFailed && (d.proven <= p.failed || now < p.failed+p.rest) {
			return
		}
		p.choose(Direct, now)
		p.returned = now
	case p.primary == Direct && p.relay.up:
		if p.relay.since < goodRun || p.quiet(now) <= p.silence() || now < p.settled {
			return
		}
		if p.hasFailed && now-p.returned < flapTime {
			p.rest = min(max(2*p.rest, minRest), maxRest)
		} else {
			p.rest = 0
		}
		p.hasFailed, p.failed = true, now
		p.direct.run = 0
		p.choose(Relay, now)
	}
}

// plan returns the routes for the packet that is sent now. It is 0 only while
// there is no route at all.
func (p *policy) plan(now int64) Mask {
	p.begin(now)
	p.decide(now)
	m := p.primary
	if m == 0 {
		return 0
	}
	if o := p.route(other(m)); o.up {
		if p.wantBoth(now) {
			p.lastBoth = now
			m |= other(m)
		} else if !o.tried || now-o.used >= p.probeEvery(other(m)) {
			m |= other(m)
		}
	}
	for _, bit := range [...]Mask{Relay, Direct} {
		if m&bit != 0 {
			r := p.route(bit)
			r.used, r.tried = now, true
		}
	}
	return m
}

func (p *policy) probeEvery(m Mask) int64 {
	if m == Direct {
		return directProbe
	}
	return relayProbe
}

func (p *policy) wantBoth(now int64) bool {
	prim, o := p.route(p.primary), p.route(other(p.primary))
	quiet := p.quiet(now)
	switch {
	case now < p.settled, now < p.mirror:
		return true
	case p.primary == Relay && now < p.trial:
		return true
	case quiet > p.silence():
		return true
	case o.raw >= goodRun && now-o.rawAt <= p.denseGap(o) && quiet > 2*p.interval+prim.jitter:
		return true
	case p.primary == Direct && o.dense >= goodRun && now-o.last <= p.denseGap(o) && now-p.lastBoth > mirrorRest:
		p.mirror = now + mirrorRest
		return true
	}
	return false
}
