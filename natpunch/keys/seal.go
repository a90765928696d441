package keys

import (
	"crypto/cipher"
	"encoding/binary"
	"errors"
	"math"

	"golang.org/x/crypto/chacha20poly1305"

	"backstep/natpunch/rendezvous"
)

// Kind is the type of a sealed message.
type Kind uint8

// The sealed messages.
const (
	Hello      Kind = 1 // name, build, config, hide, sheet
	Accept     Kind = 2 // the player wants this match
	Candidates Kind = 3 // generation and addresses; only after both accepted, never if either hides
	Go         Kind = 4 // the host starts half a round trip after sending it, the joiner on receipt
	Again      Kind = 5 // a new DTLS attempt, at most two
	Bye        Kind = 6 // leaving
)

// String is the message's name in capitals, as the documents write it.
func (k Kind) String() string {
	switch k {
	case Hello:
		return "HELLO"
	case Accept:
		return "ACCEPT"
	case Candidates:
		return "CANDIDATES"
	case Go:
		return "GO"
	case Again:
		return "AGAIN"
	case Bye:
		return "BYE"
	}
	return "UNKNOWN"
}

const (
	padTo        = 256
	maxPlaintext = 2048
	plainHeader  = 1 + 2
	// aadSize covers type byte, run and counter of the message.
	aadSize = 1 + 4 + 8
)

// MaxBody is the longest body of a sealed message, in bytes.
const MaxBody = maxPlaintext - plainHeader

// Failures of sealing and opening. All of them end the lobby.
var (
	ErrBody    = errors.New("keys: message too long to seal")
	ErrRun     = errors.New("keys: sealed message of another run")
	ErrCounter = errors.New("keys: sealed message out of order")
	ErrBox     = errors.New("keys: sealed message altered")
	ErrPadding = errors.New("keys: sealed message badly formed")
)

// Sealer seals the messages of one side of one run. It belongs to one goroutine.
type Sealer struct {
	aead cipher.AEAD
	run  uint32
	ctr  uint64
}

// Sealer makes the sealer for what side sends.
func (k *Keys) Sealer(side rendezvous.Side, run uint32) *Sealer {
	return &Sealer{aead: newAEAD(k.seal(side)), run: run}
}

// Append appends the whole lobby message 0A that carries kind and body. It fails
// with ErrBody, without using up a counter, if body is longer than MaxBody.
func (s *Sealer) Append(b []byte, kind Kind, body []byte) ([]byte, error) {
	if len(body) > MaxBody {
		return b, ErrBody
	}
	if s.ctr == math.MaxUint64 {
		return b, ErrCounter
	}
	size := plainHeader + len(body)
	plain := make([]byte, 0, (size+padTo-1)/padTo*padTo)
	plain = append(plain, byte(kind))
	plain = binary.LittleEndian.AppendUint16(plain, uint16(len(body)))
	plain = append(plain, body...)[:cap(plain)]
	var aad [aadSize]byte
	appendAAD(aad[:0], s.run, s.ctr)
	box := s.aead.Seal(nil, nonce(s.ctr), plain, aad[:])
	clear(plain)
	b = rendezvous.AppendSealed(b, &rendezvous.SealedMsg{Run: s.run, Ctr: s.ctr, Box: box})
	s.ctr++
	return b, nil
}

// Opener opens the messages of the other side. It belongs to one goroutine.
type Opener struct {
	aead cipher.AEAD
	run  uint32
	ctr  uint64
}

// Opener makes the opener for what side (the opponent's) sends.
func (k *Keys) Opener(side rendezvous.Side, run uint32) *Opener {
	return &Opener{aead: newAEAD(k.seal(side)), run: run}
}

// Open checks that m is exactly the next message of the run and returns its kind
// and body, which is a fresh slice. A failure leaves the opener as it was, but
// the lobby is over: nothing that follows can be trusted to be in order.
func (o *Opener) Open(m *rendezvous.SealedMsg) (Kind, []byte, error) {
	if m.Run != o.run {
		return 0, nil, ErrRun
	}
	if m.Ctr != o.ctr {
		return 0, nil, ErrCounter
	}
	n := len(m.Box) - chacha20poly1305.Overhead
	if n <= 0 || n > maxPlaintext || n%padTo != 0 {
		return 0, nil, ErrPadding
	}
	var aad [aadSize]byte
	appendAAD(aad[:0], m.Run, m.Ctr)
	plain, err := o.aead.Open(nil, nonce(m.Ctr), m.Box, aad[:])
	if err != nil {
		return 0, nil, ErrBox
	}
	size := plainHeader + int(binary.LittleEndian.Uint16(plain[1:]))
	if size > len(plain) || len(plain)-size >= padTo {
		return 0, nil, ErrPadding
	}
	for _, c := range plain[size:] {
		if c != 0 {
			return 0, nil, ErrPadding
		}
	}
	o.ctr++
	return Kind(plain[0]), plain[plainHeader:size:size], nil
}

func newAEAD(key []byte) cipher.AEAD {
	aead, err := chacha20poly1305.New(key)
	if err != nil {
		panic("keys: " + err.Error())
	}
	clear(key)
	return aead
}

func nonce(ctr uint64) []byte {
	n := make([]byte, 4, chacha20poly1305.NonceSize)
	return binary.LittleEndian.AppendUint64(n, ctr)
}

func appendAAD(b []byte, run uint32, ctr uint64) []byte {
	b = append(b, byte(rendezvous.TypeSealed))
	b = binary.LittleEndian.AppendUint32(b, run)
	return binary.LittleEndian.AppendUint64(b, ctr)
}
