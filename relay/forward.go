package relay

import (
	"encoding/binary"
	"net/netip"
	"sync/atomic"

	"backstep/natpunch/rendezvous"
)

// forwarder decides about datagrams. It is shared by all sockets; what it owns is safe for concurrent use.
type forwarder struct {
	refuse   atomic.Uint32 // the reason why nothing but STUN is served, or keep
	secret   secret
	table    *table
	cookies  cookies
	stunRate *sourceTable
	chalRate *sourceTable
	packets  rate
	bytes    rate
	silent   int64
	clock    *clock
	onPanic  func(v any)
	onBind   func(channel uint32, src netip.AddrPort, moved bool)
}

func newForwarder(set *settings, sec secret, c *clock) *forwarder {
	l := &set.Limits
	f := &forwarder{
		secret:   sec,
		table:    newTable(l.MaxSessions),
		stunRate: newSourceTable(perSecond(l.UnprovenAnswers, 2)),
		chalRate: newSourceTable(perSecond(l.UnprovenAnswers, 2)),
		packets:  perSecond(l.PacketsPerSec, 1),
		bytes:    perSecond(l.BytesPerSec, 1),
		silent:   int64(l.SilentAfter),
		clock:    c,
		onPanic:  func(any) {},
		onBind:   func(uint32, netip.AddrPort, bool) {},
	}
	if set.StunOnly {
		f.refuse.Store(uint32(dropStunOnly))
	}
	return f
}

// refused returns why relay frames are not served now, or keep.
func (f *forwarder) refused() reason { return reason(f.refuse.Load()) }

// verdict is what becomes of a datagram: bytes to send on a route, or a reason to drop it.
type verdict struct {
	out  []byte
	to   route
	kind kind
	drop reason
}

// data decides about a data frame: source bound to one side, other side bound and heard within the silent time, size, token
// buckets, in this order. The bytes are passed on unchanged. It allocates nothing.
func (f *forwarder) data(now int64, src netip.AddrPort, b []byte) verdict {
	if len(b) < rendezvous.DataOverhead {
		return verdict{drop: dropDataSize}
	}
	channel := binary.LittleEndian.Uint32(b[1:])
	sh := f.table.shard(channel)
	sh.mu.Lock()
	defer sh.mu.Unlock()
	x := sh.m[channel]
	if x == nil {
		return verdict{drop: dropDataChannel}
	}
	var from, to *side
	switch src {
	case x.sides[0].addr:
		from, to = &x.sides[0], &x.sides[1]
	case x.sides[1].addr:
		from, to = &x.sides[1], &x.sides[0]
	default:
		return verdict{drop: dropDataSource}
	}
	if x.expiry <= f.clock.unix(now) {
		return verdict{drop: dropDataExpired}
	}
	from.heard = now
	switch {
	case !to.bound():
		return verdict{drop: dropDataUnbound}
	case now-to.heard > f.silent:
		return verdict{drop: dropDataSilent}
	case len(b) == rendezvous.DataOverhead || len(b) > rendezvous.MaxFrame:
		return verdict{drop: dropDataSize}
	case from.packets.wait(now, f.packets, 1) > 0:
		return verdict{drop: dropDataPackets}
	case !from.bytes.take(now, f.bytes, len(b)):
		return verdict{drop: dropDataBytes}
	}
	from.packets.take(now, f.packets, 1)
	return verdict{out: b, to: to.route, kind: kindData}
}
