package relay

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"backstep/natpunch/rendezvous"

	"github.com/coder/websocket"
	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
	"github.com/rs/zerolog"
)

func (r *running) get(t *testing.T, path string) (int, string) {
	t.Helper()
	return getFrom(t, r.Admin().String(), path)
}

func getFrom(t *testing.T, admin, path string) (int, string) {
	t.Helper()
	c := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: 5 * time.Second}
	resp, err := c.Get("http://" + admin + path)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(b)
}

func TestAdmin(t *testing.T) {
	r := start(t, Config{Admin: "127.0.0.1:0", Version: "v1.2.3", Limits: manyPeers})
	if code, body := r.get(t, "/healthz"); code != 200 || body != "ok\n" {
		t.Fatal(code, body)
	}
	if code, body := r.get(t, "/readyz"); code != 200 || body != "ready\n" {
		t.Fatal(code, body)
	}
	if code, _ := r.get(t, "/debug/pprof/"); code != 404 {
		t.Fatal("pprof is on without being asked for", code)
	}
	_, _, hs, js := meet(t, r)
	a, b := dialUDP(t, r.addr, "127.0.0.1"), dialUDP(t, r.addr, "127.0.0.1")
	a.bind(tokenOf(&hs))
	b.bind(tokenOf(&js))
	exchange(t, hs.Channel, a, b)
	r.silent(t, a, []byte{99}, dropUnknownType)
	code, body := r.get(t, "/metrics")
	if code != 200 {
		t.Fatal(code)
	}
	for _, want := range []string{
		`backstep_relay_info{goversion="`, `version="v1.2.3"`, "backstep_relay_serving 1\n",
		`backstep_relay_received_datagrams_total{kind="data"} 1` + "\n", `backstep_relay_sent_datagrams_total{kind="data"} 1` + "\n",
		`backstep_relay_dropped_datagrams_total{reason="unknown_type"} 1` + "\n", "backstep_relay_bound_sides_total 2\n",
		"backstep_relay_sessions 1\n", "backstep_relay_running_sessions 1\n", `backstep_relay_lobby_events_total{event="taken"} 1` + "\n",
		`backstep_relay_lobby_messages_total{type="share_b"} 1` + "\n", "backstep_relay_pairs 1\n", "go_goroutines ",
	} {
		if !strings.Contains(body, want) {
			t.Errorf("the metrics lack %q", want)
		}
	}
	if strings.Contains(body, r.addr.Addr().String()) {
		t.Error("an address is in the metrics")
	}
	problems, err := promlint.New(strings.NewReader(body)).Lint()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		if strings.HasPrefix(p.Metric, "backstep_") {
			t.Errorf("%s: %s", p.Metric, p.Text)
		}
	}
}

func TestPprofWhenAsked(t *testing.T) {
	r := start(t, Config{Admin: "127.0.0.1:0", Pprof: true})
	if code, _ := r.get(t, "/debug/pprof/"); code != 200 {
		t.Fatal(code)
	}
}

// A relay whose admin address is taken serves all the same.
func TestAdminTaken(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	var log lockedBuffer
	r := start(t, Config{Admin: l.Addr().String(), Log: zerolog.New(&log), Limits: manyPeers})
	if r.Admin().IsValid() {
		t.Fatal("two listeners on one port")
	}
	meet(t, r)
	if !strings.Contains(log.String(), `"level":"warn","event":"admin"`) {
		t.Fatal(log.String())
	}
}

// A public address nobody answers at makes a relay not ready, and says so.
func TestReadyzProbesPublicAddress(t *testing.T) {
	silent, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	r := start(t, Config{Admin: "127.0.0.1:0", PublicAddr: silent.LocalAddr().String()})
	if code, body := r.get(t, "/readyz"); code != 503 || !strings.Contains(body, "self-probe of "+silent.LocalAddr().String()) {
		t.Fatal(code, body)
	}
	if code, _ := r.get(t, "/healthz"); code != 200 {
		t.Fatal("not alive either")
	}
}

// Drain: not ready, waiting hosts are told, new ones refused with a time to wait, a running match goes on until it is over.
func TestDrain(t *testing.T) {
	r := startAt(t, Config{Admin: "127.0.0.1:0", DrainLimit: time.Hour, Limits: manyPeers})
	_, _, hs, js := meet(t, r)
	a, b := dialUDP(t, r.addr, "127.0.0.1"), dialUDP(t, r.addr, "127.0.0.1")
	a.bind(tokenOf(&hs))
	b.bind(tokenOf(&js))
	waiting := r.player(t)
	waiting.host(rendezvous.ResumeToken{})
	r.stop()
	if m := waiting.refused(rendezvous.CodeDraining); m.Retry == 0 {
		t.Fatal("no time to wait")
	}
	waiting.closed()
	if code, body := r.get(t, "/readyz"); code != 503 || !strings.Contains(body, "draining") {
		t.Fatal(code, body)
	}
	r.noEntry(t, rendezvous.CodeDraining)
	goesOn := func(when string) {
		t.Helper()
		select {
		case <-r.done:
			t.Fatal("stopped ", when)
		case <-time.After(2 * sweepEvery):
		}
	}
	for range 16 { // longer than a fresh pair counts
		r.time.advance(4 * time.Second)
		exchange(t, hs.Channel, a, b)
		exchange(t, hs.Channel, b, a)
	}
	goesOn("while a match was running")
	for range 5 {
		r.time.advance(4 * time.Second)
		exchange(t, hs.Channel, a, b)
	}
	goesOn("while one player waited for the other")
	r.time.advance(drainSilent + time.Second)
	select {
	case err := <-r.done:
		r.done <- err
	case <-time.After(patience):
		t.Fatal("still draining after the match is over")
	}
}

// The drain limit, and a forced end.
func TestDrainEnds(t *testing.T) {
	for name, end := range map[string]func(*running){
		"limit": func(r *running) { r.time.advance(time.Minute) },
		"force": func(r *running) { r.Close() },
	} {
		t.Run(name, func(t *testing.T) {
			r := startAt(t, Config{DrainLimit: time.Minute, Limits: Limits{SilentAfter: time.Hour}})
			host, _, _, _ := meet(t, r) // fresh pairs count as running
			r.stop()
			wait(t, "the drain", func() bool { return r.state.Load() == stateDraining })
			time.Sleep(sweepEvery + sweepEvery/2)
			if r.state.Load() != stateDraining {
				t.Fatal("stopped at once")
			}
			end(r)
			select {
			case err := <-r.done:
				r.done <- err
			case <-time.After(patience):
				t.Fatal("still running")
			}
			host.refused(rendezvous.CodeDraining)
			host.closed()
		})
	}
}

func TestRunTwice(t *testing.T) {
	r := start(t, Config{})
	if err := r.Run(context.Background()); err != ErrRunning {
		t.Fatal(err)
	}
	s, err := New(Config{Listen: []string{"127.0.0.1:0"}, Admin: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	s.Close()
	s.Close()
	if err := s.Run(context.Background()); err != ErrRunning {
		t.Fatal(err)
	}
	again, err := New(Config{Listen: []string{s.Addrs()[0].String()}, Admin: s.Admin().String()})
	if err != nil || !again.Admin().IsValid() {
		t.Fatal("the sockets of a relay that never ran were kept", err)
	}
	again.Close()
}

// Several listeners are one relay: the sides of a match may use different ones.
func TestTwoListeners(t *testing.T) {
	r := start(t, Config{Listen: []string{"127.0.0.1:0", "[::1]:0"}, Admin: "127.0.0.1:0"})
	if len(r.Addrs()) != 2 {
		t.Fatal(r.Addrs())
	}
	six, err := net.ListenUDP("udp6", &net.UDPAddr{IP: net.IPv6loopback})
	if err != nil {
		t.Skip("no IPv6 here")
	}
	defer six.Close()
	a, b := dialUDP(t, r.addr, "127.0.0.1"), &udpPeer{t: t, UDPConn: six, relay: r.Addrs()[1]}
	a.bind(r.token(rendezvous.SideHost, 6, 1))
	if ack := b.bind(r.token(rendezvous.SideJoin, 6, 1)); ack.Addr != b.addr() {
		t.Fatalf("%+v", ack)
	}
	exchange(t, 6, a, b)
	exchange(t, 6, b, a)
	id := [12]byte{6}
	b.send(appendStunRequest(nil, id, 128))
	if got := mappedOf(t, b.next(patience), id); got != b.addr() {
		t.Fatal(got)
	}
	if code, body := r.get(t, "/readyz"); code != 200 {
		t.Fatal(code, body)
	}
}

// A wildcard listener serves both families; what it sees of IPv4 is IPv4.
func TestWildcard(t *testing.T) {
	r := start(t, Config{Listen: []string{":0"}, Admin: "127.0.0.1:0"})
	r.addr = netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), r.addr.Port())
	_, _, hs, js := meet(t, r)
	if hs.Endpoints[0] != r.addr {
		t.Fatal(hs.Endpoints)
	}
	a, b := dialUDP(t, r.addr, "127.0.0.1"), dialUDP(t, r.addr, "127.0.0.1")
	if ack := a.bind(tokenOf(&hs)); ack.Addr != a.addr() {
		t.Fatal(ack.Addr)
	}
	b.bind(tokenOf(&js))
	exchange(t, hs.Channel, a, b)
	id := [12]byte{6}
	a.send(appendStunRequest(nil, id, 40))
	if got := mappedOf(t, a.next(patience), id); got != a.addr() {
		t.Fatal(got)
	}
	if code, body := r.get(t, "/readyz"); code != 200 {
		t.Fatal(code, body)
	}
}

// The port after one listener is only welcome: a second listener on it comes first.
func TestListenOnNeighbours(t *testing.T) {
	s, err := New(Config{Listen: []string{"127.0.0.1:0"}})
	if err != nil {
		t.Fatal(err)
	}
	port := s.Addrs()[0].Port()
	free := s.endpoints[0].next != nil
	s.Close()
	if !free {
		t.Skip("the next port was taken")
	}
	both := []string{fmt.Sprintf("127.0.0.1:%d", port), fmt.Sprintf("127.0.0.1:%d", port+1)}
	if s, err = New(Config{Listen: both}); err != nil {
		t.Fatal(err)
	}
	s.Close()
}

func writeCertificate(t *testing.T, dir, name string) *x509.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), DNSNames: []string{name}, NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	keyDER, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	for file, block := range map[string]*pem.Block{
		"cert.pem": {Type: "CERTIFICATE", Bytes: der}, "key.pem": {Type: "EC PRIVATE KEY", Bytes: keyDER},
	} {
		if err := os.WriteFile(filepath.Join(dir, file), pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return cert
}

// With a certificate one port speaks TLS and clear text; a renewed certificate is picked up, a broken one is not.
func TestTLS(t *testing.T) {
	dir := t.TempDir()
	first := writeCertificate(t, dir, "one.test")
	var log lockedBuffer
	r := startAt(t, Config{
		TLSCert: filepath.Join(dir, "cert.pem"), TLSKey: filepath.Join(dir, "key.pem"), Limits: manyPeers, Log: zerolog.New(&log),
	})
	connect := func(cert *x509.Certificate) error {
		pool := x509.NewCertPool()
		pool.AddCert(cert)
		client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true, TLSClientConfig: &tls.Config{RootCAs: pool}}}
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		ws, _, err := websocket.Dial(ctx, "wss://"+r.addr.String()+"/lobby", &websocket.DialOptions{HTTPClient: client})
		if err != nil {
			return err
		}
		defer ws.CloseNow()
		(&player{t, ws}).host(rendezvous.ResumeToken{})
		return nil
	}
	if err := connect(first); err != nil {
		t.Fatal(err)
	}
	meet(t, r) // ws:// on the same port

	second := writeCertificate(t, dir, "two.test")
	future := time.Now().Add(time.Minute)
	os.Chtimes(filepath.Join(dir, "cert.pem"), future, future)
	r.time.advance(time.Minute)
	if err := connect(second); err != nil {
		t.Fatal(err)
	}
	os.WriteFile(filepath.Join(dir, "cert.pem"), []byte("garbage"), 0o600)
	r.time.advance(time.Minute)
	if err := connect(second); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(log.String(), "certificate renewed") || !strings.Contains(log.String(), "does not load") {
		t.Fatal(log.String())
	}
	c := rawTCP(t, &running{Server: r.Server, addr: r.addr})
	c.Write([]byte{22, 3, 1, 0, 5, 1, 2, 3, 4, 5}) // a TLS record that is no handshake
	c.SetReadDeadline(time.Now().Add(patience))
	io.Copy(io.Discard, c)
	meet(t, r)
}

// Every line has an event of the fixed list; addresses are cut to their network; repeats are counted, not written.
func TestLog(t *testing.T) {
	var log lockedBuffer
	r := startAt(t, Config{Log: zerolog.New(&log), Limits: manyPeers, StateDir: filepath.Join(t.TempDir(), "x")})
	meet(t, r)
	for range linesPerMinute + 10 {
		r.player(t).host(rendezvous.ResumeToken{})
	}
	r.time.advance(2 * time.Minute)
	r.player(t).host(rendezvous.ResumeToken{})
	lines := strings.Split(strings.TrimSpace(log.String()), "\n")
	opened := 0
	skipped := false
	for _, line := range lines {
		var x map[string]any
		if err := json.Unmarshal([]byte(line), &x); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		if x["event"] == "" || x["event"] == nil {
			t.Errorf("no event in %s", line)
		}
		if x["event"] == string(evLobbyOpen) {
			opened++
			skipped = skipped || x["skipped"] == 11.0
			if x["host"] != "127.0.0.0/24" {
				t.Errorf("host %v", x["host"])
			}
		}
	}
	if opened != linesPerMinute+1 || !skipped {
		t.Fatalf("%d lines of %s, skipped said: %v\n%s", opened, evLobbyOpen, skipped, log.String())
	}
	if strings.Contains(log.String(), "127.0.0.1\"") {
		t.Fatal("a whole address in the log")
	}
}

// Peers that come and go leave no goroutine and no entry behind.
func TestNothingIsLeft(t *testing.T) {
	r := start(t, Config{Limits: manyPeers})
	for range 20 {
		host, join, _, _ := meet(t, r)
		host.ws.CloseNow()
		join.ws.CloseNow()
	}
	wait(t, "the connections to end", func() bool { g := r.hub.gauges(); return g == hubGauges{} && r.count.now() == 0 })
	h := r.hub
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.sources)+len(h.resumes)+len(h.channels) != 0 || len(h.lookups) != 20 {
		t.Fatalf("%d sources, %d tokens, %d channels, %d lookups", len(h.sources), len(h.resumes), len(h.channels), len(h.lookups))
	}
}
