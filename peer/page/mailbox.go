package page

import (
	"slices"
	"sync"

	"backstep/sim"
)

// mailbox is what one connection has not fetched yet: the newest of each type,
// and the events that the snapshots before it carried. Putting never blocks
// longer than the writer copies, and snapshots do not allocate.
type mailbox struct {
	mu    sync.Mutex
	wake  chan struct{} // one place: something is new
	other [outTypes][]byte
	fresh [outTypes]bool

	head      [maxSnapshotHead]byte
	tail      [maxSnapshotTail]byte
	headLen   int
	tailLen   int
	events    [maxEvents]sim.Event
	eventN    int
	cancelled [maxEvents]uint64
	cancelN   int
	replaced  uint64 // snapshots that were never sent
	sent      uint16 // snapshots of this connection, counted round
	seen      uint16 // of these, how many the page has taken in
	paced     bool   // the page says what it has seen
}

// snapshotsAhead is how many snapshots may be on the way to a page that says
// what it has seen. Buffers between the two would hold seconds of them.
const snapshotsAhead = 2

func newMailbox() *mailbox { return &mailbox{wake: make(chan struct{}, 1)} }

func (m *mailbox) ring() {
	select {
	case m.wake <- struct{}{}:
	default:
	}
}

// put replaces the message of its type. It keeps b, which nobody changes.
func (m *mailbox) put(b []byte) {
	m.mu.Lock()
	m.other[b[0]], m.fresh[b[0]] = b, true
	m.mu.Unlock()
	m.ring()
}

func (m *mailbox) snapshot(head, tail []byte, s *Snapshot) {
	m.mu.Lock()
	if m.fresh[outSnapshot] {
		m.replaced++
	}
	m.headLen, m.tailLen = copy(m.head[:], head), copy(m.tail[:], tail)
	for i := range s.Events {
		m.event(&s.Events[i])
	}
	for _, id := range s.Cancelled {
		m.cancel(id)
	}
	m.fresh[outSnapshot] = true
	m.mu.Unlock()
	m.ring()
}

func (m *mailbox) event(e *sim.Event) {
	if m.eventN == maxEvents {
		copy(m.events[:], m.events[1:])
		m.eventN--
	}
	m.events[m.eventN] = *e
	m.eventN++
}

// cancel takes an event back: quietly if it was never sent.
func (m *mailbox) cancel(id uint64) {
	for i := range m.eventN {
		if m.events[i].ID() == id {
			m.eventN = i + copy(m.events[i:], m.events[i+1:m.eventN])
			return
		}
	}
	if m.cancelN == maxEvents {
		copy(m.cancelled[:], m.cancelled[1:])
		m.cancelN--
	}
	m.cancelled[m.cancelN] = id
	m.cancelN++
}

// see takes note that the page has taken in n snapshots and reports whether
// that can be.
func (m *mailbox) see(n uint16) bool {
	m.mu.Lock()
	ok := n-m.seen <= m.sent-m.seen
	if ok {
		m.seen, m.paced = n, true
	}
	m.mu.Unlock()
	m.ring()
	return ok
}

func (m *mailbox) empty() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.fresh == [outTypes]bool{}
}

// take appends the next message to b, most urgent type first, or reports that
// there is none.
func (m *mailbox) take(b []byte) ([]byte, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, t := range [...]byte{outWelcome, outSettings, outScreen, outSnapshot, outTalk, outNotice, outNet, outFile} {
		if !m.fresh[t] || t == outSnapshot && m.paced && m.sent-m.seen >= snapshotsAhead {
			continue
		}
		m.fresh[t] = false
		if t == outSnapshot {
			return m.takeSnapshot(b), true
		}
		b = append(b, m.other[t]...)
		m.other[t] = nil
		return b, true
	}
	return b, false
}

func (m *mailbox) takeSnapshot(b []byte) []byte {
	b = slices.Grow(b, maxSnapshot)
	at := len(b)
	b = append(b, m.head[:m.headLen]...)
	b[at+offEvents], b[at+offCancelled] = byte(m.eventN), byte(m.cancelN)
	for i := range m.eventN {
		b = appendEvent(b, &m.events[i])
	}
	for _, id := range m.cancelled[:m.cancelN] {
		b = appendID(b, id)
	}
	m.eventN, m.cancelN = 0, 0
	m.sent++
	return append(b, m.tail[:m.tailLen]...)
}
