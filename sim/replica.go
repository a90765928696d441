package sim

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// Replica is a copy of one fighter's 41 attributes, by Attribute, for a machine that does not simulate: the one shared component
// through which changes reach clients where a host decides (ATTR-06). Under rollback nobody needs it, since every machine
// simulates. The zero value is what a client has before the first delta, so a delta against it is a full update.
//
//	uvarint  bit a: attribute a changed
//	varint   for each set bit, lowest first: the new value less the old one, never 0
//
// Both numbers as encoding/binary writes them, in as few bytes as they go into. A fighter who changed nothing is one byte.
type Replica [Attributes]int32

// ErrDelta means that bytes are not the delta of attributes against the copy they were applied to.
var ErrDelta = errors.New("not a delta of attributes")

// Replica copies the attributes of the fighter.
func (f *Fighter) Replica() (r Replica) {
	for a := range r {
		r[a] = f.Attribute(Attribute(a))
	}
	return r
}

// AppendDelta appends what turns base into r. It allocates only if b has to grow: at most 6 bytes and 5 for each change.
func (r *Replica) AppendDelta(b []byte, base *Replica) []byte {
	changed := uint64(0)
	for a := range r {
		if r[a] != base[a] {
			changed |= 1 << a
		}
	}
	b = binary.AppendUvarint(b, changed)
	for a := range r {
		if r[a] != base[a] {
			b = binary.AppendVarint(b, int64(r[a])-int64(base[a]))
		}
	}
	return b
}

// Apply takes a delta off the front of b, calls notify (if there is one) for every attribute it changes, in their order, and
// gives the bytes behind it. At an error, which wraps ErrDelta, nothing was notified and r is as it was. It does not allocate.
func (r *Replica) Apply(b []byte, notify func(a Attribute, before, after int32)) (rest []byte, err error) {
	changed, n := binary.Uvarint(b)
	if n <= 0 || changed>>Attributes != 0 || n > 1 && b[n-1] == 0 {
		return nil, fmt.Errorf("%w: no set of attributes", ErrDelta)
	}
	b = b[n:]
	next := *r
	for a := range r {
		if changed>>a&1 == 0 {
			continue
		}
		by, n := binary.Varint(b)
		if n <= 0 || by == 0 || n > 1 && b[n-1] == 0 {
			return nil, fmt.Errorf("%w: no change of %s", ErrDelta, Attribute(a))
		}
		b = b[n:]
		v := int64(r[a]) + by
		if v != int64(int32(v)) {
			return nil, fmt.Errorf("%w: %s would be out of range", ErrDelta, Attribute(a))
		}
		next[a] = int32(v)
	}
	before := *r
	*r = next
	for a := range r {
		if notify != nil && before[a] != next[a] {
			notify(Attribute(a), before[a], next[a])
		}
	}
	return b, nil
}
