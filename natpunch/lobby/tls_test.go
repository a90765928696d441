package lobby_test

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"backstep/natpunch/lobby"
	"backstep/natpunch/rendezvous"
	"backstep/relay"
)

// certificate writes a key pair for relay.test and returns the pool that trusts it.
func certificate(t *testing.T) (cert, key string, roots *x509.CertPool) {
	t.Helper()
	priv, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), DNSNames: []string{"relay.test"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &priv.PublicKey, priv)
	if err != nil {
		t.Fatal(err)
	}
	keyDER, err := x509.MarshalECPrivateKey(priv)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	cert, key = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	for name, block := range map[string]*pem.Block{cert: {Type: "CERTIFICATE", Bytes: der}, key: {Type: "EC PRIVATE KEY", Bytes: keyDER}} {
		if err := os.WriteFile(name, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	roots = x509.NewCertPool()
	parsed, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	roots.AddCert(parsed)
	return cert, key, roots
}

// tap records what is written.
type tap struct {
	net.Conn
	mu  *sync.Mutex
	out *bytes.Buffer
}

func (c tap) Write(b []byte) (int, error) {
	c.mu.Lock()
	c.out.Write(b)
	c.mu.Unlock()
	return c.Conn.Write(b)
}

// TestTLS: a relay with a name and a certificate we trust is spoken to in TLS, one
// with a certificate we do not trust in clear, and both lead to a match, because
// nothing rests on TLS.
func TestTLS(t *testing.T) {
	cert, key, roots := certificate(t)
	addr := startRelay(t, relay.Config{TLSCert: cert, TLSKey: key})
	for _, c := range []struct {
		name  string
		roots *x509.CertPool
		clear bool
	}{{"trusted", roots, false}, {"not trusted", x509.NewCertPool(), true}} {
		t.Run(c.name, func(t *testing.T) {
			var mu sync.Mutex
			var wire bytes.Buffer
			cfg := lobby.Config{
				Relays: []string{"relay.test"}, TLS: &tls.Config{RootCAs: c.roots}, Token: "bearer-of-the-test",
				Dial: func(ctx context.Context, network, _ string) (net.Conn, error) {
					conn, err := new(net.Dialer).DialContext(ctx, network, addr)
					return tap{conn, &mu, &wire}, err
				},
			}
			ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
			defer cancel()
			codes, host := make(chan string, 1), make(chan hosted, 1)
			hostCfg := cfg
			hostCfg.OnCode = func(s string) { codes <- s }
			go func() {
				s, err := lobby.Host(ctx, hostCfg)
				host <- hosted{s, err}
			}()
			code, err := rendezvous.ParseCode(<-codes)
			if err != nil {
				t.Fatal(err)
			}
			j, err := lobby.Join(ctx, cfg, code)
			if err != nil {
				t.Fatal(err)
			}
			h := <-host
			if h.err != nil {
				t.Fatal(h.err)
			}
			j.Close()
			h.s.Close()
			mu.Lock()
			defer mu.Unlock()
			if got := bytes.Contains(wire.Bytes(), []byte("bearer-of-the-test")); got != c.clear {
				t.Errorf("request in clear: %v, want %v", got, c.clear)
			}
		})
	}
}
