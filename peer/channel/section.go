package channel

import (
	"encoding/binary"

	"backstep/rollback"
)

const (
	// MaxSection is the greatest length of a section in bytes.
	MaxSection = rollback.MaxSection
	// MaxItems is the greatest number of items in a section.
	MaxItems = 16

	headChannel  = 7
	headFragment = 1 << 3
	headMore     = 1 << 4
	headKnown    = headChannel | headFragment | headMore

	itemHeader = 1 + 2
)

// Item is one message or fragment in a section.
type Item struct {
	Channel ID
	Number  uint16 // of the message
	Index   uint8  // of the fragment
	Count   uint8  // of fragments the message has, 1 if it travels whole
	Payload []byte
}

// size is the item's length in a section if it is the last.
func (it *Item) size() int {
	n := itemHeader + len(it.Payload)
	if it.Count > 1 {
		n++
	}
	return n
}

// valid reports whether a sender can make the item.
func (it *Item) valid() bool {
	if !it.Channel.guest() || it.Count == 0 || it.Index >= it.Count || len(it.Payload) == 0 || len(it.Payload) > Fragment {
		return false
	}
	row := &table[it.Channel]
	last := it.Index == it.Count-1
	return int(it.Count) <= row.fragments() && (last || len(it.Payload) == Fragment) &&
		int(it.Index)*Fragment+len(it.Payload) <= row.MaxMessage
}

// AppendSection appends items to b as one section. They must be items that
// [ParseSection] would return.
func AppendSection(b []byte, items []Item) []byte {
	for i := range items {
		it := &items[i]
		head := byte(it.Channel)
		if it.Count > 1 {
			head |= headFragment
		}
		if i < len(items)-1 {
			head |= headMore
		}
		b = binary.LittleEndian.AppendUint16(append(b, head), it.Number)
		if it.Count > 1 {
			b = append(b, it.Index|(it.Count-1)<<4)
		}
		if i < len(items)-1 {
			b = append(b, byte(len(it.Payload)-1))
		}
		b = append(b, it.Payload...)
	}
	return b
}

// ParseSection reads the section that fills b into items and returns those
// that it used. Payloads are slices of b. It accepts exactly what a sender can
// make; everything else is ErrSection. It does not allocate.
func ParseSection(b []byte, items *[MaxItems]Item) ([]Item, error) {
	if len(b) > MaxSection {
		return nil, ErrSection
	}
	for n := range items {
		it := &items[n]
		var more, ok bool
		if b, more, ok = it.parse(b); !ok || !it.valid() || contradicts(items[:n], it) {
			return nil, ErrSection
		}
		if !more {
			return items[:n+1], nil
		}
	}
	return nil, ErrSection
}

// parse reads one item and returns what is behind it.
func (it *Item) parse(b []byte) (rest []byte, more, ok bool) {
	if len(b) < itemHeader || b[0]&^headKnown != 0 {
		return nil, false, false
	}
	head := b[0]
	*it = Item{Channel: ID(head & headChannel), Number: binary.LittleEndian.Uint16(b[1:]), Count: 1}
	b = b[itemHeader:]
	if head&headFragment != 0 {
		if len(b) == 0 || b[0]>>4 == 0 {
			return nil, false, false
		}
		it.Index, it.Count = b[0]&15, b[0]>>4+1
		b = b[1:]
	}
	if head&headMore == 0 {
		it.Payload = b
		return nil, false, true
	}
	if len(b) == 0 || len(b) < 1+int(b[0])+1 {
		return nil, false, false
	}
	n := 1 + int(b[0]) + 1
	it.Payload = b[1:n:n]
	return b[n:], true, true
}

// contradicts reports whether it cannot be in a section with those before it:
// it is one of them again, or of the same message with another length.
func contradicts(before []Item, it *Item) bool {
	for i := range before {
		o := &before[i]
		if o.Channel == it.Channel && o.Number == it.Number && (o.Index == it.Index || o.Count != it.Count) {
			return true
		}
	}
	return false
}
