package channel

import (
	"math"

	"backstep/ackbits"
	"backstep/rollback/wire"
)

const (
	// Kind begins the message of a control packet that carries a section.
	Kind = 5

	// controlInterval is the least time between two control packets, in µs: one
	// tick at 60 Hz.
	controlInterval = 16_667
	never           = math.MaxInt64
)

// Control carries a Mux in packets of its own while no input packets flow:
// full packets whose message is
//
//	kind 5 | section, none if there is only something to acknowledge
//
// They have a sequence of their own and acknowledge each other by their seq, ack
// and ack bits; everything else in them is empty. When input packets take over,
// what was on its way is sent again in them; the two sequences do not mix.
//
// A packet without a section is not answered, so that silence stays silent.
type Control struct {
	m         *Mux
	sent      ackbits.Sent
	received  ackbits.Received
	delivered func(ackbits.Seq, int64)
	at        int64 // arrival of the packet being taken
	lookAt    int64 // when AppendPacket may be called again
	owed      bool  // a section was taken and not yet acknowledged
	buf       [1 + MaxSection]byte
	out       wire.Packet
}

// NewControl makes a Control for m. Both sides make theirs when the connection
// begins and keep it as long as it stands, through matches and between them.
func NewControl(m *Mux) *Control {
	c := &Control{m: m}
	c.delivered = func(_ ackbits.Seq, tag int64) { c.m.Delivered(uint32(tag), c.at) }
	c.sent.OnGivenUp(func(_ ackbits.Seq, tag int64) { c.m.Lost(uint32(tag)) })
	return c
}

// Next is when AppendPacket may have something to say, math.MaxInt64 if not
// before the next Send or Receive.
func (c *Control) Next() int64 {
	if c.owed || c.m.Busy() {
		return c.lookAt
	}
	return never
}

// AppendPacket appends the control packet that is due at now to b, or nothing.
// It allocates only if b has no room.
func (c *Control) AppendPacket(b []byte, now int64) []byte {
	if now < c.lookAt {
		return b
	}
	section, tag := c.m.Fill(append(c.buf[:0], Kind), MaxSection, now)
	if tag == 0 && !c.owed {
		if c.m.Busy() {
			c.lookAt = now + controlInterval
		}
		return b
	}
	c.lookAt = now + controlInterval
	c.owed = false
	c.out = wire.Packet{Newest: -1, Message: section, Seq: c.sent.Push(now, int64(tag))}
	c.out.Ack, c.out.AckBits, c.out.HasAck = c.received.Ack()
	return wire.AppendFull(b, &c.out)
}

// Receive takes a control packet that arrived at time at and was parsed into p.
// It returns ErrControl for a packet that AppendPacket does not make, and what
// [Mux.Check] says of its section; such a packet changes nothing and is not
// acknowledged. A packet that came before is no error.
func (c *Control) Receive(at int64, p *wire.Packet) error {
	if len(p.Message) == 0 || p.Message[0] != Kind {
		return ErrControl
	}
	plain := wire.Packet{Newest: -1, Seq: p.Seq, Ack: p.Ack, AckBits: p.AckBits, HasAck: p.HasAck, Message: p.Message}
	if !same(&plain, p) {
		return ErrControl
	}
	section := p.Message[1:]
	if len(section) > 0 {
		if err := c.m.Check(section); err != nil {
			return err
		}
	}
	if c.received.Mark(p.Seq) != ackbits.New {
		return nil
	}
	if p.HasAck {
		c.at = at
		c.sent.Acked(at, p.Ack, p.AckBits, 0, c.delivered)
	}
	if len(section) > 0 {
		c.m.Receive(section, at)
		c.owed = true
	}
	return nil
}

// same reports whether two packets with the same message are equal.
func same(a, b *wire.Packet) bool {
	return a.Newest == b.Newest && a.Count == b.Count && a.First == b.First && a.Current == b.Current &&
		a.Advanced == b.Advanced && a.Main == b.Main && len(a.Inputs) == len(b.Inputs) &&
		a.HasLag == b.HasLag && a.HasHash == b.HasHash && a.HasConfirmed == b.HasConfirmed &&
		a.HasLoss == b.HasLoss && a.HasFEC == b.HasFEC && len(a.Parity) == len(b.Parity)
}
