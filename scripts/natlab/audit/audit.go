// Package audit judges a capture of a whole match: nothing but what the design allows may be on the wire.
//
//	UDP, by its first byte                                          TCP, the lobby
//	00-03 STUN: our padded request to the relay, its answer,        HTTP head
//	      ICE checks with integrity and fingerprint                   WebSocket frames, unmasked
//	14-3F DTLS records, in clear only the handshake                     lobby messages 01-0F, whole and well formed
//	F0-F2 registration, to and from the relay                             none of the secrets, in no layer
//	F8    one channel, DTLS records inside, forwarded unchanged
//	else  a finding
//
// A finding is one sentence. No findings mean that every byte of every packet was accounted for.
package audit

import (
	"bytes"
	"fmt"
	"net/netip"
	"slices"
	"strings"
)

// Rules are what a capture is judged by.
type Rules struct {
	Relay   []netip.Addr // the relay's addresses
	Secrets []Secret     // what must never be readable
	// Moved allows TCP connections without a beginning: a NAT that forgot them sends what comes next from another port.
	Moved bool
}

func (r *Rules) isRelay(a netip.Addr) bool { return slices.Contains(r.Relay, a.Unmap()) }

// Secret is something that must not be on a wire in clear.
type Secret struct {
	What string // for the finding, which does not repeat the secret itself
	// Text is found in any case, unless a digit or letter goes on before or behind it: 198.51.100.1 is not in 198.51.100.10.
	Text string
	// Bytes are found exactly; nil for none.
	Bytes []byte
}

// Address makes secrets of an address: as text, and as its bytes.
func Address(what string, a netip.Addr) []Secret {
	return []Secret{{What: what, Text: a.String()}, {What: what, Bytes: a.AsSlice()}}
}

func (s *Secret) in(b []byte) bool {
	if len(s.Bytes) > 0 && bytes.Contains(b, s.Bytes) {
		return true
	}
	if s.Text == "" {
		return false
	}
	low, text := bytes.ToLower(b), []byte(strings.ToLower(s.Text))
	for at := 0; ; at++ {
		i := bytes.Index(low[at:], text)
		if i < 0 {
			return false
		}
		at += i
		if end := at + len(text); !(at > 0 && wordByte(low[at-1])) && !(end < len(low) && wordByte(low[end])) {
			return true
		}
	}
}

func wordByte(c byte) bool { return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' }

// Leaks names the secrets that are readable in b.
func (r *Rules) Leaks(b []byte) []string {
	var found []string
	for i := range r.Secrets {
		if s := &r.Secrets[i]; s.in(b) && !slices.Contains(found, s.What) {
			found = append(found, s.What)
		}
	}
	return found
}

// findings collects sentences, the first of each kind in full and the number of all.
type findings struct {
	list []string
	more int
}

const maxFindings = 20

func (f *findings) addf(format string, args ...any) {
	if len(f.list) == maxFindings {
		f.more++
		return
	}
	f.list = append(f.list, fmt.Sprintf(format, args...))
}

func (f *findings) all() []string {
	if f.more > 0 {
		return append(slices.Clip(f.list), fmt.Sprintf("and %d more", f.more))
	}
	return f.list
}
