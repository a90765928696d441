package channel

// Fill appends the section of a packet made at now to b, in at most room bytes
// and the budget, and returns a tag, not 0, for Delivered or Lost. If there is
// nothing to say it returns b and 0. What was sent before goes first, then what
// is new, each in the order of priority; a channel that was passed over for
// half a second gets the first place once.
func (m *Mux) Fill(b []byte, room int, now int64) (section []byte, tag uint32) {
	m.takeSample()
	if !m.Busy() {
		return b, 0
	}
	room = min(room, m.budget)
	m.n, m.size = 0, 0
	if ch := m.starving(now); ch.guest() {
		_ = m.add(ch, now, room, true) || m.add(ch, now, room, false)
	}
	for _, again := range [...]bool{true, false} {
		for _, ch := range byPriority {
			for m.add(ch, now, room, again) {
			}
		}
	}
	m.serve(now)
	if m.n == 0 {
		return b, 0
	}
	m.tag = m.nextTag()
	m.flight[m.tag%flights] = flight{tag: m.tag, at: now, n: m.n, refs: m.refs}
	b = AppendSection(b, m.items[:m.n])
	clear(m.items[:m.n])
	return b, m.tag
}

// nextTag is the tag the section being made will have.
func (m *Mux) nextTag() uint32 {
	if m.tag == 1<<32-1 {
		return 1
	}
	return m.tag + 1
}

// add puts the next fragment of a channel into the section being made, if it
// has one and it fits.
func (m *Mux) add(ch ID, now int64, room int, again bool) bool {
	o := &m.out[ch]
	if o.kept == 0 || m.n == MaxItems {
		return false
	}
	msg, fragment, ok := o.next(now, again, m.timeout())
	if !ok {
		return false
	}
	it := o.item(ch, msg, fragment)
	size := m.size + it.size()
	if m.n > 0 {
		size++ // the item before it gets a length
	}
	if size > room {
		return false
	}
	m.size = size
	m.items[m.n] = it
	m.refs[m.n] = ref{ch, it.Number, it.Index}
	m.n++
	o.served = now
	o.sent(now, msg, fragment, m.nextTag())
	return true
}

// starving is the channel that has been passed over for longest, if it is too
// long; else no guest.
func (m *Mux) starving(now int64) ID {
	longest, at := RollbackInputs, now-patience
	for _, ch := range byPriority {
		if o := &m.out[ch]; o.kept > 0 && o.served != 0 && o.served < at {
			longest, at = ch, o.served
		}
	}
	return longest
}

// serve notes for each channel that has something to say but nothing to send
// now, or was not looked at before, that it is served up to now.
func (m *Mux) serve(now int64) {
	timeout := m.timeout()
	for _, ch := range byPriority {
		o := &m.out[ch]
		if o.kept == 0 || o.served == now {
			continue
		}
		_, _, waits := o.next(now, true, timeout)
		if !waits {
			_, _, waits = o.next(now, false, timeout)
		}
		if !waits || o.served == 0 {
			o.served = now
		}
	}
}

// timeout is how long an acknowledgement may take before its fragments are sent
// again: RFC 6298 without its floor of a second, see [ackbits.RTT.Timeout].
func (m *Mux) timeout() int64 {
	if m.rtt.Samples() == 0 {
		return firstTimeout
	}
	return min(m.rtt.Timeout(), maxTimeout)
}

// Delivered says that the section with this tag is known, since now, to have arrived.
func (m *Mux) Delivered(tag uint32, now int64) {
	f := &m.flight[tag%flights]
	if tag == 0 || f.tag != tag {
		return
	}
	f.tag = 0
	m.measure(tag, now, now-f.at)
	for _, r := range f.refs[:f.n] {
		m.out[r.channel].delivered(r.number, r.index)
	}
}

// Lost says that the section with this tag did not arrive, as far as is known:
// what it carried and nothing carried since goes into the next one. It may still
// turn out to have been delivered.
func (m *Mux) Lost(tag uint32) {
	f := &m.flight[tag%flights]
	if tag == 0 || f.tag != tag {
		return
	}
	for _, r := range f.refs[:f.n] {
		m.out[r.channel].lost(r.number, r.index, tag)
	}
}

// measure notes a round trip. One acknowledgement names many packets, and only
// the newest of them says how long the way took.
func (m *Mux) measure(tag uint32, now, trip int64) {
	if m.sampled && m.sampleT != now {
		m.takeSample()
	}
	if m.newest == 0 || int32(tag-m.newest) > 0 {
		m.newest = tag
		m.sampled, m.sample, m.sampleT = true, trip, now
	}
}

func (m *Mux) takeSample() {
	if m.sampled {
		m.rtt.Sample(m.sampleT, m.sample)
		m.sampled = false
	}
}
