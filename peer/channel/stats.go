package channel

// Stats are the counts of one channel since New.
type Stats struct {
	// Sending side, in messages.
	Accepted  uint64 // taken by Send
	Refused   uint64 // refused by Send, because the channel was full
	Begun     uint64 // of which something was sent
	Delivered uint64 // known to have arrived; reliable channels only
	// Sending side, in fragments.
	Lost    uint64 // whose packet counted as lost
	Overdue uint64 // whose acknowledgement did not come in time
	Resent  uint64 // sent again for either reason

	// Receiving side.
	Received  uint64 // messages handed out
	Duplicate uint64 // fragments that had come before
	Late      uint64 // unreliable messages older than one that came before them
	Flooded   uint64 // messages thrown away because they came faster than the table allows

	// Dropped are messages an unreliable channel gave up because newer ones
	// came, on either side.
	Dropped uint64
}

// Stats returns the counts of a channel; zero for one that has no sections.
func (m *Mux) Stats(ch ID) Stats {
	if !ch.guest() {
		return Stats{}
	}
	s, in := m.out[ch].stats, &m.in[ch].stats
	s.Received, s.Duplicate, s.Late, s.Flooded = in.Received, in.Duplicate, in.Late, in.Flooded
	s.Dropped += in.Dropped
	return s
}
