package cpace

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"backstep/natpunch/rendezvous"
)

type side struct {
	prs, ci, sid, ada, adb []byte
}

func honest() side {
	return side{
		prs: []byte("3XTD"),
		ci:  ChannelID(Play, rendezvous.Lookup{'K', '7', 'Q', 'M'}, rendezvous.LobbyID{1, 2, 3}),
		sid: SessionID(rendezvous.Nonce{4}, rendezvous.Nonce{5}),
		ada: AppendAD(nil, &AD{Side: rendezvous.SideHost, ProtoMin: 1, ProtoMax: 1, Suite: Suite, DataHash: 7}),
		adb: AppendAD(nil, &AD{Side: rendezvous.SideJoin, ProtoMin: 1, ProtoMax: 2, Suite: Suite, DataHash: 7}),
	}
}

func flip(b []byte) []byte {
	c := append([]byte(nil), b...)
	c[len(c)-1] ^= 1
	return c
}

// TestBothMustAgree runs the protocol with one thing different on one side, and
// expects the host to see a failed guess before it has sent anything.
func TestBothMustAgree(t *testing.T) {
	for _, c := range []struct {
		name string
		edit func(*side)
		ok   bool
	}{
		{"same", func(*side) {}, true},
		{"other secret", func(s *side) { s.prs = []byte("3XTF") }, false},
		{"longer secret", func(s *side) { s.prs = []byte("3XTD22") }, false},
		{"view code used to play", func(s *side) {
			s.ci = ChannelID(View, rendezvous.Lookup{'K', '7', 'Q', 'M'}, rendezvous.LobbyID{1, 2, 3})
		}, false},
		{"other lookup", func(s *side) {
			s.ci = ChannelID(Play, rendezvous.Lookup{'K', '7', 'Q', 'N'}, rendezvous.LobbyID{1, 2, 3})
		}, false},
		{"other lobby", func(s *side) {
			s.ci = ChannelID(Play, rendezvous.Lookup{'K', '7', 'Q', 'M'}, rendezvous.LobbyID{1, 2, 4})
		}, false},
		{"other nJ", func(s *side) { s.sid = SessionID(rendezvous.Nonce{9}, rendezvous.Nonce{5}) }, false},
		{"other nH", func(s *side) { s.sid = SessionID(rendezvous.Nonce{4}, rendezvous.Nonce{9}) }, false},
		{"other ADa", func(s *side) { s.ada = flip(s.ada) }, false},
		{"other ADb", func(s *side) { s.adb = flip(s.adb) }, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			h, j := honest(), honest()
			c.edit(&j)
			i, err := NewInitiator(rand.Reader, h.prs, h.ci, h.sid, h.ada)
			if err != nil {
				t.Fatal(err)
			}
			ya := i.Share()
			r, yb, tb, err := Respond(rand.Reader, j.prs, j.ci, j.sid, &ya, j.ada, j.adb)
			if err != nil {
				t.Fatal(err)
			}
			isk, ta, err := i.Finish(&yb, h.adb, &tb)
			if !c.ok {
				if !errors.Is(err, ErrConfirm) || isk != nil || ta != (rendezvous.Tag{}) {
					t.Fatalf("host got %v %v, want a failed guess and no tag", isk, err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			other, err := r.Finish(&ta)
			if err != nil || *other != *isk {
				t.Fatalf("joiner: %v; keys equal: %v", err, other != nil && *other == *isk)
			}
		})
	}
}

func TestReflectedAndSpent(t *testing.T) {
	h := honest()
	i, _ := NewInitiator(rand.Reader, h.prs, h.ci, h.sid, h.ada)
	ya := i.Share()
	r, yb, tb, err := Respond(rand.Reader, h.prs, h.ci, h.sid, &ya, h.ada, h.adb)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Finish(&tb); !errors.Is(err, ErrConfirm) {
		t.Errorf("Tb sent back as Ta: %v", err)
	}
	if _, err := r.Finish(&tb); !errors.Is(err, ErrSpent) {
		t.Errorf("second Finish of the joiner: %v", err)
	}
	_, ta, err := i.Finish(&yb, h.adb, &tb)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := i.Finish(&yb, h.adb, &tb); !errors.Is(err, ErrSpent) {
		t.Errorf("second Finish of the host: %v", err)
	}
	fresh, _ := NewInitiator(rand.Reader, h.prs, h.ci, h.sid, h.ada)
	if _, _, err := fresh.Finish(&yb, h.adb, &ta); !errors.Is(err, ErrConfirm) {
		t.Errorf("Ta sent back as Tb: %v", err)
	}
	if fresh.y != nil || i.y != nil || r.isk != nil || r.ta != (rendezvous.Tag{}) {
		t.Error("a finished run still holds secrets")
	}
	var a AD
	if err := ParseAD(h.ada, &a); err != nil || a.Side != rendezvous.SideHost {
		t.Errorf("ADa: %v %v: a host's AD must tell its side, so that it can be refused as a joiner's", a, err)
	}
}

func TestNoRandomness(t *testing.T) {
	h := honest()
	if _, err := NewInitiator(bytes.NewReader(make([]byte, 63)), h.prs, h.ci, h.sid, h.ada); err == nil {
		t.Error("an initiator was made of too little randomness")
	}
	// 64 zero bytes reduce to the scalar zero, which must be drawn again.
	in := append(make([]byte, 64), bytes.Repeat([]byte{7}, 64)...)
	i, err := NewInitiator(bytes.NewReader(in), h.prs, h.ci, h.sid, h.ada)
	if err != nil || i.Share() == (rendezvous.Share{}) {
		t.Errorf("zero scalar used: %v", err)
	}
}

// TestKeysDoNotPrint: a key in a log field or a %+v of a struct shows nothing.
func TestKeysDoNotPrint(t *testing.T) {
	k := ISK{0xab, 0xab}
	for _, s := range []string{fmt.Sprint(k), fmt.Sprintf("%+v", struct{ K ISK }{k}), fmt.Sprintf("%#v", k)} {
		if bytes.Contains([]byte(s), []byte("171")) || bytes.Contains([]byte(s), []byte("ab")) {
			t.Errorf("printed %q", s)
		}
	}
}

// TestADRoundTrip: every AD has one encoding.
func TestADRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := rapid.SliceOfN(rapid.Byte(), 0, 14).Draw(t, "b")
		if len(b) > 0 && rapid.Bool().Draw(t, "letter") {
			b[0] = "HJ"[int(b[0])%2]
		}
		var a AD
		if err := ParseAD(b, &a); err != nil {
			return
		}
		if got := AppendAD(nil, &a); !bytes.Equal(got, b) {
			t.Fatalf("%x re-encodes as %x", b, got)
		}
	})
}

// FuzzHostFinish: whatever a guesser sends, the host neither panics nor answers.
func FuzzHostFinish(f *testing.F) {
	f.Add(make([]byte, 32), []byte("J"), make([]byte, 64))
	f.Add(bytes.Repeat([]byte{0xff}, 32), []byte{}, bytes.Repeat([]byte{1}, 64))
	h := honest()
	f.Fuzz(func(t *testing.T, y, ad, tag []byte) {
		if len(y) < 32 || len(tag) < 64 {
			return
		}
		i, err := NewInitiator(bytes.NewReader(bytes.Repeat([]byte{3}, 64)), h.prs, h.ci, h.sid, h.ada)
		if err != nil {
			t.Fatal(err)
		}
		yb, tb := rendezvous.Share(y[:32]), rendezvous.Tag(tag[:64])
		if isk, ta, err := i.Finish(&yb, ad, &tb); err == nil || isk != nil || ta != (rendezvous.Tag{}) {
			t.Fatal("a guess without the code was right")
		}
	})
}

func BenchmarkRun(b *testing.B) {
	h := honest()
	for b.Loop() {
		i, _ := NewInitiator(rand.Reader, h.prs, h.ci, h.sid, h.ada)
		ya := i.Share()
		r, yb, tb, _ := Respond(rand.Reader, h.prs, h.ci, h.sid, &ya, h.ada, h.adb)
		_, ta, _ := i.Finish(&yb, h.adb, &tb)
		if _, err := r.Finish(&ta); err != nil {
			b.Fatal(err)
		}
	}
}
