package rendezvous

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestParseCode(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"K7QM-3XTD", "K7QM-3XTD"},
		{"k7qm3xtd", "K7QM-3XTD"},
		{"  k7 qm – 3x.td \n", "K7QM-3XTD"},
		{"K7QM_3XTD22", "K7QM-3XTD22"},
		{"K7QM-3XTD-2222", "K7QM-3XTD2222"},
		{"lobby K7QM-3XTD@relay.example.org", "K7QM-3XTD@relay.example.org"},
		{"https://relay.example.org/j#K7QM-3XTD@Relay.Example.org:3478", "K7QM-3XTD@relay.example.org"},
		{"k7qm-3xtd@127.0.0.1:40001,[2001:DB8:0::1]:9,[::1],host", "K7QM-3XTD@127.0.0.1:40001,[2001:db8::1]:9,[::1],host"},
		{"K7QM-3XTD@2001:db8::1", "K7QM-3XTD@[2001:db8::1]"},
		{"K7QM-3XTD @ relay.example.org , 10.0.0.1", "K7QM-3XTD@relay.example.org,10.0.0.1"},
	} {
		code, err := ParseCode(c.in)
		if err != nil {
			t.Errorf("%q: %v", c.in, err)
			continue
		}
		if got := code.String(); got != c.want {
			t.Errorf("%q reads as %q, want %q", c.in, got, c.want)
		}
		if !code.Valid() {
			t.Errorf("%q is not valid", c.in)
		}
	}
}

func TestParseCodeRefuses(t *testing.T) {
	for _, c := range []struct{ in, says string }{
		{"", "0 symbols"},
		{"K7QM", "4 symbols"},
		{"K7QM-3XT", "7 symbols"},
		{"K7QM-3XTD2", "9 symbols"},
		{"K7QM-3XTD-22222", "more than 12"},
		{"K7QM-3XTS", "may be a 5"},
		{"K7QM-3XT0", "no 0"},
		{"K7QM-3XTo", "no O"},
		{"K7QM-3XT!", "'!' is not a symbol"},
		{"K7QM-3XTÄ", "is not a symbol"},
		{"K7QM-3XTD@", "it is empty"},
		{"K7QM-3XTD@a,", "it is empty"},
		{"K7QM-3XTD@a,b,c,d,e", "more than 4 relays"},
		{"K7QM-3XTD@a b", "not a host name"},
		{"K7QM-3XTD@-a", "not a host name"},
		{"K7QM-3XTD@1.2.3", "not a host name"},
		{"K7QM-3XTD@1.2.3.256", "not a host name"},
		{"K7QM-3XTD@a:0", "not a port"},
		{"K7QM-3XTD@a:65536", "not a port"},
		{"K7QM-3XTD@a:", "not a port"},
		{"K7QM-3XTD@[::1", "closing bracket"},
		{"K7QM-3XTD@[1.2.3.4]", "not an IPv6 address"},
		{"K7QM-3XTD@[::1]9", "only a port"},
		{"K7QM-3XTD@fe80::1%eth0", "zone"},
		{"K7QM-3XTD@http://a", "not a port"},
		{strings.Repeat("2", 2000), "longer"},
	} {
		_, err := ParseCode(c.in)
		if !errors.Is(err, ErrCode) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%q: %v, want it to say %q", c.in, err, c.says)
		}
		if err != nil && strings.Contains(err.Error(), "3XT") {
			t.Errorf("the error repeats the secret: %v", err)
		}
	}
}

func TestRelayHostPort(t *testing.T) {
	for in, want := range map[string]string{
		"relay.example.org": "relay.example.org:3478", "[::1]": "[::1]:3478", "::1": "[::1]:3478",
		"127.0.0.1:9": "127.0.0.1:9", "::ffff:1.2.3.4": "1.2.3.4:3478",
	} {
		if got, err := RelayHostPort(in); err != nil || got != want {
			t.Errorf("%q: %q %v", in, got, err)
		}
	}
	if _, err := RelayHostPort("a b"); !errors.Is(err, ErrRelayName) {
		t.Error(err)
	}
}

// TestSecretIsMasked: what a log or report could do with a code shows no secret.
func TestSecretIsMasked(t *testing.T) {
	code := Code{Lookup: look, Secret: "3XTD"}
	js, err := json.Marshal(struct {
		C Code
		S Secret
	}{code, code.Secret})
	if err != nil {
		t.Fatal(err)
	}
	type bare Code // without the String of Code
	for _, s := range []string{string(js), fmt.Sprint(code.Secret), fmt.Sprintf("%q %#v %x", code.Secret, code.Secret, code.Secret),
		fmt.Sprintf("%+v", bare(code)), fmt.Sprint(RegKey{0x33}), fmt.Sprintf("%#v", sessionValue().RegKey)} {
		if strings.Contains(s, "3XTD") || strings.Contains(s, "33585444") || strings.Contains(s, "0x33") {
			t.Errorf("shows the secret: %s", s)
		}
	}
	if !strings.Contains(string(js), "K7QM") {
		t.Errorf("the public half should be there: %s", js)
	}
}

// TestCodeRoundTrip: a printed code reads as itself, in either case and without its dash.
func TestCodeRoundTrip(t *testing.T) {
	sym := rapid.SampledFrom([]byte(Alphabet))
	relay := rapid.SampledFrom([]string{"relay.example.org", "127.0.0.1:40001", "[2001:db8::1]:9", "[::1]", "a-b:1"})
	rapid.Check(t, func(t *rapid.T) {
		var c Code
		copy(c.Lookup[:], rapid.SliceOfN(sym, 4, 4).Draw(t, "lookup"))
		n := rapid.SampledFrom([]int{4, 6, 8}).Draw(t, "n")
		c.Secret = Secret(rapid.SliceOfN(sym, n, n).Draw(t, "secret"))
		for range rapid.IntRange(0, MaxRelays).Draw(t, "relays") {
			c.Relays = append(c.Relays, relay.Draw(t, "relay"))
		}
		for _, text := range []string{c.String(), strings.ToLower(c.String()), strings.Replace(c.String(), "-", "", 1)} {
			got, err := ParseCode(text)
			if err != nil || !reflect.DeepEqual(got, c) {
				t.Fatalf("%q reads as %q: %v", text, got.String(), err)
			}
		}
	})
}

// TestDrawUnbiased: every byte value below 243 maps to a symbol nine times, the
// rest is drawn again.
func TestDrawUnbiased(t *testing.T) {
	count := map[byte]int{}
	for v := range 256 {
		// The byte under test, then a 0 for when it is rejected.
		l, err := DrawLookup(bytes.NewReader([]byte{0, 0, 0, byte(v), 1}))
		if err != nil {
			t.Fatal(err)
		}
		if v >= 243 {
			if l[3] != Alphabet[1] {
				t.Errorf("byte %d was not drawn again", v)
			}
			continue
		}
		count[l[3]]++
	}
	for i := range len(Alphabet) {
		if count[Alphabet[i]] != 9 {
			t.Errorf("symbol %c stands for %d byte values", Alphabet[i], count[Alphabet[i]])
		}
	}
	if _, err := DrawSecret(bytes.NewReader(nil), 4); err == nil {
		t.Error("a secret without randomness")
	}
	if _, err := DrawSecret(rand.Reader, 5); err == nil {
		t.Error("a secret of 5 symbols")
	}
	for _, n := range []int{4, 6, 8} {
		s, err := DrawSecret(rand.Reader, n)
		if err != nil || len(s) != n || !s.Valid() {
			t.Errorf("secret of %d symbols: %v", n, err)
		}
	}
}

// FuzzParseCode: no text crashes the parser, and what it reads prints and reads
// back as the same code.
func FuzzParseCode(f *testing.F) {
	for _, s := range []string{"K7QM-3XTD", "lobby k7qm 3xtd22@a:1,[::1]:2", "x#K7QM3XTD2222@1.2.3.4", "K7QM-3XTD@::ffff:1.2.3.4"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		c, err := ParseCode(s)
		if err != nil {
			if !errors.Is(err, ErrCode) {
				t.Fatal(err)
			}
			return
		}
		again, err := ParseCode(c.String())
		if err != nil || !reflect.DeepEqual(again, c) || !c.Valid() {
			t.Fatalf("%q: %q then %q %v", s, c.String(), again.String(), err)
		}
	})
}

// FuzzParseRelay: the canonical form is its own canonical form.
func FuzzParseRelay(f *testing.F) {
	for _, s := range []string{"a", "A.b:1", "[::1]:3478", "::1", "1.2.3.4"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		r, err := ParseRelay(s)
		if err != nil {
			return
		}
		if again, err := ParseRelay(r); err != nil || again != r {
			t.Fatalf("%q: %q then %q %v", s, r, again, err)
		}
	})
}
