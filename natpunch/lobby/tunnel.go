package lobby

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"time"

	"github.com/coder/websocket"

	"backstep/natpunch/rendezvous"
)

// tunnelBuffer is what the system may hold of a tunnel's outgoing bytes. What
// waits there cannot be dropped any more and only grows old, so it is small.
const tunnelBuffer = 16 << 10

// ErrTunnel means that the relay ended a tunnel, or sent what no tunnel carries.
var ErrTunnel = errors.New("lobby: the tunnel to the relay has ended")

// Tunnel carries relay frames over TCP where UDP is blocked: a WebSocket at
// rendezvous.TunnelPath, one frame a binary message. Send, Recv and Close may be
// called by different goroutines, Send and Recv by one each.
type Tunnel struct {
	ws    *websocket.Conn
	write time.Duration
	ctx   context.Context // ends with Close
	stop  context.CancelFunc
}

// DialTunnel opens a tunnel to the relay of this session: to the very address
// that the lobby is at, because only that relay knows the session. It does not
// register on it, and it works while the lobby lasts and after it. ctx bounds
// the opening only.
func (s *Session) DialTunnel(ctx context.Context) (*Tunnel, error) {
	cfg := *s.cfg
	dial := cfg.Dial
	cfg.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
		if s.RelayAddr.IsValid() {
			address = s.RelayAddr.String()
		}
		return dial(ctx, network, address)
	}
	ws, conn, err := dialWebSocket(ctx, &cfg, s.conn.scheme, s.Relay, rendezvous.TunnelPath)
	if err != nil {
		return nil, fmt.Errorf("tunnel: %w", err)
	}
	ws.SetReadLimit(rendezvous.MaxFrame)
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetWriteBuffer(tunnelBuffer) // a larger one is slower to notice congestion, not wrong
	}
	t := &Tunnel{ws: ws, write: cfg.timing.write}
	t.ctx, t.stop = context.WithCancel(context.Background())
	return t, nil
}

// Send writes one frame. It blocks while TCP does, a few seconds at most; any
// error is the end of the tunnel.
func (t *Tunnel) Send(frame []byte) error {
	ctx, cancel := context.WithTimeout(t.ctx, t.write)
	defer cancel()
	if err := t.ws.Write(ctx, websocket.MessageBinary, frame); err != nil {
		return fmt.Errorf("%w: %w", ErrTunnel, err)
	}
	return nil
}

// Recv waits for a frame and returns its length. b needs room for more than
// rendezvous.MaxFrame bytes. Any error is the end of the tunnel.
func (t *Tunnel) Recv(b []byte) (int, error) {
	kind, r, err := t.ws.Reader(t.ctx)
	if err != nil {
		return 0, fmt.Errorf("%w: %w", ErrTunnel, err)
	}
	if kind != websocket.MessageBinary {
		return 0, fmt.Errorf("%w: text where a frame was due", ErrTunnel)
	}
	n := 0
	for {
		k, err := r.Read(b[n:])
		n += k
		switch {
		case err == io.EOF:
			return n, nil
		case err != nil:
			return 0, fmt.Errorf("%w: %w", ErrTunnel, err)
		case n == len(b):
			return 0, fmt.Errorf("%w: a frame longer than %d bytes", ErrTunnel, len(b))
		}
	}
}

// Close ends the tunnel at once and wakes a blocked Send or Recv. Further calls
// do nothing.
func (t *Tunnel) Close() error {
	t.stop()
	return t.ws.CloseNow()
}
