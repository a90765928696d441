package portmap

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"time"
)

// routerPort is where a router takes PCP and NAT-PMP requests.
const routerPort = 5351

// pcpWaits are the times a PCP request waits for its answer before it is sent
// again. RFC 6887 begins with 3 s, for servers beyond the home; ours is the next
// hop.
var pcpWaits = []time.Duration{250 * time.Millisecond, 500 * time.Millisecond, time.Second}

// pcp is a client of one router.
type pcp struct {
	server netip.AddrPort
	local  netip.Addr
	nonce  [12]byte
}

func newPCP(router, local netip.Addr) *pcp {
	p := &pcp{server: netip.AddrPortFrom(router, routerPort), local: local}
	_, _ = rand.Read(p.nonce[:])
	return p
}

func (*pcp) name() string { return "PCP" }

func (p *pcp) add(ctx context.Context, m Mapping) (Mapping, error) {
	r, err := p.call(ctx, &pcpRequest{
		Lifetime: uint32(lifetime / time.Second), Client: p.local, Nonce: p.nonce, Internal: m.Internal, External: m.External,
	})
	if err != nil {
		return m, err
	}
	m.External, m.Lifetime = r.External, time.Duration(r.Lifetime)*time.Second
	return m, nil
}

func (p *pcp) remove(ctx context.Context, m Mapping) error {
	_, err := p.call(ctx, &pcpRequest{Client: p.local, Nonce: p.nonce, Internal: m.Internal})
	return err
}

// outside asks for a mapping of a few seconds for a port of its own, which is how
// one learns of a PCP router what its outside address is. port must be free of
// other mappings.
func (p *pcp) outside(ctx context.Context, port uint16) (netip.Addr, error) {
	m, err := p.add(ctx, Mapping{Internal: port})
	if err != nil {
		return netip.Addr{}, err
	}
	return m.External.Addr(), p.remove(ctx, m)
}

// call sends a request until its answer comes.
func (p *pcp) call(ctx context.Context, r *pcpRequest) (pcpResponse, error) {
	c, err := net.DialUDP("udp4", nil, net.UDPAddrFromAddrPort(p.server))
	if err != nil {
		return pcpResponse{}, fmt.Errorf("portmap: %w", err)
	}
	defer c.Close()
	stop := context.AfterFunc(ctx, func() { _ = c.SetReadDeadline(time.Unix(1, 0)) })
	defer stop()
	b := appendPCPRequest(nil, r)
	in := make([]byte, 1200)
	last := error(ErrSilent)
	for _, wait := range pcpWaits {
		_ = c.SetReadDeadline(time.Now().Add(wait))
		if ctx.Err() != nil { // the deadline that ended it may have been overwritten
			return pcpResponse{}, context.Cause(ctx)
		}
		if _, err := c.Write(b); err != nil {
			return pcpResponse{}, fmt.Errorf("%w: %w", ErrSilent, err)
		}
		for {
			n, err := c.Read(in)
			if err != nil {
				if ctx.Err() != nil {
					return pcpResponse{}, context.Cause(ctx)
				}
				var timeout net.Error
				if !errors.As(err, &timeout) || !timeout.Timeout() {
					return pcpResponse{}, fmt.Errorf("%w: %w", ErrSilent, err) // the port is closed
				}
				break
			}
			got, err := parsePCPResponse(in[:n])
			switch {
			case errors.Is(err, ErrMalformed):
				last = err
			case err != nil:
				return got, err
			case got.Nonce == r.Nonce && got.Internal == r.Internal:
				return got, nil
			}
		}
	}
	return pcpResponse{}, last
}
