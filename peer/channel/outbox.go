package channel

import "math/bits"

// rateSlack is by how much a message may be early, in µs, because the one before
// it was late: a tick at 60 Hz, on which packets leave.
const rateSlack = 16_667

// outgoing is a message on its way.
type outgoing struct {
	size  int
	count uint8
	// Sets of fragments, a bit each. A fragment that is in none of them was
	// never sent. One that is lost leaves flying and is in again.
	acked, flying, again uint16
	at                   [maxFragments]int64  // when it was sent last
	tag                  [maxFragments]uint32 // in which section
	tries                [maxFragments]uint8  // times it was overdue
}

// outbox is the sending side of a channel: a ring of messages in order, of
// which the first are begun and the others wait for their turn.
//
//	first              first+begun            first+kept
//	  | begun: fragments   | waiting: rate, room   | free, up to Window
//	  +--------------------+-----------------------+---------
type outbox struct {
	row    *Row
	slots  []outgoing
	data   []byte // MaxMessage bytes for each slot
	first  uint16 // number of the oldest message kept
	kept   int
	begun  int
	due    int64 // when the next may begin
	served int64 // when the channel last got into a section, or had nothing to send; 0: not looked at yet
	stats  Stats
}

func (o *outbox) init(row *Row) {
	o.row = row
	o.slots = make([]outgoing, row.Window)
	o.data = make([]byte, row.Window*row.MaxMessage)
}

// place is the ring index of the i-th message kept.
func (o *outbox) place(i int) int { return int(o.first+uint16(i)) % len(o.slots) }

// push takes a message. If there is no room, a reliable channel refuses it and
// an unreliable one gives up its oldest.
func (o *outbox) push(msg []byte) error {
	if o.kept == len(o.slots) {
		if o.row.Reliable {
			o.stats.Refused++
			return ErrFull
		}
		o.stats.Dropped++
		o.pop()
	}
	if o.kept == 0 {
		o.served = 0
	}
	p := o.place(o.kept)
	o.slots[p] = outgoing{size: len(msg), count: uint8((len(msg) + Fragment - 1) / Fragment)}
	copy(o.data[p*o.row.MaxMessage:], msg)
	o.kept++
	o.stats.Accepted++
	return nil
}

func (o *outbox) pop() {
	o.first++
	o.kept--
	o.begun = max(o.begun-1, 0)
}

func (s *outgoing) all() uint16 { return uint16(1<<s.count - 1) }

// next finds the fragment that is to be sent next: of those sent before if
// again is set, else of the others. Fragments whose acknowledgement is overdue
// count as lost from now on.
func (o *outbox) next(now int64, again bool, timeout int64) (msg, fragment int, ok bool) {
	for i := range o.begun {
		s := &o.slots[o.place(i)]
		for open := s.all() &^ s.acked; open != 0; open &= open - 1 {
			f := bits.TrailingZeros16(open)
			bit := uint16(1) << f
			if s.flying&bit != 0 {
				if now-s.at[f] < min(timeout<<min(s.tries[f], maxBackoff), maxTimeout) {
					continue
				}
				s.flying &^= bit
				s.again |= bit
				s.tries[f] = min(s.tries[f]+1, maxBackoff)
				o.stats.Overdue++
			}
			if (s.again&bit != 0) == again {
				return i, f, true
			}
		}
	}
	if !again && o.begun < o.kept && now >= o.due {
		return o.begun, 0, true
	}
	return 0, 0, false
}

// item is the fragment as it goes into a section.
func (o *outbox) item(ch ID, msg, fragment int) Item {
	p := o.place(msg)
	s := &o.slots[p]
	from := fragment * Fragment
	body := o.data[p*o.row.MaxMessage:][from:min(from+Fragment, s.size)]
	return Item{Channel: ch, Number: o.first + uint16(msg), Index: uint8(fragment), Count: s.count, Payload: body}
}

// sent records that the fragment went into the section tag.
func (o *outbox) sent(now int64, msg, fragment int, tag uint32) {
	if msg == o.begun {
		period := int64(1_000_000) / int64(o.row.MaxHz)
		o.due = max(o.due, now-rateSlack) + period
		o.begun++
		o.stats.Begun++
	}
	if !o.row.Reliable {
		o.pop()
		return
	}
	s, bit := &o.slots[o.place(msg)], uint16(1)<<fragment
	if s.again&bit != 0 {
		o.stats.Resent++
		s.again &^= bit
	}
	s.flying |= bit
	s.at[fragment], s.tag[fragment] = now, tag
}

// find is the message with a number, nil if it is not begun or done with.
func (o *outbox) find(number uint16) *outgoing {
	i := number - o.first
	if !o.row.Reliable || int(i) >= o.begun {
		return nil
	}
	return &o.slots[o.place(int(i))]
}

// delivered records that a fragment arrived, and lets go of what is complete.
func (o *outbox) delivered(number uint16, fragment uint8) {
	s := o.find(number)
	if s == nil {
		return
	}
	s.acked |= 1 << fragment
	for o.begun > 0 {
		s := &o.slots[o.place(0)]
		if s.acked != s.all() {
			return
		}
		o.stats.Delivered++
		o.pop()
	}
}

// lost records that the section tag, which carried the fragment, did not arrive.
func (o *outbox) lost(number uint16, fragment uint8, tag uint32) {
	s, bit := o.find(number), uint16(1)<<fragment
	if s == nil || s.acked&bit != 0 || s.flying&bit == 0 || s.tag[fragment] != tag {
		return
	}
	s.flying &^= bit
	s.again |= bit
	o.stats.Lost++
}
