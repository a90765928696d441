package stunguard

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"net/netip"
	"testing"

	"github.com/pion/stun/v2"
)

type attr struct {
	typ   uint16
	value []byte
}

var zero20 = make([]byte, 20)

// build makes a message without judging it. typ 0x8028 with a nil value stands
// for a right fingerprint.
func build(typ uint16, attrs ...attr) []byte {
	b := binary.BigEndian.AppendUint16(nil, typ)
	b = binary.BigEndian.AppendUint16(b, 0)
	b = binary.BigEndian.AppendUint32(b, magicCookie)
	b = append(b, "transaction!"...)
	total := 0
	for _, a := range attrs {
		n := len(a.value)
		if a.typ == attrFingerprint && a.value == nil {
			n = 4
		}
		total += 4 + (n+3)&^3
	}
	binary.BigEndian.PutUint16(b[2:], uint16(total))
	for _, a := range attrs {
		v := a.value
		if a.typ == attrFingerprint && v == nil {
			v = binary.BigEndian.AppendUint32(nil, crc32.ChecksumIEEE(b)^crcXOR)
		}
		b = binary.BigEndian.AppendUint16(b, a.typ)
		b = binary.BigEndian.AppendUint16(b, uint16(len(v)))
		b = append(b, v...)
		for len(b)%4 != 0 {
			b = append(b, 0)
		}
	}
	return b
}

var fingerprint = attr{attrFingerprint, nil}

func address(family byte, size int) []byte {
	v := make([]byte, size)
	if size > 1 {
		v[1] = family
	}
	return v
}

// TestCheckRules has a case for every rule of the sanitiser, attack case 19.
func TestCheckRules(t *testing.T) {
	many := func(n int) (a []attr) {
		for i := range n {
			a = append(a, attr{uint16(0x9000 + i), nil})
		}
		return append(a, fingerprint)
	}
	wrongLength := build(0x0001, fingerprint)
	wrongLength[3]--
	longer := append(build(0x0001, fingerprint), 0, 0, 0, 0)
	uneven := build(0x0001, attr{0x8022, []byte("abc")})
	uneven = uneven[:len(uneven)-1]
	uneven[3]--
	inside := build(0x0001, attr{0x8022, []byte("abcd")})
	inside[headerSize+3] = 5 // value fits the padding only
	cookie := build(0x0001, fingerprint)
	cookie[4]++
	crc := build(0x0001, fingerprint)
	crc[len(crc)-1]++

	cases := []struct {
		name string
		b    []byte
		want error
	}{
		{"request with fingerprint only", build(0x0001, fingerprint), nil},
		{"ICE request", build(0x0001, attr{0x0006, []byte("abcdefgh:stuvwxyz")}, attr{0x802A, make([]byte, 8)},
			attr{0x0024, make([]byte, 4)}, attr{0x0025, nil}, attr{0x0008, zero20}, fingerprint), nil},
		{"ICE answer v4", build(0x0101, attr{0x0020, address(1, 8)}, attr{0x0008, zero20}, fingerprint), nil},
		{"answer v6", build(0x0101, attr{0x0020, address(2, 20)}, fingerprint), nil},
		{"indication", build(0x0011, fingerprint), nil},
		{"error answer", build(0x0111, attr{0x0009, make([]byte, 4)}, fingerprint), nil},
		{"unknown optional attribute", build(0x0001, attr{0x8abc, []byte("x")}, fingerprint), nil},
		{"sixteen attributes", build(0x0001, many(15)...), nil},

		{"empty", nil, ErrShort},
		{"nineteen bytes", build(0x0001)[:19], ErrShort},
		{"cookie", cookie, ErrCookie},
		{"method", build(0x0003, fingerprint), ErrType},
		{"top bits", build(0x4001, fingerprint), ErrType},
		{"length too small", wrongLength, ErrLength},
		{"datagram longer than length", longer, ErrLength},
		{"length not a multiple of four", uneven, ErrLength},
		{"attribute header cut", append(build(0x0001)[:3:3], append([]byte{2}, append(build(0x0001)[4:], 0x80, 0x22)...)...), ErrLength},
		{"value past the end", inside, ErrTruncated},
		{"seventeen attributes", build(0x0001, many(16)...), ErrTooMany},
		{"same type twice", build(0x0001, attr{0x8022, nil}, attr{0x8022, nil}, fingerprint), ErrDuplicate},
		{"same address under its old number", build(0x0101, attr{0x0020, address(1, 8)}, attr{0x8020, address(1, 8)}, fingerprint), ErrDuplicate},
		{"unknown that must be understood", build(0x0001, attr{0x7fff, nil}, fingerprint), ErrUnknown},
		{"XOR-PEER-ADDRESS", build(0x0001, attr{0x0012, address(1, 8)}, fingerprint), ErrUnknown},
		{"XOR-RELAYED-ADDRESS", build(0x0001, attr{0x0016, address(1, 8)}, fingerprint), ErrUnknown},
		{"no fingerprint", build(0x0001, attr{0x0008, zero20}), ErrFingerprint},
		{"wrong fingerprint", crc, ErrFingerprint},
		{"fingerprint not last", build(0x0001, fingerprint, attr{0x8022, nil}), ErrFingerprint},
		{"USE-CANDIDATE behind integrity", build(0x0001, attr{0x0008, zero20}, attr{0x0025, nil}, fingerprint), ErrAfterIntegrity},
		{"optional attribute behind integrity", build(0x0001, attr{0x0008, zero20}, attr{0x8022, nil}, fingerprint), ErrAfterIntegrity},
	}
	for _, typ := range []uint16{0x0001, 0x0020, 0x8020, 0x8023, 0x802B, 0x802C} {
		for _, v := range [][]byte{nil, address(1, 1), address(1, 4), address(2, 8), address(1, 20), address(1, 9), address(3, 8), address(0, 8), {1, 1, 0, 0, 0, 0, 0, 0}} {
			cases = append(cases, struct {
				name string
				b    []byte
				want error
			}{"address attribute", build(0x0101, attr{typ, v}, fingerprint), ErrAddress})
		}
		cases = append(cases, struct {
			name string
			b    []byte
			want error
		}{"address attribute, good", build(0x0101, attr{typ, address(1, 8)}, fingerprint), nil})
	}
	for _, c := range []struct {
		typ      uint16
		good     int
		bad, alt int
	}{{0x0009, 128, 3, 129}, {0x0006, 513, 514, 600}, {0x0024, 4, 3, 5}, {0x8029, 8, 7, 9}, {0x802A, 8, 4, 12}, {0x0025, 0, 1, 4}, {0x0008, 20, 19, 32}} {
		for _, n := range []int{c.bad, c.alt} {
			cases = append(cases, struct {
				name string
				b    []byte
				want error
			}{"size", build(0x0001, attr{c.typ, make([]byte, n)}, fingerprint), ErrSize})
		}
		cases = append(cases, struct {
			name string
			b    []byte
			want error
		}{"size, good", build(0x0001, attr{c.typ, make([]byte, c.good)}, fingerprint), nil})
	}
	cases = append(cases, struct {
		name string
		b    []byte
		want error
	}{"fingerprint size", build(0x0001, attr{attrFingerprint, []byte{1, 2, 3}}), ErrSize})

	for _, c := range cases {
		if got := Check(c.b); !errors.Is(got, c.want) {
			t.Errorf("%s %x: got %v, want %v", c.name, c.b, got, c.want)
		}
	}
}

func TestCheckAnswerNeedsNoFingerprint(t *testing.T) {
	plain := build(0x0101, attr{0x0020, address(1, 8)})
	if err := CheckAnswer(plain); err != nil {
		t.Error(err)
	}
	if err := Check(plain); !errors.Is(err, ErrFingerprint) {
		t.Error("Check let it pass:", err)
	}
	wrong := build(0x0101, attr{0x0020, address(1, 8)}, attr{attrFingerprint, []byte{1, 2, 3, 4}})
	if err := CheckAnswer(wrong); !errors.Is(err, ErrFingerprint) {
		t.Error("a wrong fingerprint passed:", err)
	}
}

// TestPionMessages: what pion itself builds passes and its integrity is read
// the way pion reads it.
func TestPionMessages(t *testing.T) {
	key := "0123456789abcdef0123"
	m := stun.MustBuild(stun.BindingRequest, stun.TransactionID, stun.NewUsername("hosthost:joinjoin"),
		stun.NewShortTermIntegrity(key), stun.Fingerprint)
	if err := Check(m.Raw); err != nil {
		t.Fatal(err)
	}
	if ClassOf(m.Raw) != Request || TransactionIDOf(m.Raw) != TransactionID(m.TransactionID) {
		t.Error("header misread")
	}
	if !Integrity(m.Raw, key) || Integrity(m.Raw, key+"x") {
		t.Error("integrity misjudged")
	}
	if !HasUsername(m.Raw, "hosthost", "joinjoin") || HasUsername(m.Raw, "hosthost", "joinjoi") || HasUsername(m.Raw, "joinjoin", "hosthost") {
		t.Error("user name misjudged")
	}
	for i := range m.Raw {
		b := append([]byte(nil), m.Raw...)
		b[i] ^= 0x10
		if Check(b) == nil {
			t.Errorf("flipped bit in byte %d passed", i)
		}
	}
	for class, typ := range map[Class]stun.MessageType{Request: stun.BindingRequest, Success: stun.BindingSuccess, Failure: stun.BindingError,
		Indication: stun.NewType(stun.MethodBinding, stun.ClassIndication)} {
		if got := ClassOf(stun.MustBuild(typ, stun.TransactionID, stun.Fingerprint).Raw); got != class {
			t.Errorf("class %v read as %v", typ, got)
		}
	}
	bare := stun.MustBuild(stun.BindingRequest, stun.TransactionID, stun.Fingerprint).Raw
	if Integrity(bare, "") || HasUsername(bare, "", "") {
		t.Error("something missing was accepted")
	}
}

func TestClient(t *testing.T) {
	id := TransactionID{1, 2, 3}
	req := AppendRequest([]byte("x"), id)[1:]
	if len(req) != RequestSize {
		t.Fatalf("request has %d bytes", len(req))
	}
	if err := Check(req); err != nil {
		t.Fatal(err)
	}
	m := &stun.Message{Raw: req}
	if err := m.Decode(); err != nil || m.Type != stun.BindingRequest {
		t.Fatalf("pion reads our request as %v, %v", m.Type, err)
	}
	for _, want := range []string{"203.0.113.7:40000", "[2001:db8::5]:1", "[::1]:65535"} {
		addr := netip.MustParseAddrPort(want)
		ip := addr.Addr().AsSlice()
		long := stun.MustBuild(m, stun.BindingSuccess, &stun.XORMappedAddress{IP: ip, Port: int(addr.Port())}, stun.Fingerprint)
		plain := stun.MustBuild(m, stun.BindingSuccess, &stun.MappedAddress{IP: ip, Port: int(addr.Port())})
		for _, b := range [][]byte{long.Raw, plain.Raw} {
			got, err := ParseAnswer(b, id)
			if err != nil || got != addr {
				t.Errorf("%s: got %v, %v", want, got, err)
			}
			if len(b) > RequestSize {
				t.Errorf("answer of %d bytes is longer than the request", len(b))
			}
			if _, err := ParseAnswer(b, TransactionID{9}); !errors.Is(err, ErrAnswer) {
				t.Errorf("foreign transaction: %v", err)
			}
		}
	}
	if _, err := ParseAnswer(req, id); !errors.Is(err, ErrAnswer) {
		t.Errorf("a request passed as an answer: %v", err)
	}
	for _, bad := range []*stun.XORMappedAddress{{IP: []byte{0, 0, 0, 0}, Port: 1}, {IP: []byte{224, 0, 0, 1}, Port: 1}, {IP: []byte{1, 2, 3, 4}, Port: 0}} {
		b := stun.MustBuild(m, stun.BindingSuccess, bad, stun.Fingerprint).Raw
		if _, err := ParseAnswer(b, id); !errors.Is(err, ErrNoAddress) {
			t.Errorf("%v: %v", bad, err)
		}
	}
	if _, err := ParseAnswer(build(0x0101), TransactionID([]byte("transaction!"))); !errors.Is(err, ErrNoAddress) {
		t.Errorf("no address: %v", err)
	}
	old := build(0x0101, attr{0x8020, []byte{0, 1, 0x21 ^ 0x12, 0x12 ^ 0x34, 0x21 ^ 9, 0x12 ^ 9, 0xA4 ^ 9, 0x42 ^ 9}})
	if got, err := ParseAnswer(old, TransactionID([]byte("transaction!"))); err != nil || got != netip.MustParseAddrPort("9.9.9.9:4660") {
		t.Errorf("pre-RFC attribute: %v, %v", got, err)
	}
}

func TestCheckAllocates(t *testing.T) {
	good := stun.MustBuild(stun.BindingRequest, stun.TransactionID, stun.NewUsername("a:b"), stun.NewShortTermIntegrity("k"), stun.Fingerprint).Raw
	bad := append([]byte(nil), good...)
	bad[20] ^= 1
	buf := make([]byte, 0, RequestSize)
	if n := testing.AllocsPerRun(100, func() {
		_ = Check(good)
		_ = Check(bad)
		_ = CheckAnswer(good)
		buf = AppendRequest(buf[:0], TransactionID{})
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkCheck(b *testing.B) {
	m := stun.MustBuild(stun.BindingRequest, stun.TransactionID, stun.NewUsername("hosthost:joinjoin"),
		stun.NewShortTermIntegrity("0123456789abcdef0123"), stun.Fingerprint)
	b.ReportAllocs()
	for b.Loop() {
		if Check(m.Raw) != nil {
			b.Fatal("refused")
		}
	}
}
