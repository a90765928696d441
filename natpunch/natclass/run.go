package natclass

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"os"
	"time"
)

// Conn is what Run needs of a UDP socket; *net.UDPConn is one.
type Conn interface {
	ReadFromUDPAddrPort(b []byte) (int, netip.AddrPort, error)
	WriteToUDPAddrPort(b []byte, to netip.AddrPort) (int, error)
	SetReadDeadline(t time.Time) error
}

// Run asks until the discovery is done or ctx ends, which is seen within 100 ms.
// It reads everything that arrives at c and drops what is no answer. Errors of
// single datagrams are losses; only a closed socket, or the context, ends it
// early and is returned.
func (d *Discovery) Run(ctx context.Context, c Conn) error {
	start := time.Now()
	now := func() int64 { return time.Since(start).Microseconds() }
	buf := make([]byte, 2048)
	var request [256]byte
	for {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		b, to, wake := d.Poll(request[:0], now())
		if to.IsValid() {
			if _, err := c.WriteToUDPAddrPort(b, to); errors.Is(err, net.ErrClosed) {
				return err
			}
		}
		if wake == 0 {
			return nil
		}
		at := start.Add(time.Duration(wake) * time.Microsecond)
		if limit := time.Now().Add(100 * time.Millisecond); at.After(limit) {
			at = limit
		}
		if err := c.SetReadDeadline(at); err != nil {
			return err
		}
		n, from, err := c.ReadFromUDPAddrPort(buf)
		switch {
		case err == nil:
			d.Receive(buf[:n], netip.AddrPortFrom(from.Addr().Unmap(), from.Port()), now())
		case errors.Is(err, net.ErrClosed):
			return err
		case !errors.Is(err, os.ErrDeadlineExceeded):
			// An ICMP error about an earlier datagram; at worst every read
			// reports one, and the pause keeps that from spinning.
			time.Sleep(time.Millisecond)
		}
	}
}
