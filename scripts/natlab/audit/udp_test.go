package audit

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pion/stun/v2"

	"backstep/natpunch/rendezvous"
	"backstep/natpunch/stunguard"
	"backstep/scripts/natlab/wiretap"
)

var (
	relay = netip.MustParseAddrPort("198.51.100.10:3478")
	alice = netip.MustParseAddrPort("198.51.100.1:5000")
	bob   = netip.MustParseAddrPort("198.51.100.2:6000")
	start = time.Unix(1_700_000_000, 0)
)

func rules() Rules {
	return Rules{Relay: []netip.Addr{relay.Addr()}, Secrets: []Secret{{What: "the secret", Text: "K7QM"}, {What: "a name", Text: "Alkestis"}}}
}

func udp(src, dst netip.AddrPort, b []byte) wiretap.Packet {
	return wiretap.Packet{At: start, Protocol: wiretap.UDP, Src: src, Dst: dst, Payload: b}
}

// dtls makes a record.
func dtls(kind byte, epoch uint16, sequence uint64, body []byte) []byte {
	b := append([]byte{kind, 0xFE, 0xFD}, binary.BigEndian.AppendUint64(nil, uint64(epoch)<<48|sequence)...)
	return append(binary.BigEndian.AppendUint16(b, uint16(len(body))), body...)
}

func handshakeMessage(typ byte, body []byte) []byte {
	n := len(body)
	b := []byte{typ, byte(n >> 16), byte(n >> 8), byte(n), 0, 0, 0, 0, 0, byte(n >> 16), byte(n >> 8), byte(n)}
	return append(b, body...)
}

// serverHelloBody chooses a cipher suite.
func serverHelloBody(random byte, suite uint16) []byte {
	b := append([]byte{0xFE, 0xFD}, make([]byte, 32)...)
	b[2] = random
	return append(binary.BigEndian.AppendUint16(append(b, 0), suite), 0)
}

func secretBytes(n int, seed uint64) []byte {
	r := rand.New(rand.NewPCG(seed, 1))
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return b
}

func data(channel uint32, b []byte) []byte { return rendezvous.AppendData(nil, channel, b) }

func reg() []byte {
	return rendezvous.AppendReg(nil, &rendezvous.Reg{Side: rendezvous.SideJoin, Channel: 7, Counter: 9}, new(rendezvous.RegKey))
}

func iceCheck(extra ...stun.Setter) []byte {
	s := append([]stun.Setter{stun.BindingRequest, stun.TransactionID, stun.NewUsername("joinufrg:hostufrg")}, extra...)
	return stun.MustBuild(append(s, stun.NewShortTermIntegrity("password"), stun.Fingerprint)...).Raw
}

// Everything a good match consists of passes and is counted as what it is.
func TestUDPPasses(t *testing.T) {
	ask := stunguard.AppendRequest(nil, stunguard.TransactionID{1, 2, 3})
	request := &stun.Message{Raw: ask}
	if err := request.Decode(); err != nil {
		t.Fatal(err)
	}
	mapped := &stun.XORMappedAddress{IP: alice.Addr().AsSlice(), Port: 5000}
	sealed := dtls(typeApplication, 1, 5, secretBytes(40, 1))
	chal := rendezvous.AppendChal(nil, &rendezvous.Chal{Side: rendezvous.SideJoin, Channel: 7}, new(rendezvous.RegKey))
	ack := rendezvous.AppendAck(nil, &rendezvous.Ack{Side: rendezvous.SideJoin, Channel: 7, Addr: alice}, new(rendezvous.RegKey))
	flight := slices.Concat(dtls(typeHandshake, 0, 1, handshakeMessage(serverHello, serverHelloBody(1, CipherSuite))),
		dtls(typeHandshake, 0, 2, handshakeMessage(14, nil)))
	check := iceCheck()
	checked := &stun.Message{Raw: check}
	if err := checked.Decode(); err != nil {
		t.Fatal(err)
	}
	packets := []wiretap.Packet{
		udp(alice, relay, ask),
		udp(relay, alice, stun.MustBuild(request, stun.BindingSuccess, mapped, stun.Fingerprint).Raw),
		udp(alice, bob, check),
		udp(bob, alice, stun.MustBuild(checked, stun.BindingSuccess, mapped, stun.NewShortTermIntegrity("password"), stun.Fingerprint).Raw),
		udp(alice, relay, reg()), udp(relay, alice, chal), udp(relay, alice, ack),
		udp(alice, relay, data(7, flight)), udp(relay, bob, data(7, flight)),
		udp(bob, alice, slices.Concat(dtls(typeHandshake, 0, 3, handshakeMessage(16, []byte("bs1-00"))), dtls(typeCipherSpec, 0, 4, []byte{1}),
			dtls(typeHandshake, 1, 0, secretBytes(40, 2)))),
		udp(alice, bob, sealed), udp(alice, bob, sealed), // a duplicate of the network
		udp(alice, bob, dtls(typeAlert, 1, 6, secretBytes(18, 3))),
		{Protocol: wiretap.TCP, Src: alice, Dst: relay, Payload: []byte("not UDP")},
	}
	d := UDP(packets, rules())
	if len(d.Findings) > 0 {
		t.Errorf("findings: %q", d.Findings)
	}
	if want := [kinds]int{1, 1, 1, 1, 3, 1, 1, 4}; d.Count != want {
		t.Errorf("counted %v, want %v", d.Count, want)
	}
	if len(d.Data) != 1 || d.Data[0].Sequence != 5 || d.Data[0].Relayed || d.Data[0].Src != alice || d.Data[0].Size != len(sealed) {
		t.Errorf("data %+v", d.Data)
	}
	if !slices.Equal(d.Ciphers, []uint16{CipherSuite}) || !slices.Equal(d.ICEUsers, []string{"joinufrg", "hostufrg"}) {
		t.Errorf("ciphers %04x, users %q", d.Ciphers, d.ICEUsers)
	}
}

// Everything else is a finding.
func TestUDPFinds(t *testing.T) {
	sealed := dtls(typeApplication, 1, 5, secretBytes(40, 1))
	reordered := func(b []byte, at int, v byte) []byte { c := slices.Clone(b); c[at] = v; return c }
	ask := stunguard.AppendRequest(nil, stunguard.TransactionID{1})
	mapped := &stun.XORMappedAddress{IP: alice.Addr().AsSlice(), Port: 5000}
	one := func(p wiretap.Packet) []wiretap.Packet { return []wiretap.Packet{p} }
	for _, c := range []struct {
		name, want string
		packets    []wiretap.Packet
	}{
		{"nothing", "an empty datagram", one(udp(alice, bob, nil))},
		{"a packet in clear", "no known kind", one(udp(alice, bob, []byte("V2RB\x01whatever")))},
		{"a packet in clear inside a relay frame", "without DTLS inside", one(udp(alice, relay, data(7, []byte("V2RB"))))},
		{"application data in clear", "type 23 in epoch 0", one(udp(alice, bob, dtls(typeApplication, 0, 1, []byte("hello"))))},
		{"an alert in clear", "type 21 in epoch 0", one(udp(alice, bob, dtls(typeAlert, 0, 1, []byte{2, 40})))},
		{"an unknown content type", "type 25 in epoch 1", one(udp(alice, bob, dtls(25, 1, 1, secretBytes(40, 1))))},
		{"a later epoch", "type 23 in epoch 2", one(udp(alice, bob, dtls(typeApplication, 2, 1, secretBytes(40, 1))))},
		{"another version", "version fefc", one(udp(alice, bob, reordered(sealed, 2, 0xFC)))},
		{"a record without a tag", "without room", one(udp(alice, bob, dtls(typeApplication, 1, 1, secretBytes(16, 1))))},
		{"a byte too many", "whole number", one(udp(alice, bob, append(slices.Clone(sealed), 0)))},
		{"a byte too few", "whole number", one(udp(alice, bob, sealed[:len(sealed)-1]))},
		{"a certificate", "handshake message of type 11", one(udp(alice, bob, dtls(typeHandshake, 0, 1, handshakeMessage(11, make([]byte, 9)))))},
		{"another cipher", "cipher suite c0a8", one(udp(alice, bob, dtls(typeHandshake, 0, 1, handshakeMessage(serverHello, serverHelloBody(1, 0xC0A8)))))},
		{"half a handshake message", "longer than its record", one(udp(alice, bob, dtls(typeHandshake, 0, 1, handshakeMessage(1, make([]byte, 9))[:15])))},
		{"a ChangeCipherSpec with more", "that is none", one(udp(alice, bob, dtls(typeCipherSpec, 0, 1, []byte{1, 2})))},
		{"a name in the handshake", "a name is readable in the handshake", one(udp(alice, bob, dtls(typeHandshake, 0, 1, handshakeMessage(16, []byte("x alkestis")))))},
		{"one nonce twice", "used twice", []wiretap.Packet{udp(alice, bob, sealed), udp(alice, relay, data(7, dtls(typeApplication, 1, 5, secretBytes(40, 2))))}},
		{"bare DTLS to the relay", "which is no player", one(udp(alice, relay, sealed))},
		{"the relay speaks by itself", "no player sent", one(udp(relay, alice, data(7, sealed)))},
		{"the relay alters a packet", "no player sent", []wiretap.Packet{udp(alice, relay, data(7, sealed)), udp(relay, bob, data(7, reordered(sealed, 30, 0)))}},
		{"a second channel", "channel 00000008", []wiretap.Packet{udp(alice, relay, data(7, sealed)), udp(alice, relay, data(8, sealed))}},
		{"a relay frame between players", "neither comes from", one(udp(alice, bob, data(7, sealed)))},
		{"a registration to a player", "wrong direction", one(udp(alice, bob, reg()))},
		{"a registration of the relay", "wrong direction", one(udp(relay, bob, reg()))},
		{"a registration with something reserved", "rendezvous", one(udp(alice, relay, reordered(reg(), 60, 1)))},
		{"an unknown relay frame", "relay frame of no known kind", one(udp(alice, relay, []byte{0xF5, 1, 2}))},
		{"STUN without a fingerprint", "fingerprint", one(udp(alice, bob, stun.MustBuild(stun.BindingRequest, stun.TransactionID, stun.NewShortTermIntegrity("x")).Raw))},
		{"STUN between players without integrity", "without integrity", one(udp(alice, bob, ask))},
		{"STUN to the relay that is not padded", "not our padded request", one(udp(alice, relay, stun.MustBuild(stun.BindingRequest, stun.TransactionID, stun.Fingerprint).Raw))},
		{"an answer of the relay with its name", "attribute 8022", one(udp(relay, alice, stun.MustBuild(stun.BindingSuccess, stun.TransactionID, mapped, stun.NewSoftware("x"), stun.Fingerprint).Raw))},
		{"a request of the relay", "not an answer", one(udp(relay, alice, ask))},
		{"a check with a name", "attribute 8022", one(udp(alice, bob, iceCheck(stun.NewSoftware("x"))))},
		{"a check with the secret", "the secret is readable", one(udp(alice, bob, iceCheck(stun.RawAttribute{Type: 0x802A, Value: []byte("-k7qm---")})))},
	} {
		d := UDP(c.packets, rules())
		if len(d.Findings) != 1 || !strings.Contains(d.Findings[0], c.want) {
			t.Errorf("%s: %q, want %q", c.name, d.Findings, c.want)
		}
	}
}

// A new handshake has new keys, so its numbers begin anew.
func TestUDPNewHandshake(t *testing.T) {
	hello := func(random byte) wiretap.Packet {
		return udp(bob, alice, dtls(typeHandshake, 0, 0, handshakeMessage(serverHello, serverHelloBody(random, CipherSuite))))
	}
	first, second := udp(alice, bob, dtls(typeApplication, 1, 5, secretBytes(40, 1))), udp(alice, bob, dtls(typeApplication, 1, 5, secretBytes(40, 2)))
	if d := UDP([]wiretap.Packet{hello(1), first, hello(2), second}, rules()); len(d.Findings) > 0 || len(d.Data) != 2 {
		t.Errorf("%q, %d records", d.Findings, len(d.Data))
	}
	if d := UDP([]wiretap.Packet{hello(1), first, hello(1), second}, rules()); len(d.Findings) != 1 {
		t.Errorf("a repeated hello hides a repeated nonce: %q", d.Findings)
	}
}

// What looks like DTLS but is not encrypted shows in the distribution of its bytes.
func TestUDPSpread(t *testing.T) {
	stream := func(body func(i int) []byte) Datagrams {
		var packets []wiretap.Packet
		for i := range 300 {
			packets = append(packets, udp(alice, bob, dtls(typeApplication, 1, uint64(i), body(i))))
		}
		return UDP(packets, rules())
	}
	if d := stream(func(i int) []byte { return secretBytes(40, uint64(i)) }); len(d.Findings) > 0 || d.Bytes != 300*40 || d.Spread < 100 {
		t.Errorf("random bytes: %q, spread %.0f of %d bytes", d.Findings, d.Spread, d.Bytes)
	}
	text, err := hex.DecodeString("0a00ff")
	if err != nil {
		t.Fatal(err)
	}
	if d := stream(func(i int) []byte { return append(secretBytes(17, uint64(i)), text...) }); len(d.Findings) != 1 || !strings.Contains(d.Findings[0], "not evenly") {
		t.Errorf("three fixed bytes in each record: %q, spread %.0f", d.Findings, d.Spread)
	}
}

func TestFindingsAreBounded(t *testing.T) {
	var packets []wiretap.Packet
	for range 1000 {
		packets = append(packets, udp(alice, bob, []byte("clear")))
	}
	if f := UDP(packets, rules()).Findings; len(f) != maxFindings+1 || f[maxFindings] != fmt.Sprintf("and %d more", 1000-maxFindings) {
		t.Errorf("%d findings, the last %q", len(f), f[len(f)-1])
	}
}

func TestSecrets(t *testing.T) {
	r := Rules{Secrets: append(Address("an address", netip.MustParseAddr("198.51.100.1")), Secret{What: "a name", Text: "Bob"})}
	for text, want := range map[string]int{
		"Host: 198.51.100.10:3478": 0, "to 198.51.100.1:5000": 1, "198.51.100.1": 1, "x\xc6\x33\x64\x01y": 1, "\xc6\x33\x64\x0a": 0,
		"Bobby": 0, "kabob": 0, "BOB and 198.51.100.1, bob": 2, "": 0, "bobbob bob": 1,
	} {
		if got := r.Leaks([]byte(text)); len(got) != want {
			t.Errorf("%q: %q, want %d", text, got, want)
		}
	}
}

func TestPerSecond(t *testing.T) {
	var all []Sent
	for i := range 300 {
		all = append(all, Sent{At: start.Add(time.Duration(i) * time.Second / 60), Src: alice, Dst: bob})
	}
	all = append(all, Sent{At: start.Add(time.Second), Src: alice, Dst: relay, Relayed: true}, Sent{At: start.Add(time.Second), Src: bob, Dst: alice})
	last := all[299].At
	if got := PerSecond(all, alice.Addr(), false, last, 4); !slices.Equal(got, []int{60, 60, 60, 60}) {
		t.Errorf("%v", got)
	}
	if got := PerSecond(all, alice.Addr(), false, last.Add(-time.Second), 2); !slices.Equal(got, []int{60, 60}) {
		t.Errorf("a second earlier %v", got)
	}
	if got := PerSecond(all, alice.Addr(), true, last, 5); !slices.Equal(got, []int{0, 1, 0, 0, 0}) {
		t.Errorf("relayed %v", got)
	}
}

// Whatever is on the wire, it is judged or found, never a panic.
func FuzzUDP(f *testing.F) {
	f.Add(true, reg())
	f.Add(false, iceCheck())
	f.Add(true, data(7, dtls(typeApplication, 1, 5, secretBytes(40, 1))))
	f.Add(false, dtls(typeHandshake, 0, 1, handshakeMessage(serverHello, serverHelloBody(1, CipherSuite))))
	f.Add(true, stunguard.AppendRequest(nil, stunguard.TransactionID{}))
	f.Fuzz(func(t *testing.T, toRelay bool, b []byte) {
		dst := bob
		if toRelay {
			dst = relay
		}
		d := UDP([]wiretap.Packet{udp(alice, dst, b)}, rules())
		sum := len(d.Findings)
		for _, n := range d.Count {
			sum += n
		}
		if sum == 0 {
			t.Errorf("% x is neither counted nor found", b)
		}
	})
}
