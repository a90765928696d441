package relay

import (
	"net/netip"
	"sync"
)

// outlet sends frames to one kind of destination: a UDP port is one, a tunnel is one.
type outlet interface {
	// send sends b and counts it, or counts why not. It must not keep b and must not block.
	send(b []byte, to route, k kind)
}

// route is how to reach a sender: the outlet it came in by, its address, and which of the relay's own addresses it knows. The
// address names the sender: no two senders have the same. A tunnel's is one that no datagram can come from.
type route struct {
	via  outlet
	addr netip.AddrPort
	from netip.Addr // zero: the system picks
}

// side is one end of a session: the one sender it is bound to, when it was last heard and what it may still send.
type side struct {
	route          // via is nil: not bound
	heard   int64  // 0: never bound
	counter uint64 // of the last registration that counted; it outlives the binding
	packets bucket
	bytes   bucket
}

func (s *side) bound() bool { return s.via != nil }

// session is one forwarding channel. It exists from the first proven registration of either side until both have been
// silent for the idle time or the key has expired. It is guarded by the lock of its shard; below 1 KB with its map entry.
type session struct {
	lobby  [16]byte
	expiry uint32 // Unix seconds
	sides  [2]side
}

const tableShards = 64

// table holds the sessions by channel. Safe for concurrent use; each shard has its own lock, so that workers and the sweep
// seldom meet.
type table struct {
	shards [tableShards]shard
	most   int // sessions a shard may hold
}

type shard struct {
	mu sync.Mutex
	m  map[uint32]*session
	_  [40]byte
}

func newTable(most int) *table {
	t := &table{most: (most + tableShards - 1) / tableShards}
	for i := range t.shards {
		t.shards[i].m = make(map[uint32]*session)
	}
	return t
}

func (t *table) shard(channel uint32) *shard {
	// The top bits of a multiplicative hash (Knuth 6.4), so that any choice of channels spreads.
	return &t.shards[channel*2654435761>>26]
}

// has reports whether a session holds the channel.
func (t *table) has(channel uint32) bool {
	s := t.shard(channel)
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.m[channel] != nil
}

// sweep forgets sessions that expired or were silent for idle nanoseconds. It returns how many it forgot.
func (t *table) sweep(now int64, unix uint32, idle int64) (gone int) {
	for i := range t.shards {
		s := &t.shards[i]
		s.mu.Lock()
		for channel, x := range s.m {
			if x.expiry <= unix || now-max(x.sides[0].heard, x.sides[1].heard) > idle {
				delete(s.m, channel)
				gone++
			}
		}
		s.mu.Unlock()
	}
	return gone
}

// unbind ends the binding of a side to a sender that is gone.
func (t *table) unbind(channel uint32, addr netip.AddrPort) {
	s := t.shard(channel)
	s.mu.Lock()
	defer s.mu.Unlock()
	if x := s.m[channel]; x != nil {
		for i := range x.sides {
			if x.sides[i].bound() && x.sides[i].addr == addr {
				x.sides[i].route = route{}
			}
		}
	}
}

// count returns how many sessions there are, and in how many of them both sides were heard within silent nanoseconds.
func (t *table) count(now, silent int64) (sessions, running int) {
	for i := range t.shards {
		s := &t.shards[i]
		s.mu.Lock()
		sessions += len(s.m)
		s.mu.Unlock()
	}
	return sessions, t.running(now, silent, silent)
}

// running returns in how many sessions one side was heard within either nanoseconds and the other within both.
func (t *table) running(now, either, both int64) (n int) {
	for i := range t.shards {
		s := &t.shards[i]
		s.mu.Lock()
		for _, x := range s.m {
			a, b := &x.sides[0], &x.sides[1]
			if a.bound() && b.bound() && now-max(a.heard, b.heard) <= either && now-min(a.heard, b.heard) <= both {
				n++
			}
		}
		s.mu.Unlock()
	}
	return n
}
