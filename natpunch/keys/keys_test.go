package keys

import (
	"bytes"
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"golang.org/x/crypto/chacha20poly1305"
	"pgregory.net/rapid"

	"backstep/natpunch/rendezvous"
)

const run = 0x01020304

func unhex(t testing.TB, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.ReplaceAll(s, " ", ""))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func lines(t testing.TB, file string) []string {
	t.Helper()
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for line := range strings.Lines(string(raw)) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			out = append(out, line)
		}
	}
	return out
}

// vectors are our own for the inputs of draft B.3; the ISK is B.3.5.
func vectors(t testing.TB) map[string]string {
	t.Helper()
	v := map[string]string{}
	for _, line := range lines(t, "../cpace/testdata/backstep-vectors.txt") {
		i := strings.LastIndexByte(line, ' ')
		v[strings.TrimSpace(line[:i])] = line[i+1:]
	}
	return v
}

func testKeys(t testing.TB) *Keys {
	sid := unhex(t, "7e4b4791d6a8ef019b936c79fb7f2c57")
	isk := unhex(t, "b69effbf61b51d56401c0f65601abe428de8206feaaf0e32198896dcae7b35cd2b38950a39dfd5d4a79164614c2984f7daa460b588c1e80c3fa2068af7900447")
	return New(sid, isk)
}

func b64(t testing.TB, digits string) string {
	return base64.StdEncoding.EncodeToString(unhex(t, digits))
}

func TestScheduleVectors(t *testing.T) {
	v, k := vectors(t), testKeys(t)
	ufrag, pwd := k.ICE(rendezvous.SideHost, 0)
	for _, c := range []struct{ name, got, want string }{
		{"PRK", hex.EncodeToString(k.prk[:]), v["PRK"]},
		{"dtls psk", hex.EncodeToString(k.DTLSPSK()), v["dtls psk"]},
		{"dtls id", k.DTLSIdentity(), "bs1-" + v["dtls id"]},
		{"seal host", hex.EncodeToString(k.seal(rendezvous.SideHost)), v["seal host"]},
		{"seal join", hex.EncodeToString(k.seal(rendezvous.SideJoin)), v["seal join"]},
		{"ice ufrag host 0", ufrag, b64(t, v["ice ufrag host 0"])},
		{"ice pwd host 0", pwd, b64(t, v["ice pwd host 0"])},
	} {
		if c.got != c.want || c.want == "" {
			t.Errorf("%s: %s, want %s", c.name, c.got, c.want)
		}
	}
	if len(ufrag) != 8 || len(pwd) != 32 {
		t.Errorf("ICE credentials of %d and %d characters", len(ufrag), len(pwd))
	}
}

// TestNoKeyTwice: no two labels give the same bytes.
func TestNoKeyTwice(t *testing.T) {
	k := testKeys(t)
	seen := map[string]string{}
	add := func(name, v string) {
		if old, ok := seen[v[:8]]; ok {
			t.Errorf("%s starts like %s", name, old)
		}
		seen[v[:8]] = name
	}
	add("psk", base64.StdEncoding.EncodeToString(k.DTLSPSK()))
	for _, side := range []rendezvous.Side{rendezvous.SideHost, rendezvous.SideJoin} {
		add("seal "+side.String(), base64.StdEncoding.EncodeToString(k.seal(side)))
		for _, g := range []uint32{0, 1, 10, 4294967295} {
			u, p := k.ICE(side, g)
			add(fmt.Sprint("ufrag ", side, g), u)
			add(fmt.Sprint("pwd ", side, g), p)
		}
	}
}

func TestWipeAndPrint(t *testing.T) {
	k := testKeys(t)
	for _, s := range []string{fmt.Sprint(k), fmt.Sprint(*k), fmt.Sprintf("%+v", k), fmt.Sprintf("%#v", *k)} {
		if s != "[keys]" {
			t.Errorf("prints %q", s)
		}
	}
	if k.Wipe(); k.prk != [64]byte{} {
		t.Error("not wiped")
	}
}

// TestRFC5869 is test case 1 of RFC 5869: the library is what the schedule says it is.
func TestRFC5869(t *testing.T) {
	prk, err := hkdf.Extract(sha256.New, unhex(t, strings.Repeat("0b", 22)), unhex(t, "000102030405060708090a0b0c"))
	if err != nil {
		t.Fatal(err)
	}
	okm, err := hkdf.Expand(sha256.New, prk, string(unhex(t, "f0f1f2f3f4f5f6f7f8f9")), 42)
	if err != nil {
		t.Fatal(err)
	}
	if hex.EncodeToString(prk) != "077709362c2e32df0ddc3f0dc47bba6390b6c73bb50f9c3122ec844ad7c2b3e5" ||
		hex.EncodeToString(okm) != "3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf34007208d5b887185865" {
		t.Errorf("%x %x", prk, okm)
	}
}

// TestRFC8439 is 2.8.2 of RFC 8439.
func TestRFC8439(t *testing.T) {
	aead, err := chacha20poly1305.New(unhex(t, "808182838485868788898a8b8c8d8e8f909192939495969798999a9b9c9d9e9f"))
	if err != nil {
		t.Fatal(err)
	}
	box := aead.Seal(nil, unhex(t, "070000004041424344454647"),
		[]byte("Ladies and Gentlemen of the class of '99: If I could offer you only one tip for the future, sunscreen would be it."),
		unhex(t, "50515253c0c1c2c3c4c5c6c7"))
	want := `d31a8d34648e60db7b86afbc53ef7ec2 a4aded51296e08fea9e2b5a736ee62d6 3dbea45e8ca9671282fafb69da92728b
		1a71de0a9e060b2905d6a5b67ecd3b36 92ddbd7f2d778b8c9803aee328091b58 fab324e4fad675945585808b4831d7bc
		3ff4def08e4b7a9de576d26586cec64b 6116 1ae10b594f09e26a7e902ecbd0600691`
	if !bytes.Equal(box, unhex(t, strings.Join(strings.Fields(want), ""))) {
		t.Errorf("%x", box)
	}
}

// TestSealedVectors: frozen messages, made by a second implementation.
func TestSealedVectors(t *testing.T) {
	k := testKeys(t)
	seal := map[string]*Sealer{"host": k.Sealer(rendezvous.SideHost, run), "join": k.Sealer(rendezvous.SideJoin, run)}
	open := map[string]*Opener{"host": k.Opener(rendezvous.SideHost, run), "join": k.Opener(rendezvous.SideJoin, run)}
	body := map[string][]byte{"HELLO": []byte("hello"), "ACCEPT": nil, "BYE": bytes.Repeat([]byte("x"), 254)}
	kind := map[string]Kind{"HELLO": Hello, "ACCEPT": Accept, "BYE": Bye}
	all := lines(t, "testdata/vectors.txt")
	if len(all) != 3 {
		t.Fatalf("%d vectors", len(all))
	}
	for _, line := range all {
		f := strings.Fields(line)
		name, side, want := f[0], f[1], unhex(t, f[3])
		got, err := seal[side].Append(nil, kind[name], body[name])
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s\n got %x %v\nwant %x", name, got, err, want)
		}
		var m rendezvous.SealedMsg
		if err := rendezvous.ParseSealed(want, &m); err != nil {
			t.Fatal(err)
		}
		gotKind, gotBody, err := open[side].Open(&m)
		if err != nil || gotKind.String() != name || !bytes.Equal(gotBody, body[name]) {
			t.Errorf("%s opens as %v %q %v", name, gotKind, gotBody, err)
		}
	}
}

func parsed(t testing.TB, b []byte) *rendezvous.SealedMsg {
	t.Helper()
	var m rendezvous.SealedMsg
	if err := rendezvous.ParseSealed(b, &m); err != nil {
		t.Fatal(err)
	}
	return &m
}

// TestOpenRefuses: a gap, a repeat, another run, another sender, or any altered
// bit, and the opener is where it was.
func TestOpenRefuses(t *testing.T) {
	k := testKeys(t)
	s := k.Sealer(rendezvous.SideHost, run)
	first, _ := s.Append(nil, Hello, []byte("a"))
	second, _ := s.Append(nil, Accept, nil)
	o := k.Opener(rendezvous.SideHost, run)
	if _, _, err := o.Open(parsed(t, second)); !errors.Is(err, ErrCounter) {
		t.Errorf("gap: %v", err)
	}
	if _, _, err := k.Opener(rendezvous.SideHost, run+1).Open(parsed(t, first)); !errors.Is(err, ErrRun) {
		t.Errorf("other run: %v", err)
	}
	if _, _, err := k.Opener(rendezvous.SideJoin, run).Open(parsed(t, first)); !errors.Is(err, ErrBox) {
		t.Errorf("sent back to its sender: %v", err)
	}
	for bit := range len(first) * 8 {
		bad := bytes.Clone(first)
		bad[bit/8] ^= 1 << (bit % 8)
		var m rendezvous.SealedMsg
		if rendezvous.ParseSealed(bad, &m) != nil {
			continue
		}
		if _, _, err := o.Open(&m); err == nil {
			t.Fatalf("bit %d altered and opened", bit)
		}
	}
	// Rewriting run and counter to what is expected does not help: they are under the tag.
	m := parsed(t, second)
	m.Ctr = 0
	if _, _, err := o.Open(m); !errors.Is(err, ErrBox) {
		t.Errorf("renumbered: %v", err)
	}
	if _, _, err := o.Open(parsed(t, first)); err != nil {
		t.Errorf("the opener did not stay where it was: %v", err)
	}
	if _, _, err := o.Open(parsed(t, first)); !errors.Is(err, ErrCounter) {
		t.Errorf("repeat: %v", err)
	}
}

// TestPadding: every legal length is a multiple of 256 at most 2048, and only the
// shortest padding with zeros opens.
func TestPadding(t *testing.T) {
	k := testKeys(t)
	s, o := k.Sealer(rendezvous.SideJoin, run), k.Opener(rendezvous.SideJoin, run)
	for _, n := range []int{0, 1, 252, 253, 254, 509, 510, MaxBody} {
		b, err := s.Append(nil, Hello, make([]byte, n))
		if err != nil {
			t.Fatal(err)
		}
		m := parsed(t, b)
		if plain := len(m.Box) - 16; plain%256 != 0 || plain > 2048 || plain < n+3 || plain-n-3 >= 256 {
			t.Errorf("body of %d: plaintext of %d", n, plain)
		}
		if _, body, err := o.Open(m); err != nil || len(body) != n {
			t.Errorf("body of %d: %d %v", n, len(body), err)
		}
	}
	if _, err := s.Append(nil, Hello, make([]byte, MaxBody+1)); !errors.Is(err, ErrBody) {
		t.Errorf("too long: %v", err)
	}
	if b, err := s.Append(nil, Bye, nil); err != nil || parsed(t, b).Ctr != 8 {
		t.Error("a refused message used up a counter")
	}
	plain := func(size int, edit func([]byte)) error {
		p := make([]byte, size)
		p[0] = byte(Hello)
		edit(p)
		var aad [aadSize]byte
		appendAAD(aad[:0], run, 0)
		box := newAEAD(k.seal(rendezvous.SideHost)).Seal(nil, nonce(0), p, aad[:])
		_, _, err := k.Opener(rendezvous.SideHost, run).Open(&rendezvous.SealedMsg{Run: run, Box: box})
		return err
	}
	for name, err := range map[string]error{
		"not a multiple":     plain(255, func([]byte) {}),
		"one more than fits": plain(0+256, func(p []byte) { p[1], p[2] = 254, 0 }),
		"more than fits":     plain(256, func(p []byte) { p[1], p[2] = 0xff, 0xff }),
		"padding too long":   plain(512, func([]byte) {}),
		"padding not zero":   plain(256, func(p []byte) { p[255] = 1 }),
		"above 2048":         plain(2304, func(p []byte) { p[1], p[2] = 0xf0, 0x08 }),
	} {
		if !errors.Is(err, ErrPadding) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestOrder: any sequence of messages opens in order to what was sealed.
func TestOrder(t *testing.T) {
	k := testKeys(t)
	rapid.Check(t, func(t *rapid.T) {
		r := rapid.Uint32().Draw(t, "run")
		s, o := k.Sealer(rendezvous.SideHost, r), k.Opener(rendezvous.SideHost, r)
		for i := range rapid.IntRange(1, 6).Draw(t, "messages") {
			kind := Kind(rapid.Byte().Draw(t, "kind"))
			body := rapid.SliceOfN(rapid.Byte(), 0, MaxBody).Draw(t, "body")
			b, err := s.Append(nil, kind, body)
			if err != nil {
				t.Fatal(err)
			}
			var m rendezvous.SealedMsg
			if err := rendezvous.ParseSealed(b, &m); err != nil || m.Ctr != uint64(i) {
				t.Fatal(err, m.Ctr)
			}
			gotKind, got, err := o.Open(&m)
			if err != nil || gotKind != kind || !bytes.Equal(got, body) {
				t.Fatal(err)
			}
		}
	})
}

// FuzzOpen: nothing opens that was not sealed.
func FuzzOpen(f *testing.F) {
	k := testKeys(f)
	b, _ := k.Sealer(rendezvous.SideHost, run).Append(nil, Hello, []byte("hello"))
	f.Add(b)
	f.Fuzz(func(t *testing.T, in []byte) {
		var m rendezvous.SealedMsg
		if rendezvous.ParseSealed(in, &m) != nil {
			return
		}
		if _, _, err := k.Opener(rendezvous.SideHost, run).Open(&m); err == nil && !bytes.Equal(in, b) {
			t.Fatalf("%x opens", in)
		}
	})
}
