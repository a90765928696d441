package relay

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net/netip"
	"sync/atomic"
	"time"

	"backstep/natpunch/rendezvous"

	"github.com/coder/websocket"
)

// tunnel is one side's way to the relay over TCP, for networks that block UDP: a WebSocket at /tunnel, one relay frame a binary
// message.
//
//	            REG, tag and counter right: ACK                DATA of the channel: forwarded
//	opened ---------------------------------------> bound --+  REG of the channel: ACK, bound again
//	   |  5 s, or anything else                       |  <--+  anything else: closed
//	   +------------------> closed <------------------+  60 s of silence, or a newer tunnel of the side
//
// A tunnel carries the one channel it was opened for. No cookie is needed: TCP proves the address. Everything else is as for
// a datagram: the same registration, the same binding rule (the newest of a side wins, over UDP or TCP), the same buckets.
// The handler's goroutine reads, one other writes; workers only put frames into the queue.
type tunnel struct {
	f       *forwarder
	ws      *websocket.Conn
	name    netip.AddrPort // stands for it in a session; port 0, which no datagram comes from
	remote  netip.AddrPort
	stats   *tunnelStats
	queue   *frameQueue
	kill    context.CancelFunc
	channel uint32
	bound   bool // has registered once
}

// tunnelStats counts what all tunnels did.
type tunnelStats struct {
	stats
	open  atomic.Int64
	names atomic.Uint64
}

// newName returns the address a tunnel goes by: in 100::/64, which is never routed (RFC 6666), with port 0.
func (s *tunnelStats) newName() netip.AddrPort {
	a := [16]byte{0: 1}
	binary.BigEndian.PutUint64(a[8:], s.names.Add(1))
	return netip.AddrPortFrom(netip.AddrFrom16(a), 0)
}

// send queues a frame. A full queue drops its oldest.
func (t *tunnel) send(b []byte, _ route, k kind) {
	t.stats.out(k, len(b))
	for range t.queue.push(b) {
		t.stats.drop(dropTunnelQueue)
	}
}

// replaced closes the tunnel if what took its side's place is another tunnel: the client has lost this one. After a move to UDP
// it stays, because the client may come back. It does not block.
func (t *tunnel) replaced(by outlet) {
	if _, ok := by.(*tunnel); ok {
		t.kill()
	}
}

// errTunnel ends a tunnel whose client does what no client does.
var errTunnel = errors.New("relay: not what a tunnel carries")

// read handles frames until the client is gone, is silent for too long or breaks a rule. first is how long it has to register,
// idle how long it may be silent afterwards.
func (t *tunnel) read(ctx context.Context, first, idle time.Duration) error {
	silence := time.AfterFunc(first, t.kill)
	defer silence.Stop()
	defer func() {
		if t.bound {
			t.f.table.unbind(t.channel, t.name)
		}
	}()
	var buf [rendezvous.MaxFrame + 1]byte
	for {
		kind, r, err := t.ws.Reader(ctx)
		if err != nil {
			return err
		}
		n, err := io.ReadFull(r, buf[:])
		if kind != websocket.MessageBinary || err == nil || n == 0 {
			return errTunnel
		}
		if err != io.ErrUnexpectedEOF && err != io.EOF {
			return err
		}
		if err := t.frame(ctx, buf[:n]); err != nil {
			return err
		}
		if t.bound {
			silence.Reset(idle)
		}
	}
}

// frame handles one frame, or returns an error if it ends the tunnel.
func (t *tunnel) frame(ctx context.Context, b []byte) error {
	now := t.f.clock.mono()
	var reply [replySpace]byte
	var v verdict
	switch b[0] {
	case rendezvous.FrameReg:
		t.stats.in(kindRegister, len(b))
		var r rendezvous.Reg
		if rendezvous.ParseReg(b, &r) != nil || t.bound && r.Channel != t.channel {
			t.stats.drop(dropTunnel)
			return errTunnel
		}
		if v.drop = t.f.refused(); v.drop == keep {
			v = t.f.register(now, route{via: t, addr: t.name}, t.remote, true, &t.stats.stats, b, &reply)
		}
		if v.drop == keep {
			t.bound, t.channel = true, r.Channel
		}
	case rendezvous.FrameData:
		t.stats.in(kindData, len(b))
		if !t.bound || len(b) < rendezvous.DataOverhead || binary.LittleEndian.Uint32(b[1:]) != t.channel {
			t.stats.drop(dropTunnel)
			return errTunnel
		}
		if v.drop = t.f.refused(); v.drop == keep {
			v = t.f.data(now, t.name, b)
		}
	default:
		t.stats.in(kindOther, len(b))
		t.stats.drop(dropTunnel)
		return errTunnel
	}
	if v.drop != keep {
		t.stats.drop(v.drop)
		if !t.bound {
			return errTunnel
		}
		if v.drop == dropDataPackets {
			t.rest(ctx)
		}
		return nil
	}
	v.to.via.send(v.out, v.to, v.kind)
	return nil
}

// rest lets TCP slow a client down that sends more than it may.
func (t *tunnel) rest(ctx context.Context) {
	select {
	case <-time.After(time.Duration(t.f.packets.step)):
	case <-ctx.Done():
	}
}

// write sends what is queued until ctx ends. A client that does not take a frame in time loses the tunnel.
func (t *tunnel) write(ctx context.Context, timeout time.Duration) {
	var buf [rendezvous.MaxFrame]byte
	late := time.AfterFunc(timeout, t.kill)
	defer late.Stop()
	for {
		late.Stop()
		select {
		case <-ctx.Done():
			return
		case <-t.queue.ready:
		}
		for n := t.queue.pop(buf[:]); n > 0; n = t.queue.pop(buf[:]) {
			late.Reset(timeout)
			if t.ws.Write(ctx, websocket.MessageBinary, buf[:n]) != nil {
				t.kill()
				return
			}
		}
	}
}
