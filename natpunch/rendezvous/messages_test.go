package rendezvous

import (
	"bytes"
	"errors"
	"net/netip"
	"testing"

	"pgregory.net/rapid"
)

// TestWrongLength: no message parses with a byte less or a byte more.
func TestWrongLength(t *testing.T) {
	for _, c := range allCodecs() {
		b := c.append(nil)
		for n := range len(b) {
			if c.name == "DATA" && n > DataOverhead {
				continue // a shorter payload is a payload
			}
			if _, err := c.reform(b[:n:n]); err == nil {
				t.Errorf("%s cut to %d of %d bytes parses", c.name, n, len(b))
			}
		}
		if c.name == "DATA" {
			continue
		}
		if _, err := c.reform(append(b, 0)); err == nil {
			t.Errorf("%s with a byte behind parses", c.name)
		}
	}
}

// TestWrongType: no parser takes another message.
func TestWrongType(t *testing.T) {
	for _, c := range append(lobbyCodecs(), frameCodecs()...) {
		for first := range 256 {
			b := c.append(nil)
			if b[0] == byte(first) {
				continue
			}
			b[0] = byte(first)
			if _, err := c.reform(b); !errors.Is(err, ErrType) {
				t.Errorf("%s with first byte %02x: %v", c.name, first, err)
				break
			}
		}
	}
}

// TestOneEncoding: whatever parses encodes to the same bytes, for every message
// damaged in up to four places.
func TestOneEncoding(t *testing.T) {
	codecs := allCodecs()
	rapid.Check(t, func(t *rapid.T) {
		c := codecs[rapid.IntRange(0, len(codecs)-1).Draw(t, "message")]
		b := c.append(nil)
		body := len(b)
		if len(b) == RegSize || len(b) == ChalSize || len(b) == AckSize {
			body -= tagSize // the tag is not the parser's to judge
		}
		for range rapid.IntRange(1, 4).Draw(t, "damages") {
			b[rapid.IntRange(0, body-1).Draw(t, "at")] = rapid.Byte().Draw(t, "value")
		}
		sameForm(t, c, b)
	})
}

type fataler interface{ Fatalf(string, ...any) }

func sameForm(t fataler, c codec, b []byte) {
	out, err := c.reform(b)
	if err != nil {
		return
	}
	n := len(b)
	switch n {
	case RegSize, ChalSize, AckSize:
		if IsFrame(b) && b[0] != FrameData {
			n -= tagSize
		}
	}
	if len(out) != len(b) || !bytes.Equal(out[:n], b[:n]) {
		t.Fatalf("%s\nparsed   %x\nencoded  %x", c.name, b, out)
	}
}

func TestSession(t *testing.T) {
	good := sessionValue()
	b := AppendSession(nil, &good)
	for _, c := range []struct {
		name string
		at   int
		to   byte
		want error
	}{
		{"third side", 5, 2, ErrSide},
		{"more endpoints than bytes", sessionMin - 1, 3, ErrSize},
		{"too many endpoints", sessionMin - 1, MaxEndpoints + 1, ErrSize},
	} {
		bad := bytes.Clone(b)
		bad[c.at] = c.to
		if err := ParseSession(bad, new(SessionMsg)); !errors.Is(err, c.want) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	sheet := good.Sheet()
	edits := map[string]func(*SessionMsg){
		"run":      func(m *SessionMsg) { m.Run++ },
		"lobby":    func(m *SessionMsg) { m.Lobby[3]++ },
		"relay_id": func(m *SessionMsg) { m.RelayID[3]++ },
		"channel":  func(m *SessionMsg) { m.Channel++ },
		"expiry":   func(m *SessionMsg) { m.Expiry++ },
		"endpoint": func(m *SessionMsg) { m.Endpoints[1] = netip.AddrPortFrom(v6, 3480) },
		"fewer":    func(m *SessionMsg) { m.Endpoints = m.Endpoints[:1] },
	}
	for name, edit := range edits {
		m := sessionValue()
		if edit(&m); m.Sheet() == sheet {
			t.Errorf("the sheet does not cover %s", name)
		}
	}
	m := sessionValue()
	m.Side, m.RegKey = SideHost, RegKey{}
	if m.Sheet() != sheet {
		t.Error("the sheet covers side or regkey, in which the players differ")
	}
}

func TestEndpoints(t *testing.T) {
	for _, bad := range []string{"0.0.0.0:1", "[::]:1", "224.0.0.1:1", "[ff02::1]:1", "255.255.255.255:1", "203.0.113.7:0"} {
		ep := netip.MustParseAddrPort(bad)
		a := ep.Addr().As16()
		b := append(a[:], byte(ep.Port()), byte(ep.Port()>>8))
		if _, err := ParseEndpoint(b); !errors.Is(err, ErrAddr) {
			t.Errorf("%s: %v", bad, err)
		}
	}
	mapped := netip.MustParseAddrPort("[::ffff:203.0.113.7]:9")
	got, err := ParseEndpoint(AppendEndpoint(nil, mapped))
	if err != nil || got != netip.MustParseAddrPort("203.0.113.7:9") {
		t.Errorf("mapped address came back as %v %v", got, err)
	}
}

// TestEncoderPanics: values that no wire could carry are the caller's mistake.
func TestEncoderPanics(t *testing.T) {
	for name, f := range map[string]func(){
		"long AD":       func() { AppendShareA(nil, &ShareAMsg{AD: make([]byte, 256)}) },
		"long box":      func() { AppendSealed(nil, &SealedMsg{Box: make([]byte, MaxBox+1)}) },
		"endpoints":     func() { AppendSession(nil, &SessionMsg{Endpoints: make([]netip.AddrPort, 17)}) },
		"no address":    func() { AppendEndpoint(nil, netip.AddrPort{}) },
		"candidates":    func() { AppendCandidates(nil, &Candidates{List: make([]Candidate, 33)}) },
		"ack of nobody": func() { AppendAck(nil, &Ack{}, &RegKey{}) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			f()
		}()
	}
}

func TestRunOf(t *testing.T) {
	with := map[string]bool{"RUN": true, "SHARE_A": true, "SHARE_B": true, "CONF_A": true, "TAKEN": true,
		"SESSION": true, "SEALED": true, "FAIL": true}
	for _, c := range lobbyCodecs() {
		b := c.append(nil)
		got, ok := RunOf(b)
		if ok != with[c.name] || (ok && got != run) {
			t.Errorf("%s: run %08x %v", c.name, got, ok)
		}
		if typ, err := TypeOf(b); err != nil || byte(typ) != b[0] {
			t.Errorf("%s: type %v %v", c.name, typ, err)
		}
	}
	if _, err := TypeOf(nil); !errors.Is(err, ErrSize) {
		t.Error("an empty message has a type")
	}
	if _, ok := RunOf([]byte{byte(TypeRun), 1}); ok {
		t.Error("a truncated message has a run")
	}
}

func TestErrorCodes(t *testing.T) {
	seen := map[string]bool{}
	for c := range 256 {
		s := ErrorCode(c).String()
		if s == "" || seen[s] {
			t.Errorf("code %d: sentence %q is empty or not its own", c, s)
		}
		seen[s] = true
	}
	for c := CodeVersion; c <= CodeAway; c++ {
		if !c.Known() {
			t.Errorf("code %d has no sentence", c)
		}
	}
	if ErrorCode(0).Known() || ErrorCode(200).Known() {
		t.Error("a code without meaning is known")
	}
}

// FuzzLobbyMessage feeds every lobby parser.
func FuzzLobbyMessage(f *testing.F) {
	codecs := append(lobbyCodecs(), candidateCodec())
	for _, c := range codecs {
		f.Add(c.append(nil))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, c := range codecs {
			sameForm(t, c, b)
		}
		RunOf(b)
	})
}

// FuzzFrame feeds every frame parser.
func FuzzFrame(f *testing.F) {
	codecs := frameCodecs()
	for _, c := range codecs {
		f.Add(c.append(nil))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, c := range codecs {
			sameForm(t, c, b)
		}
	})
}
