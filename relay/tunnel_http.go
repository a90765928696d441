package relay

import (
	"context"
	"net"
	"net/http"

	"github.com/coder/websocket"
)

// tunnelBuffer is what the system may hold of a tunnel's outgoing bytes. What waits there cannot be dropped any more and only
// grows old, so it is small.
const tunnelBuffer = 16 << 10

// serveTunnel is one tunnel from request to end. Draining relays take tunnels: a running match may need one.
func (s *Server) serveTunnel(w http.ResponseWriter, r *http.Request) {
	h := s.hub
	conn, source, ok := s.welcome(w, r)
	if !ok {
		return
	}
	defer s.conns.Done()
	if why := s.fwd.refused(); why != keep {
		http.Error(w, "This relay answers STUN only.", http.StatusServiceUnavailable)
		return
	}
	if !h.admitTunnel(source) {
		h.count.crowded.Add(1)
		w.Header().Set("Retry-After", "10")
		http.Error(w, "Your network has too many tunnels to this relay.", http.StatusTooManyRequests)
		return
	}
	defer h.dismissTunnel(source)
	ctx, cancel := context.WithCancel(s.ctx)
	defer cancel()
	ws, err := websocket.Accept(w, r, s.calm(cancel))
	if err != nil {
		return
	}
	defer ws.CloseNow()
	if t := tcpOf(conn.conn); t != nil {
		t.SetWriteBuffer(tunnelBuffer)
	}
	t := &tunnel{
		f: s.fwd, ws: ws, name: s.tunnels.newName(), remote: conn.remote, stats: &s.tunnels, queue: newFrameQueue(), kill: cancel,
	}
	s.tunnels.open.Add(1)
	defer s.tunnels.open.Add(-1)
	s.conns.Go(func() { t.write(ctx, s.set.Limits.WriteTimeout) })
	if t.read(ctx, s.set.Limits.HeaderTimeout, s.set.Limits.TunnelIdle) == errTunnel {
		ws.Close(websocket.StatusPolicyViolation, "")
	}
}

// tcpOf returns the TCP connection under the layers of this package, or nil.
func tcpOf(c net.Conn) *net.TCPConn {
	for {
		switch x := c.(type) {
		case *net.TCPConn:
			return x
		case *countedConn:
			c = x.Conn
		case *eitherConn:
			c = x.Conn
		default:
			return nil
		}
	}
}
