package audit

import (
	"bytes"
	"fmt"
	"net/netip"
	"slices"
	"time"

	"backstep/natpunch/rendezvous"
	"backstep/scripts/natlab/wiretap"
)

// Kind is what an allowed datagram is.
type Kind uint8

// The kinds.
const (
	STUNRequest  Kind = iota // ours, to the relay
	STUNAnswer               // the relay's
	ICECheck                 // between players
	ICEAnswer                //
	Registration             // F0, F1, F2
	Relayed                  // F8 with DTLS inside, as a player sent it
	Forwarded                // the same as the relay passed it on
	Direct                   // DTLS between players
	kinds
)

var kindNames = [kinds]string{"stun request", "stun answer", "ice check", "ice answer", "registration", "relayed", "forwarded", "direct"}

func (k Kind) String() string {
	if k < kinds {
		return kindNames[k]
	}
	return fmt.Sprintf("kind(%d)", uint8(k))
}

// Sent is one encrypted record of application data, counted once where its sender put it on the wire.
type Sent struct {
	At       time.Time
	Src, Dst netip.AddrPort
	Relayed  bool
	Sequence uint64
	Size     int // of the UDP payload it came in
}

// Datagrams is what an audit of UDP found.
type Datagrams struct {
	Findings []string
	Count    [kinds]int
	Data     []Sent
	Ciphers  []uint16 // of the ServerHellos, each once
	ICEUsers []string // user fragments of ICE checks, each once
	// Spread is how far the bytes of all ciphertext are from an even distribution: chi-square with 255 degrees of freedom.
	// Of real ciphertext it is 255 ± 23; above MaxSpread it is a finding.
	Spread float64
	Bytes  int // of ciphertext
}

// MaxSpread is ten standard deviations above the mean.
const MaxSpread = 255 + 10*22.6

// minSpread bytes of ciphertext are needed to judge its distribution.
const minSpread = 4096

type udpAudit struct {
	Datagrams
	rules   *Rules
	found   findings
	channel uint32
	have    bool // channel is known
	toRelay map[string]bool
	hellos  map[[32]byte]bool
	nonces  map[nonce][]byte
	bytes   [256]int
}

// nonce identifies what an AEAD must never use twice: a sender's key and sequence number.
type nonce struct {
	sender   netip.Addr
	keys     int // number of the handshake
	epoch    uint16
	sequence uint64
}

// UDP judges every UDP datagram of a capture in which each was recorded once (see wiretap.Config.Incoming). Players are told
// apart by their IP address.
func UDP(packets []wiretap.Packet, rules Rules) Datagrams {
	a := &udpAudit{rules: &rules, toRelay: make(map[string]bool), hellos: make(map[[32]byte]bool), nonces: make(map[nonce][]byte)}
	for i := range packets {
		if p := &packets[i]; p.Protocol == wiretap.UDP {
			a.datagram(p)
		}
	}
	if a.Bytes >= minSpread {
		mean := float64(a.Bytes) / 256
		for _, n := range a.bytes {
			a.Spread += (float64(n) - mean) * (float64(n) - mean) / mean
		}
		if a.Spread > MaxSpread {
			a.found.addf("what should be ciphertext is not evenly distributed: chi-square %.0f, the most is %.0f", a.Spread, MaxSpread)
		}
	}
	a.Findings = a.found.all()
	return a.Datagrams
}

func (a *udpAudit) datagram(p *wiretap.Packet) {
	kind, wrong := a.judge(p)
	if wrong != "" {
		a.found.addf("%s: UDP %v > %v: %s: % x", p.At.Format("15:04:05.000"), p.Src, p.Dst, wrong, p.Payload[:min(len(p.Payload), 32)])
		return
	}
	a.Count[kind]++
	if kind == Relayed || kind == Forwarded || kind == Direct {
		return // judged record by record
	}
	for _, what := range a.rules.Leaks(p.Payload) {
		a.found.addf("UDP %v > %v: %s is readable in a %v", p.Src, p.Dst, what, kind)
	}
}

func (a *udpAudit) judge(p *wiretap.Packet) (kind Kind, wrong string) {
	b := p.Payload
	fromRelay, toRelay := a.rules.isRelay(p.Src.Addr()), a.rules.isRelay(p.Dst.Addr())
	switch {
	case len(b) == 0:
		return 0, "an empty datagram"
	case fromRelay && toRelay:
		return 0, "the relay talks to itself"
	case b[0] <= 3:
		kind, users, wrong := a.rules.stun(p)
		for _, u := range users {
			if !slices.Contains(a.ICEUsers, u) {
				a.ICEUsers = append(a.ICEUsers, u)
			}
		}
		return kind, wrong
	case isRecord(b):
		if fromRelay || toRelay {
			return 0, "bare DTLS with the relay, which is no player"
		}
		return Direct, a.dtls(p, b, false)
	case rendezvous.IsFrame(b):
		return a.frame(p, fromRelay, toRelay)
	}
	return 0, "a datagram of no known kind"
}

func (a *udpAudit) frame(p *wiretap.Packet, fromRelay, toRelay bool) (kind Kind, wrong string) {
	b := p.Payload
	var err error
	need := toRelay
	switch b[0] {
	case rendezvous.FrameReg:
		err = rendezvous.ParseReg(b, new(rendezvous.Reg))
	case rendezvous.FrameChal:
		need, err = fromRelay, rendezvous.ParseChal(b, new(rendezvous.Chal))
	case rendezvous.FrameAck:
		need, err = fromRelay, rendezvous.ParseAck(b, new(rendezvous.Ack))
	case rendezvous.FrameData:
		return a.data(p, fromRelay, toRelay)
	default:
		return 0, "a relay frame of no known kind"
	}
	switch {
	case err != nil:
		return 0, err.Error()
	case !need:
		return 0, "a registration frame in the wrong direction"
	}
	return Registration, ""
}

func (a *udpAudit) data(p *wiretap.Packet, fromRelay, toRelay bool) (kind Kind, wrong string) {
	channel, inner, err := rendezvous.ParseData(p.Payload)
	switch {
	case err != nil:
		return 0, err.Error()
	case !fromRelay && !toRelay:
		return 0, "a DATA frame that neither comes from the relay nor goes there"
	case a.have && channel != a.channel:
		return 0, fmt.Sprintf("channel %08x where the match has %08x", channel, a.channel)
	case !isRecord(inner):
		return 0, "a DATA frame without DTLS inside"
	}
	a.channel, a.have = channel, true
	if fromRelay {
		if !a.toRelay[string(p.Payload)] {
			return 0, "a DATA frame of the relay that no player sent"
		}
		return Forwarded, ""
	}
	a.toRelay[string(p.Payload)] = true
	return Relayed, a.dtls(p, inner, true)
}

// dtls judges the records of one datagram where its sender put it on the wire.
func (a *udpAudit) dtls(p *wiretap.Packet, b []byte, relayed bool) (wrong string) {
	all, err := records(b)
	if err != nil {
		return err.Error()
	}
	for i := range all {
		r := &all[i]
		wrong, h := r.allowed()
		if h.cipher != 0 {
			a.hellos[h.random] = true
			if !slices.Contains(a.Ciphers, h.cipher) {
				a.Ciphers = append(a.Ciphers, h.cipher)
			}
		}
		if wrong != "" {
			return wrong
		}
		if r.epoch == 0 {
			for _, what := range a.rules.Leaks(r.body) {
				a.found.addf("UDP %v > %v: %s is readable in the handshake", p.Src, p.Dst, what)
			}
			continue
		}
		n := nonce{p.Src.Addr(), len(a.hellos), r.epoch, r.sequence}
		if before, used := a.nonces[n]; used {
			// The same bytes again are a duplicate of the network; other bytes are one nonce for two plaintexts.
			if !bytes.Equal(before, r.whole) {
				return fmt.Sprintf("sequence number %d of epoch %d is used twice for different records", r.sequence, r.epoch)
			}
			continue
		}
		a.nonces[n] = r.whole
		for _, c := range r.body {
			a.bytes[c]++
		}
		a.Bytes += len(r.body)
		if r.kind == typeApplication {
			a.Data = append(a.Data, Sent{p.At, p.Src, p.Dst, relayed, r.sequence, len(p.Payload)})
		}
	}
	return ""
}
