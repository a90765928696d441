package rendezvous

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"errors"
	"net/netip"
	"testing"

	"pgregory.net/rapid"
)

// TestHMAC holds the allocation-free form against crypto/hmac.
func TestHMAC(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		key := [32]byte(rapid.SliceOfN(rapid.Byte(), 32, 32).Draw(t, "key"))
		msg := rapid.SliceOfN(rapid.Byte(), 0, 64).Draw(t, "msg")
		h := hmac.New(sha256.New, key[:])
		h.Write(msg)
		if got := hmacSHA256(&key, msg); !bytes.Equal(got[:], h.Sum(nil)) {
			t.Fatalf("%x", got)
		}
	})
}

// TestTag: one flipped bit anywhere, another key or another length is refused.
func TestTag(t *testing.T) {
	key := vectorKey()
	other := key
	other[31] ^= 1
	for _, c := range frameCodecs() {
		b := c.append(nil)
		if c.name == "DATA" {
			if CheckTag(b, &key) {
				t.Error("DATA has no tag")
			}
			continue
		}
		if !CheckTag(b, &key) || CheckTag(b, &other) || CheckTag(b[:len(b)-1], &key) {
			t.Errorf("%s: tag check is wrong", c.name)
		}
		for bit := range len(b) * 8 {
			b[bit/8] ^= 1 << (bit % 8)
			if CheckTag(b, &key) {
				t.Fatalf("%s with bit %d flipped has a right tag", c.name, bit)
			}
			b[bit/8] ^= 1 << (bit % 8)
		}
	}
}

// TestDerivation: whatever a key or cookie is bound to changes it.
func TestDerivation(t *testing.T) {
	secret, lobby := seq[[32]byte](1), seq[LobbyID](2)
	base := DeriveRegKey(&secret, lobby, 1, SideHost, 2)
	secret2, lobby2 := seq[[32]byte](2), seq[LobbyID](3)
	for name, k := range map[string]RegKey{
		"secret":  DeriveRegKey(&secret2, lobby, 1, SideHost, 2),
		"lobby":   DeriveRegKey(&secret, lobby2, 1, SideHost, 2),
		"channel": DeriveRegKey(&secret, lobby, 3, SideHost, 2),
		"side":    DeriveRegKey(&secret, lobby, 1, SideJoin, 2),
		"expiry":  DeriveRegKey(&secret, lobby, 1, SideHost, 3),
	} {
		if k == base {
			t.Errorf("regkey is not bound to %s", name)
		}
	}
	at := netip.AddrPortFrom(v4, 1)
	cookie := Cookie(&secret, at, 1, SideHost, lobby)
	for name, c := range map[string]CookieValue{
		"key":     Cookie(&secret2, at, 1, SideHost, lobby),
		"address": Cookie(&secret, netip.AddrPortFrom(v6, 1), 1, SideHost, lobby),
		"port":    Cookie(&secret, netip.AddrPortFrom(v4, 2), 1, SideHost, lobby),
		"channel": Cookie(&secret, at, 2, SideHost, lobby),
		"side":    Cookie(&secret, at, 1, SideJoin, lobby),
		"lobby":   Cookie(&secret, at, 1, SideHost, lobby2),
	} {
		if c.Equal(cookie) {
			t.Errorf("cookie is not bound to %s", name)
		}
	}
	// A dual-stack socket reports IPv4 sources as mapped addresses.
	mapped := netip.AddrPortFrom(netip.AddrFrom16(v4.As16()), 1)
	if !Cookie(&secret, mapped, 1, SideHost, lobby).Equal(cookie) {
		t.Error("cookie differs between an IPv4 address and its mapped form")
	}
	if cookie.IsZero() || !(CookieValue{}).IsZero() {
		t.Error("IsZero")
	}
}

func TestFrameForm(t *testing.T) {
	key := vectorKey()
	for _, c := range []struct {
		name string
		make func() []byte
		at   int
		to   byte
		want error
	}{
		{"REG version", frameCodecs()[0].bytes, 1, 2, ErrVersion},
		{"REG side", frameCodecs()[0].bytes, 2, 2, ErrSide},
		{"REG fourth byte", frameCodecs()[0].bytes, 3, 1, ErrReserved},
		{"REG zeros", frameCodecs()[0].bytes, 63, 1, ErrReserved},
		{"CHAL fourth byte", frameCodecs()[1].bytes, 3, 1, ErrReserved},
		{"ACK family", frameCodecs()[2].bytes, 3, 6, ErrAddr},
		{"ACK family of v6", frameCodecs()[3].bytes, 3, 4, ErrAddr},
		{"ACK zeros", frameCodecs()[2].bytes, 47, 1, ErrReserved},
	} {
		b := c.make()
		b[c.at] = c.to
		var r Reg
		var ch Chal
		var a Ack
		var err error
		switch b[0] {
		case FrameReg:
			err = ParseReg(b, &r)
		case FrameChal:
			err = ParseChal(b, &ch)
		case FrameAck:
			err = ParseAck(b, &a)
		}
		if !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", c.name, err, c.want)
		}
	}
	for n, want := range map[int]bool{0: false, 1: true, MaxData: true, MaxData + 1: false} {
		ch, payload, err := ParseData(AppendData(nil, 7, make([]byte, n)))
		if (err == nil) != want || (want && (ch != 7 || len(payload) != n)) {
			t.Errorf("DATA of %d bytes: %v", n, err)
		}
	}
	if IsFrame(nil) || IsFrame([]byte{0xef}) || !IsFrame([]byte{0xf0}) || !IsFrame([]byte{0xff}) {
		t.Error("IsFrame")
	}
	// The address is not readable in the frame, which is what the XOR is for.
	ack := AppendAck(nil, &Ack{Side: SideHost, Counter: counter, Addr: netip.AddrPortFrom(v4, 40000)}, &key)
	raw := v4.As4()
	if bytes.Contains(ack, raw[:]) {
		t.Error("ACK shows the address")
	}
}

func (c codec) bytes() []byte { return c.append(nil) }

// TestNoAllocations covers what a relay does for every datagram before it trusts it.
func TestNoAllocations(t *testing.T) {
	key, secret := vectorKey(), seq[[32]byte](0x77)
	reg, chal, ack := frameCodecs()[0].bytes(), frameCodecs()[1].bytes(), frameCodecs()[2].bytes()
	dataFrame := AppendData(nil, channel, make([]byte, 100))
	lobby := seq[LobbyID](0x10)
	at := netip.AddrPortFrom(v4, 40000)
	buf := make([]byte, 0, MaxFrame)
	var r Reg
	var c Chal
	var a Ack
	var sink bool
	for name, f := range map[string]func(){
		"ParseReg":     func() { sink = ParseReg(reg, &r) == nil },
		"ParseChal":    func() { sink = ParseChal(chal, &c) == nil },
		"ParseAck":     func() { sink = ParseAck(ack, &a) == nil },
		"ParseData":    func() { _, _, err := ParseData(dataFrame); sink = err == nil },
		"refused":      func() { sink = ParseReg(ack, &r) == nil },
		"DeriveRegKey": func() { k := DeriveRegKey(&secret, lobby, channel, SideJoin, expiry); sink = k == key },
		"CheckTag":     func() { sink = CheckTag(reg, &key) },
		"Cookie":       func() { k := Cookie(&secret, at, channel, SideJoin, lobby); sink = k.Equal(k) },
		"AppendReg":    func() { buf = AppendReg(buf[:0], &r, &key) },
		"AppendChal":   func() { buf = AppendChal(buf[:0], &Chal{SideHost, 1, 2, CookieValue{}}, &key) },
		"AppendAck":    func() { buf = AppendAck(buf[:0], &Ack{SideHost, 1, 2, at, 3, 4}, &key) },
		"AppendData":   func() { buf = AppendData(buf[:0], channel, dataFrame[:100]) },
		"RunOf":        func() { _, sink = RunOf(reg) },
	} {
		if n := testing.AllocsPerRun(100, f); n != 0 {
			t.Errorf("%s allocates %v times", name, n)
		}
	}
	_ = sink
}

// BenchmarkRegistration is what a REG costs a relay before the cookie: form, key, tag.
func BenchmarkRegistration(b *testing.B) {
	secret := seq[[32]byte](0x77)
	frame := frameCodecs()[0].bytes()
	b.ReportAllocs()
	for b.Loop() {
		var r Reg
		if err := ParseReg(frame, &r); err != nil {
			b.Fatal(err)
		}
		key := DeriveRegKey(&secret, r.Lobby, r.Channel, r.Side, r.Expiry)
		if !CheckTag(frame, &key) {
			b.Fatal("tag")
		}
	}
}

// BenchmarkData is the parse of the forwarding loop.
func BenchmarkData(b *testing.B) {
	frame := AppendData(nil, channel, make([]byte, 100))
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := ParseData(frame); err != nil {
			b.Fatal(err)
		}
	}
}
