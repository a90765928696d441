package rendezvous

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"net/netip"
	"os"
	"strings"
	"testing"
)

func seq[T ~[16]byte | ~[32]byte | ~[64]byte](start byte) (v T) {
	for i := range len(v) {
		v[i] = start + byte(i)
	}
	return v
}

// codec is one message: its fixed value and both directions, so that vectors,
// round trips, truncation and fuzzing run over one list.
type codec struct {
	name   string
	append func(b []byte) []byte                // of the fixed value
	reform func(b []byte) (out []byte, e error) // parse, then append what was parsed
}

func form[M any](name string, value M, app func([]byte, *M) []byte, parse func([]byte, *M) error) codec {
	return codec{
		name:   name,
		append: func(b []byte) []byte { return app(b, &value) },
		reform: func(b []byte) ([]byte, error) {
			var m M
			if err := parse(b, &m); err != nil {
				return nil, err
			}
			return app(nil, &m), nil
		},
	}
}

var (
	v4   = netip.MustParseAddr("203.0.113.7")
	v6   = netip.MustParseAddr("2001:db8::7")
	look = Lookup{'K', '7', 'Q', 'M'}
	ad   = func(letter byte, max byte) []byte {
		return append([]byte{letter, 1, max, 1}, 0xef, 0xcd, 0xab, 0x89, 0x67, 0x45, 0x23, 0x01)
	}
)

const (
	run     = 0x01020304
	channel = 0xa1b2c3d4
	expiry  = 1900000000
	counter = 0x1122334455667788
)

func sessionValue() SessionMsg {
	return SessionMsg{run, SideJoin, seq[LobbyID](0x10), seq[RelayID](0x50), channel, expiry, seq[RegKey](0x11),
		[]netip.AddrPort{netip.AddrPortFrom(v4, 3478), netip.AddrPortFrom(v6, 3479)}}
}

func lobbyCodecs() []codec {
	return []codec{
		form("HOST", HostMsg{1, seq[ResumeToken](0x20)}, AppendHost, ParseHost),
		form("CODE", CodeMsg{seq[LobbyID](0x10), look, seq[ResumeToken](0x20), 900}, AppendCode, ParseCodeMsg),
		form("JOIN", JoinMsg{1, look, seq[Nonce](0x30)}, AppendJoin, ParseJoin),
		form("RUN", RunMsg{run, seq[Nonce](0x30)}, AppendRun, ParseRun),
		form("SHARE_A", ShareAMsg{run, seq[LobbyID](0x10), seq[Nonce](0x40), seq[Share](0x60), ad('H', 2)}, AppendShareA, ParseShareA),
		form("SHARE_B", ShareBMsg{run, seq[Share](0x80), ad('J', 1), seq[Tag](0xc0)}, AppendShareB, ParseShareB),
		form("CONF_A", ConfAMsg{run, seq[Tag](0xa0)}, AppendConfA, ParseConfA),
		form("TAKEN", TakenMsg{run}, AppendTaken, ParseTaken),
		form("SESSION", sessionValue(), AppendSession, ParseSession),
		form("SEALED", SealedMsg{run, 5, []byte{0xde, 0xad, 0xbf}}, AppendSealed, ParseSealed),
		form("FAIL", FailMsg{run}, AppendFail, ParseFail),
		form("ERROR", ErrorMsg{CodeSlowDown, 60}, AppendError, ParseError),
	}
}

func vectorKey() RegKey {
	secret := seq[[32]byte](0x77)
	return DeriveRegKey(&secret, seq[LobbyID](0x10), channel, SideJoin, expiry)
}

func vectorCookie() CookieValue {
	key := seq[[32]byte](0x99)
	return Cookie(&key, netip.AddrPortFrom(v4, 40000), channel, SideJoin, seq[LobbyID](0x10))
}

// keyed gives the frame functions the two-argument form of the lobby messages.
func keyed[M any](f func([]byte, *M, *RegKey) []byte) func([]byte, *M) []byte {
	key := vectorKey()
	return func(b []byte, m *M) []byte { return f(b, m, &key) }
}

type data struct {
	channel uint32
	payload []byte
}

func frameCodecs() []codec {
	reg := Reg{SideJoin, channel, seq[LobbyID](0x10), expiry, counter, vectorCookie()}
	return []codec{
		form("REG", reg, keyed(AppendReg), ParseReg),
		form("CHAL", Chal{SideJoin, channel, counter, vectorCookie()}, keyed(AppendChal), ParseChal),
		form("ACK4", Ack{SideJoin, channel, counter, netip.AddrPortFrom(v4, 40000), PeerNever, 43200}, keyed(AppendAck), ParseAck),
		form("ACK6", Ack{SideJoin, channel, counter, netip.AddrPortFrom(v6, 40001), 7, 60}, keyed(AppendAck), ParseAck),
		form("DATA", data{channel, []byte{22, 0xfe, 0xfd}},
			func(b []byte, d *data) []byte { return AppendData(b, d.channel, d.payload) },
			func(b []byte, d *data) (err error) { d.channel, d.payload, err = ParseData(b); return err }),
	}
}

func candidateCodec() codec {
	return form("CANDIDATES", Candidates{2, []Candidate{
		{CandidateHost, netip.AddrPortFrom(v4, 40000)}, {CandidateReflexive, netip.AddrPortFrom(v6, 40001)}}},
		AppendCandidates, ParseCandidates)
}

func allCodecs() []codec {
	return append(append(lobbyCodecs(), frameCodecs()...), candidateCodec())
}

func readVectors(t testing.TB) map[string][]byte {
	t.Helper()
	raw, err := os.ReadFile("testdata/vectors.txt")
	if err != nil {
		t.Fatal(err)
	}
	vectors := map[string][]byte{}
	for line := range strings.Lines(string(raw)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		var name, digits string
		if _, err := fmt.Sscan(line, &name, &digits); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		b, err := hex.DecodeString(digits)
		if err != nil {
			t.Fatal(err)
		}
		vectors[name] = b
	}
	return vectors
}

// TestFrozenVectors: every message encodes to the frozen bytes and back. The
// file says when a line may change.
func TestFrozenVectors(t *testing.T) {
	vectors := readVectors(t)
	for _, c := range allCodecs() {
		want, ok := vectors[c.name]
		if !ok {
			t.Errorf("%s has no vector", c.name)
			continue
		}
		delete(vectors, c.name)
		if got := c.append([]byte("ab"))[2:]; !bytes.Equal(got, want) {
			t.Errorf("%s\n got %x\nwant %x", c.name, got, want)
		}
		if got, err := c.reform(want); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s: parsed and encoded again: %x %v", c.name, got, err)
		}
	}
	key, cookie := vectorKey(), vectorCookie()
	s := sessionValue()
	sheet := s.Sheet()
	for name, got := range map[string][]byte{"regkey": key[:], "cookie": cookie[:], "sheet": sheet[:]} {
		if !bytes.Equal(got, vectors[name]) {
			t.Errorf("%s\n got %x\nwant %x", name, got, vectors[name])
		}
		delete(vectors, name)
	}
	for name := range vectors {
		t.Errorf("vector %s belongs to no message", name)
	}
}
