package portmap

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"
)

const (
	pcpVersion  = 2
	pcpMap      = 1
	pcpAnswer   = 0x80
	pcpSize     = 60
	protocolUDP = 17
)

var (
	// ErrMalformed is an answer that is not one to a PCP MAP request.
	ErrMalformed = errors.New("portmap: malformed PCP message")
	// ErrVersion is the answer of a router that speaks NAT-PMP or another
	// version of PCP.
	ErrVersion = errors.New("portmap: the router does not speak PCP version 2")
	// ErrRefused wraps a router's reason to refuse a mapping.
	ErrRefused = errors.New("portmap: the router refuses the mapping")
)

// pcpRequest is a MAP request for UDP.
type pcpRequest struct {
	Lifetime uint32 // seconds, 0 to delete
	Client   netip.Addr
	Nonce    [12]byte
	Internal uint16
	External netip.AddrPort // a wish; the zero value for none
}

// pcpResponse is the answer to a MAP request for UDP that was granted.
type pcpResponse struct {
	Lifetime uint32 // seconds
	Epoch    uint32
	Nonce    [12]byte
	Internal uint16
	External netip.AddrPort // without IPv4-in-IPv6 form
}

// address16 is the form of an address in PCP: IPv4 as ::ffff:a.b.c.d. No address
// is all zeros of the family asked for, which we always ask IPv4 of.
func address16(a netip.Addr) [16]byte {
	if !a.IsValid() {
		a = netip.IPv4Unspecified()
	}
	return a.As16()
}

// appendPCPRequest appends r, 60 bytes.
func appendPCPRequest(b []byte, r *pcpRequest) []byte {
	b = append(b, pcpVersion, pcpMap, 0, 0)
	b = binary.BigEndian.AppendUint32(b, r.Lifetime)
	client, external := address16(r.Client), address16(r.External.Addr())
	b = append(b, client[:]...)
	b = append(b, r.Nonce[:]...)
	b = append(b, protocolUDP, 0, 0, 0)
	b = binary.BigEndian.AppendUint16(b, r.Internal)
	b = binary.BigEndian.AppendUint16(b, r.External.Port())
	return append(b, external[:]...)
}

// appendPCPResponse appends r as a router sends it, 60 bytes.
func appendPCPResponse(b []byte, r *pcpResponse) []byte {
	b = append(b, pcpVersion, pcpAnswer|pcpMap, 0, 0)
	b = binary.BigEndian.AppendUint32(b, r.Lifetime)
	b = binary.BigEndian.AppendUint32(b, r.Epoch)
	b = append(b, make([]byte, 12)...)
	b = append(b, r.Nonce[:]...)
	b = append(b, protocolUDP, 0, 0, 0)
	b = binary.BigEndian.AppendUint16(b, r.Internal)
	b = binary.BigEndian.AppendUint16(b, r.External.Port())
	external := address16(r.External.Addr())
	return append(b, external[:]...)
}

var pcpResults = [...]string{
	1: "its PCP version differs", 2: "mappings are not allowed", 3: "it calls the request malformed",
	4: "it does not know the operation", 5: "it does not know an option", 6: "it calls an option malformed",
	7: "its own line is down", 8: "it has no resources left", 9: "it does not map UDP",
	10: "this machine has too many mappings", 11: "it cannot give the wished port",
	12: "another router stands between", 13: "too many remote peers",
}

// parsePCPResponse reads a granted mapping from b. ErrVersion and ErrRefused say
// what a well-formed refusal says. What is reserved must be zero and options,
// which we never ask for, are refused, so that every answer that passes has one
// encoding.
func parsePCPResponse(b []byte) (r pcpResponse, err error) {
	if len(b) >= 4 && b[0] != pcpVersion && b[1]&pcpAnswer != 0 {
		return r, ErrVersion // a NAT-PMP router answers with version 0: RFC 6887, appendix A
	}
	if len(b) < 24 || b[0] != pcpVersion || b[1]&pcpAnswer == 0 {
		return r, ErrMalformed
	}
	if b[3] == 1 {
		return r, ErrVersion
	}
	if b[3] != 0 {
		why := fmt.Sprintf("result code %d", b[3])
		if int(b[3]) < len(pcpResults) {
			why = pcpResults[b[3]]
		}
		return r, fmt.Errorf("%w: %s", ErrRefused, why)
	}
	if len(b) != pcpSize || b[36] != protocolUDP {
		return r, ErrMalformed
	}
	r.Lifetime = binary.BigEndian.Uint32(b[4:])
	r.Epoch = binary.BigEndian.Uint32(b[8:])
	copy(r.Nonce[:], b[24:36])
	r.Internal = binary.BigEndian.Uint16(b[40:])
	r.External = netip.AddrPortFrom(netip.AddrFrom16([16]byte(b[44:])).Unmap(), binary.BigEndian.Uint16(b[42:]))
	var again [pcpSize]byte
	if !bytes.Equal(appendPCPResponse(again[:0], &r), b) {
		return pcpResponse{}, ErrMalformed
	}
	return r, nil
}
