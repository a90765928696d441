package stunguard

import (
	"encoding/binary"
	"hash/crc32"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"

	"github.com/pion/ice/v3"
	"github.com/pion/stun/v2"
)

// pionReads runs every pion parser that a Binding message of ours can reach.
// Nothing that passed the guard may make one of them panic.
func pionReads(b []byte) {
	m := &stun.Message{Raw: append([]byte(nil), b...)}
	if m.Decode() != nil {
		return
	}
	_ = m.String()
	for _, typ := range []stun.AttrType{stun.AttrMappedAddress, stun.AttrXORMappedAddress, stun.AttrXORPeerAddress,
		stun.AttrXORRelayedAddress, stun.AttrAlternateServer, stun.AttrResponseOrigin, stun.AttrOtherAddress} {
		_ = (&stun.XORMappedAddress{}).GetFromAs(m, typ)
		_ = (&stun.MappedAddress{}).GetFromAs(m, typ)
	}
	_ = (&stun.AlternateServer{}).GetFrom(m)
	_ = (&stun.ResponseOrigin{}).GetFrom(m)
	_ = (&stun.OtherAddress{}).GetFrom(m)
	_ = (&stun.ErrorCodeAttribute{}).GetFrom(m)
	_ = (&stun.UnknownAttributes{}).GetFrom(m)
	_ = (&stun.Username{}).GetFrom(m)
	_ = (&stun.Software{}).GetFrom(m)
	_ = (&stun.Realm{}).GetFrom(m)
	_ = (&stun.Nonce{}).GetFrom(m)
	_ = (&ice.AttrControl{}).GetFrom(m)
	_ = (*ice.AttrControlled)(new(ice.AttrControlled)).GetFrom(m)
	_ = (*ice.AttrControlling)(new(ice.AttrControlling)).GetFrom(m)
	_ = (*ice.PriorityAttr)(new(ice.PriorityAttr)).GetFrom(m)
	_ = ice.UseCandidate().IsSet(m)
	_ = stun.Fingerprint.Check(m)
	_ = stun.NewShortTermIntegrity("0123456789abcdef0123").Check(m)
}

// guarded is the whole path of a datagram: guard, our accessors, pion.
func guarded(t testing.TB, b []byte) (passed bool) {
	if err := CheckAnswer(b); err == nil {
		pionReads(b)
		_, _ = ParseAnswer(b, TransactionIDOf(b))
		_ = Integrity(b, "key")
		_ = HasUsername(b, "a", "b")
	}
	if Check(b) != nil {
		return false
	}
	if CheckAnswer(b) != nil {
		t.Fatalf("%x passes Check and not CheckAnswer", b)
	}
	return true
}

// repair makes the outer shell right, so that random bodies get far: header,
// length, and a fingerprint behind.
func repair(b []byte) []byte {
	for len(b) < headerSize {
		b = append(b, 0)
	}
	b = append([]byte(nil), b[:len(b)&^3]...)
	b[0], b[1] = b[0]&1, b[1]&0x10|1
	binary.BigEndian.PutUint16(b[2:], uint16(len(b)-headerSize+8))
	binary.BigEndian.PutUint32(b[4:], magicCookie)
	sum := crc32.ChecksumIEEE(b) ^ crcXOR
	b = binary.BigEndian.AppendUint32(b, attrFingerprint<<16|4)
	return binary.BigEndian.AppendUint32(b, sum)
}

func FuzzCheck(f *testing.F) {
	f.Add(build(0x0001, fingerprint))
	f.Add(build(0x0101, attr{0x0020, address(1, 8)}, attr{0x0008, zero20}, fingerprint))
	f.Add(build(0x0101, attr{0x0020, []byte{1}}, fingerprint)) // read past its end by pion/stun/v2
	f.Add(build(0x0101, attr{0x8020, []byte{1}}, fingerprint)) // likewise, under its old number
	f.Add(build(0x0101, attr{0x0020, nil}))                    // panics in pion/stun/v2
	f.Add(build(0x0111, attr{0x0009, make([]byte, 8)}, attr{0x8022, []byte("soft")}, fingerprint))
	f.Add(AppendRequest(nil, TransactionID{7}))
	f.Fuzz(func(t *testing.T, b []byte) {
		guarded(t, b)
		guarded(t, repair(b))
	})
}

// TestPionPanics shows why the guard exists: without it pion's parser panics on
// a datagram that anybody can send.
func TestPionPanics(t *testing.T) {
	for _, typ := range []uint16{0x0020, 0x8020} {
		b := build(0x0101, attr{typ, nil})
		panicked := func() (p bool) {
			defer func() { p = recover() != nil }()
			m := &stun.Message{Raw: b}
			if m.Decode() == nil {
				_ = (&stun.XORMappedAddress{}).GetFrom(m)
			}
			return false
		}()
		if !panicked {
			t.Errorf("pion reads an empty %04x now: the rule may be revisited", typ)
		}
		if Check(b) == nil || CheckAnswer(b) == nil {
			t.Errorf("an empty %04x passed", typ)
		}
	}
}

// structured is how many messages TestStructuredRandom makes, unless
// BACKSTEP_STUN_MESSAGES says another number.
const structured = 300_000

// TestStructuredRandom sends many half-right messages through the guard and,
// where it lets them pass, through pion's parsers: attack case 19, with
// BACKSTEP_STUN_MESSAGES=10000000 in full. The same number makes the same messages.
func TestStructuredRandom(t *testing.T) {
	n := structured
	if s := os.Getenv("BACKSTEP_STUN_MESSAGES"); s != "" {
		var err error
		if n, err = strconv.Atoi(s); err != nil || n < structured {
			t.Fatalf("BACKSTEP_STUN_MESSAGES=%s is not a number of at least %d", s, structured)
		}
	}
	r := rand.New(rand.NewPCG(19, 7))
	types := []uint16{0x0001, 0x0006, 0x0008, 0x0009, 0x000A, 0x0012, 0x0016, 0x0020, 0x0024, 0x0025, 0x8020, 0x8022, 0x8023, 0x8028, 0x8029, 0x802A, 0x802B, 0x802C, 0x9999}
	sizes := []int{0, 1, 2, 3, 4, 5, 7, 8, 9, 19, 20, 21, 24}
	classes := []uint16{0x0001, 0x0011, 0x0101, 0x0111}
	passed, damaged := 0, 0
	for range n {
		var attrs []attr
		for range r.IntN(5) {
			v := make([]byte, sizes[r.IntN(len(sizes))])
			for i := range v {
				v[i] = byte(r.Uint32())
			}
			if len(v) > 1 && r.IntN(2) == 0 {
				v[0], v[1] = 0, byte(r.IntN(3))
			}
			attrs = append(attrs, attr{types[r.IntN(len(types))], v})
		}
		b := build(classes[r.IntN(4)], append(attrs, fingerprint)...)
		// Every fourth is damaged in one place, a length or a type as likely as
		// a value, and right again around that.
		broken := len(attrs) > 0 && r.IntN(4) == 0
		if broken {
			b[headerSize+r.IntN(len(b)-headerSize-8)] ^= 1 << r.IntN(8)
			b = repair(b[:len(b)-8])
		}
		if guarded(t, b) {
			passed++
			if broken {
				damaged++
			}
		}
	}
	t.Logf("of %d messages %d passed and were read by pion, %d of them damaged", n, passed, damaged)
	if passed < n/300 || damaged < n/3000 {
		t.Errorf("only %d messages passed, %d of them damaged: the test reaches nothing", passed, damaged)
	}
}
