package doctor

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"time"

	"backstep/natpunch"
	"backstep/natpunch/gateway"
	"backstep/natpunch/natclass"
	"backstep/natpunch/portmap"
)

func (p Probes) withDefaults() Probes {
	if p.Locals == nil {
		p.Locals = func() []netip.Addr { return natpunch.LocalAddrs(false) }
	}
	if p.Route == nil {
		p.Route = gateway.Default
	}
	if p.Medium == nil {
		p.Medium = medium
	}
	if p.Resolve == nil {
		p.Resolve = func(ctx context.Context, host string) ([]netip.Addr, error) {
			return net.DefaultResolver.LookupNetIP(ctx, "ip", host)
		}
	}
	if p.Date == nil {
		p.Date = askDate
	}
	if p.Classify == nil {
		p.Classify = classify
	}
	if p.Router == nil {
		p.Router = askRouter
	}
	if p.Hops == nil {
		p.Hops = hops
	}
	if p.Now == nil {
		p.Now = time.Now
	}
	return p
}

// askDate sends one HTTP request in clear, which every relay answers: with its
// time, whatever the page, also where it wants TLS.
func askDate(ctx context.Context, at netip.AddrPort, host string) (date time.Time, took time.Duration, err error) {
	start := time.Now()
	c, err := (&net.Dialer{}).DialContext(ctx, "tcp", at.String())
	if err != nil {
		return date, 0, err
	}
	defer c.Close()
	took = max(1, time.Since(start))
	defer context.AfterFunc(ctx, func() { _ = c.SetDeadline(time.Unix(1, 0)) })()
	if _, err = fmt.Fprintf(c, "HEAD / HTTP/1.1\r\nHost: %s\r\nUser-Agent: backstep-doctor\r\nConnection: close\r\n\r\n", host); err != nil {
		return date, took, err
	}
	resp, err := http.ReadResponse(bufio.NewReaderSize(c, 4096), &http.Request{Method: http.MethodHead})
	if err != nil {
		return date, took, err
	}
	_ = resp.Body.Close()
	// A header that is missing or malformed leaves the time unknown.
	date, _ = http.ParseTime(resp.Header.Get("Date"))
	return date, took, nil
}

// classify opens a socket of the relay's family.
func classify(ctx context.Context, relay, second netip.AddrPort) (natclass.Class, error) {
	network := "udp6"
	if relay.Addr().Is4() {
		network = "udp4"
	}
	c, err := net.ListenUDP(network, nil)
	if err != nil {
		return natclass.Class{}, err
	}
	defer c.Close()
	d := natclass.New(relay, second)
	err = d.Run(ctx, c)
	// All addresses, not only those worth offering: a relay on this machine sees
	// a loopback one.
	locals := append(natpunch.LocalAddrs(false), natpunch.LocalAddrs(true)...)
	return d.Class(uint16(c.LocalAddr().(*net.UDPAddr).Port), locals), err
}

// askRouter holds a socket while the router is asked about its port.
func askRouter(ctx context.Context, r gateway.Route) []portmap.Answer {
	c, err := net.ListenUDP("udp4", nil)
	if err != nil {
		return nil
	}
	defer c.Close()
	return portmap.Look(ctx, r, uint16(c.LocalAddr().(*net.UDPAddr).Port))
}

// errHops: this operating system does not tell who answered.
var errHops = errors.New("doctor: the way to the relay is not known on this operating system")
