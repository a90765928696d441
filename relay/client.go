package relay

import (
	"context"
	"io"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"github.com/coder/websocket"
)

// client is one lobby connection. Three goroutines serve it: the HTTP handler reads, one writes, one pings. Nothing the hub
// does to a client blocks: what does not fit into its queue costs the connection.
type client struct {
	ws      *websocket.Conn
	addr    netip.Addr
	source  netip.Prefix
	reached netip.AddrPort // the address of the relay this client used
	out     chan []byte

	fin     chan struct{} // closed: write what is queued, say goodbye, close
	finOnce sync.Once
	kill    func() // drops the connection at once; never blocks
	slow    *atomic.Uint64

	// Guarded by the hub's lock.
	lobby    *lobby // as host
	run      *run   // as joiner
	idle     int64  // since when it has no role, 0 if it has one
	finished bool   // nothing it says counts any more
	messages bucket
}

// enqueue queues a message, or closes the connection if it reads too slowly. It never blocks. b must not change afterwards.
func (c *client) enqueue(b []byte) {
	select {
	case c.out <- b:
	default:
		c.slow.Add(1)
		c.kill()
	}
}

func (c *client) finish() { c.finOnce.Do(func() { close(c.fin) }) }

// write sends what is queued until the connection is finished or ctx ends.
func (c *client) write(ctx context.Context, timeout time.Duration) {
	send := func(b []byte) bool {
		wctx, cancel := context.WithTimeout(ctx, timeout)
		defer cancel()
		return c.ws.Write(wctx, websocket.MessageBinary, b) == nil
	}
	for {
		select {
		case <-ctx.Done():
			return
		case b := <-c.out:
			if !send(b) {
				c.slow.Add(1)
				c.kill()
				return
			}
		case <-c.fin:
			for len(c.out) > 0 {
				if !send(<-c.out) {
					c.kill()
					return
				}
			}
			// Waits at most five seconds for the other's goodbye.
			c.ws.Close(websocket.StatusNormalClosure, "")
			c.kill()
			return
		}
	}
}

// ping closes the connection if an answer takes longer than the interval.
func (c *client) ping(ctx context.Context, interval time.Duration) {
	t := time.NewTicker(interval)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-c.fin:
			return
		case <-t.C:
		}
		pctx, cancel := context.WithTimeout(ctx, interval)
		err := c.ws.Ping(pctx)
		cancel()
		if err != nil {
			c.kill()
			return
		}
	}
}

// read returns the next message. From its first byte to its last it may take at most limit.
func (c *client) read(ctx context.Context, limit time.Duration) (kind websocket.MessageType, b []byte, err error) {
	kind, r, err := c.ws.Reader(ctx)
	if err != nil {
		return 0, nil, err
	}
	t := time.AfterFunc(limit, c.kill)
	defer t.Stop()
	b, err = io.ReadAll(r)
	return kind, b, err
}
