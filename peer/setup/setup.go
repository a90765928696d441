package setup

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"io"
)

// Kind is the first byte of a set-up message, so that other messages can
// share the section of the packet.
const Kind = 1

const (
	stageOffer  = 0
	stageCommit = 1 // host: commit; joiner: its share t
	stageReveal = 2 // host only
	shareLen    = 16
)

// Setup is one side of the exchange. It is a value owned by one goroutine;
// it does no I/O and reads no clock.
type Setup struct {
	host       bool
	own, other Offer
	heard      bool // other is set
	s, r, t    [shareLen]byte
	commit     [sha256.Size]byte
	haveCommit bool
	haveT      bool
	haveSR     bool
}

// New begins the exchange. The random shares are read from random at once;
// its error is returned.
func New(host bool, own Offer, random io.Reader) (*Setup, error) {
	s := &Setup{host: host, own: own}
	shares := [][]byte{s.t[:]}
	if host {
		shares = [][]byte{s.s[:], s.r[:]}
	}
	for _, b := range shares {
		if _, err := io.ReadFull(random, b); err != nil {
			return nil, fmt.Errorf("random share: %w", err)
		}
	}
	if host {
		s.commit, s.haveCommit, s.haveSR = commitment(s.s, s.r), true, true
	} else {
		s.haveT = true
	}
	return s, nil
}

func commitment(s, r [shareLen]byte) [sha256.Size]byte {
	return sha256.Sum256(append(s[:len(s):len(s)], r[:]...))
}

// AppendMessage appends all this side has to say so far.
func (s *Setup) AppendMessage(b []byte) []byte {
	stage := byte(stageOffer)
	switch {
	case s.host && s.haveT:
		stage = stageReveal
	case s.host, s.haveCommit:
		stage = stageCommit
	}
	b = append(b, Kind, stage, 0, 0)
	at := len(b)
	b = AppendOffer(b, s.own)
	binary.LittleEndian.PutUint16(b[at-2:], uint16(len(b)-at))
	if stage >= stageCommit {
		if s.host {
			b = append(b, s.commit[:]...)
		} else {
			b = append(b, s.t[:]...)
		}
	}
	if stage == stageReveal {
		b = append(append(b, s.s[:]...), s.r[:]...)
	}
	return b
}

// Receive takes the opponent's message. A repeated or older message changes
// nothing. It fails with ErrMalformed (to be counted and forgotten),
// ErrIncompatible or ErrCheated (the end of the match).
func (s *Setup) Receive(b []byte) error {
	if len(b) < 4 || b[0] != Kind || b[1] > stageReveal || s.host && b[1] > stageCommit {
		return ErrMalformed
	}
	stage, size := b[1], int(binary.LittleEndian.Uint16(b[2:]))
	b = b[4:]
	if len(b) < size {
		return ErrMalformed
	}
	offer, err := ParseOffer(b[:size])
	if err != nil {
		return err
	}
	b = b[size:]
	want := 0
	if stage >= stageCommit {
		want += shareLen
		if !s.host {
			want += sha256.Size - shareLen
		}
	}
	if stage == stageReveal {
		want += 2 * shareLen
	}
	if len(b) != want || !s.host && stage == stageOffer {
		return ErrMalformed
	}
	if s.heard && offer != s.other {
		return fmt.Errorf("%w: its offer changed", ErrCheated)
	}
	if err := Compare(s.own, offer, s.host); err != nil {
		return err
	}
	s.other, s.heard = offer, true
	if s.host {
		return s.receiveShare(stage, b)
	}
	return s.receiveCommit(stage, b)
}

func (s *Setup) receiveShare(stage byte, b []byte) error {
	if stage < stageCommit {
		return nil
	}
	if s.haveT && !bytes.Equal(b, s.t[:]) {
		return fmt.Errorf("%w: its share changed", ErrCheated)
	}
	copy(s.t[:], b)
	s.haveT = true
	return nil
}

func (s *Setup) receiveCommit(stage byte, b []byte) error {
	if s.haveCommit && !bytes.Equal(b[:sha256.Size], s.commit[:]) {
		return fmt.Errorf("%w: its commitment changed", ErrCheated)
	}
	copy(s.commit[:], b)
	s.haveCommit = true
	if stage < stageReveal {
		return nil
	}
	b = b[sha256.Size:]
	var open, blind [shareLen]byte
	copy(open[:], b)
	copy(blind[:], b[shareLen:])
	if commitment(open, blind) != s.commit {
		return fmt.Errorf("%w: what it revealed is not what it committed to", ErrCheated)
	}
	s.s, s.r, s.haveSR = open, blind, true
	return nil
}

// Match returns what both play once this side knows it. The host knows it one
// message before the joiner and must go on sending until the joiner plays.
func (s *Setup) Match() (Match, bool) {
	if !s.heard || !s.haveT || !s.haveSR {
		return Match{}, false
	}
	h, j := s.own, s.other
	if !s.host {
		h, j = s.other, s.own
	}
	m := Match{Ruleset: h.Ruleset, Format: h.Format, Rounds: h.Rounds, Ranked: h.Ranked, Mode: min(h.Mode, j.Mode),
		Teams: [2][maxTeam]uint8{h.Team, j.Team}, Host: h, Joiner: j, Seed: h.Seed}
	if !h.Seeded {
		sum := sha256.Sum256(append(s.s[:len(s.s):len(s.s)], s.t[:]...))
		m.Seed = binary.LittleEndian.Uint64(sum[:])
	}
	return m, true
}

// Other returns the opponent's offer once it was heard.
func (s *Setup) Other() (Offer, bool) { return s.other, s.heard }
