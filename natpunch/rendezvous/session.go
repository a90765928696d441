package rendezvous

import (
	"crypto/sha256"
	"encoding/binary"
	"net/netip"
)

// MaxEndpoints is the most relay endpoints one SESSION may name.
const MaxEndpoints = 16

// EndpointSize is the length of an encoded endpoint: address 16, port u16.
const EndpointSize = 18

// SessionMsg is what the relay allots to each player once the host said TAKEN:
// the channel of the relay path, how long it lives, the key that proves the
// right to it, and the UDP addresses at which the relay takes registrations.
//
//	09 | run u32 | side u8 | lobby 16 | relay_id 16 | channel u32 | expiry u32 |
//	   | regkey 32 | n u8 | n x endpoint 18                       79..367 bytes
type SessionMsg struct {
	Run       uint32
	Side      Side
	Lobby     LobbyID
	RelayID   RelayID
	Channel   uint32
	Expiry    uint32 // the relay's clock, Unix seconds; never compared with ours
	RegKey    RegKey
	Endpoints []netip.AddrPort
}

const (
	sessionMin    = 1 + 4 + 1 + 16 + 16 + 4 + 4 + 32 + 1
	sessionSide   = 1 + 4
	sessionRegKey = sessionMin - 1 - 32
)

// AppendSession appends m to b. It panics on more than MaxEndpoints endpoints or
// one that AppendEndpoint refuses.
func AppendSession(b []byte, m *SessionMsg) []byte {
	if len(m.Endpoints) > MaxEndpoints {
		panic("rendezvous: too many endpoints")
	}
	b = append(b, byte(TypeSession))
	b = binary.LittleEndian.AppendUint32(b, m.Run)
	b = append(b, byte(m.Side))
	b = append(b, m.Lobby[:]...)
	b = append(b, m.RelayID[:]...)
	b = binary.LittleEndian.AppendUint32(b, m.Channel)
	b = binary.LittleEndian.AppendUint32(b, m.Expiry)
	b = append(b, m.RegKey[:]...)
	b = append(b, byte(len(m.Endpoints)))
	for _, ep := range m.Endpoints {
		b = AppendEndpoint(b, ep)
	}
	return b
}

// ParseSession reads m from b. It allocates the endpoint list (reusing the
// capacity m.Endpoints has).
func ParseSession(b []byte, m *SessionMsg) error {
	if err := checkMin(b, TypeSession, sessionMin); err != nil {
		return err
	}
	n := int(b[sessionMin-1])
	if n > MaxEndpoints || len(b) != sessionMin+n*EndpointSize {
		return ErrSize
	}
	if !Side(b[sessionSide]).Valid() {
		return ErrSide
	}
	eps := m.Endpoints[:0]
	for rest := b[sessionMin:]; len(rest) > 0; rest = rest[EndpointSize:] {
		ep, err := ParseEndpoint(rest[:EndpointSize])
		if err != nil {
			return err
		}
		eps = append(eps, ep)
	}
	m.Run = binary.LittleEndian.Uint32(b[1:])
	m.Side = Side(b[5])
	copy(m.Lobby[:], b[6:])
	copy(m.RelayID[:], b[22:])
	m.Channel = binary.LittleEndian.Uint32(b[38:])
	m.Expiry = binary.LittleEndian.Uint32(b[42:])
	copy(m.RegKey[:], b[46:])
	m.Endpoints = eps
	return nil
}

// Sheet is SHA-256 over the encoded SESSION, type byte included, with the side
// and the regkey cut out: all that both players must have been told alike.
func (m *SessionMsg) Sheet() [32]byte {
	b := AppendSession(make([]byte, 0, sessionMin+MaxEndpoints*EndpointSize), m)
	h := sha256.New()
	h.Write(b[:sessionSide])
	h.Write(b[sessionSide+1 : sessionRegKey])
	h.Write(b[sessionMin-1:])
	return [32]byte(h.Sum(nil))
}

// AppendEndpoint appends address and port. It panics on an address that
// ParseEndpoint would refuse.
func AppendEndpoint(b []byte, ep netip.AddrPort) []byte {
	if !usableEndpoint(ep) {
		panic("rendezvous: not a usable endpoint")
	}
	a := ep.Addr().As16()
	return binary.LittleEndian.AppendUint16(append(b, a[:]...), ep.Port())
}

// ParseEndpoint reads an endpoint of EndpointSize bytes. IPv4 comes out unmapped.
// Port 0, the unspecified address, multicast and broadcast are ErrAddr: nobody
// can be reached there, and nobody should be made to send there.
func ParseEndpoint(b []byte) (netip.AddrPort, error) {
	if len(b) != EndpointSize {
		return netip.AddrPort{}, ErrSize
	}
	ep := netip.AddrPortFrom(netip.AddrFrom16([16]byte(b[:16])).Unmap(), binary.LittleEndian.Uint16(b[16:]))
	if !usableEndpoint(ep) {
		return netip.AddrPort{}, ErrAddr
	}
	return ep, nil
}

func usableEndpoint(ep netip.AddrPort) bool {
	a := ep.Addr().Unmap()
	return ep.Port() != 0 && a.IsValid() && !a.IsUnspecified() && !a.IsMulticast() &&
		a != netip.AddrFrom4([4]byte{255, 255, 255, 255})
}
