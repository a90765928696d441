package audit

import (
	"encoding/binary"
	"math/rand/v2"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"backstep/natpunch/rendezvous"
	"backstep/scripts/natlab/wiretap"
)

var home = netip.MustParseAddrPort("198.51.100.1:40000")

// frame makes a WebSocket frame; a client's is masked.
func frame(first byte, masked bool, body []byte) []byte {
	b := []byte{first}
	mask := byte(0)
	if masked {
		mask = 0x80
	}
	switch n := len(body); {
	case n < 126:
		b = append(b, mask|byte(n))
	case n < 1<<16:
		b = binary.BigEndian.AppendUint16(append(b, mask|126), uint16(n))
	default:
		b = binary.BigEndian.AppendUint64(append(b, mask|127), uint64(n))
	}
	if !masked {
		return append(b, body...)
	}
	key := [4]byte{0xA1, 0x5B, 0x33, 0xC7}
	b = append(b, key[:]...)
	for i, c := range body {
		b = append(b, c^key[i&3])
	}
	return b
}

const fin = 0x80

const (
	requestHead  = "GET /lobby HTTP/1.1\r\nHost: 198.51.100.10:3478\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n"
	responseHead = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n"
)

var (
	hostMsg   = rendezvous.AppendHost(nil, &rendezvous.HostMsg{Version: 1})
	codeMsg   = rendezvous.AppendCode(nil, &rendezvous.CodeMsg{Lookup: rendezvous.Lookup([]byte("F9HT")), TTL: 900})
	sealedMsg = rendezvous.AppendSealed(nil, &rendezvous.SealedMsg{Run: 1, Box: make([]byte, 272)})
)

// connection cuts both directions into segments.
func connection(up, down []byte) []wiretap.Packet {
	var out []wiretap.Packet
	r := rand.New(rand.NewPCG(1, 2))
	for _, d := range []struct {
		src, dst netip.AddrPort
		b        []byte
	}{{home, relay, up}, {relay, home, down}} {
		seq := uint32(0xFFFFFF00) // wraps on the way
		out = append(out, wiretap.Packet{Protocol: wiretap.TCP, Src: d.src, Dst: d.dst, Seq: seq, SYN: true})
		seq++
		for b := d.b; len(b) > 0; {
			n := min(len(b), 1+r.IntN(100))
			out = append(out, wiretap.Packet{Protocol: wiretap.TCP, Src: d.src, Dst: d.dst, Seq: seq, Payload: b[:n]})
			seq, b = seq+uint32(n), b[n:]
		}
	}
	return out
}

func goodUp() []byte {
	return slices.Concat([]byte(requestHead), frame(fin|opBinary, true, hostMsg), frame(fin|opPing, true, []byte("1")),
		frame(opBinary, true, sealedMsg[:100]), frame(fin|opPong, true, nil), frame(fin|opContinue, true, sealedMsg[100:]))
}

func goodDown() []byte {
	return slices.Concat([]byte(responseHead), frame(fin|opBinary, false, codeMsg), frame(fin|opBinary, false, sealedMsg), frame(fin|opClose, false, []byte{3, 232}))
}

// A lobby passes however the network cuts, repeats and reorders its segments.
func TestTCPPasses(t *testing.T) {
	packets := connection(goodUp(), goodDown())
	r := rand.New(rand.NewPCG(3, 4))
	for range 50 {
		shuffled := slices.Clone(packets)
		for range 10 {
			shuffled = append(shuffled, packets[r.IntN(len(packets))])
		}
		r.Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
		c := TCP(shuffled, rules(), []string{"ufragAAA"})
		if len(c.Findings) > 0 {
			t.Fatalf("findings: %q", c.Findings)
		}
		if c.Lobbies != 1 || c.Bytes != len(goodUp())+len(goodDown()) || len(c.Messages) != 3 || c.Messages[rendezvous.TypeSealed] != 2 {
			t.Fatalf("%+v", c)
		}
	}
}

func TestTCPFinds(t *testing.T) {
	after := func(b []byte) []byte { return append(goodUp(), b...) }
	binaryFrame := func(b []byte) []byte { return frame(fin|opBinary, true, b) }
	hidden := rendezvous.AppendSealed(nil, &rendezvous.SealedMsg{Run: 1, Box: append(make([]byte, 300), " k7qm "...)})
	for _, c := range []struct {
		name, want string
		up, down   []byte
	}{
		{"the secret under the mask", "the secret is readable in lobby message 0a", after(binaryFrame(hidden)), goodDown()},
		{"the secret of the relay", "the secret is readable", goodUp(), append(goodDown(), frame(fin|opBinary, false, hidden)...)},
		{"a name in the head", "a name is readable", []byte(strings.Replace(string(goodUp()), "Host:", "X-Name: Alkestis\r\nHost:", 1)), goodDown()},
		{"a user name of ICE", "an ICE user name is readable", after(binaryFrame(rendezvous.AppendSealed(nil, &rendezvous.SealedMsg{Box: []byte("..ufragAAA..")}))), goodDown()},
		{"a name in a ping", "a name is readable in a control frame", after(frame(fin|opPing, true, []byte("alkestis"))), goodDown()},
		{"an unknown message", "message of type 2a", after(binaryFrame([]byte{0x2A, 1})), goodDown()},
		{"a malformed message", "lobby message 01", after(binaryFrame(hostMsg[:5])), goodDown()},
		{"a text message", "a text message", after(frame(fin|opText, true, hostMsg)), goodDown()},
		{"an empty message", "lobby message", after(binaryFrame(nil)), goodDown()},
		{"a compressed message", "reserved bits 40", after(frame(fin|0x40|opBinary, true, hostMsg)), goodDown()},
		{"an unmasked client", "masked false", after(frame(fin|opBinary, false, hostMsg)), goodDown()},
		{"a masked relay", "masked true", goodUp(), append(goodDown(), frame(fin|opBinary, true, codeMsg)...)},
		{"half a frame", "where 1 are left", after([]byte{fin | opBinary, 0x80 | 5, 0, 0, 0, 0, 1}), goodDown()},
		{"half a message", "without end", after(frame(opBinary, true, hostMsg)), goodDown()},
		{"a continuation of nothing", "out of place", after(frame(fin|opContinue, true, hostMsg)), goodDown()},
		{"a long ping", "control frame", after(frame(fin|opPing, true, make([]byte, 126))), goodDown()},
		{"another path", "the request is GET /other", []byte(strings.Replace(string(goodUp()), "/lobby", "/other", 1)), goodDown()},
		{"a code in the query", "the request is GET /lobby?F9HT", []byte(strings.Replace(string(goodUp()), "/lobby", "/lobby?F9HT", 1)), goodDown()},
		{"an extension", "has the extension", goodUp(), []byte(strings.Replace(string(goodDown()), "Upgrade:", "Sec-WebSocket-Extensions: permessage-deflate\r\nUpgrade:", 1))},
		{"no HTTP", "no end of an HTTP head", []byte("hello"), goodDown()},
		{"an answer that is none", "not an HTTP response", goodUp(), []byte("hello\r\n\r\n")},
	} {
		got := TCP(connection(c.up, c.down), rules(), []string{"ufragAAA"})
		if len(got.Findings) == 0 || !strings.Contains(strings.Join(got.Findings, "\n"), c.want) {
			t.Errorf("%s: %q, want %q", c.name, got.Findings, c.want)
		}
	}
}

func TestTCPWholeness(t *testing.T) {
	whole := connection(goodUp(), goodDown())
	without := slices.Delete(slices.Clone(whole), 2, 3)
	if c := TCP(without, rules(), nil); len(c.Findings) == 0 || !strings.Contains(c.Findings[0], "hole") {
		t.Errorf("a lost segment: %q", c.Findings)
	}
	elsewhere := connection(goodUp(), goodDown())
	for i := range elsewhere {
		for _, a := range []*netip.AddrPort{&elsewhere[i].Src, &elsewhere[i].Dst} {
			if *a == relay {
				*a = bob
			}
		}
	}
	if c := TCP(elsewhere, rules(), nil); len(c.Findings) == 0 || !strings.Contains(c.Findings[0], "does not go to the relay") {
		t.Errorf("a connection elsewhere: %q", c.Findings)
	}
	// What a NAT forgot goes on from another port, in the middle of the stream.
	moved := append(whole, wiretap.Packet{Protocol: wiretap.TCP, Src: alice, Dst: relay, Seq: 77, Payload: frame(fin|opBinary, true, sealedMsg)})
	if c := TCP(moved, rules(), nil); len(c.Findings) != 1 || !strings.Contains(c.Findings[0], "misses its beginning") {
		t.Errorf("a stream without beginning: %q", c.Findings)
	}
	r := rules()
	r.Moved = true
	if c := TCP(moved, r, nil); len(c.Findings) > 0 || c.Messages[rendezvous.TypeSealed] != 3 {
		t.Errorf("a stream that was moved: %q, %v", c.Findings, c.Messages)
	}
}

func FuzzTCP(f *testing.F) {
	f.Add(goodUp(), goodDown())
	f.Add([]byte(requestHead), []byte("HTTP/1.1 401 Unauthorized\r\n\r\n"))
	f.Add(append([]byte(requestHead), 0x82, 0xFF, 0, 0, 0, 0, 0, 0, 0, 1), []byte(responseHead))
	f.Fuzz(func(t *testing.T, up, down []byte) {
		c := TCP(connection(up, down), rules(), nil)
		if len(up) > 0 && c.Lobbies == 0 && len(c.Findings) == 0 && !strings.HasPrefix(string(down), "HTTP/1.") {
			t.Errorf("%q and %q are neither a lobby nor a finding", up, down)
		}
	})
}
