package desync

import (
	"encoding/binary"
	"errors"
)

// Kind is the first byte of a message.
type Kind uint8

const (
	KindFound Kind = iota + 16
	KindProbe
	KindPart
	KindReplayed
	KindOffer
	KindAnswer
	kindEnd
)

const (
	MaxProbes = 32      // hashes in a PROBE
	MaxPart   = 1024    // bytes of a state in a PART
	MaxState  = 1 << 16 // bytes of an encoded state
	MaxBuild  = 64      // bytes of the name of a build

	// MaxMessage is the longest message: a PART.
	MaxMessage = 2 + 12 + MaxPart
)

// ErrMessage: bytes that are no message.
var ErrMessage = errors.New("desync: malformed message")

// Message is one of the messages. Which fields are used depends on Kind.
type Message struct {
	Kind   Kind
	Round  uint8
	Label  int32  // FOUND: newest; PROBE: low; else the label of the state
	Second int32  // FOUND: agreed; PROBE: high
	Known  uint32 // PROBE: bit i says that Hashes[i] is known
	Hashes [MaxProbes]uint64
	Hash   uint64 // REPLAYED, OFFER
	Total  uint32 // PART: length of the state, 0 if it is not kept
	Offset uint32
	Body   []byte // PART: bytes; FOUND: build. After parsing it lies in the message.
	Yes    bool
}

// Probes is how many labels a PROBE of (low, high] has, 0 if the interval is empty.
func Probes(low, high int32) int {
	return int(min(max(int64(high)-int64(low), 0), MaxProbes))
}

// Probe is label i of that PROBE; the last one is high.
func Probe(low, high int32, i int) int32 {
	n := int64(Probes(low, high))
	if n == 0 {
		return high
	}
	return low + int32((int64(high)-int64(low))*int64(i+1)/n)
}

// AppendMessage appends m to b. Fields that its kind does not use are left out.
func AppendMessage(b []byte, m *Message) []byte {
	le := binary.LittleEndian
	b = append(b, byte(m.Kind), m.Round)
	switch m.Kind {
	case KindFound:
		b = le.AppendUint32(b, uint32(m.Label))
		b = le.AppendUint32(b, uint32(m.Second))
		b = append(b, m.Body...)
	case KindProbe:
		b = le.AppendUint32(b, uint32(m.Label))
		b = le.AppendUint32(b, uint32(m.Second))
		b = le.AppendUint32(b, m.Known)
		for i := range Probes(m.Label, m.Second) {
			b = le.AppendUint64(b, m.Hashes[i])
		}
	case KindPart:
		b = le.AppendUint32(b, uint32(m.Label))
		b = le.AppendUint32(b, m.Total)
		b = le.AppendUint32(b, m.Offset)
		b = append(b, m.Body...)
	case KindReplayed, KindOffer:
		b = le.AppendUint32(b, uint32(m.Label))
		b = le.AppendUint64(b, m.Hash)
	case KindAnswer:
		yes := byte(0)
		if m.Yes {
			yes = 1
		}
		b = append(b, yes)
	}
	return b
}

// ParseMessage reads b into *m, whose Body then lies in b. It takes nothing that AppendMessage would not make of a
// message that an honest side sends: labels from -1 on, unknown hashes zero, parts within their state.
func ParseMessage(b []byte, m *Message) error {
	if len(b) < 3 || Kind(b[0]) < KindFound || Kind(b[0]) >= kindEnd || b[1] == 0 || len(b) > MaxMessage {
		return ErrMessage
	}
	*m = Message{Kind: Kind(b[0]), Round: b[1]}
	le := binary.LittleEndian
	b = b[2:]
	if m.Kind == KindAnswer {
		m.Yes = b[0] == 1
		if len(b) != 1 || b[0] > 1 {
			return ErrMessage
		}
		return nil
	}
	if len(b) < 8 {
		return ErrMessage
	}
	m.Label = int32(le.Uint32(b))
	ok := m.Label >= -1
	switch m.Kind {
	case KindFound:
		m.Second, m.Body = int32(le.Uint32(b[4:])), b[8:]
		ok = ok && m.Second >= -1 && len(m.Body) <= MaxBuild
	case KindProbe:
		m.Second = int32(le.Uint32(b[4:]))
		n := Probes(m.Label, m.Second)
		if n == 0 || len(b) != 12+8*n {
			return ErrMessage
		}
		m.Known = le.Uint32(b[8:])
		ok = ok && uint64(m.Known)>>n == 0
		for i := range n {
			m.Hashes[i] = le.Uint64(b[12+8*i:])
			ok = ok && (m.Known>>i&1 != 0 || m.Hashes[i] == 0)
		}
	case KindPart:
		if len(b) < 12 {
			return ErrMessage
		}
		m.Total, m.Offset, m.Body = le.Uint32(b[4:]), le.Uint32(b[8:]), b[12:]
		// Parts are as long as they can be, so that a state takes few of them whoever sends it.
		ok = ok && m.Total <= MaxState && m.Offset <= m.Total && m.Offset%MaxPart == 0 && len(m.Body) == int(min(m.Total-m.Offset, MaxPart)) &&
			(len(m.Body) > 0) == (m.Total > 0)
	default:
		if len(b) != 12 {
			return ErrMessage
		}
		m.Hash = le.Uint64(b[4:])
	}
	if !ok {
		return ErrMessage
	}
	return nil
}
