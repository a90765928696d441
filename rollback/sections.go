package rollback

import "backstep/ackbits"

// Sections is whoever uses the opaque section of a link's packets: channels that ride along with the inputs and never
// delay them. All methods are called on the driver's goroutine, inside AppendPacket and Receive. None may call back into
// the link or keep a slice it was given, and none should allocate.
//
//	AppendPacket   Fill ──▶ packet with a tag
//	Receive        Delivered or Lost of own tags ◀── its acks
//	               Check ──▶ refused: the packet is dropped, not acknowledged
//	                 └─────▶ Receive, if the packet is new
type Sections interface {
	// Fill appends the section of the main packet made at now (µs) to b, at most room bytes, and names it by a tag of
	// its choice that is not 0. If it appends nothing the packet has no section and the tag is ignored. It is called
	// once for each tick, also while the session is stalled.
	Fill(b []byte, room int, now int64) (section []byte, tag uint32)
	// Delivered says that the packet with the tagged section is known, since now, to have arrived.
	Delivered(tag uint32, now int64)
	// Lost says that it counts as lost, or that its fate will not be known. It may still be delivered.
	Lost(tag uint32)
	// Check returns an error if a section is one that no honest peer sends or that cannot be taken now. Its packet is
	// then refused as a whole, before it is acknowledged or its inputs are used. Check changes nothing.
	Check(section []byte) error
	// Receive takes the section of a new packet that arrived at time at. Check returned nil for it, and no other section
	// came in between. One packet is handed over once, though sections of different packets may say the same.
	Receive(section []byte, at int64)
}

// SetSections gives the opaque sections of this link's packets to s; nil gives them to nobody: packets then go without,
// and sections of packets that arrive are ignored. Call it before the first packet.
func (l *Link[S, W]) SetSections(s Sections) {
	l.sections = s
	l.sent.OnGivenUp(nil)
	if s != nil {
		if l.section == nil {
			l.section = make([]byte, 0, MaxSection)
		}
		l.sent.OnGivenUp(l.onGivenUp)
	}
}

// fill puts a section into the packet being made and returns its tag, 0 if there is none.
func (l *Link[S, W]) fill(now int64) (tag uint32) {
	if l.sections == nil {
		return 0
	}
	section, tag := l.sections.Fill(l.section[:0], MaxSection, now)
	if len(section) == 0 || len(section) > MaxSection {
		return 0
	}
	l.out.Message = section
	return tag
}

// The tag of a sent packet is that of the section it carried and the newest frame whose input it carried, plus one.
func tagOf(section uint32, newest int32) int64 { return int64(section)<<32 | int64(uint32(newest+1)) }

func (l *Link[S, W]) deliver(_ ackbits.Seq, tag int64) {
	l.delivered = max(l.delivered, int32(uint32(tag))-1)
	if section := uint32(tag >> 32); section != 0 && l.sections != nil {
		l.sections.Delivered(section, l.heardAt)
	}
}

func (l *Link[S, W]) giveUp(_ ackbits.Seq, tag int64) {
	if section := uint32(tag >> 32); section != 0 {
		l.sections.Lost(section)
	}
}
