package portmap

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// igd is the HTTP half of a UPnP router on loopback.
type igd struct {
	service  string
	control  string                       // path or URL of the control address
	outside  string                       // what it says its address is
	refuse   func(port, lease string) int // a fault for AddPortMapping, 0 for none
	status   int
	mu       sync.Mutex
	actions  []string
	requests []string
}

func (g *igd) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /root.xml", func(w http.ResponseWriter, _ *http.Request) {
		if g.status != 0 {
			w.WriteHeader(g.status)
			return
		}
		fmt.Fprintf(w, `<?xml version="1.0"?><root xmlns="urn:schemas-upnp-org:device-1-0"><specVersion><major>1</major><minor>0</minor></specVersion>
<device><deviceType>urn:schemas-upnp-org:device:InternetGatewayDevice:1</deviceType><deviceList><device><deviceList><device>
<serviceList><service><serviceType>%s</serviceType><serviceId>urn:upnp-org:serviceId:WANIPConn1</serviceId>
<SCPDURL>/x.xml</SCPDURL><controlURL>%s</controlURL><eventSubURL>/e</eventSubURL></service></serviceList>
</device></deviceList></device></deviceList></device></root>`, g.service, g.control)
	})
	mux.HandleFunc("POST /ctl", func(w http.ResponseWriter, r *http.Request) {
		b := make([]byte, 8192)
		n, _ := r.Body.Read(b)
		body := string(b[:n])
		_, action, _ := strings.Cut(strings.Trim(r.Header.Get("SOAPAction"), `"`), "#")
		g.mu.Lock()
		g.actions = append(g.actions, action)
		g.requests = append(g.requests, body)
		g.mu.Unlock()
		inner := fmt.Sprintf(`<u:%sResponse xmlns:u="%s"></u:%sResponse>`, action, g.service, action)
		code := http.StatusOK
		switch action {
		case "GetExternalIPAddress":
			inner = fmt.Sprintf(`<u:%sResponse xmlns:u="%s"><NewExternalIPAddress>%s</NewExternalIPAddress></u:%sResponse>`, action, g.service, g.outside, action)
		case "AddPortMapping":
			if n := g.refuse(between(body, "NewExternalPort"), between(body, "NewLeaseDuration")); n != 0 {
				code = http.StatusInternalServerError
				inner = fmt.Sprintf(`<s:Fault><faultcode>s:Client</faultcode><faultstring>UPnPError</faultstring><detail><UPnPError xmlns="urn:schemas-upnp-org:control-1-0"><errorCode>%d</errorCode><errorDescription>no</errorDescription></UPnPError></detail></s:Fault>`, n)
			}
		}
		w.Header().Set("Content-Type", "text/xml")
		w.WriteHeader(code)
		fmt.Fprintf(w, `<?xml version="1.0"?><s:Envelope xmlns:s="http://schemas.xmlsoap.org/soap/envelope/" s:encodingStyle="http://schemas.xmlsoap.org/soap/encoding/"><s:Body>%s</s:Body></s:Envelope>`, inner)
	})
	return mux
}

func between(text, tag string) string {
	_, after, _ := strings.Cut(text, "<"+tag+">")
	value, _, _ := strings.Cut(after, "</"+tag+">")
	return value
}

const ip1 = "urn:schemas-upnp-org:service:WANIPConnection:1"

func never(string, string) int { return 0 }

func TestUPnP(t *testing.T) {
	for _, tt := range []struct {
		name  string
		g     *igd
		port  uint16 // outside, 0 if no mapping comes about
		lease time.Duration
		adds  int
		want  error
	}{
		{"version 1", &igd{service: ip1, control: "/ctl", outside: "50.0.0.1", refuse: never}, 40000, lifetime, 1, nil},
		{"version 2", &igd{service: upnpServices[0], control: "/ctl", outside: "50.0.0.1", refuse: never}, 40000, lifetime, 1, nil},
		{"PPP", &igd{service: upnpServices[2], control: "/ctl", outside: "50.0.0.1", refuse: never}, 40000, lifetime, 1, nil},
		{"permanent leases only", &igd{service: ip1, control: "/ctl", outside: "50.0.0.1", refuse: func(_, lease string) int {
			if lease != "0" {
				return upnpPermanent
			}
			return 0
		}}, 40000, 0, 2, nil},
		{"the port is taken", &igd{service: ip1, control: "/ctl", outside: "50.0.0.1", refuse: func(port, _ string) int {
			if port == "40000" {
				return upnpTaken
			}
			return 0
		}}, 40007, lifetime, 2, nil},
		{"all are taken", &igd{service: ip1, control: "/ctl", outside: "50.0.0.1", refuse: func(string, string) int { return upnpTaken }}, 0, 0, 4, ErrRefused},
		{"not allowed", &igd{service: ip1, control: "/ctl", outside: "50.0.0.1", refuse: func(string, string) int { return 606 }}, 0, 0, 1, ErrRefused},
		{"no service", &igd{service: "urn:schemas-upnp-org:service:Layer3Forwarding:1", control: "/ctl", outside: "50.0.0.1", refuse: never}, 0, 0, 0, errNoService},
		{"controlled elsewhere", &igd{service: ip1, control: "http://192.0.2.66/ctl", outside: "50.0.0.1", refuse: never}, 0, 0, 0, errNoService},
		{"an address that is none", &igd{service: ip1, control: "/ctl", outside: "none", refuse: never}, 0, 0, 0, nil},
		{"no description", &igd{service: ip1, status: 404, refuse: never}, 0, 0, 0, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			g := tt.g
			s := httptest.NewServer(g.handler())
			defer s.Close()
			u := &upnp{router: netip.MustParseAddr("127.0.0.1"), local: netip.MustParseAddr("127.0.0.1")}
			at, err := url.Parse(s.URL + "/root.xml")
			if err != nil {
				t.Fatal(err)
			}
			var m Mapping
			if err = u.describe(t.Context(), at); err == nil {
				m, err = u.add(t.Context(), Mapping{Internal: 40000})
			}
			if (err == nil) != (tt.port != 0) || tt.want != nil && !errors.Is(err, tt.want) {
				t.Fatalf("%+v, %v; want %v", m, err, tt.want)
			}
			adds := 0
			for i, a := range g.actions {
				if a == "AddPortMapping" {
					adds++
					if b := g.requests[i]; between(b, "NewInternalClient") != "127.0.0.1" || between(b, "NewInternalPort") != "40000" || between(b, "NewProtocol") != "UDP" || between(b, "NewEnabled") != "1" {
						t.Errorf("asked %s", b)
					}
				}
			}
			if adds != tt.adds {
				t.Errorf("%d requests for a mapping, want %d", adds, tt.adds)
			}
			if err != nil {
				return
			}
			if m.External != netip.AddrPortFrom(netip.MustParseAddr("50.0.0.1"), tt.port) || m.Lifetime != tt.lease {
				t.Errorf("mapped %+v", m)
			}
			if err := u.remove(t.Context(), m); err != nil || !slices.Contains(g.actions, "DeletePortMapping") {
				t.Errorf("taken back: %v, %v", err, g.actions)
			}
		})
	}
}

// What another machine says, or a router that points elsewhere, is not followed.
func TestUPnPOfTheRouterOnly(t *testing.T) {
	u := &upnp{router: netip.MustParseAddr("192.168.1.1")}
	for at, want := range map[string]bool{
		"http://192.168.1.1:5000/root.xml": true, "http://192.168.1.1/": true,
		"http://192.168.1.2:5000/root.xml": false, "http://router.lan/": false, "https://192.168.1.1/": false, "file:///etc/passwd": false, "http://192.168.1.1@192.0.2.1/": false,
	} {
		l, err := url.Parse(at)
		if err != nil {
			t.Fatal(err)
		}
		if u.ofRouter(l) != want {
			t.Errorf("%s: %v", at, !want)
		}
	}
}
