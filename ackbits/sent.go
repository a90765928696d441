package ackbits

import "math/bits"

const (
	// Remembered is how many packets back the sending time and tag are kept: at
	// 120 packets a second, more than eight seconds.
	Remembered = 1024

	// lostAfter is how many later packets must be acknowledged before a packet
	// counts as lost, so that reordering by two places does not look like loss.
	lostAfter = 3
)

type sentPacket struct{ at, tag int64 }

// Sent is the sender's record: what was sent when, what was delivered, what was
// lost, and how long it took. The zero value has sent nothing and begins with
// sequence 0.
type Sent struct {
	ring  [Remembered]sentPacket
	next  int64  // unwrapped number of the next packet
	acks  int64  // newest acknowledged + 1; 0 if none
	acked uint64 // bit i: packet acks-1-i is acknowledged
	todo  int64  // the oldest packet whose fate is open

	loss  Loss
	rtt   RTT
	stats SentStats

	gaveUp func(seq Seq, tag int64)
}

// SentStats are the counts of a [Sent] since its start.
type SentStats struct {
	Sent       uint64 // packets pushed
	Delivered  uint64 // packets acknowledged, late ones included
	Lost       uint64 // packets reported missing; a late acknowledgement takes one off
	Unreported uint64 // packets no acknowledgement ever spoke of: fate unknown
	Late       uint64 // packets acknowledged after they had counted as lost
	BadAcks    uint64 // acknowledgements of packets never sent
	OldAcks    uint64 // acknowledgements with nothing inside the newest 33
	BadDelays  uint64 // carried delays that are negative or exceed the round trip
}

// NeverAcked is the number of packets that were given up: lost or unreported.
func (s SentStats) NeverAcked() uint64 { return s.Lost + s.Unreported }

// Outcome is what one acknowledgement brought.
type Outcome struct {
	Delivered int   // packets acknowledged for the first time
	Lost      int   // packets that count as lost from now on
	RTT       int64 // the round trip it measured in µs, or -1
}

// Push records a packet sent at time now and returns its sequence number. The
// tag is the caller's: what the packet carried, handed back on delivery.
func (t *Sent) Push(now, tag int64) Seq {
	n := t.next
	t.ring[n%Remembered] = sentPacket{now, tag}
	t.next++
	t.stats.Sent++
	return Seq(uint16(n))
}

// OnGivenUp sets what is called, inside Acked and oldest first, for each packet
// that counts as lost or unreported from now on, with its tag, so that whoever
// filled it can send the content again without waiting for a timer. It is not
// told about packets more than Remembered back and must not call back into t.
// A packet given up may still be acknowledged late. f may be nil.
func (t *Sent) OnGivenUp(f func(seq Seq, tag int64)) { t.gaveUp = f }

// Next returns the sequence number the next Push will return.
func (t *Sent) Next() Seq { return Seq(uint16(t.next)) }

// Acked records an acknowledgement that arrived at time now. delay is how long
// the other side held it, in µs: from the arrival of packet ack there to the
// sending of this acknowledgement. It is taken off the round trip; pass 0 if
// it is not known.
//
// delivered, if not nil, is called for each packet acknowledged for the first
// time, oldest first, with its tag; it must not call back into t. An
// acknowledgement of a packet never sent is a lie or damage: it is counted and
// changes nothing.
func (t *Sent) Acked(now int64, ack Seq, ackBits uint32, delay int64, delivered func(seq Seq, tag int64)) Outcome {
	out := Outcome{RTT: -1}
	a := Unwrap(t.next-1, ack)
	if a < 0 || a >= t.next {
		t.stats.BadAcks++
		return out
	}
	set := uint64(ackBits)<<1 | 1
	if a < Width {
		valid := uint64(1)<<uint(a+1) - 1
		if set&^valid != 0 {
			t.stats.BadAcks++
			return out
		}
	}

	if a == t.acks && a == t.todo && set&^(t.acked<<1) == 1 {
		// The common case: the next packet arrived and nothing is open.
		t.acked = t.acked<<1&window | 1
		t.acks++
		t.todo++
		t.loss.Observe(false)
		t.stats.Delivered++
		out.Delivered = 1
		if p := &t.ring[a%Remembered]; t.next-a <= Remembered {
			if delivered != nil {
				delivered(ack, p.tag)
			}
			out.RTT = t.measure(now, p.at, delay)
		}
		return out
	}

	advanced := a >= t.acks
	if advanced {
		t.advance(a, &out)
	} else {
		back := t.acks - 1 - a
		if back > Width {
			t.stats.OldAcks++
			return out
		}
		set = set << uint(back) & window
	}

	for fresh := set &^ t.acked; fresh != 0; {
		i := bits.Len64(fresh) - 1
		fresh &^= 1 << uint(i)
		t.deliver(t.acks-1-int64(i), &out, delivered)
	}
	t.acked |= set

	if advanced && t.next-a <= Remembered {
		out.RTT = t.measure(now, t.ring[a%Remembered].at, delay)
	}
	t.settle(&out)
	return out
}

// measure takes a round trip from the times it was sent and acknowledged at and
// the delay in between, and returns it, or -1 if it cannot be.
func (t *Sent) measure(now, at, delay int64) int64 {
	elapsed := now - at
	if delay < 0 || delay > elapsed {
		t.stats.BadDelays++
		return -1
	}
	if !t.rtt.Sample(now, elapsed-delay) {
		return -1
	}
	return elapsed - delay
}

// advance moves the window so that a is its newest packet. Packets that fall out
// of it can no longer be acknowledged, so their fate is decided here.
func (t *Sent) advance(a int64, out *Outcome) {
	low := a - Width
	for t.todo < low && t.todo < t.acks {
		t.decide(t.acked>>uint(t.acks-1-t.todo)&1 == 0, out)
	}
	if t.todo < low {
		t.stats.Unreported += uint64(low - t.todo)
		if t.gaveUp != nil {
			for n := max(t.todo, t.next-Remembered); n < low; n++ {
				t.giveUp(n)
			}
		}
		t.todo = low
	}
	if d := a + 1 - t.acks; d > Width {
		t.acked = 0
	} else {
		t.acked = t.acked << uint(d) & window
	}
	t.acks = a + 1
}

// settle decides, in order, the fate of every packet that is acknowledged or
// has three acknowledged packets after it.
func (t *Sent) settle(out *Outcome) {
	for t.todo < t.acks {
		i := uint(t.acks - 1 - t.todo)
		lost := t.acked>>i&1 == 0
		if lost && bits.OnesCount64(t.acked&(1<<i-1)) < lostAfter {
			return
		}
		t.decide(lost, out)
	}
}

func (t *Sent) decide(lost bool, out *Outcome) {
	t.loss.Observe(lost)
	if lost {
		t.stats.Lost++
		out.Lost++
		if t.gaveUp != nil && t.next-t.todo <= Remembered {
			t.giveUp(t.todo)
		}
	}
	t.todo++
}

func (t *Sent) giveUp(n int64) { t.gaveUp(Seq(uint16(n)), t.ring[n%Remembered].tag) }

func (t *Sent) deliver(n int64, out *Outcome, delivered func(Seq, int64)) {
	t.stats.Delivered++
	out.Delivered++
	if n < t.todo {
		t.stats.Late++
		t.stats.Lost--
	}
	if delivered != nil && t.next-n <= Remembered {
		delivered(Seq(uint16(n)), t.ring[n%Remembered].tag)
	}
}

// Newest returns the newest packet acknowledged; ok is false if there is none.
func (t *Sent) Newest() (seq Seq, ok bool) { return Seq(uint16(t.acks - 1)), t.acks > 0 }

// InFlight is the number of packets sent after the newest acknowledged one.
func (t *Sent) InFlight() int64 { return t.next - t.acks }

// Loss is the estimate of what the link loses, told in order for each packet
// whose fate an acknowledgement decided. Unreported packets are left out: a
// silent return path says nothing about the forward one. The pointer stays valid
// and owned by t.
func (t *Sent) Loss() *Loss { return &t.loss }

// RTT is the round-trip estimate. The pointer stays valid and owned by t.
func (t *Sent) RTT() *RTT { return &t.rtt }

// Stats returns the counts so far.
func (t *Sent) Stats() SentStats { return t.stats }
