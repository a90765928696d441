package doctor

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"strconv"
	"time"

	"backstep/natpunch/clockskew"
	"backstep/natpunch/rendezvous"
)

// attempt is how long a relay has to accept a TCP connection and to answer.
const attempt = 3 * time.Second

// errName is a relay's name that is none.
var errName = errors.New("not the name of a relay")

// meet finds the first relay that accepts a TCP connection and asks it for the
// time. Without one, the first with an address is kept, so that UDP is asked all
// the same.
func (f *Facts) meet(ctx context.Context, p *Probes, relays []string) {
	for i, name := range relays {
		var g Facts
		g.Relay, g.Tried = name, i+1
		g.reach(ctx, p, name)
		if i == 0 || g.TCP > 0 || !f.RelayAddr[0].IsValid() && !f.RelayAddr[1].IsValid() {
			f.Relay, f.RelayAddr, f.Second, f.RelayErr = g.Relay, g.RelayAddr, g.Second, g.RelayErr
			f.TCP, f.Tried, f.Ahead, f.Dated = g.TCP, g.Tried, g.Ahead, g.Dated
		}
		if g.TCP > 0 || ctx.Err() != nil {
			break
		}
	}
	f.second(ctx, p, relays)
}

// second lets another relay stand in for a second address of the relay, where it
// has none.
func (f *Facts) second(ctx context.Context, p *Probes, relays []string) {
	for _, name := range relays {
		if name == f.Relay || f.Second[0].IsValid() && f.Second[1].IsValid() {
			continue
		}
		var g Facts
		if _, err := g.lookUp(ctx, p, name); err != nil {
			continue
		}
		for i := range f.Second {
			if a := g.RelayAddr[i]; !f.Second[i].IsValid() && f.RelayAddr[i].IsValid() && a.Addr() != f.RelayAddr[i].Addr() {
				f.Second[i] = a
			}
		}
	}
}

// lookUp finds the addresses of a relay.
func (f *Facts) lookUp(ctx context.Context, p *Probes, name string) (hostPort string, err error) {
	hostPort, err = rendezvous.RelayHostPort(name)
	if err != nil {
		return "", errName
	}
	host, text, err := net.SplitHostPort(hostPort)
	port, err2 := strconv.ParseUint(text, 10, 16)
	if err != nil || err2 != nil || port == 0 {
		return "", errName
	}
	ctx, cancel := context.WithTimeout(ctx, attempt)
	defer cancel()
	addrs, err := p.Resolve(ctx, host)
	if err != nil {
		return "", err
	}
	for _, a := range addrs {
		a = a.Unmap()
		i := 1
		if a.Is4() {
			i = 0
		}
		at := netip.AddrPortFrom(a, uint16(port))
		switch {
		case !f.RelayAddr[i].IsValid():
			f.RelayAddr[i] = at
		case !f.Second[i].IsValid() && f.RelayAddr[i] != at:
			f.Second[i] = at
		}
	}
	return hostPort, nil
}

// reach looks a relay up and connects to it.
func (f *Facts) reach(ctx context.Context, p *Probes, name string) {
	ctx, cancel := context.WithTimeout(ctx, 2*attempt)
	defer cancel()
	hostPort, err := f.lookUp(ctx, p, name)
	if err != nil {
		f.RelayErr = err
		return
	}
	for _, at := range f.RelayAddr {
		if !at.IsValid() {
			continue
		}
		before := p.Now()
		actx, cancel := context.WithTimeout(ctx, attempt)
		date, took, err := p.Date(actx, at, hostPort)
		cancel()
		if took == 0 {
			f.RelayErr = err
			continue
		}
		f.TCP, f.RelayErr = took, nil
		if !date.IsZero() {
			f.Ahead, f.Dated = clockskew.Ahead(before, p.Now(), date), true
		}
		return
	}
}
