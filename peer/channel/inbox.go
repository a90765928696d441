package channel

// incoming is a message that arrives.
type incoming struct {
	count uint8 // of fragments, 0 if none came
	got   uint16
	size  int // known once the last fragment came
}

func (s *incoming) complete() bool { return s.count > 0 && s.got == 1<<s.count-1 }

// inbox is the receiving side of a channel. What is kept for a message is its
// slot, allocated beforehand, whatever its fragments claim.
type inbox struct {
	row   *Row
	slots []incoming
	data  []byte // MaxMessage bytes for each slot
	// next is the number of the message to hand out next. A reliable channel
	// keeps messages next to next+Window-1; an unreliable one keeps its newest
	// in a ring of its own.
	next  uint16
	began bool // an unreliable channel: something came, next is behind the newest
	head  int  // of the ring
	kept  int  // in the ring
	full  int64
	stats Stats
}

func (in *inbox) init(row *Row) {
	in.row = row
	in.slots = make([]incoming, row.Window)
	in.data = make([]byte, row.Window*row.MaxMessage)
}

// check reports why an item of a parsed section cannot be taken.
func (in *inbox) check(it *Item) error {
	ahead := it.Number - in.next
	if !in.row.Reliable || ahead >= 1<<15 {
		return nil
	}
	if int(ahead) >= len(in.slots) {
		return ErrWindow
	}
	s := &in.slots[int(it.Number)%len(in.slots)]
	if s.count != 0 && s.count != it.Count {
		return ErrConflict
	}
	return nil
}

// put takes an item for which check returned nil.
func (in *inbox) put(it *Item) {
	if !in.row.Reliable {
		in.latest(it)
		return
	}
	p := int(it.Number) % len(in.slots)
	s := &in.slots[p]
	bit := uint16(1) << it.Index
	if it.Number-in.next >= 1<<15 || s.got&bit != 0 {
		in.stats.Duplicate++
		return
	}
	s.count = it.Count
	s.got |= bit
	from := int(it.Index) * Fragment
	copy(in.data[p*in.row.MaxMessage+from:], it.Payload)
	if it.Index == it.Count-1 {
		s.size = from + len(it.Payload)
	}
}

// latest takes an unreliable message unless a newer one came before it.
func (in *inbox) latest(it *Item) {
	if in.began && it.Number-in.next >= 1<<15 {
		in.stats.Late++
		return
	}
	in.began, in.next = true, it.Number+1
	if in.kept == len(in.slots) {
		in.head = (in.head + 1) % len(in.slots)
		in.kept--
		in.stats.Dropped++
	}
	p := (in.head + in.kept) % len(in.slots)
	in.slots[p] = incoming{size: copy(in.data[p*in.row.MaxMessage:], it.Payload)}
	in.kept++
}

// pop hands out the next message. It is valid until the next put.
func (in *inbox) pop(heard int64) (msg []byte, ok bool) {
	for {
		p := in.head
		if in.row.Reliable {
			p = int(in.next) % len(in.slots)
			if !in.slots[p].complete() {
				return nil, false
			}
			in.next++
		} else {
			if in.kept == 0 {
				return nil, false
			}
			in.head = (in.head + 1) % len(in.slots)
			in.kept--
		}
		size := in.slots[p].size
		in.slots[p] = incoming{}
		if in.floods(heard) {
			in.stats.Flooded++
			continue
		}
		in.stats.Received++
		return in.data[p*in.row.MaxMessage:][:size:size], true
	}
}

// floods reports whether messages come faster than the table allows. An honest
// sender's clock may be a quarter faster, and after an outage all that was on
// its way may come at once, so the bucket holds twice the window.
func (in *inbox) floods(heard int64) bool {
	step := int64(1_000_000) * 4 / (5 * int64(in.row.MaxHz))
	full := max(in.full, heard) + step
	if full-heard > 2*int64(in.row.Window)*step {
		return true
	}
	in.full = full
	return false
}
