package relay

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"sync"
	"time"

	"github.com/rs/zerolog"
)

const (
	probeSize    = 128
	probeTimeout = time.Second
	probeFresh   = 5 * time.Second
)

// prober remembers the last self-probe for a while, so that health checks cannot be made to flood.
type prober struct {
	mu   sync.Mutex
	at   time.Time
	err  error
	last bool
}

// selfProbe asks this relay for a STUN answer through the address clients use: the public one if configured, else each
// listening one. The socket is not connected: a relay opens no connections. Answers younger than five seconds are reused.
func (s *Server) selfProbe(ctx context.Context) error {
	p := &s.probes
	p.mu.Lock()
	defer p.mu.Unlock()
	now := s.set.Now()
	if !p.at.IsZero() && now.Sub(p.at) < probeFresh {
		return p.err
	}
	var errs []error
	for _, ways := range s.probeTargets() {
		errs = append(errs, probeAny(ctx, ways))
	}
	p.at, p.err = now, errors.Join(errs...)
	if ok := p.err == nil; ok != p.last {
		p.last = ok
		level := zerolog.InfoLevel
		if !ok {
			level = zerolog.WarnLevel
		}
		s.log.at(level, evProbe).AnErr("error", p.err).Bool("ok", ok).Send()
	}
	return p.err
}

// probeTargets returns the addresses of which each must answer, with the ways to reach it. A wildcard socket is fine if
// either family does: a machine may have one only.
func (s *Server) probeTargets() (out [][]netip.AddrPort) {
	public := s.set.public
	for _, e := range s.endpoints {
		a := e.udp.at
		if public.Addr().IsValid() {
			port := public.Port()
			if port == 0 {
				port = a.Port()
			}
			return [][]netip.AddrPort{{netip.AddrPortFrom(public.Addr(), port)}}
		}
		ways := []netip.AddrPort{a}
		if a.Addr().IsUnspecified() {
			ways = []netip.AddrPort{
				netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), a.Port()),
				netip.AddrPortFrom(netip.IPv6Loopback(), a.Port()),
			}
		}
		out = append(out, ways)
	}
	return out
}

func probeAny(ctx context.Context, ways []netip.AddrPort) error {
	var errs []error
	for _, a := range ways {
		err := probeUDP(ctx, a)
		if err == nil {
			return nil
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// probeUDP sends a padded binding request and waits for the answer to it.
func probeUDP(ctx context.Context, to netip.AddrPort) error {
	c, err := net.ListenUDP("udp", nil)
	if err != nil {
		return fmt.Errorf("self-probe of %s: %w", to, err)
	}
	defer c.Close()
	stop := context.AfterFunc(ctx, func() { c.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	c.SetDeadline(time.Now().Add(probeTimeout))
	var id [12]byte
	rand.Read(id[:])
	if _, err := c.WriteToUDPAddrPort(appendStunRequest(nil, id, probeSize), to); err != nil {
		return fmt.Errorf("self-probe of %s: %w", to, err)
	}
	var b [datagramSpace]byte
	for {
		n, _, err := c.ReadFromUDPAddrPort(b[:])
		if err != nil {
			return fmt.Errorf("self-probe of %s: no answer: %w", to, err)
		}
		if n >= stunHeader && binary.BigEndian.Uint16(b[:]) == stunSuccess && [12]byte(b[8:20]) == id {
			return nil
		}
	}
}
