package natpunch

import (
	"bytes"
	"context"
	"net"
	"net/netip"
	"testing"
	"time"

	"github.com/pion/dtls/v3"

	"backstep/natpunch/rendezvous"
)

// openPair opens two Paths on sockets of the given address through a relay on
// host.
func openPair(t *testing.T, host, address string) *match {
	t.Helper()
	m := &match{relay: startRelay(t, listenUDP, host, 0), lobby: newLobby(0)}
	for i := range m.p {
		conn, err := Listen(address)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(context.Background(), 3*time.Second)
		paths, err := Open(ctx, testConfig(rendezvous.Side(i), conn, m.relay.addr, m.lobby[i]))
		cancel()
		if err != nil {
			t.Fatal(err)
		}
		m.p[i] = &player{paths: paths}
		t.Cleanup(func() { paths.Close() })
	}
	return m
}

// TestFamilies: IPv6 alone, and one socket for both families as peers open it.
func TestFamilies(t *testing.T) {
	if c, err := net.ListenPacket("udp", "[::1]:0"); err != nil {
		t.Skip("no IPv6 here:", err)
	} else {
		c.Close()
	}
	for _, c := range []struct{ name, host, address string }{
		{"IPv6", "::1", "[::1]:0"}, {"both, relay on IPv4", "127.0.0.1", ":0"}, {"both, relay on IPv6", "::1", ":0"},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := openPair(t, c.host, c.address)
			m.play(t)
			m.direct(t)
			m.await(t, 3*time.Second, KindLAN)
		})
	}
}

// TestOtherFamily: a player who registered over IPv6 learns its IPv4 address
// too, because the opponent may have nothing else; one who hides asks nobody.
func TestOtherFamily(t *testing.T) {
	if c, err := net.ListenPacket("udp", "[::1]:0"); err != nil {
		t.Skip("no IPv6 here:", err)
	} else {
		c.Close()
	}
	six, four := startRelay(t, listenUDP, "::1", 0), startRelay(t, listenUDP, "127.0.0.1", 0)
	for _, hide := range []bool{true, false} { // in this order: one that does not hide goes on asking
		conn, err := Listen(":0")
		if err != nil {
			t.Fatal(err)
		}
		cfg := testConfig(0, conn, six.addr, nil)
		cfg.Relay, cfg.Hide = []netip.AddrPort{six.addr, four.addr}, hide
		before, _ := four.counts()
		p, err := Open(t.Context(), cfg)
		if err != nil {
			t.Fatal(err)
		}
		defer p.Close()
		var seen []netip.AddrPort
		for end := time.Now().Add(2 * time.Second); len(seen) == 0 && time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
			if hide {
				end = end.Add(-1800 * time.Millisecond)
			}
			p.mu.Lock()
			if p.second != nil {
				seen = p.second.addresses(netip.AddrPort{})
			}
			p.mu.Unlock()
		}
		want := netip.AddrPortFrom(netip.MustParseAddr("127.0.0.1"), localPort(p.LocalAddr()))
		after, _ := four.counts()
		if hide && (len(seen) > 0 || after != before) || !hide && (len(seen) != 1 || seen[0] != want) {
			t.Errorf("hide %v: %v after %d questions", hide, seen, after-before)
		}
		if hide {
			continue
		}
		p.mu.Lock()
		p.second.again(p.cfg.Clock())
		seen = p.second.addresses(netip.AddrPort{})
		p.mu.Unlock()
		if len(seen) != 1 {
			t.Error("what was known is forgotten while it is asked anew")
		}
	}
}

// TestDTLSOverPaths: pion/dtls takes a Paths as its socket, and a session that
// began over the relay survives the change to the direct path and back.
func TestDTLSOverPaths(t *testing.T) {
	m := openPair(t, "127.0.0.1", "127.0.0.1:0")
	psk := dtls.WithPSK(func([]byte) ([]byte, error) { return []byte("0123456789abcdef"), nil })
	hint := dtls.WithPSKIdentityHint([]byte("hint"))
	suite := dtls.WithCipherSuites(dtls.TLS_PSK_WITH_AES_128_GCM_SHA256)
	server, err := dtls.ServerWithOptions(m.p[0].paths, m.p[0].paths.Peer(), psk, hint, suite)
	if err != nil {
		t.Fatal(err)
	}
	client, err := dtls.ClientWithOptions(m.p[1].paths, m.p[1].paths.Peer(), psk, hint, suite)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	done := make(chan error, 1)
	go func() { done <- server.HandshakeContext(ctx) }()
	if err := client.HandshakeContext(ctx); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	_, relayed := m.relay.counts()
	if relayed == 0 {
		t.Error("the handshake did not go over the relay")
	}
	m.direct(t)
	deadline := time.Now().Add(3 * time.Second)
	for _, p := range m.p {
		for p.paths.directAddr.Load() == nil && time.Now().Before(deadline) {
			time.Sleep(time.Millisecond)
		}
	}
	buf := make([]byte, 100)
	for n, route := range []Mask{Relay, Direct, Relay, Direct} {
		m.p[1].paths.Select(route)
		want := []byte{byte(n), byte(route)}
		if _, err := client.Write(want); err != nil {
			t.Fatal(err)
		}
		_ = server.SetReadDeadline(time.Now().Add(3 * time.Second))
		got, err := server.Read(buf)
		if err != nil || !bytes.Equal(buf[:got], want) {
			t.Fatalf("over %v: %v %v", route, buf[:got], err)
		}
	}
	m.p[0].paths.Select(Direct)
	m.p[1].paths.Select(Direct)
	_ = client.Close()
	_ = server.Close()
}
