package relay

import (
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"time"

	"github.com/rs/zerolog"
)

// certificate is a key pair on disk that is read again, at most once a minute, when a handshake needs it and a file has
// changed. A pair that does not load leaves the old one in use.
type certificate struct {
	cert, key string
	log       *events
	now       func() time.Time

	mu     sync.Mutex
	pair   *tls.Certificate
	stamp  [2]time.Time
	looked time.Time
}

func loadCertificate(set *settings, log *events) (*certificate, error) {
	c := &certificate{cert: set.TLSCert, key: set.TLSKey, log: log, now: set.Now}
	c.looked = c.now()
	c.stamp = c.stamps()
	pair, err := tls.LoadX509KeyPair(c.cert, c.key)
	if err != nil {
		return nil, fmt.Errorf("%w: the TLS certificate %s with key %s does not load: %w", ErrConfig, c.cert, c.key, err)
	}
	c.pair = &pair
	return c, nil
}

func (c *certificate) stamps() (out [2]time.Time) {
	for i, name := range [2]string{c.cert, c.key} {
		if info, err := os.Stat(name); err == nil {
			out[i] = info.ModTime()
		}
	}
	return out
}

func (c *certificate) get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if now := c.now(); now.Sub(c.looked) >= time.Minute {
		c.looked = now
		if s := c.stamps(); s != c.stamp {
			pair, err := tls.LoadX509KeyPair(c.cert, c.key)
			if err != nil {
				c.log.at(zerolog.ErrorLevel, evTLS).Err(err).Msg("the renewed certificate does not load, the old one stays in use")
				return c.pair, nil
			}
			c.pair, c.stamp = &pair, s
			c.log.at(zerolog.InfoLevel, evTLS).Msg("certificate renewed")
		}
	}
	return c.pair, nil
}

func (c *certificate) config() *tls.Config {
	return &tls.Config{GetCertificate: c.get, MinVersion: tls.VersionTLS12, NextProtos: []string{"http/1.1"}}
}

// eitherConn speaks TLS if the first byte is that of a TLS handshake record, clear text otherwise, so that one port serves
// ws:// and wss://. The server reads first in both, so nothing is written before it is known which. Deadlines of the
// connection bound the handshake too. Read and Write are for one goroutine each.
type eitherConn struct {
	net.Conn
	config *tls.Config
	once   sync.Once
	inner  net.Conn
	err    error
}

const tlsHandshakeRecord = 22

func (c *eitherConn) start() {
	var b [1]byte
	if _, c.err = io.ReadFull(c.Conn, b[:]); c.err != nil {
		return
	}
	replay := &replayConn{Conn: c.Conn, first: b[:]}
	c.inner = replay
	if b[0] == tlsHandshakeRecord {
		c.inner = tls.Server(replay, c.config)
	}
}

func (c *eitherConn) Read(p []byte) (int, error) {
	if c.once.Do(c.start); c.err != nil {
		return 0, c.err
	}
	return c.inner.Read(p)
}

func (c *eitherConn) Write(p []byte) (int, error) {
	if c.once.Do(c.start); c.err != nil {
		return 0, c.err
	}
	return c.inner.Write(p)
}

type replayConn struct {
	net.Conn
	first []byte
}

func (c *replayConn) Read(p []byte) (int, error) {
	if len(c.first) > 0 && len(p) > 0 {
		n := copy(p, c.first)
		c.first = c.first[n:]
		return n, nil
	}
	return c.Conn.Read(p)
}
