package channel

import (
	"backstep/ackbits"
	"backstep/rollback"
)

const (
	// DefaultBudget is how long sections are at most unless asked otherwise, in
	// bytes: a whole fragment and a few short messages. At 60 packets a second
	// it bounds everything beside inputs to 18 KB/s.
	DefaultBudget = 300
	// MinBudget lets the largest item in.
	MinBudget = itemHeader + 1 + Fragment

	// firstTimeout is how long an acknowledgement is waited for before the first
	// round trip is measured, in µs. Overdue fragments double their time up to
	// maxBackoff times and to maxTimeout.
	firstTimeout = 250_000
	maxBackoff   = 4
	maxTimeout   = 2_000_000

	// patience is how long a channel with something to say may be passed over
	// for more urgent ones, in µs, before it gets the next item.
	patience = 500_000

	// flights is how many sections are remembered until they are acknowledged:
	// four seconds of one each tick. What is forgotten is left to the timers.
	flights = 256
)

// View is what a Mux has to do with the Spectator channel.
type View uint8

const (
	// Closed: both sides are players; nobody uses the channel.
	Closed View = iota
	// Source: this side feeds a viewer and hears nothing on the channel.
	Source
	// Viewer: this side watches and says nothing on the channel.
	Viewer
)

// Config is how a Mux is made. The zero value is for two players.
type Config struct {
	Budget    int // bytes of a section, MinBudget to MaxSection; 0 is DefaultBudget
	Spectator View
}

// Mux is one side of all channels with one other player or viewer. Make it
// with [New]. It is the [rollback.Sections] of a link, or of a [Control].
type Mux struct {
	budget int
	view   View
	out    [channels]outbox
	in     [channels]inbox
	flight [flights]flight
	tag    uint32
	heard  int64 // arrival of the newest section
	shut   bool  // channels for before the match are closed

	rtt     ackbits.RTT
	newest  uint32 // tag
	sampled bool
	sample  int64
	sampleT int64

	items  [MaxItems]Item // of the section being made
	refs   [MaxItems]ref
	n      int
	size   int
	parsed [MaxItems]Item
}

var _ rollback.Sections = (*Mux)(nil)

// flight is what a section carried.
type flight struct {
	tag  uint32 // 0: none, or acknowledged
	at   int64
	n    int
	refs [MaxItems]ref
}

type ref struct {
	channel ID
	number  uint16
	index   uint8
}

// New makes a Mux and allocates all it will ever need, about 200 KB.
func New(c Config) *Mux {
	m := &Mux{budget: DefaultBudget, view: c.Spectator}
	if c.Budget != 0 {
		m.budget = min(max(c.Budget, MinBudget), MaxSection)
	}
	for _, ch := range byPriority {
		m.out[ch].init(&table[ch])
		m.in[ch].init(&table[ch])
	}
	return m
}

// SetPlaying says whether a match is running. While one is, Send refuses the
// channels for before the match with ErrPlaying; what they took before is still
// delivered, and what comes is taken.
func (m *Mux) SetPlaying(on bool) { m.shut = on }

// Send takes a message of 1 to [Row.MaxMessage] bytes for a channel and copies
// it. On a reliable channel it will be handed out at the other side once and in
// order, or Send returns ErrFull and the caller decides what to do; on an
// unreliable one the oldest message waiting gives way. Messages leave no faster
// than the channel's rate. Other errors are ErrSize, ErrInputs, ErrChannel and
// ErrPlaying.
func (m *Mux) Send(ch ID, msg []byte) error {
	switch {
	case ch == RollbackInputs:
		return ErrInputs
	case !ch.guest() || table[ch].ReadOnly && m.view != Source:
		return ErrChannel
	case table[ch].PreMatch && m.shut:
		return ErrPlaying
	case len(msg) == 0 || len(msg) > table[ch].MaxMessage:
		return ErrSize
	}
	return m.out[ch].push(msg)
}

// Pending is how many messages of a channel were taken by Send and are not
// known to have arrived (or, on an unreliable channel, have not been sent).
func (m *Mux) Pending(ch ID) int {
	if !ch.guest() {
		return 0
	}
	return m.out[ch].kept
}

// Busy reports whether any message is pending.
func (m *Mux) Busy() bool {
	for _, ch := range byPriority {
		if m.out[ch].kept > 0 {
			return true
		}
	}
	return false
}

// Check reports why a section is refused: ErrSection, ErrChannel, ErrWindow or
// ErrConflict. A peer that keeps to the table is never refused as long as Next
// is called until it has nothing left after each Receive.
func (m *Mux) Check(section []byte) error {
	items, err := ParseSection(section, &m.parsed)
	if err != nil {
		return err
	}
	for i := range items {
		ch := items[i].Channel
		if table[ch].ReadOnly && m.view != Viewer {
			return ErrChannel
		}
		if err := m.in[ch].check(&items[i]); err != nil {
			return err
		}
	}
	return nil
}

// Receive takes a section that Check did not refuse. Messages handed out before
// are no longer valid.
func (m *Mux) Receive(section []byte, at int64) {
	items, err := ParseSection(section, &m.parsed)
	if err != nil {
		return
	}
	m.heard = max(m.heard, at)
	for i := range items {
		m.in[items[i].Channel].put(&items[i])
	}
}

// Next hands out the next message that has arrived, those of urgent channels
// first; ok is false if there is none. It is valid until the next Receive.
func (m *Mux) Next() (ch ID, msg []byte, ok bool) {
	for _, ch := range byPriority {
		if msg, ok := m.in[ch].pop(m.heard); ok {
			return ch, msg, true
		}
	}
	return 0, nil, false
}

// RTT is the round trip as the acknowledgements of sections measure it, waits
// for ticks included. The pointer stays valid and owned by m.
func (m *Mux) RTT() *ackbits.RTT { return &m.rtt }
