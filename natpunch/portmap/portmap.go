package portmap

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"backstep/natpunch/gateway"
)

const (
	// lifetime is what is asked for. A program that is killed leaves its mapping
	// for as long as that, and its router's table is small.
	lifetime = 20 * time.Minute
	// Renewals come at half the life, but not faster or slower than this.
	minRenew = 30 * time.Second
	maxRenew = 10 * time.Minute
	// again is the pause after all protocols failed: a router that is being
	// started may speak one later.
	again = 5 * time.Minute
	// removal bounds the end.
	removal = 400 * time.Millisecond
)

var (
	// ErrSilent means that the router does not answer this protocol.
	ErrSilent = errors.New("portmap: the router does not answer")
	// ErrUseless means that the router's outside address is itself a private
	// one: another router stands in front of it, and a mapping leads nowhere.
	ErrUseless = errors.New("portmap: the router's own outside address is private")
)

// Mapping is one outside port of the router.
type Mapping struct {
	Protocol string         // PCP, NAT-PMP or UPnP
	Internal uint16         // our UDP port
	External netip.AddrPort // where opponents send to
	Lifetime time.Duration  // from when it was granted; 0 has no end
}

// protocol is one way to ask a router.
type protocol interface {
	name() string
	// add makes a mapping of m.Internal, or renews m. m.External is a wish.
	add(ctx context.Context, m Mapping) (Mapping, error)
	remove(ctx context.Context, m Mapping) error
	// outside is the router's own outside address.
	outside(ctx context.Context, port uint16) (netip.Addr, error)
}

// Keeper holds a mapping. The zero value asks the default router.
type Keeper struct {
	// Route finds the router; gateway.Default if nil.
	Route func() (gateway.Route, error)
	Log   zerolog.Logger
}

// Run maps port, the UDP port of a socket of this machine, and keeps the mapping
// until ctx ends; then it gives it back, which takes 0.4 s at most. found is told
// every new outside address, and the zero value when the mapping was lost. Run
// runs on the caller's goroutine, with one more for each protocol at the start.
func (k *Keeper) Run(ctx context.Context, port uint16, found func(netip.AddrPort)) {
	for ctx.Err() == nil {
		p, m, err := k.acquire(ctx, port)
		if err != nil {
			k.Log.Debug().Str("why", reason(err)).Msg("no port mapping")
			if errors.Is(err, gateway.ErrUnsupported) || !pause(ctx, again) {
				return
			}
			continue
		}
		k.Log.Debug().Str("protocol", m.Protocol).Dur("lifetime", m.Lifetime).Msg("the router mapped a port")
		found(m.External)
		k.hold(ctx, p, m, found)
	}
}

// hold renews m until ctx ends or the router refuses.
func (k *Keeper) hold(ctx context.Context, p protocol, m Mapping, found func(netip.AddrPort)) {
	defer func() {
		// ctx is over, and the router has to be told all the same.
		rctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), removal)
		defer cancel()
		if err := p.remove(rctx, m); err != nil {
			k.Log.Debug().Str("why", reason(err)).Msg("the port mapping was not taken back; it ends by itself")
		}
	}()
	for {
		wait := maxRenew
		if m.Lifetime > 0 {
			wait = min(max(m.Lifetime/2, minRenew), maxRenew)
		}
		if !pause(ctx, wait) {
			return
		}
		renewed, err := p.add(ctx, m)
		if ctx.Err() != nil {
			return
		}
		if err != nil || usableOutside(renewed) != nil {
			k.Log.Debug().Str("why", reason(err)).Msg("the port mapping could not be renewed")
			found(netip.AddrPort{})
			return
		}
		if renewed.External != m.External {
			found(renewed.External)
		}
		m = renewed
	}
}

func pause(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}

// carrier is the space between a carrier's NAT and its customers, RFC 6598.
var carrier = netip.MustParsePrefix("100.64.0.0/10")

// Private reports an address that means nothing on the internet: of RFC 1918, of
// a carrier's NAT, link-local or none.
func Private(a netip.Addr) bool {
	return !a.IsGlobalUnicast() || a.IsPrivate() || carrier.Contains(a)
}

func usableOutside(m Mapping) error {
	switch {
	case m.External.Port() == 0:
		return fmt.Errorf("%w: it gives no port", ErrRefused)
	case Private(m.External.Addr()):
		return ErrUseless
	}
	return nil
}

// protocolsOf are the two lines of attack: at the router's port 5351, and UPnP.
func protocolsOf(r gateway.Route) [2][]protocol {
	return [2][]protocol{
		{newPCP(r.Router, r.Local), pmp{r.Router, r.Local}},
		{&upnp{router: r.Router, local: r.Local}},
	}
}

func (k *Keeper) route() (gateway.Route, error) {
	if k.Route != nil {
		return k.Route()
	}
	return gateway.Default()
}

// acquire asks by all protocols and takes the first mapping; a later one is
// given back.
func (k *Keeper) acquire(ctx context.Context, port uint16) (protocol, Mapping, error) {
	r, err := k.route()
	if err != nil {
		return nil, Mapping{}, err
	}
	type result struct {
		p   protocol
		m   Mapping
		err error
	}
	lines := protocolsOf(r)
	results := make(chan result, len(lines))
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var group sync.WaitGroup
	defer group.Wait()
	for _, line := range lines {
		group.Go(func() {
			var last result
			for _, p := range line {
				last = result{p: p}
				last.m, last.err = p.add(ctx, Mapping{Protocol: p.name(), Internal: port})
				if last.err == nil {
					if last.err = usableOutside(last.m); last.err != nil {
						giveBack(ctx, p, last.m)
					}
				}
				// A router without PCP says so, or says nothing and may speak
				// NAT-PMP all the same; a refusal is a refusal.
				if last.err == nil || errors.Is(last.err, ErrRefused) || errors.Is(last.err, ErrUseless) {
					break
				}
			}
			results <- last
		})
	}
	var won result
	for range lines {
		got := <-results
		switch {
		case got.err != nil:
			if won.p == nil {
				won.err = errors.Join(won.err, fmt.Errorf("%s: %w", got.p.name(), got.err))
			}
		case won.p == nil:
			won = got
			cancel() // the others need not go on
		default:
			giveBack(ctx, got.p, got.m)
		}
	}
	if won.p == nil {
		return nil, Mapping{}, won.err
	}
	return won.p, won.m, nil
}

func giveBack(ctx context.Context, p protocol, m Mapping) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), removal)
	defer cancel()
	_ = p.remove(ctx, m) // it ends by itself if it must
}
