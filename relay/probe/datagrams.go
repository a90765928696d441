package probe

import (
	"bytes"
	"crypto/rand"
	"encoding/binary"
	"net"
	"net/netip"
	"slices"
	"time"

	"backstep/natpunch/rendezvous"
	"backstep/natpunch/stunguard"
)

// peer is one UDP socket of the probe.
type peer struct {
	p *probe
	c *net.UDPConn
}

func (p *probe) peer() (*peer, error) {
	network := "udp6"
	if p.udp.Addr().Is4() {
		network = "udp4"
	}
	c, err := net.ListenUDP(network, nil)
	return &peer{p, c}, err
}

func (u *peer) send(b []byte, to netip.AddrPort) { u.c.WriteToUDPAddrPort(b, to) }

// next returns the next datagram from the relay that ok accepts, or nil after wait.
func (u *peer) next(from netip.AddrPort, wait time.Duration, ok func([]byte) bool) []byte {
	u.c.SetReadDeadline(time.Now().Add(wait))
	b := make([]byte, 2048)
	for u.p.ctx.Err() == nil {
		n, at, err := u.c.ReadFromUDPAddrPort(b)
		if err != nil {
			return nil
		}
		if netip.AddrPortFrom(at.Addr().Unmap(), at.Port()) == from && ok(b[:n]) {
			return b[:n]
		}
	}
	return nil
}

const tries = 3

// ask sends a binding request, again if it is lost, and returns the mapped address and the best round trip.
func (u *peer) ask(to netip.AddrPort) (mapped netip.AddrPort, rtt time.Duration) {
	for range tries {
		var id stunguard.TransactionID
		rand.Read(id[:])
		start := time.Now()
		u.send(stunguard.AppendRequest(nil, id), to)
		var a netip.AddrPort
		if u.next(to, u.p.Wait/tries, func(b []byte) (ok bool) {
			var err error
			a, err = stunguard.ParseAnswer(b, id)
			return err == nil
		}) == nil {
			continue
		}
		if took := time.Since(start); rtt == 0 || took < rtt {
			mapped, rtt = a, took
		}
	}
	return mapped, rtt
}

func (p *probe) stun() {
	u, err := p.peer()
	if err != nil {
		p.report.add("stun", Fail, 0, "No UDP socket can be opened here: %v.", err)
		p.silent = true
		return
	}
	defer u.c.Close()
	mapped, rtt := u.ask(p.udp)
	if rtt == 0 {
		p.silent = true
		p.report.add("stun", Fail, 0, "UDP port %d does not answer: let UDP through every firewall between here and the relay; players whose network blocks it have the tunnel.", p.udp.Port())
		return
	}
	nat := "through a NAT"
	if local := u.c.LocalAddr().(*net.UDPAddr); int(mapped.Port()) == local.Port && isLocal(mapped.Addr()) {
		nat = "without a NAT between"
	}
	p.report.add("stun", OK, rtt, "STUN on UDP port %d answers in %s and sees this machine %s.", p.udp.Port(), short(rtt), nat)
	if p.udp.Port() == 65535 {
		return
	}
	next := netip.AddrPortFrom(p.udp.Addr(), p.udp.Port()+1)
	switch second, rtt := u.ask(next); {
	case rtt == 0:
		p.report.add("stun_next", Note, 0, "STUN on UDP port %d does not answer: players cannot learn what kind of NAT they have; everything else works.", next.Port())
	case second == mapped:
		p.report.add("stun_next", OK, rtt, "STUN on UDP port %d answers too, and sees the same address.", next.Port())
	default:
		p.report.add("stun_next", OK, rtt, "STUN on UDP port %d answers too; the NAT here gives every destination another address, so direct paths from here are rare.", next.Port())
	}
}

func isLocal(a netip.Addr) bool {
	all, _ := net.InterfaceAddrs()
	return slices.ContainsFunc(all, func(x net.Addr) bool {
		n, ok := x.(*net.IPNet)
		if !ok {
			return false
		}
		ip, _ := netip.AddrFromSlice(n.IP)
		return ip.Unmap() == a || n.IP.IsLoopback() && a.IsLoopback()
	})
}

func (s *sessionOfSide) frame() []byte {
	s.counter++
	return rendezvous.AppendReg(nil, &rendezvous.Reg{
		Side: s.Side, Channel: s.Channel, Lobby: s.Lobby, Expiry: s.Expiry, Counter: s.counter, Cookie: s.cookie,
	}, &s.RegKey)
}

// register tries that forgeries are not answered, registers both sides, and forwards.
func (p *probe) register() {
	switch {
	case p.session == nil:
		p.report.add("register", Skip, 0, "Registration and forwarding were not tried: without a lobby there are no keys for them.")
		return
	case p.silent:
		p.report.add("register", Skip, 0, "Registration and forwarding over UDP were not tried: UDP does not get through.")
		return
	}
	host, err := p.peer()
	if err != nil {
		return
	}
	defer host.c.Close()
	join, err := p.peer()
	if err != nil {
		return
	}
	defer join.c.Close()
	if loud := p.forgeries(host); loud != "" {
		p.report.add("register", Fail, 0, "The relay answers %s, which it must not: strangers could make it send to others.", loud)
		return
	}
	var slowest time.Duration
	for i, u := range []*peer{host, join} {
		rtt, problem := p.bind(u, &p.session[i])
		if problem != "" {
			p.report.add("register", Fail, 0, "%s", problem)
			return
		}
		slowest = max(slowest, rtt)
	}
	p.report.add("register", OK, slowest, "Registration works: forgeries get no answer, the right key gets a challenge and is acknowledged within %s.", short(slowest))
	p.forward("forward", "over UDP", host, join)
}

// forgeries sends what must not be answered and returns what was.
func (p *probe) forgeries(u *peer) string {
	forged := p.session[0].frame()
	forged[len(forged)-1] ^= 1
	bare := stunguard.AppendRequest(nil, stunguard.TransactionID{1})[:20]
	binary.BigEndian.PutUint16(bare[2:], 0)
	stranger := rendezvous.AppendData(nil, p.session[0].Channel, []byte("probe"))
	for _, x := range []struct {
		what string
		b    []byte
	}{{"a forged registration", forged}, {"a STUN request shorter than the answer", bare}, {"data of an address that has not registered", stranger}} {
		u.send(x.b, p.udp)
		if u.next(p.udp, max(100*time.Millisecond, p.Wait/10), func([]byte) bool { return true }) != nil {
			return x.what
		}
	}
	return ""
}

// bind registers a side.
func (p *probe) bind(u *peer, s *sessionOfSide) (rtt time.Duration, problem string) {
	challenged := false
	for range 2 * tries {
		start := time.Now()
		reg := s.frame()
		u.send(reg, p.udp)
		b := u.next(p.udp, p.Wait/tries, func(b []byte) bool { return rendezvous.CheckTag(b, &s.RegKey) })
		var chal rendezvous.Chal
		var ack rendezvous.Ack
		switch {
		case b == nil:
		case rendezvous.ParseChal(b, &chal) == nil:
			challenged, s.cookie = true, chal.Cookie
		case rendezvous.ParseAck(b, &ack) == nil && !challenged:
			return 0, "The relay acknowledges a registration without a challenge: addresses could be forged."
		case rendezvous.ParseAck(b, &ack) == nil:
			return time.Since(start), ""
		}
	}
	if challenged {
		return 0, "The relay challenges a registration and then does not acknowledge it."
	}
	return 0, "The relay does not answer a registration with the key it gave out: is it behind a proxy that passes STUN only, or are several relays behind one name?"
}

// sender and receiver of relay frames.
type way interface {
	put(b []byte) error
	get(want []byte, wait time.Duration) bool
}

func (u *peer) put(b []byte) error {
	u.send(b, u.p.udp)
	return nil
}

func (u *peer) get(want []byte, wait time.Duration) bool {
	return u.next(u.p.udp, wait, func(b []byte) bool { return bytes.Equal(b, want) }) != nil
}

const rounds = 10

// forward sends frames there and back.
func (p *probe) forward(name, how string, a, b way) {
	var all []time.Duration
	lost := 0
	for i := range rounds {
		frame := rendezvous.AppendData(nil, p.session[0].Channel, append([]byte("backstep probe "), byte(i)))
		start := time.Now()
		if a.put(frame) != nil || !b.get(frame, p.Wait/tries) || b.put(frame) != nil || !a.get(frame, p.Wait/tries) {
			if lost++; lost > rounds/2 {
				break
			}
			continue
		}
		all = append(all, time.Since(start)/2)
	}
	if lost > rounds/2 {
		p.report.add(name, Fail, 0, "Both players are registered %s, but what one sends does not reach the other.", how)
		return
	}
	slices.Sort(all)
	rtt := all[len(all)/2]
	if lost > 0 {
		p.report.add(name, Note, rtt, "The relay forwards %s in %s, but %d of %d were lost on the way.", how, short(rtt), lost, rounds)
		return
	}
	p.report.add(name, OK, rtt, "The relay forwards %s from one player to the other in %s; %d of %d arrived.", how, short(rtt), rounds, rounds)
}
