package rendezvous

import (
	"encoding/binary"
	"net/netip"
)

// CandidateKind says where a candidate address comes from.
type CandidateKind uint8

const (
	CandidateHost      CandidateKind = 1 // an interface of the machine
	CandidateReflexive CandidateKind = 2 // what a relay's STUN or ACK saw
	CandidateMapped    CandidateKind = 3 // a port mapping (PCP, NAT-PMP, UPnP)
)

// MaxCandidates is the most candidates of one list.
const MaxCandidates = 32

// Candidate is one address at which a player may be reachable.
type Candidate struct {
	Kind CandidateKind
	Addr netip.AddrPort
}

// Candidates is the body of the sealed CANDIDATES message: the agent generation
// G (0 for the first agent; a new agent uses new ICE credentials) and a list.
//
//	G u32 | n u8 | n x (kind u8 | endpoint 18)                     5..613 bytes
type Candidates struct {
	Generation uint32
	List       []Candidate
}

const (
	candidatesMin = 4 + 1
	candidateSize = 1 + EndpointSize
)

// AppendCandidates appends c to b. It panics on more than MaxCandidates or an
// address AppendEndpoint refuses.
func AppendCandidates(b []byte, c *Candidates) []byte {
	if len(c.List) > MaxCandidates {
		panic("rendezvous: too many candidates")
	}
	b = binary.LittleEndian.AppendUint32(b, c.Generation)
	b = append(b, byte(len(c.List)))
	for _, x := range c.List {
		b = AppendEndpoint(append(b, byte(x.Kind)), x.Addr)
	}
	return b
}

// ParseCandidates reads c from b, reusing the capacity of c.List.
func ParseCandidates(b []byte, c *Candidates) error {
	if len(b) < candidatesMin {
		return ErrSize
	}
	n := int(b[4])
	if n > MaxCandidates || len(b) != candidatesMin+n*candidateSize {
		return ErrSize
	}
	list := c.List[:0]
	for rest := b[candidatesMin:]; len(rest) > 0; rest = rest[candidateSize:] {
		kind := CandidateKind(rest[0])
		if kind < CandidateHost || kind > CandidateMapped {
			return ErrType
		}
		addr, err := ParseEndpoint(rest[1:candidateSize])
		if err != nil {
			return err
		}
		list = append(list, Candidate{kind, addr})
	}
	c.Generation = binary.LittleEndian.Uint32(b)
	c.List = list
	return nil
}
