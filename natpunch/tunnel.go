package natpunch

import (
	"context"
	"errors"
	"sync"
	"time"

	"backstep/natpunch/rendezvous"
)

// Tunnel is a way to the relay over TCP: it carries relay frames in order.
// lobby.Tunnel is one. Send and Recv are called by one goroutine each; Close
// wakes both.
type Tunnel interface {
	Send(frame []byte) error
	// Recv waits for a frame, copies it into b and returns its length.
	Recv(b []byte) (int, error)
	Close() error
}

// Timing of the tunnel.
const (
	// tunnelAfter a registration without any answer on UDP the tunnel is tried
	// beside it. A relay further away than that gets three round trips.
	tunnelAfter = 400_000 // µs
	tunnelTrips = 3
	// tunnelSilence is how long a tunnel may leave a registration unanswered.
	tunnelSilence = 2_000_000 // µs
	// While there is a tunnel, UDP is asked whether it works again: soon, because a
	// line that loses much looks blocked for a moment, then ever more seldom.
	udpFirst = 1_000_000  // µs
	udpAgain = 15_000_000 // µs
	// A tunnel that cannot be opened is tried again after tunnelPause, doubled
	// up to tunnelMaxPause.
	tunnelPause    = 250 * time.Millisecond
	tunnelMaxPause = 2 * time.Second
	tunnelDial     = 5 * time.Second
)

var (
	errTunnelSilent = errors.New("natpunch: the relay does not answer through the tunnel")
	errTunnelFrame  = errors.New("natpunch: the relay sent through the tunnel what it does not carry")
)

// tunnelSlots is a quarter of a second of a match. What waits longer because
// TCP stands still is of no use to a rollback session.
const tunnelSlots = 16

// outbox holds frames that wait for TCP. When it is full the oldest goes. push
// never blocks and nothing here allocates.
type outbox struct {
	mu      sync.Mutex
	slots   [tunnelSlots][rendezvous.MaxFrame]byte
	size    [tunnelSlots]int
	head, n int
	ready   chan struct{}
}

func (o *outbox) push(b []byte) (dropped bool) {
	o.mu.Lock()
	if dropped = o.n == tunnelSlots; dropped {
		o.head = (o.head + 1) % tunnelSlots
		o.n--
	}
	i := (o.head + o.n) % tunnelSlots
	o.size[i] = copy(o.slots[i][:], b)
	o.n++
	o.mu.Unlock()
	select {
	case o.ready <- struct{}{}:
	default:
	}
	return dropped
}

func (o *outbox) pop(b []byte) int {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.n == 0 {
		return 0
	}
	n := copy(b, o.slots[o.head][:o.size[o.head]])
	o.head = (o.head + 1) % tunnelSlots
	o.n--
	return n
}

// tunnelRoute is one open tunnel. Its fields below conn belong to the lock of
// the Paths.
type tunnelRoute struct {
	conn Tunnel
	out  outbox

	first   uint64 // counters of the registrations sent through it
	last    uint64
	asked   int64 // when the oldest unanswered one was sent, 0 for none
	sentAt  int64 // when the newest was sent
	ackedAt int64
	ended   bool
	kill    chan struct{} // closed with ended
}

// end makes the writer close the connection. Runs with the lock held.
func (t *tunnelRoute) end() {
	if !t.ended {
		t.ended = true
		close(t.kill)
	}
}

// tunneled is the relay route over TCP of a Paths:
//
//	         no answer on UDP for 400 ms, or UDP not allowed
//	[resting] ------------------------------------------> [opening] -- REG, ACK --> [bound]
//	    ^ ^                                                   |                        |
//	    | +------------- cannot be opened: pause -------------+                        |
//	    +---- UDP registered again, or the tunnel ended, or REG unanswered for 2 s ----+
//
// The relay counts registrations of a side over UDP and TCP together and sends
// where the newest came from; so does this side.
type tunneled struct {
	wanted  bool
	current *tunnelRoute  // opened, perhaps not bound
	poke    chan struct{} // wakes the goroutine when wanted; nil if there is none
	err     error         // why the last attempt failed
}

// wantTunnel decides whether the relay must be reached over TCP. Runs with the
// lock held.
func (p *Paths) wantTunnel(now int64) {
	t := &p.tunneled
	if t.poke == nil || p.tun.Load() != nil {
		return
	}
	r := p.reg
	late := r.open && r.answeredAt < r.begunAt && now-r.begunAt > max(tunnelAfter, tunnelTrips*r.srtt)
	// A challenge proves the way back only; without an ACK that is not enough.
	stuck := r.open && now-r.begunAt > 4*max(tunnelAfter, tunnelTrips*r.srtt)
	t.wanted = t.wanted || r.off || late || stuck // until one of the two ways is acknowledged
	if t.wanted {
		p.pokeTunnel()
	}
}

func (p *Paths) pokeTunnel() {
	select {
	case p.tunneled.poke <- struct{}{}:
	default:
	}
}

// runTunnel opens tunnels while one is wanted.
func (p *Paths) runTunnel() {
	defer p.group.Done()
	pause := time.Duration(0)
	for {
		select {
		case <-p.ctx.Done():
			return
		case <-p.tunneled.poke:
		}
		if pause > 0 {
			select {
			case <-p.ctx.Done():
				return
			case <-time.After(pause):
			}
		}
		p.mu.Lock()
		wanted := p.tunneled.wanted
		p.mu.Unlock()
		if !wanted {
			pause = 0
			continue
		}
		bound, err := p.oneTunnel()
		if p.ctx.Err() != nil {
			return
		}
		p.mu.Lock()
		p.tunneled.err = err
		p.mu.Unlock()
		// One that never carried anything is of no interest to a player.
		e := p.cfg.Log.Debug()
		if bound {
			e = p.cfg.Log.Info()
		}
		e.Err(err).Bool("was_bound", bound).Msg("tunnel to the relay ended")
		if pause = min(max(2*pause, tunnelPause), tunnelMaxPause); bound {
			pause = 0
		}
		p.wakeKeeper()
	}
}

// oneTunnel is one tunnel from its opening to its end.
func (p *Paths) oneTunnel() (bound bool, err error) {
	ctx, cancel := context.WithTimeout(p.ctx, tunnelDial)
	conn, err := p.cfg.DialTunnel(ctx)
	cancel()
	if err != nil {
		return false, err
	}
	t := &tunnelRoute{conn: conn, kill: make(chan struct{})}
	t.out.ready = make(chan struct{}, 1)
	p.mu.Lock()
	if !p.tunneled.wanted {
		p.mu.Unlock()
		return false, conn.Close() // UDP came through meanwhile
	}
	p.tunneled.current = t
	p.askTunnel(t, p.cfg.Clock())
	p.mu.Unlock()
	var writer sync.WaitGroup
	defer writer.Wait()
	writer.Go(func() { p.writeTunnel(t) })
	p.wakeKeeper()

	var b [maxDatagram]byte
	for {
		n, rerr := conn.Recv(b[:])
		if rerr == nil {
			rerr = p.tunnelFrame(t, b[:n])
		}
		if rerr == nil {
			continue
		}
		p.mu.Lock()
		defer p.mu.Unlock()
		now := p.cfg.Clock()
		if t.asked != 0 && now-t.asked > tunnelSilence {
			rerr = errTunnelSilent
		}
		t.end()
		p.tunneled.current = nil
		if p.tun.Load() == t {
			p.tun.Store(nil)
			p.reg.standby = false
			p.reg.begin(now) // perhaps UDP works by now
			p.tunneled.wanted = true
			p.pokeTunnel()
		}
		return t.ackedAt != 0, rerr
	}
}

// writeTunnel sends what waits until the tunnel or the Paths ends, and closes
// the connection then, which wakes the reader.
func (p *Paths) writeTunnel(t *tunnelRoute) {
	defer t.conn.Close()
	var b [rendezvous.MaxFrame]byte
	for {
		select {
		case <-p.ctx.Done():
			return
		case <-t.kill:
			return
		case <-t.out.ready:
		}
		for n := t.out.pop(b[:]); n > 0; n = t.out.pop(b[:]) {
			if t.conn.Send(b[:n]) != nil {
				return
			}
			p.sock.sent.Add(1)
			p.sock.sentBytes.Add(uint64(n))
		}
	}
}

// askTunnel registers through t. Runs with the lock held.
func (p *Paths) askTunnel(t *tunnelRoute, now int64) {
	r := p.reg
	r.counter++
	if t.first == 0 {
		t.first = r.counter
	}
	t.last, t.sentAt = r.counter, now
	if t.asked == 0 {
		t.asked = now
	}
	var b [rendezvous.RegSize]byte
	t.out.push(rendezvous.AppendReg(b[:0], &rendezvous.Reg{
		Side: r.side, Channel: r.channel, Lobby: r.lobby, Expiry: r.expiry, Counter: r.counter,
	}, &r.key))
}

// tunnelFrame takes what came through a tunnel. An error ends it.
func (p *Paths) tunnelFrame(t *tunnelRoute, b []byte) error {
	if len(b) == 0 {
		return errTunnelFrame
	}
	p.sock.received.Add(1)
	p.sock.receivedBytes.Add(uint64(len(b)))
	if b[0] == rendezvous.FrameData {
		p.relayed(b)
		return nil
	}
	var ack rendezvous.Ack
	p.mu.Lock()
	defer p.mu.Unlock()
	r, now := p.reg, p.cfg.Clock()
	if rendezvous.ParseAck(b, &ack) != nil {
		return errTunnelFrame
	}
	if !rendezvous.CheckTag(b, &r.key) || ack.Side != r.side || ack.Channel != r.channel || ack.Counter < t.first || ack.Counter > t.last {
		p.drops.add(DropRelayForged)
		return errTunnelFrame
	}
	if ack.Counter == t.last {
		r.sample(now - t.sentAt)
	}
	t.asked, t.ackedAt = 0, now
	if ack.Counter > r.bound {
		r.bound, r.ackedAt = ack.Counter, now
		p.onTunnel(t, now)
	}
	return nil
}

// onTunnel makes t the relay route. Runs with the lock held.
func (p *Paths) onTunnel(t *tunnelRoute, now int64) {
	if p.tun.Load() != t {
		p.tun.Store(t)
		p.tunneled.wanted = false
		p.reg.rest(now)
		p.cfg.Log.Info().Msg("the relay is reached over TCP")
	}
	p.policy.setUp(Relay, now)
	p.ready()
}

// watchTunnel keeps the registration of a tunnel fresh and ends a tunnel that
// leaves one unanswered. Runs with the lock held.
func (p *Paths) watchTunnel(now int64) {
	t := p.tunneled.current
	switch {
	case t == nil || t.ended:
	case t.asked != 0 && now-t.asked > tunnelSilence:
		t.end()
	case t.asked == 0 && now-t.sentAt > reregisterEvery:
		p.askTunnel(t, now)
	}
}

// leaveTunnel follows a registration on UDP: frames go there from now on. Runs
// with the lock held.
func (p *Paths) leaveTunnel() {
	p.tunneled.wanted = false
	p.reg.standby = false
	if t := p.tunneled.current; t != nil {
		p.tun.Store(nil)
		t.end()
		// A registration through the tunnel may have reached the relay after
		// this one, and the end of the tunnel would unbind us.
		p.reg.begin(p.cfg.Clock())
	}
}
