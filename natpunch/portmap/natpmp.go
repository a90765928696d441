package portmap

import (
	"context"
	"fmt"
	"net/netip"
	"time"

	natpmp "github.com/jackpal/go-nat-pmp"
)

// natpmpPatience bounds one NAT-PMP call; the library sends again after 250,
// 500, … ms within it.
const natpmpPatience = 2 * time.Second

// pmp is NAT-PMP at one router.
type pmp struct{ router, local netip.Addr }

func (pmp) name() string { return "NAT-PMP" }

// do runs a call of the library, which takes no context, beside ctx. A call that
// is left behind ends after natpmpPatience.
func (p pmp) do(ctx context.Context, call func(*natpmp.Client) error) error {
	done := make(chan error, 1)
	go func() {
		done <- call(natpmp.NewClientWithLocalAndTimeout(p.router.AsSlice(), p.local.AsSlice(), natpmpPatience))
	}()
	select {
	case err := <-done:
		if err != nil {
			return fmt.Errorf("portmap: %w", err)
		}
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (p pmp) add(ctx context.Context, m Mapping) (Mapping, error) {
	var got *natpmp.AddPortMappingResult
	ip, err := p.outside(ctx, 0)
	if err == nil {
		err = p.do(ctx, func(c *natpmp.Client) (err error) {
			got, err = c.AddPortMapping("udp", int(m.Internal), int(m.External.Port()), int(lifetime/time.Second))
			return err
		})
	}
	if err != nil {
		return m, err
	}
	if got.InternalPort != m.Internal {
		return m, fmt.Errorf("%w: it mapped another port", ErrRefused)
	}
	m.External = netip.AddrPortFrom(ip, got.MappedExternalPort)
	m.Lifetime = time.Duration(got.PortMappingLifetimeInSeconds) * time.Second
	return m, nil
}

func (p pmp) remove(ctx context.Context, m Mapping) error {
	return p.do(ctx, func(c *natpmp.Client) error {
		_, err := c.AddPortMapping("udp", int(m.Internal), 0, 0)
		return err
	})
}

func (p pmp) outside(ctx context.Context, _ uint16) (netip.Addr, error) {
	var got *natpmp.GetExternalAddressResult
	err := p.do(ctx, func(c *natpmp.Client) (err error) {
		got, err = c.GetExternalAddress()
		return err
	})
	if err != nil {
		return netip.Addr{}, err
	}
	return netip.AddrFrom4(got.ExternalIPAddress), nil
}
