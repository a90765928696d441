package link

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"time"

	"github.com/pion/dtls/v3"
	"github.com/pion/dtls/v3/pkg/crypto/elliptic"
	"github.com/pion/logging"
)

const (
	// HandshakeLimit bounds one attempt. A forged datagram can spoil an
	// attempt, so the caller may agree with the opponent on a new one.
	HandshakeLimit = 3 * time.Second

	// flightInterval without backoff: at 5 % loss and 100 ms RTT the slowest
	// handshakes take a tenth of the time they take with the default second.
	flightInterval = 150 * time.Millisecond

	// replayWindow in records. At 120 records a second and two paths whose
	// delays differ by a second, an honest record is never older than this.
	replayWindow = 512

	// drainTime is how long Connect waits for the transport to be empty.
	drainTime = time.Millisecond

	// maxDatagram bounds the handshake flights; game packets are smaller.
	maxDatagram = 1200
)

// Config is what both sides agreed on before the handshake.
type Config struct {
	Server   bool   // the host is the server, the joiner the client; fixed
	PSK      []byte // 32 bytes; wiped as far as Go allows when Connect returns
	Identity []byte // `bs1-` and hex; both as identity and as hint

	// Now is the clock of the Transport and the match loop, in microseconds.
	Now func() int64
}

// Connect runs one DTLS handshake over the transport and returns the link.
// It fails with ErrHandshake when the time of ctx or HandshakeLimit is over;
// the transport then stays open for another attempt with a fresh copy of the
// key. After success the Link owns the reads of the transport.
func Connect(ctx context.Context, t Transport, c Config) (*Link, error) {
	defer clear(c.PSK)
	ctx, cancel := context.WithTimeout(ctx, HandshakeLimit)
	defer cancel()
	if err := drain(t); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrHandshake, err)
	}
	f := &filter{}
	under := &filtered{Transport: t, filter: f}
	conn, err := newConn(under, c)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrHandshake, err)
	}
	start := c.Now()
	if err := conn.HandshakeContext(ctx); err != nil {
		_ = conn.Close()
		return nil, fmt.Errorf("%w: %w", ErrHandshake, err)
	}
	state, ok := conn.ConnectionState()
	if !ok {
		_ = conn.Close()
		return nil, fmt.Errorf("%w: no connection state", ErrHandshake)
	}
	// The client is done when the server is. The server may have to answer a
	// repeated last flight, whose first records are epoch 0: it waits for the
	// first application data.
	f.done.Store(!c.Server)
	return newLink(conn, under, c.Now, state.CipherSuiteID.String(), c.Now()-start), nil
}

// drain throws away what an earlier attempt left in the transport. Its flights
// have the same message numbers as ours and would spoil the transcript.
func drain(t Transport) error {
	var b [maxDatagram]byte
	if err := t.SetReadDeadline(time.Now().Add(drainTime)); err != nil {
		return err
	}
	for {
		_, _, err := t.ReadFrom(b[:])
		var timeout net.Error
		if errors.As(err, &timeout) && timeout.Timeout() {
			return t.SetReadDeadline(time.Time{})
		}
		if err != nil {
			return err
		}
	}
}

func newConn(under net.PacketConn, c Config) (*dtls.Conn, error) {
	psk := func(identity []byte) ([]byte, error) {
		if !bytes.Equal(identity, c.Identity) { // public in the handshake, so not secret
			return nil, fmt.Errorf("%w: foreign identity", ErrHandshake)
		}
		return bytes.Clone(c.PSK), nil
	}
	shared := []dtls.Option{
		dtls.WithPSK(psk),
		dtls.WithPSKIdentityHint(c.Identity),
		dtls.WithCipherSuites(dtls.TLS_ECDHE_PSK_WITH_CHACHA20_POLY1305_SHA256),
		dtls.WithEllipticCurves(elliptic.X25519),
		dtls.WithExtendedMasterSecret(dtls.RequireExtendedMasterSecret),
		dtls.WithFlightInterval(flightInterval),
		dtls.WithDisableRetransmitBackoff(true),
		dtls.WithReplayProtectionWindow(replayWindow),
		dtls.WithMTU(maxDatagram),
		dtls.WithLoggerFactory(&logging.DefaultLoggerFactory{DefaultLogLevel: logging.LogLevelDisabled, Writer: io.Discard}),
	}
	peer := opponent{}
	if !c.Server {
		opts := make([]dtls.ClientOption, 0, len(shared))
		for _, o := range shared {
			opts = append(opts, o)
		}
		return dtls.ClientWithOptions(under, peer, opts...)
	}
	opts := make([]dtls.ServerOption, 0, len(shared)+1)
	for _, o := range shared {
		opts = append(opts, o)
	}
	// No HelloVerify round: datagrams reach us only through our relay channel
	// or from an address that passed an authenticated ICE check.
	opts = append(opts, dtls.WithInsecureSkipVerifyHello(true))
	return dtls.ServerWithOptions(under, peer, opts...)
}

// opponent is the constant address DTLS talks to; the Transport knows better.
type opponent struct{}

func (opponent) Network() string { return "backstep" }
func (opponent) String() string  { return "opponent" }
