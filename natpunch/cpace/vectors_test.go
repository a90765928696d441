package cpace

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/gtank/ristretto255"

	"backstep/natpunch/rendezvous"
)

// unhex fails the test on anything but hexadecimal digits.
func unhex(t *testing.T, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(s)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// draftVector reads G_Coffee25519 (draft B.3.1 to B.3.5, B.3.7). encoding/json
// matches names without regard to case, and "ya"/"Ya" differ only in it, so the
// values are picked out of a map.
func draftVector(t *testing.T) (v map[string][]byte, points struct {
	Valid map[string][]byte
	Y1    []byte
	Y2    []byte
}) {
	t.Helper()
	raw, err := os.ReadFile("testdata/testvectors.json")
	if err != nil {
		t.Fatal(err)
	}
	var all map[string]map[string]json.RawMessage
	if err := json.Unmarshal(raw, &all); err != nil {
		t.Fatal(err)
	}
	text := func(r json.RawMessage) []byte {
		var s string
		if err := json.Unmarshal(r, &s); err != nil {
			t.Fatal(err)
		}
		return unhex(t, s)
	}
	v = map[string][]byte{}
	for k, r := range all["G_Coffee25519"] {
		v[k] = text(r)
	}
	p := all["G_Coffee25519_points"]
	points.Y1, points.Y2 = text(p["Invalid Y1"]), text(p["Invalid Y2"])
	var valid map[string]json.RawMessage
	if err := json.Unmarshal(p["Valid"], &valid); err != nil {
		t.Fatal(err)
	}
	points.Valid = map[string][]byte{}
	for k, r := range valid {
		points.Valid[k] = text(r)
	}
	return v, points
}

func ownVectors(t *testing.T) map[string][]byte {
	t.Helper()
	raw, err := os.ReadFile("testdata/backstep-vectors.txt")
	if err != nil {
		t.Fatal(err)
	}
	own := map[string][]byte{}
	for _, line := range strings.Split(strings.TrimSpace(string(raw)), "\n")[1:] {
		i := strings.LastIndexByte(line, ' ')
		own[strings.TrimSpace(line[:i])] = unhex(t, line[i+1:])
	}
	return own
}

func scalar(t *testing.T, b []byte) *ristretto255.Scalar {
	t.Helper()
	s := ristretto255.NewScalar()
	if err := s.Decode(b); err != nil {
		t.Fatal(err)
	}
	return s
}

func equal(t *testing.T, what string, got, want []byte) {
	t.Helper()
	if !bytes.Equal(got, want) {
		t.Errorf("%s\n got %x\nwant %x", what, got, want)
	}
}

func ramp(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(i)
	}
	return b
}

// TestDraftEncodings is A.1.2 (prepend_len), A.1.4 (lv_cat) and A.3.5 (transcript_ir).
func TestDraftEncodings(t *testing.T) {
	equal(t, "prepend_len empty", appendLV(nil, nil), []byte{0})
	equal(t, "prepend_len 1234", appendLV(nil, []byte("1234")), unhex(t, "0431323334"))
	equal(t, "prepend_len 127", appendLV(nil, ramp(127)), append([]byte{0x7f}, ramp(127)...))
	equal(t, "prepend_len 128", appendLV(nil, ramp(128)), append([]byte{0x80, 0x01}, ramp(128)...))
	equal(t, "lv_cat", lvCat([]byte("1234"), []byte("5"), nil, []byte("678")), unhex(t, "043132333401350003363738"))
	equal(t, "transcript_ir 1", transcript([]byte("123"), []byte("PartyA"), []byte("234"), []byte("PartyB")),
		unhex(t, "03313233065061727479410332333406506172747942"))
	equal(t, "transcript_ir 2", transcript([]byte("3456"), []byte("PartyA"), []byte("2345"), []byte("PartyB")),
		unhex(t, "043334353606506172747941043233343506506172747942"))
}

// TestDraftRun is B.3.1 to B.3.5 and B.3.7 from generator to ISK, and our tags.
func TestDraftRun(t *testing.T) {
	v, _ := draftVector(t)
	own := ownVectors(t)
	prs, ci, sid, ada, adb := v["PRS"], v["CI"], v["sid"], v["ADa"], v["ADb"]
	equal(t, "generator", generator(prs, ci, sid).Encode(nil), v["g"])
	i := initiate(scalar(t, v["ya"]), prs, ci, sid, ada)
	ya := i.Share()
	equal(t, "Ya", ya[:], v["Ya"])
	k, err := sharedPoint(scalar(t, v["yb"]), &ya)
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "K", k[:], v["K"])
	r, yb, tb, err := respond(scalar(t, v["yb"]), prs, ci, sid, &ya, ada, adb)
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "Yb", yb[:], v["Yb"])
	equal(t, "Tb", tb[:], own["Tb"])
	isk, ta, err := i.Finish(&yb, adb, &tb)
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "ISK (host)", isk[:], v["ISK_IR"])
	equal(t, "mac_key", macKey(sid, isk), own["mac_key"])
	equal(t, "Ta", ta[:], own["Ta"])
	isk, err = r.Finish(&ta)
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "ISK (joiner)", isk[:], v["ISK_IR"])
}

// TestDraftPoints is B.3.10 (valid scalar_mult_vfy) and B.3.11 (invalid shares).
func TestDraftPoints(t *testing.T) {
	v, p := draftVector(t)
	s := scalar(t, p.Valid["s"])
	x := rendezvous.Share(p.Valid["X"])
	k, err := sharedPoint(s, &x)
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "scalar_mult_vfy", k[:], p.Valid["G.scalar_mult_vfy(s,X)"])

	for _, c := range []struct {
		name string
		y    []byte
		want error
	}{
		{"invalid Y1 of the draft", p.Y1, ErrShare},
		{"invalid Y2 of the draft: identity", p.Y2, ErrIdentity},
		{"all ones", bytes.Repeat([]byte{0xff}, 32), ErrShare},
		{"p, non-canonical zero", unhex(t, "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f"), ErrShare},
		{"p+2, non-canonical", unhex(t, "efffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f"), ErrShare},
		{"negative field element", unhex(t, "0100000000000000000000000000000000000000000000000000000000000000"), ErrShare},
	} {
		t.Run(c.name, func(t *testing.T) {
			y := rendezvous.Share(c.y)
			i := initiate(scalar(t, v["ya"]), v["PRS"], v["CI"], v["sid"], v["ADa"])
			if isk, ta, err := i.Finish(&y, v["ADb"], &rendezvous.Tag{}); !errors.Is(err, c.want) || isk != nil || ta != (rendezvous.Tag{}) {
				t.Errorf("host: %v, want %v", err, c.want)
			}
			r, yb, tb, err := respond(scalar(t, v["yb"]), v["PRS"], v["CI"], v["sid"], &y, v["ADa"], v["ADb"])
			if !errors.Is(err, c.want) || r != nil || yb != (rendezvous.Share{}) || tb != (rendezvous.Tag{}) {
				t.Errorf("joiner: %v, want %v", err, c.want)
			}
		})
	}
}
