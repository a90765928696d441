package relay

import (
	"hash/maphash"
	"net/netip"
	"sync"
)

// sourceOf returns the network that limits are counted for: the /24 of an IPv4 address, the /56 of an IPv6 address.
func sourceOf(a netip.Addr) netip.Prefix {
	a = a.Unmap().WithZone("")
	bits := 56
	if a.Is4() {
		bits = 24
	}
	p, err := a.Prefix(bits)
	if err != nil {
		return netip.Prefix{}
	}
	return p
}

const (
	sourceSets = 2048
	sourceWays = 4
)

// sourceTable is a token bucket per source in constant memory: 2048 sets of four cells, 128 KB. A full set gives away the
// cell that is nearest to being full again, so a source can lose its debt only to sources with more of it. Safe for
// concurrent use; no allocation.
type sourceTable struct {
	mu   sync.Mutex
	seed maphash.Seed
	rate rate
	sets [sourceSets][sourceWays]sourceCell
}

type sourceCell struct {
	key uint64
	bucket
}

func newSourceTable(r rate) *sourceTable { return &sourceTable{seed: maphash.MakeSeed(), rate: r} }

func (t *sourceTable) cell(a netip.Addr) *sourceCell {
	var b [17]byte
	a = a.Unmap()
	if a.Is4() {
		v := a.As4()
		b[0] = 4
		copy(b[1:], v[:3])
	} else {
		v := a.As16()
		b[0] = 6
		copy(b[1:], v[:7])
	}
	key := maphash.Bytes(t.seed, b[:])
	set := &t.sets[key%sourceSets]
	least := &set[0]
	for i := range set {
		if set[i].key == key {
			return &set[i]
		}
		if set[i].full < least.full {
			least = &set[i]
		}
	}
	*least = sourceCell{key: key}
	return least
}

// take takes one unit of the source of a, if there is one.
func (t *sourceTable) take(now int64, a netip.Addr) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.cell(a).take(now, t.rate, 1)
}

// charge takes one unit of the source of a, whether or not there is one; the debt grows no further than one unit.
func (t *sourceTable) charge(now int64, a netip.Addr) {
	t.mu.Lock()
	defer t.mu.Unlock()
	c := t.cell(a)
	c.full = min(max(c.full, now)+t.rate.step, now+t.rate.burst+t.rate.step)
}

// wait returns for how many nanoseconds the source of a has nothing left, 0 if it has.
func (t *sourceTable) wait(now int64, a netip.Addr) int64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.cell(a).wait(now, t.rate, 1)
}
