package portmap

import (
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/huin/goupnp"
	"github.com/huin/goupnp/httpu"
	"github.com/huin/goupnp/soap"
	"github.com/huin/goupnp/ssdp"
)

const (
	// A version 2 gateway answers a search for version 1 too.
	upnpGateway = "urn:schemas-upnp-org:device:InternetGatewayDevice:1"
	// upnpSearch is how long answers to the search are waited for, upnpCall how
	// long one answer over HTTP may take.
	upnpSearch = 1200 * time.Millisecond
	upnpCall   = 2 * time.Second
	// A description of a router is some ten kilobytes.
	maxDescription = 512 << 10
	upnpText       = "Backstep"
	// upnpPermanent is the fault of routers that know mappings without an end
	// only, upnpTaken that of a port that is given away.
	upnpPermanent = 725
	upnpTaken     = 718
)

// upnpServices are the services that map ports, newest first.
var upnpServices = []string{
	"urn:schemas-upnp-org:service:WANIPConnection:2",
	"urn:schemas-upnp-org:service:WANIPConnection:1",
	"urn:schemas-upnp-org:service:WANPPPConnection:1",
}

// errNoService: the router is a UPnP device but maps no ports.
var errNoService = errors.New("portmap: the router's UPnP offers no port mapping")

// upnp is the port mapping service of one router, found at the first call.
type upnp struct {
	router, local netip.Addr
	service       string
	soap          *soap.SOAPClient
}

func (*upnp) name() string { return "UPnP" }

// routerHTTP speaks to the router alone: no proxy, no redirect.
func routerHTTP() http.Client {
	return http.Client{
		Transport:     &http.Transport{DisableKeepAlives: true, ResponseHeaderTimeout: upnpCall},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Timeout:       upnpCall,
	}
}

// ofRouter reports whether a URL leads to the router itself.
func (u *upnp) ofRouter(at *url.URL) bool {
	ip, err := netip.ParseAddr(at.Hostname())
	return err == nil && at.Scheme == "http" && ip.Unmap() == u.router
}

// find looks for the service, once.
func (u *upnp) find(ctx context.Context) error {
	if u.soap != nil {
		return nil
	}
	c, err := httpu.NewHTTPUClientAddr(u.local.String())
	if err != nil {
		return fmt.Errorf("portmap: %w", err)
	}
	defer c.Close()
	sctx, cancel := context.WithTimeout(ctx, upnpSearch)
	defer cancel()
	found, err := ssdp.RawSearch(sctx, c, upnpGateway, 2)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil {
		return fmt.Errorf("portmap: %w", err)
	}
	last := error(ErrSilent)
	for _, r := range found {
		at, err := r.Location()
		if err != nil || !u.ofRouter(at) {
			continue
		}
		if last = u.describe(ctx, at); last == nil {
			return nil
		}
	}
	return last
}

// describe reads what the router says of itself and picks the service.
func (u *upnp) describe(ctx context.Context, at *url.URL) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, at.String(), nil)
	if err != nil {
		return fmt.Errorf("portmap: %w", err)
	}
	client := routerHTTP()
	resp, err := client.Do(req)
	if err != nil {
		return fmt.Errorf("portmap: %w", err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("portmap: the router's description has HTTP status %d", resp.StatusCode)
	}
	var root goupnp.RootDevice
	d := xml.NewDecoder(io.LimitReader(resp.Body, maxDescription))
	d.DefaultSpace = goupnp.DeviceXMLNamespace
	if err := d.Decode(&root); err != nil {
		return fmt.Errorf("portmap: the router's description: %w", err)
	}
	base := at
	if root.URLBaseStr != "" {
		if base, err = url.Parse(root.URLBaseStr); err != nil {
			return fmt.Errorf("portmap: the router's description: %w", err)
		}
	}
	root.SetURLBase(base)
	for _, kind := range upnpServices {
		for _, s := range root.Device.FindService(kind) {
			if s.ControlURL.Ok && u.ofRouter(&s.ControlURL.URL) {
				u.service, u.soap = kind, soap.NewSOAPClient(s.ControlURL.URL)
				u.soap.HTTPClient = routerHTTP()
				return nil
			}
		}
	}
	return errNoService
}

func (u *upnp) call(ctx context.Context, action string, in, out any) error {
	ctx, cancel := context.WithTimeout(ctx, upnpCall)
	defer cancel()
	if err := u.soap.PerformActionCtx(ctx, u.service, action, in, out); err != nil {
		return fmt.Errorf("portmap: %s: %w", action, err)
	}
	return nil
}

// fault is the number of a router's refusal, 0 if err is none.
func fault(err error) int {
	var f *soap.SOAPFaultError
	if errors.As(err, &f) {
		return f.Detail.UPnPError.Errorcode
	}
	return 0
}

func (u *upnp) outside(ctx context.Context, _ uint16) (netip.Addr, error) {
	if err := u.find(ctx); err != nil {
		return netip.Addr{}, err
	}
	var out struct{ NewExternalIPAddress string }
	if err := u.call(ctx, "GetExternalIPAddress", &struct{}{}, &out); err != nil {
		return netip.Addr{}, err
	}
	ip, err := netip.ParseAddr(out.NewExternalIPAddress)
	if err != nil || !ip.Is4() {
		return netip.Addr{}, fmt.Errorf("portmap: the router says its outside address is %q", out.NewExternalIPAddress)
	}
	return ip, nil
}

// portArgs are the arguments of AddPortMapping, in the order of the service's
// description, which some routers insist on.
type portArgs struct {
	NewRemoteHost             string
	NewExternalPort           string
	NewProtocol               string
	NewInternalPort           string
	NewInternalClient         string
	NewEnabled                string
	NewPortMappingDescription string
	NewLeaseDuration          string
}

func (u *upnp) add(ctx context.Context, m Mapping) (Mapping, error) {
	ip, err := u.outside(ctx, 0)
	if err != nil {
		return m, err
	}
	// The router does not choose. Our own port is the likeliest to be free, then
	// a few above it.
	ports := []uint16{m.External.Port()}
	if ports[0] == 0 {
		ports = ports[:0]
		for i := range uint16(4) {
			if p := m.Internal + i*7; p >= 1024 {
				ports = append(ports, p)
			}
		}
	}
	life := lifetime
	for i := 0; i < len(ports); i++ {
		in := portArgs{
			NewExternalPort: strconv.Itoa(int(ports[i])), NewProtocol: "UDP",
			NewInternalPort: strconv.Itoa(int(m.Internal)), NewInternalClient: u.local.String(), NewEnabled: "1",
			NewPortMappingDescription: upnpText, NewLeaseDuration: strconv.Itoa(int(life / time.Second)),
		}
		err = u.call(ctx, "AddPortMapping", &in, &struct{}{})
		switch {
		case err == nil:
			m.External, m.Lifetime = netip.AddrPortFrom(ip, ports[i]), life
			return m, nil
		case fault(err) == upnpPermanent && life != 0:
			life = 0
			ports = slices.Insert(ports, i+1, ports[i])
		case fault(err) != upnpTaken:
			return m, fmt.Errorf("%w: %w", ErrRefused, err)
		}
	}
	return m, fmt.Errorf("%w: %w", ErrRefused, err)
}

func (u *upnp) remove(ctx context.Context, m Mapping) error {
	if u.soap == nil {
		return errNoService // nothing was ever mapped
	}
	in := struct{ NewRemoteHost, NewExternalPort, NewProtocol string }{"", strconv.Itoa(int(m.External.Port())), "UDP"}
	return u.call(ctx, "DeletePortMapping", &in, &struct{}{})
}
