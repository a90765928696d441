package probe

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"backstep/relay"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func start(t *testing.T, c relay.Config) string {
	t.Helper()
	if c.Listen == nil {
		c.Listen = []string{"127.0.0.1:0"}
	}
	if c.DrainLimit == 0 {
		c.DrainLimit = -1
	}
	s, err := relay.New(c)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		s.Close()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return s.Addrs()[0].String()
}

// expect probes and compares the status of every check named, and whether the relay counts as usable.
func expect(t *testing.T, c Config, usable bool, want map[string]Status, sentences ...string) *Report {
	t.Helper()
	if c.Wait == 0 {
		c.Wait = 3 * time.Second
	}
	r, err := Run(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	if err := r.WriteText(&text); err != nil {
		t.Fatal(err)
	}
	got := map[string]Status{}
	for _, c := range r.Checks {
		got[c.Name] = c.Status
		if !strings.HasSuffix(c.Text, ".") || strings.Contains(c.Text, "\n") {
			t.Errorf("not a sentence: %q", c.Text)
		}
	}
	for name, s := range want {
		if got[name] != s {
			t.Errorf("%s is %q, want %q", name, got[name], s)
		}
	}
	if r.Usable != usable {
		t.Errorf("usable: %v", r.Usable)
	}
	for _, s := range sentences {
		if !strings.Contains(text.String(), s) {
			t.Errorf("the text lacks %q", s)
		}
	}
	if t.Failed() {
		t.Log("\n" + text.String())
	}
	return r
}

var healthy = map[string]Status{"tcp": OK, "clock": OK, "lobby": OK, "endpoints": OK, "stun": OK, "register": OK, "forward": OK, "tunnel": OK}

func TestHealthyRelay(t *testing.T) {
	addr := start(t, relay.Config{})
	r := expect(t, Config{Address: addr}, true, healthy, "Players can use "+addr, "without a NAT", "10 of 10 arrived")
	var again Report
	b, err := json.Marshal(r)
	if err != nil || json.Unmarshal(b, &again) != nil || !again.Usable || again.Relay != addr || len(again.Checks) != len(r.Checks) {
		t.Fatalf("%s %v", b, err)
	}
	for _, c := range again.Checks {
		if c.Status == OK && c.Name != "endpoints" && c.Name != "clock" && (c.Millis == nil || *c.Millis <= 0) {
			t.Errorf("%s has no round trip: %s", c.Name, b)
		}
	}
	// It leaves room for itself.
	for range 3 {
		expect(t, Config{Address: addr}, true, healthy)
	}
}

// A wrong clock on either side is said and what it means; it keeps nobody from playing.
func TestClocks(t *testing.T) {
	addr := start(t, relay.Config{})
	for by, want := range map[time.Duration]string{
		10 * time.Minute: "relay's clock is 10 minutes behind this machine's", -10 * time.Minute: "10 minutes ahead of",
		25 * time.Hour: "25 hours behind", -72 * time.Hour: "3 days ahead of",
	} {
		expect(t, Config{Address: addr, Now: func() time.Time { return time.Now().Add(by) }}, true, map[string]Status{"clock": Note, "lobby": OK}, want, "NTP")
	}
}

func TestPrivateRelay(t *testing.T) {
	addr := start(t, relay.Config{Token: "s3cret"})
	expect(t, Config{Address: addr, Token: "s3cret"}, true, healthy)
	refused := map[string]Status{"tcp": OK, "lobby": Fail, "stun": OK, "register": Skip, "tunnel": Skip}
	expect(t, Config{Address: addr}, false, refused, "--relay-token")
	expect(t, Config{Address: addr, Token: "guess"}, false, refused, "does not accept this token")
}

func TestStunOnlyRelay(t *testing.T) {
	addr := start(t, relay.Config{StunOnly: true})
	expect(t, Config{Address: addr}, false, map[string]Status{"lobby": Fail, "stun": OK, "register": Skip}, "answers STUN only")
}

// A relay that sends players elsewhere: the probe follows, as they would, and finds nobody.
func TestWrongPublicAddress(t *testing.T) {
	silent, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	addr := start(t, relay.Config{PublicAddr: silent.LocalAddr().String()})
	expect(t, Config{Address: addr, Wait: 600 * time.Millisecond}, false,
		map[string]Status{"lobby": OK, "endpoints": Note, "stun": Fail, "tunnel": OK}, "Players cannot")
	addr = start(t, relay.Config{PublicAddr: "127.0.0.99"})
	expect(t, Config{Address: addr, Wait: 600 * time.Millisecond}, false,
		map[string]Status{"lobby": OK, "endpoints": Note, "stun": Fail, "register": Skip, "tunnel": OK}, "have the tunnel", "right only if both")
}

func TestNothingThere(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := l.Addr().String()
	l.Close()
	expect(t, Config{Address: addr, Wait: 300 * time.Millisecond}, false, map[string]Status{"tcp": Fail, "stun": Fail, "register": Skip}, "start the relay")
	expect(t, Config{Address: "no-such-host.invalid", Wait: 300 * time.Millisecond}, false, map[string]Status{"lookup": Fail}, "DNS")
}

func TestSomethingElse(t *testing.T) {
	web := httptest.NewServer(http.NotFoundHandler())
	defer web.Close()
	expect(t, Config{Address: strings.TrimPrefix(web.URL, "http://"), Wait: 300 * time.Millisecond}, false,
		map[string]Status{"tcp": OK, "clock": OK, "lobby": Fail}, "not a Backstep relay")
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			c.Write([]byte("SSH-2.0-x\r\n"))
			c.Close()
		}
	}()
	expect(t, Config{Address: l.Addr().String(), Wait: 300 * time.Millisecond}, false, map[string]Status{"clock": Skip, "lobby": Fail}, "does not answer as a relay does")
}

// What the probe is there to find on the UDP side, with a stand-in for the socket.
func TestForgeriesAreNoticed(t *testing.T) {
	echo, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	defer echo.Close()
	go func() {
		b := make([]byte, 2048)
		for {
			n, from, err := echo.ReadFromUDPAddrPort(b)
			if err != nil {
				return
			}
			echo.WriteToUDPAddrPort(b[:n], from)
		}
	}()
	p := &probe{Config: Config{Wait: time.Second}, ctx: t.Context(), session: new([2]sessionOfSide), udp: echo.LocalAddr().(*net.UDPAddr).AddrPort()}
	u, err := p.peer()
	if err != nil {
		t.Fatal(err)
	}
	defer u.c.Close()
	if what := p.forgeries(u); what != "a forged registration" {
		t.Fatal(what)
	}
	if _, problem := p.bind(u, &p.session[0]); !strings.Contains(problem, "does not answer a registration") {
		t.Fatal(problem)
	}
}

func TestTLS(t *testing.T) {
	dir := t.TempDir()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(90 * 24 * time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	keyDER, _ := x509.MarshalECPrivateKey(key)
	certFile, keyFile := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	os.WriteFile(certFile, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600)
	os.WriteFile(keyFile, pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: keyDER}), 0o600)
	addr := start(t, relay.Config{TLSCert: certFile, TLSKey: keyFile})
	want := map[string]Status{"tls": Note}
	for k, v := range healthy {
		want[k] = v
	}
	expect(t, Config{Address: addr}, true, want, "its certificate is not valid")
	pool := x509.NewCertPool()
	cert, _ := x509.ParseCertificate(der)
	pool.AddCert(cert)
	want["tls"] = OK
	expect(t, Config{Address: addr, TLS: &tls.Config{RootCAs: pool}}, true, want, "the certificate is valid until")
}

func TestAddresses(t *testing.T) {
	for in, want := range map[string]string{
		"relay.example": "relay.example:3478", "relay.example:5000": "relay.example:5000", "192.0.2.1": "192.0.2.1:3478",
		"[2001:db8::1]:99": "[2001:db8::1]:99", "2001:db8::1": "[2001:db8::1]:3478", "[2001:db8::1]": "[2001:db8::1]:3478",
	} {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		r, err := Run(ctx, Config{Address: in, Wait: time.Millisecond})
		if err != nil || r.Relay != want || r.Usable {
			t.Errorf("%s: %+v %v", in, r, err)
		}
	}
	for _, in := range []string{"", ":3478", "a:0", "a:70000", "a:b", "a:b:c", "http://relay", "a b"} {
		if _, err := Run(t.Context(), Config{Address: in}); !errors.Is(err, ErrAddress) {
			t.Errorf("%q: %v", in, err)
		}
	}
}
