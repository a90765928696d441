package lounge

import "encoding/binary"

// Kind is the first byte of a lounge message, beside those of setup and match.
const Kind = 4

const (
	messageLen  = 15
	unmeasured  = 0xffff
	flagEcho    = 1
	holdUnit    = 16  // µs
	rttUnit     = 100 // µs
	lossPerMill = 100 // millionths in 1/100 %
)

// State is what a side is doing.
type State uint8

// The states.
const (
	Looking State = iota
	Choosing
	Ready
	Leave
	states
)

type message struct {
	match           uint16
	state           State
	seq, echo, hold uint16
	rtt, loss       uint16
	hasEcho         bool
}

func appendMessage(b []byte, m message) []byte {
	le := binary.LittleEndian
	b = append(b, Kind)
	b = le.AppendUint16(b, m.match)
	b = append(b, byte(m.state))
	for _, v := range [...]uint16{m.seq, m.echo, m.hold, m.rtt, m.loss} {
		b = le.AppendUint16(b, v)
	}
	if m.hasEcho {
		return append(b, flagEcho)
	}
	return append(b, 0)
}

func parseMessage(b []byte) (m message, ok bool) {
	if len(b) != messageLen || b[0] != Kind || b[3] >= byte(states) || b[14] > flagEcho {
		return m, false
	}
	le := binary.LittleEndian
	m = message{match: le.Uint16(b[1:]), state: State(b[3]), seq: le.Uint16(b[4:]), echo: le.Uint16(b[6:]), hold: le.Uint16(b[8:]),
		rtt: le.Uint16(b[10:]), loss: le.Uint16(b[12:]), hasEcho: b[14] == flagEcho}
	if !m.hasEcho && (m.echo != 0 || m.hold != 0) {
		return message{}, false
	}
	return m, true
}

// Answer appends the answer of a side that is always ready, for players
// without a page: it returns the probe and agrees. It appends nothing to what
// is no lounge message.
func Answer(b, msg []byte) []byte {
	m, ok := parseMessage(msg)
	if !ok || m.state == Leave {
		return b
	}
	return appendMessage(b, message{match: m.match, state: Ready, seq: m.seq, echo: m.seq, hasEcho: true, rtt: unmeasured, loss: unmeasured})
}

// Greeting is a message to begin with, before a Lounge is made.
func Greeting() []byte {
	return appendMessage(nil, message{seq: 0xffff, rtt: unmeasured, loss: unmeasured})
}
