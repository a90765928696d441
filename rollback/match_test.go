package rollback

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"backstep/fec"
	"backstep/rollback/accord"
)

// faults are what one direction of a test network does to packets until calm. Times are µs, chances are per cent.
type faults struct {
	delay, jitter                int64
	loss, dup, reorder, corrupt  int
	burst                        int // chance that a packet begins an outage
	outage                       int64
	partitionFrom, partitionTill int64
}

// testLink is one direction between two players.
type testLink struct {
	faults
	calm    int64 // from then on nothing but delay happens
	rng     *rand.Rand
	badTill int64
	queue   []testPacket
	discard bool // damaged packets are dropped, as by an authenticating channel
}

type testPacket struct {
	at int64
	b  []byte
}

func (l *testLink) chance(percent int) bool { return percent > 0 && l.rng.IntN(100) < percent }

func (l *testLink) send(now int64, b []byte) {
	if now < l.calm {
		if l.chance(l.burst) {
			l.badTill = now + 1 + l.rng.Int64N(l.outage+1)
		}
		if now < l.badTill || now >= l.partitionFrom && now < l.partitionTill || l.chance(l.loss) {
			return
		}
		if l.chance(l.dup) {
			l.put(now, b, 0)
		}
		if l.chance(l.corrupt) {
			if !l.discard {
				l.put(now, l.damaged(b), 0)
			}
			return
		}
		if l.chance(l.reorder) {
			l.put(now, b, 25_000)
			return
		}
	}
	l.put(now, b, 0)
}

// damaged is a copy of b with one bit flipped, cut short, or replaced by noise.
func (l *testLink) damaged(b []byte) []byte {
	c := slices.Clone(b)
	switch l.rng.IntN(3) {
	case 0:
		c[l.rng.IntN(len(c))] ^= 1 << l.rng.IntN(8)
	case 1:
		c = c[:l.rng.IntN(len(c))]
	default:
		for i := range c {
			c[i] = byte(l.rng.Uint32())
		}
	}
	return c
}

func (l *testLink) put(now int64, b []byte, extra int64) {
	at := now + l.delay + extra
	if l.jitter > 0 && now < l.calm {
		at += l.rng.Int64N(l.jitter)
	}
	l.queue = append(l.queue, testPacket{at, slices.Clone(b)})
	for i := len(l.queue) - 1; i > 0 && l.queue[i-1].at > at; i-- {
		l.queue[i-1], l.queue[i] = l.queue[i], l.queue[i-1]
	}
}

// testPeer is one player of a test match.
type testPeer struct {
	*Driver[small, uint16]
	cfg          Config
	speed        float64 // of its clock
	start        int64
	asleep, wake int64 // process stopped from … to
	cost         int64 // µs that stepping a frame takes, in which nothing else happens
	rng          *rand.Rand
	word         uint16
	states       []small        // settled states by frame
	given        []uint16       // its own words by frame
	terms        []accord.Terms // of each frame when it was first stepped
	stalls       int64
	onTick       func(p *testPeer, now int64)
}

func (p *testPeer) local(now int64) int64 { return int64(float64(now-p.start)*p.speed) + 5_000_000 }
func (p *testPeer) model(local int64) int64 {
	return p.start + int64(float64(local-5_000_000)/p.speed)
}

// testMatch is a mesh of players in virtual time.
type testMatch struct {
	game  Game[small, uint16]
	peers []*testPeer
	links [][]*testLink // by sender and receiver
	talk  [][]*testLink // the same for messages of accords
	now   int64
}

func newTestMatch(rng *rand.Rand, game Game[small, uint16], cfgs []Config, starts []int64, f func(from, to int) faults, calm int64) (*testMatch, error) {
	m := &testMatch{game: game, links: make([][]*testLink, len(cfgs)), talk: make([][]*testLink, len(cfgs))}
	for i, cfg := range cfgs {
		p := &testPeer{cfg: cfg, speed: 1, start: starts[i], rng: rand.New(rand.NewPCG(rng.Uint64(), 1))}
		m.peers = append(m.peers, p)
		for j := range cfgs {
			m.talk[i] = append(m.talk[i], &testLink{faults: f(i, j), calm: calm, rng: rand.New(rand.NewPCG(uint64(i), uint64(j))), discard: true})
			m.links[i] = append(m.links[i], &testLink{
				faults: f(i, j), calm: calm, rng: rand.New(rand.NewPCG(rng.Uint64(), 2)), discard: cfg.RequireEncryptedTransport,
			})
		}
	}
	for _, p := range m.peers {
		d, err := NewDriver(game, p.cfg, new(small), p.local(p.start))
		if err != nil {
			return nil, err
		}
		p.Driver = d
	}
	return m, nil
}

// step runs the next event before end and reports whether there was one.
func (m *testMatch) step(end int64) (bool, error) {
	var who *testPeer
	var second *Link[small, uint16]
	due := end
	for _, p := range m.peers {
		t := max(p.model(p.Next()), p.start, m.now)
		if t >= p.asleep && t < p.wake {
			t = p.wake
		}
		if t < due {
			who, second, due = p, nil, t
		}
		for _, l := range p.links {
			at, ok := l.SecondAt()
			if t := max(p.model(at), m.now); ok && t < due && (t < p.asleep || t >= p.wake) {
				who, second, due = p, l, t
			}
		}
	}
	m.now = due
	if who == nil {
		return false, nil
	}
	if second != nil {
		if b := second.AppendSecond(nil, who.local(due)); len(b) > 0 {
			m.links[who.cfg.Local][second.player].send(due, b)
		}
		return true, nil
	}
	return true, m.tick(who, due)
}

func (m *testMatch) tick(p *testPeer, now int64) error {
	for _, l := range p.links {
		in := m.links[l.player][p.cfg.Local]
		n := 0
		for ; n < len(in.queue) && in.queue[n].at <= now; n++ {
			// A stopped process reads late, and stamps late.
			at := in.queue[n].at
			if at >= p.asleep && at < p.wake {
				at = now
			}
			_ = l.Receive(p.local(at), in.queue[n].b)
		}
		in.queue = in.queue[n:]
	}
	if err := p.Err(); err != nil {
		return err
	}
	for from := range m.peers {
		in := m.talk[from][p.cfg.Local]
		for ; len(in.queue) > 0 && in.queue[0].at <= now; in.queue = in.queue[1:] {
			if err := p.ReceiveChange(from, in.queue[0].b); err != nil {
				return err
			}
		}
	}
	if p.rng.IntN(6) == 0 {
		p.word = uint16(p.rng.Uint32())
	}
	if p.onTick != nil {
		p.onTick(p, now)
	}
	r := p.Tick(p.local(now), p.word)
	if r.Advanced {
		p.terms = append(p.terms, p.Accord().Terms())
	}
	if r.Stalled {
		p.stalls++
	}
	if p.cost > 0 {
		p.asleep, p.wake = now, now+p.cost*int64(r.Resimulated)
		if r.Advanced {
			p.wake += p.cost
		}
	}
	if lead := p.s.cur - p.s.confirmed; int(lead) > p.s.cfg.PredictionWindowFrames && p.s.freer == nil && r.Advanced {
		return fmt.Errorf("player %d predicts %d frames, window %d", p.cfg.Local, lead, p.s.cfg.PredictionWindowFrames)
	}
	for f := int32(len(p.given)); f < p.s.localNext; f++ {
		w, _ := p.s.Word(p.cfg.Local, f)
		p.given = append(p.given, w)
	}
	for s := p.s; int32(len(p.states)) <= s.Settled(); {
		st, ok := s.State(int32(len(p.states)))
		if !ok {
			return fmt.Errorf("player %d: state %d settled after it was gone", p.cfg.Local, len(p.states))
		}
		p.states = append(p.states, *st)
	}
	for _, l := range p.links {
		if b := p.AppendChange(nil, l.player, p.local(now)); len(b) > 0 {
			m.talk[p.cfg.Local][l.player].send(now, b)
		}
		m.links[p.cfg.Local][l.player].send(now, l.AppendPacket(nil, p.local(now)))
		for {
			b, ok := l.AppendParity(nil, p.local(now))
			if !ok {
				break
			}
			m.links[p.cfg.Local][l.player].send(now, b)
		}
	}
	return nil
}

// run plays until all have settled frames states, or until deadline.
func (m *testMatch) run(frames int, deadline int64) error {
	for {
		done := true
		for _, p := range m.peers {
			done = done && len(p.states) >= frames
		}
		if done {
			return nil
		}
		ok, err := m.step(deadline)
		if err != nil {
			return err
		}
		if !ok {
			break
		}
	}
	s := "not finished in time:"
	for _, p := range m.peers {
		s += fmt.Sprintf(" player %d frame %d confirmed %d settled %d stalls %d;", p.cfg.Local, p.Frame(), p.Confirmed(), len(p.states)-1, p.stalls)
	}
	return fmt.Errorf("%s", s)
}

// check compares what every player settled with the game played from the words each of them gave for itself.
func (m *testMatch) check(frames int) error {
	var given [][]uint16
	for _, p := range m.peers {
		given = append(given, p.given)
	}
	truth := replay(m.game, small{}, given, frames)
	for _, p := range m.peers {
		if d, ok := m.anyDesync(p); ok {
			return fmt.Errorf("player %d reports a desync that is none: %+v", p.cfg.Local, d)
		}
		for f := range min(frames, len(p.states)) {
			if p.states[f] != truth[f] {
				return fmt.Errorf("player %d: state %d is %+v, want %+v", p.cfg.Local, f, p.states[f], truth[f])
			}
		}
	}
	return nil
}

func (m *testMatch) anyDesync(p *testPeer) (Desync, bool) {
	for _, l := range p.links {
		if d, ok := p.s.Desync(l.player); ok {
			return d, true
		}
	}
	return Desync{}, false
}

// randomMatch is a match over links with every fault there is, until calm. patience is how long a frame may take then:
// with a window of one frame, players advance once in a round trip.
func randomMatch(seed uint64) (m *testMatch, calm, patience int64, err error) {
	rng := rand.New(rand.NewPCG(seed, 0))
	players := 2
	if rng.IntN(5) == 0 {
		players = 3 + rng.IntN(2)
	}
	calm = int64(700_000 + rng.IntN(1_300_000))
	least := MaxWindow
	cfgs := make([]Config, players)
	starts := make([]int64, players)
	compact := rng.IntN(4) != 0
	game := []Game[small, uint16]{smallGame{}, dull{}, knowing{}}[rng.IntN(3)]
	for i := range cfgs {
		cfg := DefaultConfig()
		cfg.Players, cfg.Local = players, i
		cfg.PredictionWindowFrames = 1 + rng.IntN(20)
		cfg.MaxRollbackFrames = cfg.PredictionWindowFrames
		least = min(least, cfg.PredictionWindowFrames)
		cfg.InputDelay = max(rng.IntN(8)-4, 0)
		cfg.RequireEncryptedTransport = compact
		cfg.FEC = fec.Mode(rng.IntN(4))
		cfg.GuessFrames = max(rng.IntN(24)-16, 0)
		cfgs[i] = cfg
		starts[i] = rng.Int64N(800_000)
	}
	hard := rng.IntN(3)
	f := func(int, int) faults {
		x := faults{
			delay: rng.Int64N(100_000), jitter: rng.Int64N(40_000),
			loss: rng.IntN(1 + 15*hard), dup: rng.IntN(10), reorder: rng.IntN(10), corrupt: rng.IntN(8),
		}
		if rng.IntN(3) == 0 {
			x.burst, x.outage = rng.IntN(4), 1+rng.Int64N(300_000)
		}
		if rng.IntN(4) == 0 {
			x.partitionFrom = rng.Int64N(calm)
			x.partitionTill = x.partitionFrom + rng.Int64N(1_000_000)
		}
		return x
	}
	if m, err = newTestMatch(rng, game, cfgs, starts, f, calm); err != nil {
		return nil, 0, 0, err
	}
	for _, p := range m.peers {
		if rng.IntN(3) == 0 {
			p.speed = 0.95 + rng.Float64()/10
		}
		if rng.IntN(5) == 0 {
			p.asleep = p.start + rng.Int64N(calm)
			p.wake = p.asleep + rng.Int64N(2_000_000)
		}
		if rng.IntN(3) == 0 {
			p.onTick = func(p *testPeer, _ int64) {
				if p.rng.IntN(30) == 0 {
					p.s.SetInputDelay(p.rng.IntN(6))
				}
			}
		}
	}
	return m, calm, int64(300_000 / least), nil
}
