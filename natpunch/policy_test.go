package natpunch

import (
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

const (
	ms   = int64(1000)
	tick = 1_000_000 / 60
)

// ready is a policy with both routes up and the direct one primary at 1 s.
func ready(t *testing.T) (*policy, int64) {
	t.Helper()
	p := newPolicy(tick)
	p.setUp(Relay, 0)
	p.setUp(Direct, 0)
	now := int64(0)
	for now < 1000*ms {
		p.plan(now)
		p.authenticated(Relay, now)
		p.authenticated(Direct, now)
		now += tick
	}
	for now < 4000*ms {
		p.plan(now)
		p.authenticated(Direct, now)
		now += tick
	}
	if p.primary != Direct || p.plan(now) == Relay {
		t.Fatalf("not on the direct route: %v", p.primary)
	}
	return p, now
}

func TestPolicyUpgrade(t *testing.T) {
	p := newPolicy(tick)
	if p.plan(0) != 0 {
		t.Error("a route before there is one")
	}
	p.setUp(Relay, 10)
	if got := p.plan(20); got != Relay {
		t.Errorf("first route: %v", got)
	}
	p.setUp(Direct, 1000)
	if got := p.plan(1100); got != Relay|Direct {
		t.Errorf("a new direct route is tried on %v", got)
	}
	p.authenticated(Direct, 1000+tick)
	p.authenticated(Direct, 1000+2*tick)
	if p.primary != Relay {
		t.Error("two packets sufficed")
	}
	p.authenticated(Direct, 1000+3*tick)
	if p.primary != Direct {
		t.Error("three packets did not suffice")
	}
	if got := p.plan(1000 + 3*tick); got != Relay|Direct {
		t.Errorf("right after the switch: %v, want both", got)
	}
}

// TestPolicyRawNeverMoves: raw arrivals are forgeable, security.md 6.6.
func TestPolicyRawNeverMoves(t *testing.T) {
	p := newPolicy(tick)
	p.setUp(Relay, 0)
	p.setUp(Direct, 0)
	for now := int64(0); now < 5000*ms; now += tick {
		p.plan(now)
		p.raw(Direct, now)
	}
	if p.primary != Relay {
		t.Error("raw datagrams moved the route")
	}

	p, now := ready(t)
	for range 60 { // the primary goes silent; raw arrivals must not hide it
		now += tick
		p.plan(now)
		p.raw(Direct, now)
	}
	if got := p.plan(now + 1); got != Relay|Direct {
		t.Errorf("raw arrivals kept a silent route alone: %v", got)
	}
}

func TestPolicyRawSpeedsUp(t *testing.T) {
	start := func(forged bool) int64 {
		p, now := ready(t)
		last := p.direct.last
		for now := now; ; now += tick {
			if forged {
				p.raw(Relay, now)
			}
			if p.plan(now) == Relay|Direct && now-last > tick {
				return now - last
			}
		}
	}
	slow, fast := start(false), start(true)
	if slow < minSilence || slow > minSilence+2*tick {
		t.Errorf("both routes after %d µs of silence", slow)
	}
	if fast >= slow || fast <= 2*tick {
		t.Errorf("with raw arrivals after %d µs, without after %d", fast, slow)
	}
}

func TestPolicyFailover(t *testing.T) {
	p, now := ready(t)
	cut := now
	n := 0
	for p.primary == Direct {
		now += tick
		p.plan(now)
		if now-cut > minSilence { // the opponent sends on both by now
			p.authenticated(Relay, now)
			n++
		}
		if now-cut > 1000*ms {
			t.Fatal("never switched")
		}
	}
	if n != goodRun || now-cut > 300*ms {
		t.Errorf("switched after %d packets and %d ms", n, (now-cut)/ms)
	}
}

// TestPolicyReturnNeedsProof: three packets bring a failed route back only if
// an ICE check was answered since, because they prove one direction only.
func TestPolicyReturnNeedsProof(t *testing.T) {
	p, now := ready(t)
	for p.primary == Direct {
		now += tick
		p.plan(now)
		p.authenticated(Relay, now)
	}
	feed := func(d int64) {
		for end := now + d; now < end; now += tick {
			p.plan(now)
			p.authenticated(Relay, now)
			p.authenticated(Direct, now)
		}
	}
	feed(1000 * ms)
	if p.primary != Relay {
		t.Fatal("came back without an answered check")
	}
	p.proven(now)
	if p.primary != Direct {
		t.Fatal("did not come back with an answered check and a run of packets")
	}
}

func TestPolicyProbes(t *testing.T) {
	p, now := ready(t)
	probes := 0
	for range 600 {
		now += tick
		if p.plan(now) == Relay|Direct {
			probes++
		}
		p.authenticated(Direct, now)
	}
	if probes < 9 || probes > 11 {
		t.Errorf("%d probes on the relay in 10 s", probes)
	}
	for p.primary == Direct {
		now += tick
		p.plan(now)
		p.authenticated(Relay, now)
	}
	probes = 0
	for end := now + settleTime; now < end; now += tick {
		p.plan(now)
		p.authenticated(Relay, now)
	}
	for range 600 {
		now += tick
		if p.plan(now)&Direct != 0 {
			probes++
		}
		p.authenticated(Relay, now)
	}
	if probes < 40 || probes > 51 {
		t.Errorf("%d probes on the direct route in 10 s", probes)
	}
}

func TestPolicyDown(t *testing.T) {
	p, now := ready(t)
	p.setDown(Direct, now)
	if got := p.plan(now + 1); got != Relay {
		t.Errorf("after the direct route went: %v", got)
	}
	p.authenticated(Direct, now+2)
	if p.primary != Relay {
		t.Error("a route that is down became primary")
	}
	p.setDown(Relay, now+3)
	if got := p.plan(now + 4); got != 0 {
		t.Errorf("without any route: %v", got)
	}
}

// pair is two policies on a virtual network, one packet a tick each.
type pair struct {
	p        [2]*policy
	rng      *rand.Rand
	delay    int64 // one way
	jitter   int64
	loss     float64
	open     [2][3]bool // open[sender][mask]
	now      int64
	inflight []flight
	heard    [2]int64 // last arrival on any route
	gap      [2]int64 // longest time without one
	sent     [2]int
	copies   [2]int
}

type flight struct {
	at   int64
	to   int
	path Mask
}

func newPair(seed uint64, delay int64) *pair {
	s := &pair{rng: rand.New(rand.NewPCG(seed, 1)), delay: delay}
	for i := range s.p {
		s.p[i] = newPolicy(tick)
		s.p[i].setUp(Relay, 0)
		s.open[i] = [3]bool{Relay: true, Direct: true}
	}
	return s
}

func (s *pair) bothUp() {
	for i := range s.p {
		s.p[i].setUp(Direct, s.now)
	}
}

// run advances by d in steps of 1 ms.
func (s *pair) run(d int64) {
	for end := s.now + d; s.now < end; s.now += ms {
		for len(s.inflight) > 0 && s.inflight[0].at <= s.now {
			f := s.inflight[0]
			s.inflight = s.inflight[1:]
			s.p[f.to].raw(f.path, s.now)
			s.p[f.to].authenticated(f.path, s.now)
			s.heard[f.to] = s.now
		}
		for i, p := range s.p {
			s.gap[i] = max(s.gap[i], s.now-s.heard[i])
			// A round of ICE checks a second, answered if both ways are open.
			if s.now%(1000*ms) == 0 && p.direct.up && s.open[0][Direct] && s.open[1][Direct] {
				p.proven(s.now)
			}
			if (s.now+int64(i)*8*ms)%(17*ms) != 0 {
				continue
			}
			m := p.plan(s.now)
			s.sent[i]++
			for _, bit := range [...]Mask{Relay, Direct} {
				if m&bit == 0 {
					continue
				}
				s.copies[i]++
				if !s.open[i][bit] || s.rng.Float64() < s.loss {
					continue
				}
				at := s.now + s.delay
				if s.jitter > 0 {
					at += s.rng.Int64N(s.jitter)
				}
				k, _ := slices.BinarySearchFunc(s.inflight, at+1, func(f flight, at int64) int { return int(f.at - at) })
				s.inflight = slices.Insert(s.inflight, k, flight{at, 1 - i, bit})
			}
		}
	}
}

// settle forgets gaps and counts.
func (s *pair) settle() {
	s.gap, s.sent, s.copies = [2]int64{}, [2]int{}, [2]int{}
	s.heard = [2]int64{s.now, s.now}
}

func (s *pair) want(t *testing.T, m Mask, when string) {
	t.Helper()
	for i, p := range s.p {
		if p.primary != m {
			t.Errorf("%s: side %d is on %v, want %v", when, i, p.primary, m)
		}
	}
}

func TestPairUpgradeFailoverReturn(t *testing.T) {
	for _, delay := range []int64{1 * ms, 20 * ms, 40 * ms, 75 * ms, 100 * ms} {
		s := newPair(uint64(delay), delay)
		s.run(500 * ms)
		s.bothUp()
		s.settle()
		s.run(1000 * ms)
		s.want(t, Direct, "a second after the direct route came up")
		s.run(5000 * ms)
		if s.copies[0] > s.sent[0]*13/10 {
			t.Errorf("%d copies of %d packets", s.copies[0], s.sent[0])
		}
		if s.gap[0] > 40*ms || s.gap[1] > 40*ms {
			t.Errorf("the upgrade cost a gap of %v", s.gap)
		}

		s.settle()
		s.open[0][Direct], s.open[1][Direct] = false, false
		// The last packet before the cut arrives one delay later: silence
		// begins then.
		s.run(delay + 240*ms)
		s.want(t, Relay, "240 ms after the last packet")
		s.run(2000 * ms)
		if s.gap[0] > 240*ms || s.gap[1] > 240*ms {
			t.Errorf("delay %d ms: longest gap %v µs", delay/ms, s.gap)
		}

		s.open[0][Direct], s.open[1][Direct] = true, true
		s.settle()
		s.run(2500 * ms)
		s.want(t, Direct, "after the cut ended")
		if s.gap[0] > 40*ms || s.gap[1] > 40*ms {
			t.Errorf("the return cost a gap of %v", s.gap)
		}
	}
}

// TestPairOneWay: the direct route dies in one direction only. The side that
// still hears cannot know it by listening.
func TestPairOneWay(t *testing.T) {
	for _, delay := range []int64{5 * ms, 40 * ms, 75 * ms} {
		s := newPair(3, delay)
		s.bothUp()
		s.run(4000 * ms)
		s.want(t, Direct, "at first")
		s.settle()
		s.open[0][Direct] = false
		s.run(1000 * ms)
		s.want(t, Relay, "a second after the one-way cut")
		if s.gap[1] > 350*ms || s.gap[0] > 100*ms {
			t.Errorf("delay %d ms: gaps %v µs", delay/ms, s.gap)
		}
		s.settle()
		s.run(20_000 * ms)
		s.want(t, Relay, "while it stays cut")
		if s.gap[0] > 100*ms || s.gap[1] > 100*ms {
			t.Errorf("delay %d ms: later gaps %v µs", delay/ms, s.gap)
		}
		s.open[0][Direct] = true
		s.run(3000 * ms)
		s.want(t, Direct, "after it healed")
	}
}

// TestPairRelayDies: with the direct route primary a dead relay costs nothing.
func TestPairRelayDies(t *testing.T) {
	s := newPair(4, 30*ms)
	s.bothUp()
	s.run(3000 * ms)
	s.settle()
	s.open[0][Relay], s.open[1][Relay] = false, false
	s.run(10_000 * ms)
	s.want(t, Direct, "without a relay")
	if s.gap[0] > 40*ms || s.gap[1] > 40*ms {
		t.Errorf("gaps %v", s.gap)
	}
}

// TestPairLossy: random loss and jitter of a bad network do not make the
// routes flap.
func TestPairLossy(t *testing.T) {
	s := newPair(5, 40*ms)
	s.loss, s.jitter = 0.1, 15*ms
	s.bothUp()
	s.run(3000 * ms)
	s.want(t, Direct, "under loss")
	before := s.p[0].switches + s.p[1].switches
	s.settle()
	s.run(120_000 * ms)
	if n := s.p[0].switches + s.p[1].switches - before; n > 4 {
		t.Errorf("%d switches in two minutes", n)
	}
	if s.copies[0] > s.sent[0]*13/10 {
		t.Errorf("%d copies of %d packets", s.copies[0], s.sent[0])
	}
}

// TestPairFlapping: a direct route that dies every two seconds is rested.
func TestPairFlapping(t *testing.T) {
	s := newPair(6, 20*ms)
	s.bothUp()
	s.run(3000 * ms)
	before := s.p[0].switches
	for range 30 {
		s.open[0][Direct], s.open[1][Direct] = false, false
		s.run(1000 * ms)
		s.open[0][Direct], s.open[1][Direct] = true, true
		s.run(2000 * ms)
	}
	if n := s.p[0].switches - before; n > 16 {
		t.Errorf("%d switches in 30 flaps", n)
	}
}

// TestPairProperty cuts and heals routes at random; one route is always open
// in both directions.
func TestPairProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := newPair(rapid.Uint64().Draw(t, "seed"), rapid.Int64Range(1, 80).Draw(t, "delay")*ms)
		s.bothUp()
		s.run(2500 * ms)
		for range rapid.IntRange(1, 4).Draw(t, "events") {
			for i := range s.open {
				s.open[i] = [3]bool{Relay: true, Direct: true}
			}
			switch rapid.IntRange(0, 3).Draw(t, "event") {
			case 0:
				s.open[0][Direct], s.open[1][Direct] = false, false
			case 1:
				s.open[0][Direct] = false
			case 2:
				s.open[1][Direct] = false
			}
			s.run(rapid.Int64Range(50, 3000).Draw(t, "before") * ms)
			s.settle()
			s.run(rapid.Int64Range(600, 4000).Draw(t, "after") * ms)
			for i := range s.gap {
				if s.gap[i] > 550*ms {
					t.Fatalf("side %d heard nothing for %d ms with %+v open", i, s.gap[i]/ms, s.open)
				}
			}
		}
		for i := range s.open {
			s.open[i] = [3]bool{Relay: true, Direct: true}
		}
		s.run(15_000 * ms)
		for i, p := range s.p {
			if p.primary != Direct {
				t.Fatalf("side %d stays on %v though all is well", i, p.primary)
			}
		}
	})
}

// FuzzPolicy: whatever happens in whatever order, plan names routes that are up,
// and the primary route moves only in the wake of authenticated news.
func FuzzPolicy(f *testing.F) {
	f.Add([]byte{0, 1, 10, 3, 20, 4, 1, 5, 1, 6, 1, 7, 200})
	f.Add([]byte{0, 0, 1, 0, 3, 250, 3, 250, 3, 250})
	f.Fuzz(func(t *testing.T, script []byte) {
		p := newPolicy(tick)
		now := int64(0)
		for i := 0; i+1 < len(script); i += 2 {
			now += int64(script[i+1]) * 700
			m := Relay
			if script[i]&8 != 0 {
				m = Direct
			}
			before := p.primary
			switch script[i] & 7 {
			case 0:
				p.setUp(m, now)
			case 1:
				p.setDown(m, now)
			case 2, 3:
				p.authenticated(m, now)
			case 4:
				p.proven(now)
			case 5, 6:
				p.raw(m, now)
				if p.primary != before {
					t.Fatal("a raw arrival moved the route")
				}
			case 7:
				got := p.plan(now)
				for _, bit := range [...]Mask{Relay, Direct} {
					if got&bit != 0 && !p.route(bit).up {
						t.Fatalf("plan uses %v, which is down", bit)
					}
				}
				if (got == 0) != (!p.relay.up && !p.direct.up) {
					t.Fatalf("plan %v with routes %v %v", got, p.relay.up, p.direct.up)
				}
			}
			if p.primary != 0 && !p.route(p.primary).up {
				t.Fatal("primary is down")
			}
		}
	})
}
