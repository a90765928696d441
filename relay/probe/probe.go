package probe

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"backstep/natpunch/rendezvous"
)

// ErrAddress is wrapped when Config.Address is not HOST or HOST:PORT.
var ErrAddress = errors.New("probe: not a relay address")

// Config says what to probe.
type Config struct {
	// Address is HOST[:PORT] or [IPV6]:PORT; the port is 3478 if it is not given.
	Address string
	// Token is sent as a bearer token, for a private relay.
	Token string
	// Wait is how long an answer may take. 0 means two seconds.
	Wait time.Duration
	// TLS is used for the TLS check; nil means the system's certificates.
	TLS *tls.Config
	// Now is this machine's clock, which is compared with the relay's; nil means time.Now.
	Now func() time.Time
}

// probe is one run.
type probe struct {
	Config
	ctx    context.Context
	host   string
	port   uint16
	addrs  []netip.Addr
	report *Report
	client *http.Client
	scheme string

	at      netip.AddrPort    // where TCP was reached
	session *[2]sessionOfSide // host's and joiner's
	udp     netip.AddrPort    // where players would send datagrams
	silent  bool              // UDP does not get through
}

type sessionOfSide struct {
	rendezvous.SessionMsg
	counter uint64
	cookie  rendezvous.CookieValue
}

// Run probes a relay. The error is about the address only; what is wrong with the relay is in the report. Run takes at most about
// ten times Config.Wait.
func Run(ctx context.Context, c Config) (*Report, error) {
	p := &probe{Config: c, ctx: ctx, report: &Report{Relay: c.Address}, scheme: "ws"}
	if p.Wait <= 0 {
		p.Wait = 2 * time.Second
	}
	if p.Now == nil {
		p.Now = time.Now
	}
	var err error
	if p.host, p.port, err = splitAddress(c.Address); err != nil {
		return nil, err
	}
	p.report.Relay = net.JoinHostPort(p.host, strconv.Itoa(int(p.port)))
	if p.lookup() && p.tcp() {
		p.tls()
		p.clock()
		defer p.lobby()()
		p.endpoints()
	}
	if len(p.addrs) > 0 {
		if !p.udp.IsValid() {
			p.udp = netip.AddrPortFrom(p.addrs[0], p.port)
		}
		p.stun()
		p.register()
		p.tunnel()
	}
	p.report.Usable = true
	for _, c := range p.report.Checks {
		p.report.Usable = p.report.Usable && c.Status != Fail
	}
	return p.report, nil
}

func splitAddress(a string) (host string, port uint16, err error) {
	host, text, err := net.SplitHostPort(a)
	if err != nil {
		host, text = strings.Trim(a, "[]"), strconv.Itoa(rendezvous.DefaultPort)
	}
	n, err := strconv.ParseUint(text, 10, 16)
	if err != nil || n == 0 || host == "" || strings.ContainsAny(host, " /[]") {
		return "", 0, fmt.Errorf("%w: %q; give HOST or HOST:PORT", ErrAddress, a)
	}
	if _, err := netip.ParseAddr(host); err != nil && strings.Contains(host, ":") {
		return "", 0, fmt.Errorf("%w: %q; give HOST or HOST:PORT", ErrAddress, a)
	}
	return host, uint16(n), nil
}

func (p *probe) lookup() bool {
	if a, err := netip.ParseAddr(p.host); err == nil {
		p.addrs = []netip.Addr{a.Unmap()}
		return true
	}
	ctx, cancel := context.WithTimeout(p.ctx, p.Wait)
	defer cancel()
	found, err := net.DefaultResolver.LookupNetIP(ctx, "ip", p.host)
	if err != nil || len(found) == 0 {
		p.report.add("lookup", Fail, 0, "%s has no address (%v): check the name's DNS records.", p.host, err)
		return false
	}
	names := make([]string, len(found))
	for i, a := range found {
		p.addrs = append(p.addrs, a.Unmap())
		names[i] = a.Unmap().String()
	}
	p.report.add("lookup", OK, 0, "%s is %s.", p.host, strings.Join(names, ", "))
	return true
}

func (p *probe) tcp() bool {
	var reached []string
	var last error
	var rtt time.Duration
	for _, a := range p.addrs {
		ctx, cancel := context.WithTimeout(p.ctx, p.Wait)
		start := time.Now()
		c, err := (&net.Dialer{}).DialContext(ctx, "tcp", netip.AddrPortFrom(a, p.port).String())
		took := time.Since(start)
		cancel()
		if err != nil {
			last = err
			continue
		}
		c.Close()
		if len(reached) == 0 {
			p.at, rtt = netip.AddrPortFrom(a, p.port), took
		}
		reached = append(reached, a.String())
	}
	switch {
	case len(reached) == 0:
		p.report.add("tcp", Fail, 0, "TCP port %d does not accept connections (%v): start the relay, and let the port through every firewall.", p.port, last)
	case len(reached) < len(p.addrs):
		p.report.add("tcp", Note, rtt, "TCP port %d answers at %s only, in %s; players who try another of its addresses first lose time (%v).",
			p.port, strings.Join(reached, ", "), short(rtt), last)
	default:
		p.report.add("tcp", OK, rtt, "TCP port %d accepts connections in %s.", p.port, short(rtt))
	}
	return len(reached) > 0
}

func (p *probe) tls() {
	config := &tls.Config{}
	if p.TLS != nil {
		config = p.TLS.Clone()
	}
	config.ServerName = p.host
	ctx, cancel := context.WithTimeout(p.ctx, p.Wait)
	defer cancel()
	dial := func(c *tls.Config) (*tls.Conn, error) {
		conn, err := (&tls.Dialer{Config: c}).DialContext(ctx, "tcp", p.at.String())
		if err != nil {
			return nil, err
		}
		return conn.(*tls.Conn), nil
	}
	start := time.Now()
	c, err := dial(config)
	took := time.Since(start)
	var unsure *tls.CertificateVerificationError
	switch {
	case err == nil:
		defer c.Close()
		until := c.ConnectionState().PeerCertificates[0].NotAfter
		if left := time.Until(until); left < 7*24*time.Hour {
			p.report.add("tls", Note, took, "TLS works, but the certificate ends on %s: renew it.", until.Format(time.DateOnly))
		} else {
			p.report.add("tls", OK, took, "TLS works; the certificate is valid until %s.", until.Format(time.DateOnly))
		}
		p.scheme, p.TLS = "wss", config
	case errors.As(err, &unsure):
		p.report.add("tls", Note, took, "The relay speaks TLS, but its certificate is not valid for %s (%v); players go on in clear, which shows the network who meets whom.", p.host, unsure.Err)
	default:
		p.report.add("tls", Note, 0, "The relay speaks no TLS. What players say is sealed all the same; with --tls-cert the network would not see who meets whom.")
	}
	p.client = &http.Client{Transport: &http.Transport{
		DisableKeepAlives: true,
		TLSClientConfig:   p.TLS,
		DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, network, p.at.String())
		},
	}}
}
